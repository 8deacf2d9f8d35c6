//! The JSON of a model file: written, read, and everything in it checked.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::ser::Formatter;

use super::{
    BasisRow, DataSummary, Expansion, FeatureChoice, Model, ModelError, PathStep, SelectedFeature,
};
use crate::data::IndexBase;
use crate::data::read::TableOptions;
use crate::greedy::{Criterion, Sampler, TargetOptions};
use crate::metrics::{Convention, Metric};
use crate::ridge::Kernel;
use crate::{Lambda, Objective, QueryWeight, Scale};
use rankrls_files::{Output, read_whole};

/// The schema of model files.
pub const SCHEMA: &str = "rankrls.model/1";

/// Most bytes of text that are taken for a model.
pub(super) const LARGEST: u64 = 256 << 20;

impl Model {
    /// Reads the model file at `path`, or standard input for `-`.
    ///
    /// # Errors
    /// [`ModelError`] for a file that cannot be read or is no valid model.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        Self::parse(&read_whole(path, LARGEST)?, path)
    }

    /// Reads the text of a model file, which messages call `path`.
    ///
    /// # Errors
    /// [`ModelError`] for text that is no valid model.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, ModelError> {
        check_schema(text, path)?;
        let document: Document =
            serde_json::from_slice(text).map_err(|error| json_error(path, &error))?;
        document.model().map_err(|invalid| ModelError::Value {
            path: path.to_owned(),
            field: invalid.field,
            expected: invalid.expected,
            found: invalid.found,
        })
    }

    /// Writes the model to the file at `path`, which appears whole or not at all. It is
    /// compressed if its name ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// [`ModelError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        let write = || {
            let mut output = Output::create(path)?;
            self.write_to(&mut output)?;
            output.finish()
        };
        write().map_err(|source| ModelError::Write {
            path: path.to_owned(),
            source,
        })
    }

    /// Writes the text of the model file.
    ///
    /// # Errors
    /// Those of `writer`; [`io::ErrorKind::InvalidInput`] for numbers that are not finite, which
    /// JSON does not have.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        let coefficients = self.expansion.iter().flat_map(Expansion::rows);
        let weights = self.features.iter().map(|f| f.weight);
        let mut weights = weights.chain(coefficients.map(|row| row.coefficient));
        let weights = weights.all(f64::is_finite);
        if !weights || !self.path.iter().all(|step| step.lqo_error.is_finite()) {
            let message = "weights or errors of the model are no finite numbers";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let document = Document::new(self);
        if self.strategy.is_selection() {
            serde_json::to_writer_pretty(&mut writer, &document)?;
        } else {
            // There may be a million features: a line each.
            let lines = Lines::default();
            let mut serializer = serde_json::Serializer::with_formatter(&mut writer, lines);
            document.serialize(&mut serializer)?;
        }
        writer.write_all(b"\n")
    }
}

/// Tells other documents and other versions from models that are damaged.
fn check_schema(text: &[u8], path: &Path) -> Result<(), ModelError> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
    }
    let header: Header = serde_json::from_slice(text).map_err(|error| json_error(path, &error))?;
    let remedy = match &header.schema {
        Some(schema) if schema == SCHEMA => return Ok(()),
        Some(schema) if schema.starts_with("rankrls.model/") => {
            " (the model was written by another version of rankrls)"
        }
        _ => " (write models with `rankrls select -o` or `train -o`)",
    };
    let found = header.schema.map(|schema| format!("{:?}", short(&schema)));
    Err(ModelError::Schema {
        path: path.to_owned(),
        expected: SCHEMA,
        found: found.unwrap_or_else(|| "none".to_owned()),
        remedy,
    })
}

/// The beginning of a text that may be of any length.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn json_error(path: &Path, error: &serde_json::Error) -> ModelError {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    ModelError::Json {
        path: path.to_owned(),
        line,
        column,
        message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
    }
}

