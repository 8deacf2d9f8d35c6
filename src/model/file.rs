//! The JSON of a model file: writing, reading, and a check of everything in it.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::to_raw_value;

use super::{BasisRow, DataSummary, Expansion, FeatureChoice, Model, SelectedFeature, Unfinished};
use crate::data::read::TableOptions;
use crate::data::{ColumnName, IndexBase};
use crate::error::{Error, Kind, Result};
use crate::greedy::{Choice, GreedyRankRls, StrategyKind, is_default};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::names::Objective;
use crate::ridge::Kernel;
use rankrls_files::error::{Fault, quote};
use rankrls_files::{Output, Remedy, read_whole, write_json};

/// The schema of model files.
pub(super) const SCHEMA: &str = "rankrls.model/2";

/// Most bytes of text of a model.
const LARGEST: u64 = 256 << 20;

/// Most bytes of text of a model within `memory`: for the text, its growth while it is read, and the model.
pub(super) fn largest(memory: Memory) -> u64 {
    let left = memory.left().unwrap_or(u64::MAX);
    LARGEST.min(left / 4)
}

impl Model {
    /// Reads the model file at `path`, or standard input for `-`; compressed or not, at most 256 MiB of text.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, Memory::default())
    }

    /// Reads a model as [`read`](Self::read), of text up to a quarter of the `memory` left.
    pub fn read_within(path: impl AsRef<Path>, memory: Memory) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(&read_whole(path, largest(memory))?, path)
    }

    /// Reads the text of a model file, which messages call `path`.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self> {
        check_schema(text, path)?;
        let document: Document<'_> =
            serde_json::from_slice(text).map_err(|error| json_error(text, path, &error))?;
        document
            .model()
            .map_err(|fault| fault.of(&path.display().to_string()).into())
    }

    /// Writes the model to the file at `path`, which appears whole or not at all. A name that ends in `.gz` or
    /// `.zst` compresses it.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let write = || {
            let mut output = Output::create(path)?;
            self.write_to(&mut output)?;
            output.finish()
        };
        write().map_err(|error| {
            let text = format!("{}: cannot write the model", path.display());
            Error::new(Kind::File, text).from_source(error)
        })
    }

    /// Writes the text of the model file.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        let coefficients = self.expansion.iter().flat_map(|basis| &basis.rows);
        let weights = self.features.iter().map(|f| f.weight);
        let learned = weights.chain(coefficients.map(|row| row.coefficient));
        let errors = self.features.iter().filter_map(|step| step.lqo_error);
        if !learned.chain(errors).all(f64::is_finite) {
            let message = "weights or errors of the model are no finite numbers";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        write_json(writer, &Document::new(self))
    }
}

/// Tells other documents and other versions from damaged models.
fn check_schema(text: &[u8], path: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
    }
    let header: Header =
        serde_json::from_slice(text).map_err(|error| json_error(text, path, &error))?;
    let remedy = match &header.schema {
        Some(schema) if schema == SCHEMA => return Ok(()),
        Some(schema) if schema.starts_with("rankrls.model/") => {
            Remedy::from("the model was written by another version of rankrls")
        }
        _ => Remedy::WriteModel,
    };
    let named = header.schema.map(|schema| format!("{:?}", short(&schema)));
    let found = named.unwrap_or_else(|| "none".to_owned());
    let fault = Fault::new(format!("schema {SCHEMA:?}"), found).remedy(remedy);
    Err(fault.of(&path.display().to_string()).into())
}

/// The beginning of a text of any length.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn json_error(text: &[u8], path: &Path, error: &serde_json::Error) -> Error {
    let (path, line, column) = (path.display(), error.line(), error.column());
    let begin = text.trim_ascii_start();
    if !begin.starts_with(b"{") {
        let line = begin.split(|&byte| byte == b'\n').next();
        let found = quote(line.unwrap_or_default());
        let text = format!("{path}:1:1: expected a model of rankrls in JSON, found {found}");
        return Error::new(Kind::File, text);
    }
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let found = message.strip_suffix(&place).unwrap_or(&message);
    let text =
        format!("{path}:{line}:{column}: expected a model of rankrls in JSON, found: {found}");
    Error::new(Kind::File, text)
}

