//! The page docs/rankrls-family.md: the listings of RLScore's tutorial on ranking, each with our
//! command, and the figures of both.

use std::mem;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, from_str, json};

use crate::commands::{built, command, corpora, environment, output, root, run};
use crate::page::{fill, row};

/// A listing: arguments of `rankrls train` without the model, test data, and figures.
struct Listing {
    title: &'static str,
    train: &'static str,
    test: &'static str,
    figures: &'static [Figure],
}

/// The name of a figure, its place in `{"train": ..., "test": ...}`, and the digits that RLScore
/// prints. A place with `*` has a figure for each ridge parameter.
type Figure = (&'static str, &'static str, &'static str);

const TUTORIAL: &[Listing] = &[
    Listing {
        title: "`GlobalRankRLS`: all rows in one ranking",
        train: "train.svm --objective global --lambda 1 --holdout none",
        test: "test.svm",
        figures: &[
            ("training rows", "/train/data/rows", "250"),
            ("columns", "/train/data/columns", "13"),
            ("test rows", "/test/rows", "256"),
            (TEST, MEASURED, "0.857257"),
        ],
    },
    Listing {
        title: "`LeavePairOutRankRLS`: lambda by leave-pair-out",
        train: "train.svm --objective global --lambda 2^-10..2^9 --holdout lpo --measure cindex",
        test: "test.svm",
        figures: &[
            (
                EACH,
                HELD_OUT,
                "0.85697212 0.85697212 0.85697212 0.85697212 0.85697212 0.85697212 0.85697212 \
                 0.85697212 0.85697212 0.85700443 0.85703673 0.85687522 0.85690752 0.85687522 \
                 0.85732743 0.85765044 0.85781194 0.85739203 0.85723053 0.85642301",
            ),
            (LAMBDA, "/train/lambda", "64.000000"),
            (TEST, MEASURED, "0.857134"),
        ],
    },
    Listing {
        title: "`GlobalRankRLS.holdout`: five folds",
        train: "train.svm --objective global --lambda 1 --holdout folds:folds.txt",
        test: "test.svm",
        figures: &[
            (BEST, "/train/holdout/cindex", "0.857076"),
            (TEST, MEASURED, "0.857257"),
        ],
    },
    Listing {
        title: "`KfoldRankRLS`: lambda by five folds",
        train: "train.svm --objective global --lambda 2^-10..2^9 --holdout folds:folds.txt \
                --measure cindex",
        test: "test.svm",
        figures: &[
            (
                EACH,
                HELD_OUT,
                "0.85756786 0.85756786 0.85756786 0.85756786 0.85756786 0.85756786 0.85756786 \
                 0.85756786 0.85740406 0.85740406 0.85707578 0.85740392 0.85789748 0.85756974 \
                 0.85707578 0.8580598 0.85789641 0.85724066 0.85740393 0.85838699",
            ),
            (LAMBDA, "/train/lambda", "512.000000"),
            (TEST, MEASURED, "0.855995"),
        ],
    },
    Listing {
        title: "`KfoldRankRLS` with `GaussianKernel`: gamma and lambda by five folds",
        train: "train.svm --objective global --kernel gaussian --gamma 2^-15..2^15 \
                --lambda 2^-15..2^15 --holdout folds:folds.txt --measure cindex",
        test: "test.svm",
        figures: &[
            ("chosen gamma", "/train/kernel/gamma", "0.000031"),
            (LAMBDA, "/train/lambda", "0.062500"),
            (BEST, "/train/holdout/cindex", "0.854094"),
            (TEST, MEASURED, "0.869137"),
        ],
    },
    Listing {
        title: "`PPRankRLS`: a thousand pairs",
        train: "train.svm --objective pairs --pairs pairs.txt --lambda 1 --holdout none",
        test: "test.svm",
        figures: &[(TEST, MEASURED, "0.861997")],
    },
];

/// On other data than the tutorial's; the figures are those of RLScore run on them.
const PARSES: &[Listing] = &[
    Listing {
        title: "`QueryRankRLS` and its `holdout`: every query left out",
        train: "rlscore-parse/train.features --lambda 1 --holdout lqo",
        test: "rlscore-parse/test.features",
        figures: &[
            (BEST, "/train/lqo_cindex", "0.80315476"),
            (TEST, MEASURED, "0.66476190"),
        ],
    },
    Listing {
        title: "`LeaveQueryOutRankRLS`: lambda by leave-query-out",
        train: "rlscore-parse/train.features --lambda 2^-10..2^9 --holdout lqo --measure cindex",
        test: "rlscore-parse/test.features",
        figures: &[
            (
                EACH,
                HELD_OUT,
                "0.80474206 0.80474206 0.80474206 0.80474206 0.80474206 0.80474206 0.80474206 \
                 0.80474206 0.80474206 0.81029762 0.80315476 0.79045635 0.77720238 0.77664683 \
                 0.77720238 0.77561508 0.76291667 0.75736111 0.76361111 0.73410714",
            ),
            (LAMBDA, "/train/lambda", "0.500000"),
            (TEST, MEASURED, "0.66476190"),
        ],
    },
];

const EACH: &str = "hold-out concordance, each lambda";
const HELD_OUT: &str = "/train/lambdas/*/holdout/cindex";
const BEST: &str = "hold-out concordance";
const LAMBDA: &str = "chosen lambda";
const TEST: &str = "test concordance";
const MEASURED: &str = "/test/metrics/cindex";

/// Runs every listing on `housing`, and fills in the page if all figures agree.
///
/// # Errors
/// If a command fails, or prints another figure than RLScore.
pub(crate) fn compare(housing: &Path) -> Result<()> {
    let (program, corpora) = (built("release")?, corpora()?);
    let (temporary, peers) = (tempfile::tempdir()?, root().join("benches/peers"));
    let folder = temporary.path();
    let mut drawing = command(environment("peers", &peers.join("requirements.txt"))?, "");
    let housing = housing.canonicalize().context("cannot read the data")?;
    drawing.arg(peers.join("housing.py"));
    run(drawing.arg(housing).arg(folder))?;
    let mut parts = Vec::new();
    for (name, listings, data) in [("tutorial", TUTORIAL, folder), ("parses", PARSES, &corpora)] {
        let (mut lines, mut rows) = (Vec::new(), Vec::new());
        for listing in listings {
            let Listing { title, train, .. } = listing;
            lines.push(format!("- {title}: `rankrls train {train}`"));
            let compared = listing.compare(&program, data, &folder.join("model.json"));
            rows.extend(compared.with_context(|| *title)?);
        }
        lines.push("\n| listing | figure | RLScore | rankrls |\n|---|---|---|---|".to_owned());
        parts.push((name, [lines, rows].concat()));
    }
    for (name, lines) in parts {
        fill("docs/rankrls-family.md", name, &lines)?;
    }
    Ok(())
}

impl Listing {
    /// Rows of the table.
    fn compare(&self, program: &Path, data: &Path, model: &Path) -> Result<Vec<String>> {
        let train = format!("train {} --json -q -o", self.train);
        let test = format!("evaluate {} --json -q --metrics cindex --model", self.test);
        let report = |arguments: &str| -> Result<Value> {
            let mut rankrls = command(program, arguments);
            Ok(from_str(&output(rankrls.arg(model).current_dir(data))?)?)
        };
        let found = json!({"train": report(&train)?, "test": report(&test)?});
        let mut lines = Vec::new();
        let (mut title, _) = self.title.split_once(':').unwrap_or_default();
        for (name, place, printed) in self.figures {
            let figures = values(&found, place)?;
            let (count, expected) = (figures.len(), printed.split(' ').count());
            ensure!(
                count == expected,
                "{name}: expected {expected} figures, found {count}"
            );
            let rounded: Vec<String> = figures
                .iter()
                .zip(printed.split(' '))
                .map(|(figure, digits)| {
                    let (_, decimals) = digits.split_once('.').unwrap_or_default();
                    format!("{figure:.*}", decimals.len())
                })
                .collect();
            let rounded = rounded.join(" ");
            ensure!(
                rounded == *printed,
                "{name}: expected {printed}, found {rounded}"
            );
            let own = match figures[..] {
                [figure] => figure.to_string(),
                _ => format!("the same {count} figures"),
            };
            let listing = mem::take(&mut title).to_owned();
            lines.push(row(&[listing, (*name).to_owned(), rounded, own]));
        }
        Ok(lines)
    }
}

/// The numbers at a place of a document; `*` stands for all entries of an array.
fn values(document: &Value, place: &str) -> Result<Vec<f64>> {
    let number = |value: Option<&Value>| {
        let number = value.and_then(Value::as_f64);
        number.with_context(|| format!("{place}: expected a number"))
    };
    match place.split_once("/*") {
        None => Ok(vec![number(document.pointer(place))?]),
        Some((array, rest)) => {
            let entries = document.pointer(array).and_then(Value::as_array);
            let entries = entries.with_context(|| format!("{array}: expected an array"))?;
            let numbers = entries.iter().map(|entry| number(entry.pointer(rest)));
            numbers.collect()
        }
    }
}
