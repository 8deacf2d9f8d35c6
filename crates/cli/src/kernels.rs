//! `train --kernel`: similarities of rows in place of columns.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use rankrls::data::read::read_rows;
use rankrls::memory::Memory;
use rankrls::ridge::{Basis, Kernel, KernelKind};
use rankrls::{Error, Lambda, Lambdas};

use super::args::usage;

#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
pub(super) struct KernelArgs {
    #[arg(
        long,
        value_name = "KERNEL",
        default_value = "linear",
        hide_default_value = true,
        help = kernel_help()
    )]
    kernel: KernelChoice,
    /// Reduced set: a number of rows drawn by --seed, or a file with a row of DATA a line, from 1 on.
    /// The model is over the kernel with these rows alone
    #[arg(long, value_name = "N|FILE")]
    pub(super) basis: Option<BasisChoice>,
}

/// A kind of kernel, and its named parameters.
#[derive(Debug, Clone)]
struct KernelChoice {
    kind: KernelKind,
    degree: Option<u32>,
    coef0: Option<f64>,
    gammas: Option<Vec<f64>>,
}

impl FromStr for KernelChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, after) = text.split_once(':').unzip();
        let named = name.unwrap_or(text).parse::<KernelKind>();
        let kind = named.map_err(|error: Error| error.to_string())?;
        let asked = kind.parameters();
        if asked.is_empty() && after.is_some() {
            return Err(expected("no parameters", text));
        }
        let (mut degree, mut coef0, mut gamma) = (None, None, None);
        let given = after
            .into_iter()
            .flat_map(|text| text.splitn(asked.len(), ':'));
        for (&parameter, text) in asked.iter().zip(given) {
            let number = |what: &str| expected(what, text);
            match parameter {
                "degree" => degree = Some(text.parse().map_err(|_| number("a whole degree"))?),
                "coef0" => coef0 = Some(text.parse().map_err(|_| number("a number coef0"))?),
                _ => gamma = Some(gammas(text)?),
            }
        }
        Ok(Self {
            kind,
            degree,
            coef0,
            gammas: gamma,
        })
    }
}

/// The kernels with their parameters, as help.
fn kernel_help() -> String {
    let kernel = |kind: KernelKind| {
        let names = kind.parameters().iter();
        let names = names.map(|name| format!(":{}", name.to_uppercase()));
        format!("{kind}{}, {}", names.collect::<String>(), kind.formula())
    };
    format!(
        "Kernel: {}. GAMMA is a list of numbers as of --lambda: of several, the model has that of the \
         least hold-out error [default: linear; degree 2, coef0 0, gamma 1]",
        KernelKind::ALL.map(kernel).join("; ")
    )
}

fn expected(what: &str, found: &str) -> String {
    format!("expected {what}, found {found:?}")
}

/// The value of `--basis`.
#[derive(Debug, Clone)]
pub(crate) enum BasisChoice {
    Drawn(usize),
    /// A file with the rows.
    File(PathBuf),
}

impl FromStr for BasisChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("expected a number of rows from 1 on, or a file".to_owned()),
            Ok(count) => Ok(Self::Drawn(count)),
            Err(_) => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

/// Values of gamma: numbers above 0, written like lambdas.
fn gammas(text: &str) -> Result<Vec<f64>, String> {
    let list: Result<Lambdas, Error> = text.parse();
    let list = list.map_err(|error| error.to_string().replace("lambda", "gamma"))?;
    let numbers = list.numbers();
    let numbers = numbers.ok_or_else(|| expected("numbers and powers of two", text))?;
    Ok(numbers.into_iter().map(Lambda::value).collect())
}

impl KernelArgs {
    /// The file with the rows of the basis.
    pub(super) fn basis_file(&self) -> Option<&PathBuf> {
        match &self.basis {
            Some(BasisChoice::File(path)) => Some(path),
            _ => None,
        }
    }

    pub(super) fn is_linear(&self) -> bool {
        self.kernel.kind == KernelKind::Linear
    }

    /// Whether the rows of a basis are drawn.
    pub(super) fn draws(&self) -> bool {
        matches!(self.basis, Some(BasisChoice::Drawn(_)))
    }

    /// A kernel for each gamma.
    pub(super) fn kernels(&self) -> Result<Vec<Kernel>> {
        let KernelChoice {
            kind,
            degree,
            coef0,
            gammas,
        } = self.kernel.clone();
        let kernel =
            |gamma: f64| Kernel::new(kind, gamma, coef0.unwrap_or(0.0), degree.unwrap_or(2));
        let kernels: Result<_, Error> = gammas
            .unwrap_or(vec![1.0])
            .into_iter()
            .map(kernel)
            .collect();
        kernels.map_err(usage)
    }

    /// The basis of data of so many `rows`.
    pub(super) fn basis(&self, rows: usize, seed: u64, memory: Memory) -> Result<Option<Basis>> {
        Ok(match &self.basis {
            None => None,
            Some(BasisChoice::Drawn(count)) => Some(Basis::Drawn {
                count: *count,
                seed,
            }),
            Some(BasisChoice::File(path)) => Some(Basis::Given(read_rows(path, rows, memory)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_read() {
        for (text, degree, coef0, gammas) in [
            ("linear", None, None, None),
            ("gaussian:2^-9..2^-1:4", None, None, Some(3)),
            ("polynomial", None, None, None),
            ("polynomial:3", Some(3), None, None),
            ("polynomial:3:0.5:1,2,4", Some(3), Some(0.5), Some(3)),
        ] {
            let read: KernelChoice = text.parse().unwrap();
            let found = (read.degree, read.coef0, read.gammas.map(|list| list.len()));
            assert_eq!(found, (degree, coef0, gammas), "{text}");
        }
        for text in [
            "",
            "cubic",
            "gaussian:",
            "gaussian:0",
            "polynomial:x",
            "polynomial:2:x",
            "linear:1",
            "precomputed:",
        ] {
            assert!(text.parse::<KernelChoice>().is_err(), "{text}");
        }
    }
}