/// A model in its written form: all columns are counted as in the data file. The settings are its first keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'m> {
    schema: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unfinished: Option<Unfinished>,
    strategy: FeatureChoice,
    lambda: Lambda,
    #[serde(default, skip_serializing_if = "Objective::is_query")]
    objective: Objective,
    /// Without strategy, lambda and the number of features.
    #[serde(default, skip_serializing_if = "is_default")]
    settings: GreedyRankRls,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    index_base: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    table: TableOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis: Option<Counted<'m, BasisRow>>,
    /// The features, in order of selection.
    steps: Counted<'m, SelectedFeature>,
    data: DataSummary,
    #[serde(default, skip_serializing_if = "is_empty")]
    column_names: Cow<'m, [String]>,
}

#[expect(clippy::ptr_arg, reason = "serde gives the field")]
fn is_empty(names: &Cow<'_, [String]>) -> bool {
    names.is_empty()
}

/// A part of a document that names columns. There may be a million of them, so the columns of a model are
/// renumbered one by one, while they are written.
#[derive(Debug)]
struct Counted<'m, T: Clone> {
    parts: Cow<'m, [T]>,
    /// The number of the first column.
    first: u32,
}

/// A value that names columns.
trait NamesColumns: Clone + Serialize {
    /// Whether it is written in one line.
    fn in_line(&self) -> bool;

    /// Its columns.
    fn columns_mut(&mut self) -> impl Iterator<Item = &mut u32>;
}

impl NamesColumns for SelectedFeature {
    /// Features that were not selected, maybe a million, are a line each.
    fn in_line(&self) -> bool {
        self.lqo_error.is_none()
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        std::iter::once(&mut self.feature).chain(&mut self.identical)
    }
}

impl NamesColumns for BasisRow {
    fn in_line(&self) -> bool {
        true
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.indices.iter_mut()
    }
}

impl<'m, T: NamesColumns> Counted<'m, T> {
    fn of(parts: &'m [T], first: u32) -> Self {
        let parts = Cow::Borrowed(parts);
        Self { parts, first }
    }

    /// The parts, with columns from 0 on.
    fn into_zero_based(self, first: u32) -> Vec<T> {
        let mut parts = self.parts.into_owned();
        let columns = parts.iter_mut().flat_map(NamesColumns::columns_mut);
        columns.for_each(|column| *column -= first);
        parts
    }
}

impl<T: NamesColumns> Serialize for Counted<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = self.parts.iter().cloned().map(|mut part| {
            part.columns_mut().for_each(|column| *column += self.first);
            part
        });
        match self.parts.first() {
            Some(first) if first.in_line() => serializer.collect_seq(written.map(Line)),
            _ => serializer.collect_seq(written),
        }
    }
}

impl<'de, T: Clone + Deserialize<'de>> Deserialize<'de> for Counted<'_, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = Vec::deserialize(deserializer)?.into();
        Ok(Self { parts, first: 0 })
    }
}

impl Serialize for SelectedFeature {
    /// If it was not selected, leaves out a null name and an empty list.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let selected = self.lqo_error.is_some();
        let mut entries = serializer.serialize_map(None)?;
        entries.serialize_entry("feature", &self.feature)?;
        if selected || self.name.is_some() {
            entries.serialize_entry("name", &self.name)?;
        }
        entries.serialize_entry("weight", &self.weight)?;
        if selected || !self.identical.is_empty() {
            entries.serialize_entry("identical", &self.identical)?;
        }
        if selected {
            entries.serialize_entry("lqo_error", &self.lqo_error)?;
            entries.serialize_entry("lqo_cindex", &self.lqo_cindex)?;
        }
        entries.end()
    }
}