/// A model as it is written: `index` and `identical` count as the data file does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    strategy: FeatureChoice,
    lambda: Lambda,
    #[serde(default)]
    criterion: CriterionName,
    #[serde(default)]
    convention: Option<Convention>,
    #[serde(default, skip_serializing_if = "Objective::is_query")]
    objective: Objective,
    #[serde(default)]
    query_weight: QueryWeight,
    #[serde(default, skip_serializing_if = "TargetOptions::is_default")]
    target: TargetOptions,
    #[serde(default, skip_serializing_if = "Scale::is_none")]
    scale: Scale,
    /// Column classes drawn each step, if not all were judged.
    candidates: Option<usize>,
    seed: Option<u64>,
    index_base: u32,
    #[serde(default, skip_serializing_if = "TableOptions::is_default")]
    table: TableOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis: Option<Vec<BasisRow>>,
    features: Vec<FeatureEntry>,
    path: Vec<PathEntry>,
    data: DataSummary,
}

/// `squared`, or a measure.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CriterionName {
    #[default]
    Squared,
    #[serde(untagged)]
    Measure(Metric),
}

/// A name or a list that is `None` is left out, not null.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "a name, null, or left out")]
struct FeatureEntry {
    index: u64,
    #[serde(default, deserialize_with = "present")]
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Option<String>>,
    weight: f64,
    #[serde(default, deserialize_with = "present")]
    #[serde(skip_serializing_if = "Option::is_none")]
    identical: Option<Vec<u64>>,
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathEntry {
    step: usize,
    feature: u64,
    lqo_error: f64,
    lqo_cindex: Option<f64>,
}

/// A value that is out of its range or contradicts another.
struct Invalid {
    field: String,
    expected: String,
    found: String,
}

/// Refuses a value unless it is `legal`.
fn require(
    legal: bool,
    field: impl Into<String>,
    expected: impl Into<String>,
    found: impl Display,
) -> Result<(), Invalid> {
    if legal {
        return Ok(());
    }
    Err(Invalid {
        field: field.into(),
        expected: expected.into(),
        found: found.to_string(),
    })
}

impl Document {
    fn new(model: &Model) -> Self {
        let base = model.index_base;
        // What is null or empty is left out where there may be a million features.
        let brief = !model.strategy.is_selection();
        let feature = |feature: &SelectedFeature| {
            let identical = feature.identical.iter().map(|&f| base.written(f));
            FeatureEntry {
                index: base.written(feature.feature),
                name: (!brief || feature.name.is_some()).then(|| feature.name.clone()),
                weight: feature.weight,
                identical: Some(identical.collect())
                    .filter(|list: &Vec<u64>| !brief || !list.is_empty()),
            }
        };
        let step = |(step, path): (usize, &PathStep)| PathEntry {
            step,
            feature: base.written(model.features[step - 1].feature),
            lqo_error: path.lqo_error,
            lqo_cindex: path.lqo_cindex,
        };
        let (criterion, convention) = match model.criterion {
            Criterion::Squared => (CriterionName::Squared, None),
            Criterion::Ranking { metric, convention } => {
                (CriterionName::Measure(metric), Some(convention))
            }
        };
        Self {
            schema: SCHEMA.to_owned(),
            strategy: model.strategy,
            lambda: model.lambda,
            criterion,
            convention,
            objective: model.objective,
            query_weight: model.query_weight,
            target: model.target,
            scale: model.scale,
            candidates: model.sampler.map(|sampler| sampler.size),
            seed: model.sampler.map(|sampler| sampler.seed),
            index_base: base.first(),
            table: model.table.clone(),
            kernel: model.expansion.as_ref().map(Expansion::kernel),
            basis: model.expansion.as_ref().map(|expansion| {
                let mut rows = expansion.rows().to_vec();
                let indices = rows.iter_mut().flat_map(|row| &mut row.indices);
                indices.for_each(|index| *index += u64::from(base.first()));
                rows
            }),
            features: model.features.iter().map(feature).collect(),
            path: (1..).zip(&model.path).map(step).collect(),
            data: model.data,
        }
    }