/// The fields that are written in one line.
#[derive(Debug)]
struct Line<T>(T);

impl<T: Serialize> Serialize for Line<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = to_raw_value(&self.0).map_err(S::Error::custom)?;
        line.serialize(serializer)
    }
}

impl<'m> Document<'m> {
    fn new(model: &'m Model) -> Self {
        let (base, expansion) = (model.index_base, model.expansion.as_ref());
        let first = base.first();
        Self {
            schema: SCHEMA.to_owned(),
            unfinished: model.unfinished,
            strategy: model.strategy,
            lambda: model.lambda,
            objective: model.objective,
            settings: GreedyRankRls {
                strategy: StrategyKind::Auto,
                lambda: None,
                k: 0,
                ..model.settings.clone()
            },
            choice: model.choice.clone(),
            index_base: first,
            table: model.table.clone(),
            kernel: expansion.map(|basis| basis.kernel),
            basis: expansion.map(|basis| Counted::of(&basis.rows, first)),
            steps: Counted::of(&model.features, first),
            data: model.data,
            column_names: Cow::Borrowed(&model.column_names),
        }
    }
}

/// `refuse!(field: expected, found)` refuses a field of the document: it names the field, the legal values, and the
/// value found.
macro_rules! refuse {
    ($field:literal: $expected:literal, $found:expr) => {
        return Err(refusal(format!($field), format!($expected), $found))
    };
}

/// `require!(legal; field: expected, found)` refuses the field unless it is legal.
macro_rules! require {
    ($legal:expr; $($refusal:tt)+) => {
        if !$legal {
            refuse!($($refusal)+);
        }
    };
}

/// The fault of a value that is out of range or contradicts another.
pub(super) fn refusal(field: impl Display, expected: impl Display, found: impl Display) -> Fault {
    let fault = Fault::new(expected.to_string(), found.to_string());
    fault.in_field(&field.to_string())
}