    /// The model, once everything is checked that the types do not say.
    fn model(self) -> Result<Model, Invalid> {
        let base = match self.index_base {
            0 => IndexBase::Zero,
            other => {
                require(other == 1, "index_base", "0 or 1", other)?;
                IndexBase::One
            }
        };
        self.check_sampler()?;
        check_sizes(&self.data, self.kernel.is_none())?;
        let expansion = self.expansion(base)?;
        if expansion.is_none() {
            self.check_features(base)?;
        }
        self.check_path()?;
        let criterion = self.criterion()?;
        let sampler = self.candidates.zip(self.seed);
        let column = |index: u64| {
            let column = u32::try_from(index - u64::from(base.first()));
            column.expect("indices have been checked to be in range")
        };
        let feature = |entry: FeatureEntry| SelectedFeature {
            feature: column(entry.index),
            name: entry.name.flatten(),
            weight: entry.weight,
            identical: entry.identical.into_iter().flatten().map(column).collect(),
        };
        let step = |entry: &PathEntry| PathStep {
            lqo_error: entry.lqo_error,
            lqo_cindex: entry.lqo_cindex,
        };
        Ok(Model {
            strategy: self.strategy,
            lambda: self.lambda,
            criterion,
            objective: self.objective,
            query_weight: self.query_weight,
            target: self.target,
            scale: self.scale,
            expansion,
            sampler: sampler.map(|(size, seed)| Sampler { size, seed }),
            index_base: base,
            table: self.table,
            path: self.path.iter().map(step).collect(),
            data: self.data,
            features: self.features.into_iter().map(feature).collect(),
        })
    }

    /// The kernel and its basis, if there is one: then there are no features.
    fn expansion(&self, base: IndexBase) -> Result<Option<Expansion>, Invalid> {
        let (kernel, basis) = match (self.kernel, &self.basis) {
            (None, None) => return Ok(None),
            (Some(kernel), Some(basis)) => (kernel, basis),
            _ => {
                let expected = "a kernel together with its basis, or neither";
                return require(false, "basis", expected, "one of them").map(|()| None);
            }
        };
        let checked = kernel.checked().map_err(|error| Invalid {
            field: "kernel".to_owned(),
            expected: "a kernel with its parameters".to_owned(),
            found: error.to_string(),
        })?;
        let expected = "none, as the model has a kernel that is not linear";
        let count = self.features.len();
        require(
            count == 0 && !kernel.is_linear(),
            "features",
            expected,
            count,
        )?;
        let selected = self.strategy.is_selection();
        require(!selected, "strategy", "all or given", self.strategy)?;
        let most = self.data.rows;
        let expected = format!("from 1 to {most} rows, those of the data");
        require(
            (1..=most).contains(&basis.len()),
            "basis",
            expected,
            basis.len(),
        )?;
        let range = u64::from(base.first())..u64::from(base.first()) + self.data.columns as u64;
        let mut rows = basis.clone();
        for (number, row) in rows.iter_mut().enumerate() {
            let field = |name: &str| format!("basis[{number}].{name}");
            let (indices, values) = (row.indices.len(), row.values.len());
            let expected = format!("{indices} values, one an index");
            require(indices == values, field("values"), expected, values)?;
            let expected = format!(
                "ascending indices from {} to {}",
                range.start,
                range.end - 1
            );
            let ascending = row.indices.windows(2).all(|pair| pair[0] < pair[1]);
            let legal = ascending && row.indices.iter().all(|index| range.contains(index));
            require(legal, field("indices"), expected, "others")?;
            let finite = row.coefficient.is_finite() && row.values.iter().all(|v| v.is_finite());
            require(finite, field("values"), "finite numbers", "others")?;
            let indices = row.indices.iter_mut();
            indices.for_each(|index| *index -= u64::from(base.first()));
        }
        Ok(Some(Expansion::of_rows(checked, rows, self.data.columns)))
    }

    fn criterion(&self) -> Result<Criterion, Invalid> {
        match (self.criterion, self.convention) {
            (CriterionName::Measure(metric), Some(convention)) => {
                Ok(Criterion::Ranking { metric, convention })
            }
            (CriterionName::Squared, convention) => {
                let found = convention.map_or_else(String::new, |found| found.to_string());
                let expected = "null, as the criterion squared has none";
                require(convention.is_none(), "convention", expected, found)?;
                Ok(Criterion::Squared)
            }
            (CriterionName::Measure(metric), None) => Err(Invalid {
                field: "convention".to_owned(),
                expected: format!("that of the criterion {metric}"),
                found: "null".to_owned(),
            }),
        }
    }

    fn check_sampler(&self) -> Result<(), Invalid> {
        let both = self.candidates.is_some() == self.seed.is_some();
        let expected = "a seed together with a number of candidates, or neither";
        require(both, "seed", expected, "one of them")?;
        require(self.candidates != Some(0), "candidates", "1 or more", 0)
    }

    /// Every column may stand in one place only, as a feature or as one that equals it.
    fn check_features(&self, base: IndexBase) -> Result<(), Invalid> {
        let data = &self.data;
        let (most, which) = if self.strategy.is_selection() {
            (data.column_classes, "one a column class")
        } else {
            // No more constant columns than columns: that was checked.
            (
                data.columns - data.constant_columns,
                "the columns that vary",
            )
        };
        let count = self.features.len();
        let expected = format!("from 1 to {most} features, {which}");
        require((1..=most).contains(&count), "features", expected, count)?;
        for (number, FeatureEntry { weight, .. }) in self.features.iter().enumerate() {
            let field = || format!("features[{number}].weight");
            if !weight.is_finite() {
                require(false, field(), "a finite number", weight)?;
            }
        }
        let range = u64::from(base.first())..u64::from(base.first()) + data.columns as u64;
        let mut indices = Vec::with_capacity(count);
        for (number, feature) in self.features.iter().enumerate() {
            for &index in [feature.index]
                .iter()
                .chain(feature.identical.iter().flatten())
            {
                if !range.contains(&index) {
                    let expected = format!("indices from {} to {}", range.start, range.end - 1);
                    require(false, format!("features[{number}]"), expected, index)?;
                }
                indices.push(index);
            }
        }
        indices.sort_unstable();
        match indices.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                let found = format!("{} twice", pair[0]);
                require(false, "features", "every index once", found)
            }
        }
    }

    fn check_path(&self) -> Result<(), Invalid> {
        let (path, features) = (&self.path, &self.features);
        if !self.strategy.is_selection() {
            require(self.seed.is_none(), "seed", "null", "a seed")?;
            let expected = format!("no steps, with strategy {}", self.strategy);
            return require(path.is_empty(), "path", expected, path.len());
        }
        let expected = format!("{} steps, one a feature", features.len());
        require(path.len() == features.len(), "path", expected, path.len())?;
        for (number, (entry, feature)) in path.iter().zip(features).enumerate() {
            let field = |name: &str| format!("path[{number}].{name}");
            let step = number + 1;
            require(
                entry.step == step,
                field("step"),
                step.to_string(),
                entry.step,
            )?;
            let expected = format!("{}, the feature in its place", feature.index);
            let same = entry.feature == feature.index;
            require(same, field("feature"), expected, entry.feature)?;
            let error = entry.lqo_error;
            let legal = error.is_finite() && error >= 0.0;
            require(
                legal,
                field("lqo_error"),
                "a finite number from 0 on",
                error,
            )?;
            if let Some(index) = entry.lqo_cindex {
                let legal = (0.0..=1.0).contains(&index);
                require(legal, field("lqo_cindex"), "a number from 0 to 1", index)?;
            }
        }
        Ok(())
    }
}

fn check_sizes(data: &DataSummary, has_columns: bool) -> Result<(), Invalid> {
    /// Most rows or columns that can be indexed.
    const MOST: usize = u32::MAX as usize;
    let within = |field: &str, found: usize, least: usize, most: usize| {
        let expected = format!("a number from {least} to {most}");
        let legal = (least..=most).contains(&found);
        require(legal, format!("data.{field}"), expected, found)
    };
    within("rows", data.rows, 1, MOST)?;
    within("queries", data.queries, 1, data.rows)?;
    within("columns", data.columns, 1, MOST)?;
    within(
        "nonzeros",
        data.nonzeros,
        0,
        data.rows.saturating_mul(data.columns),
    )?;
    let (columns, constant) = (data.columns, data.constant_columns);
    let expected = format!("at most {columns}, the columns");
    require(
        constant <= columns,
        "data.constant_columns",
        expected,
        constant,
    )?;
    let least = usize::from(has_columns);
    within(
        "column_classes",
        data.column_classes,
        least,
        columns - constant,
    )
}

/// JSON with one feature a line: breaks lines after the members of a document and of what they
/// hold, not further inside.
#[derive(Debug, Default)]
pub(super) struct Lines {
    depth: usize,
}

impl Lines {
    /// How deep lines are broken.
    const DEPTH: usize = 2;

    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < Self::DEPTH {
            writer.write_all(b"\n")?;
        }
        writer.write_all(bracket)
    }

    fn separate<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= Self::DEPTH {
            writer.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.separate(w, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.separate(w, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