impl Document<'_> {
    /// The model, after a check of all that the types do not ensure.
    fn model(self) -> Result<Model, Fault> {
        let first = self.index_base;
        require!(first <= 1; "index_base": "0 or 1", first);
        check_sizes(&self.data, self.kernel.is_none())?;
        // The check above keeps columns within 32 bits.
        let columns = u64::from(first)..u64::from(first) + self.data.columns as u64;
        let kernel = self.check_kernel(&columns)?;
        if kernel.is_none() {
            self.check_features(&columns)?;
        }
        self.check_path()?;
        self.check_included(&columns)?;
        self.check_progress()?;
        let settings = self.settings()?;
        self.check_column_names()?;
        let expansion = kernel.zip(self.basis).map(|(known, rows)| Expansion {
            kernel: known,
            rows: rows.into_zero_based(first),
        });
        Ok(Model {
            unfinished: self.unfinished,
            strategy: self.strategy,
            objective: self.objective,
            settings,
            lambda: self.lambda,
            choice: self.choice,
            index_base: match first {
                0 => IndexBase::Zero,
                _ => IndexBase::One,
            },
            table: self.table,
            features: self.steps.into_zero_based(first),
            expansion,
            data: self.data,
            column_names: self.column_names.into_owned(),
        })
    }

    fn settings(&self) -> Result<GreedyRankRls, Fault> {
        let given = &self.settings;
        require!(
            given.sample.is_some() == given.seed.is_some();
            "settings.seed": "a seed together with a number of candidates, or neither", "one of them"
        );
        require!(given.sample != Some(0); "settings.sample": "1 or more", 0);
        let (k, lambda) = (self.steps.parts.len(), self.lambda);
        let own = given.strategy == StrategyKind::Auto && given.lambda.is_none() && given.k == 0;
        require!(own; "settings": "no strategy, lambda and k, which stand beside them", "one of them");
        Ok(GreedyRankRls {
            strategy: match self.strategy {
                FeatureChoice::Strategy(strategy) => strategy,
                _ => StrategyKind::Auto,
            },
            lambda: lambda.into(),
            k,
            ..given.clone()
        })
    }

    /// The kernel, if there is one; then a basis must exist, and no features.
    fn check_kernel(&self, columns: &Range<u64>) -> Result<Option<Kernel>, Fault> {
        let (count, strategy) = (self.steps.parts.len(), self.strategy);
        let (unchecked, basis) = match (self.kernel, &self.basis) {
            (None, None) => return Ok(None),
            (Some(kernel), Some(basis)) => (kernel, basis),
            _ => refuse!("basis": "a kernel together with its basis, or neither", "one of them"),
        };
        let kernel = match unchecked.checked() {
            Ok(kernel) => kernel,
            Err(error) => refuse!("kernel": "a kernel with its parameters", error),
        };
        require!(
            count == 0 && !kernel.is_linear();
            "steps": "none, as the model has a kernel that is not linear", count
        );
        require!(!strategy.is_selection(); "strategy": "all or given", strategy);
        let (most, rows) = (self.data.rows, basis.parts.len());
        let legal = (1..=most).contains(&rows);
        require!(legal; "basis": "from 1 to {most} rows, those of the data", rows);
        let (first, last) = (columns.start, columns.end - 1);
        for (number, row) in basis.parts.iter().enumerate() {
            let (indices, values) = (&row.indices, &row.values);
            let (count, found) = (indices.len(), values.len());
            require!(found == count; "basis[{number}].values": "{count} values, one an index", found);
            let within = indices.iter().all(|&index| columns.contains(&index.into()));
            require!(
                within && indices.is_sorted_by(|a, b| a < b);
                "basis[{number}].indices": "ascending indices from {first} to {last}", "others"
            );
            let finite =
                row.coefficient.is_finite() && values.iter().all(|value| value.is_finite());
            require!(finite; "basis[{number}].values": "finite numbers", "others");
        }
        Ok(Some(kernel))
    }

    /// Every column may stand in one place only: as a feature, or equal to one.
    fn check_features(&self, columns: &Range<u64>) -> Result<(), Fault> {
        let (data, count) = (&self.data, self.steps.parts.len());
        let (most, which) = if self.strategy.is_selection() {
            (data.column_classes, "one a column class")
        } else {
            // The check above keeps constant columns within all columns.
            let varying = data.columns - data.constant_columns;
            (varying, "the columns that vary")
        };
        let legal = (1..=most).contains(&count);
        require!(legal; "steps": "from 1 to {most} features, {which}", count);
        let (first, last) = (columns.start, columns.end - 1);
        let mut indices = Vec::with_capacity(count);
        for (number, feature) in self.steps.parts.iter().enumerate() {
            let weight = feature.weight;
            require!(weight.is_finite(); "steps[{number}].weight": "a finite number", weight);
            for &index in [feature.feature].iter().chain(&feature.identical) {
                let legal = columns.contains(&index.into());
                require!(legal; "steps[{number}]": "indices from {first} to {last}", index);
                indices.push(index);
            }
        }
        indices.sort_unstable();
        let twice = indices.windows(2).find(|pair| pair[0] == pair[1]);
        let found = twice.map_or_else(String::new, |pair| format!("{} twice", pair[0]));
        require!(twice.is_none(); "steps": "every index once", found);
        Ok(())
    }

    /// Columns to include must be numbers, and selected first.
    fn check_included(&self, columns: &Range<u64>) -> Result<(), Fault> {
        let included = self.settings.included();
        let selected = self.strategy.is_selection();
        require!(selected || included.is_empty(); "settings.include": "none", included.len());
        let (first, last) = (columns.start, columns.end - 1);
        for (number, column) in included.iter().enumerate() {
            let index = match column {
                ColumnName::Number(index) => Some(index).filter(|index| columns.contains(index)),
                ColumnName::Name(_) => None,
            };
            let Some(&index) = index else {
                refuse!("settings.include[{number}]": "an index from {first} to {last}", column);
            };
            let step = self
                .steps
                .parts
                .get(number)
                .map(|step| u64::from(step.feature));
            let step = step.unwrap_or(index);
            require!(step == index; "settings.include[{number}]": "the feature {step} of its step", index);
        }
        Ok(())
    }

    /// Column names must cover all columns, and agree with the features.
    fn check_column_names(&self) -> Result<(), Fault> {
        let (columns, found) = (self.data.columns, self.column_names.len());
        if found == 0 {
            return Ok(());
        }
        require!(found == columns; "column_names": "{columns} names, one a column, or none", found);
        for (number, feature) in self.steps.parts.iter().enumerate() {
            // Its number is within the columns, by an earlier check.
            let place = (feature.feature - self.index_base) as usize;
            let (name, own) = (&self.column_names[place], feature.name.as_ref());
            require!(
                own == Some(name);
                "steps[{number}].name": "the name of its column", short(own.map_or("", |name| name))
            );
        }
        Ok(())
    }

    /// An unfinished model must have the selected features, fewer than asked for.
    fn check_progress(&self) -> Result<(), Fault> {
        let Some(Unfinished { taken, asked }) = self.unfinished else {
            return Ok(());
        };
        let (strategy, count) = (self.strategy, self.steps.parts.len());
        require!(strategy.is_selection(); "unfinished": "none, with strategy {strategy}", taken);
        require!(taken == count; "unfinished.taken": "{count}, the number of steps", taken);
        require!(asked > taken; "unfinished.asked": "more than {taken}", asked);
        Ok(())
    }

    /// Selected features must have the measures of a path, and other features must not.
    fn check_path(&self) -> Result<(), Fault> {
        let strategy = self.strategy;
        if !strategy.is_selection() {
            require!(self.settings.seed.is_none(); "settings.seed": "none", "a seed");
        }
        for (number, step) in self.steps.parts.iter().enumerate() {
            let Some(error) = step.lqo_error else {
                let cindex = step.lqo_cindex.is_some();
                require!(
                    !strategy.is_selection() && !cindex;
                    "steps[{number}].lqo_error": "a finite number from 0 on", "none"
                );
                continue;
            };
            require!(
                strategy.is_selection();
                "steps[{number}].lqo_error": "none, with strategy {strategy}", error
            );
            require!(
                error.is_finite() && error >= 0.0;
                "steps[{number}].lqo_error": "a finite number from 0 on", error
            );
            let cindex = step.lqo_cindex.unwrap_or_default();
            require!(
                (0.0..=1.0).contains(&cindex);
                "steps[{number}].lqo_cindex": "a number from 0 to 1", cindex
            );
        }
        Ok(())
    }
}

fn check_sizes(data: &DataSummary, has_columns: bool) -> Result<(), Fault> {
    /// Most rows or columns that can be indexed.
    const MOST: usize = u32::MAX as usize;
    let (rows, columns, constant) = (data.rows, data.columns, data.constant_columns);
    let (cells, varying) = (
        rows.saturating_mul(columns),
        columns.saturating_sub(constant),
    );
    let classes = usize::from(has_columns)..=varying;
    for (field, found, legal) in [
        ("rows", rows, 1..=MOST),
        ("queries", data.queries, 1..=rows),
        ("columns", columns, 1..=MOST),
        ("nonzeros", data.nonzeros, 0..=cells),
        ("constant_columns", constant, 0..=columns),
        ("column_classes", data.column_classes, classes),
    ] {
        let (least, most) = (legal.start(), legal.end());
        require!(legal.contains(&found); "data.{field}": "a number from {least} to {most}", found);
    }
    Ok(())
}
