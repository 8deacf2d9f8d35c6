//! The JSON of a model file: written, read, and everything in it checked.

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::ser::Formatter;

use super::{
    BasisRow, DataSummary, Expansion, FeatureChoice, Model, ModelError, PathStep, SelectedFeature,
};
use crate::data::IndexBase;
use crate::data::read::TableOptions;
use crate::greedy::{Criterion, SEED, SelectionOptions, TargetOptions};
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
        let document: Document<Vec<SelectedFeature>> =
            serde_json::from_slice(text).map_err(|error| json_error(path, &error))?;
        document.model().map_err(|invalid| invalid.of(path))
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
        let weights = weights.chain(coefficients.map(|row| row.coefficient));
        let errors = self.path.iter().map(|step| step.lqo_error);
        if !weights.chain(errors).all(f64::is_finite) {
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

/// A model as it is written: all columns are counted as in the data file. The settings are its first
/// keys. `F` are the features, [`Entry`] to be written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<F> {
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
    /// The seed of the draws.
    seed: Option<u64>,
    index_base: u32,
    #[serde(default, skip_serializing_if = "TableOptions::is_default")]
    table: TableOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis: Option<Vec<BasisRow>>,
    features: F,
    path: Vec<PathStep>,
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

/// A feature to be written.
#[derive(Debug)]
struct Entry<'a> {
    feature: &'a SelectedFeature,
    base: IndexBase,
    /// Without a name that is null and an empty list.
    brief: bool,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SelectedFeature {
            feature,
            name,
            weight,
            identical,
        } = self.feature;
        let written = |&column: &u32| self.base.written(column);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &written(feature))?;
        if !self.brief || name.is_some() {
            map.serialize_entry("name", name)?;
        }
        map.serialize_entry("weight", weight)?;
        if !self.brief || !identical.is_empty() {
            let identical: Vec<u64> = identical.iter().map(written).collect();
            map.serialize_entry("identical", &identical)?;
        }
        map.end()
    }
}

impl<'a> Document<Vec<Entry<'a>>> {
    fn new(model: &'a Model) -> Self {
        let (base, settings) = (model.index_base, &model.settings);
        // There may be a million features that were not selected.
        let brief = !model.strategy.is_selection();
        let entry = |feature| Entry {
            feature,
            base,
            brief,
        };
        let (criterion, convention) = match settings.criterion {
            Criterion::Squared => (CriterionName::Squared, None),
            Criterion::Ranking { metric, convention } => {
                (CriterionName::Measure(metric), Some(convention))
            }
        };
        let mut document = Self {
            schema: SCHEMA.to_owned(),
            strategy: model.strategy,
            lambda: settings.lambda,
            criterion,
            convention,
            objective: model.objective,
            query_weight: settings.query_weight,
            target: settings.target,
            scale: settings.scale,
            candidates: settings.sample,
            seed: settings.sample.map(|_| settings.seed),
            index_base: base.first(),
            table: model.table.clone(),
            kernel: model.expansion.as_ref().map(Expansion::kernel),
            basis: model.expansion.as_ref().map(|basis| basis.rows().to_vec()),
            features: model.features.iter().map(entry).collect(),
            path: model.path.clone(),
            data: model.data,
        };
        document.recount(|column| *column += base.first());
        document
    }
}

impl<F> Document<F> {
    /// Counts the columns of basis and path anew.
    fn recount(&mut self, count: impl Fn(&mut u32)) {
        let basis = self.basis.iter_mut().flatten();
        basis.for_each(|row| row.indices.iter_mut().for_each(&count));
        self.path
            .iter_mut()
            .for_each(|step| count(&mut step.feature));
    }
}

/// A value that is out of its range or contradicts another.
pub(super) struct Invalid {
    pub(super) field: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Invalid {
    /// The error of the file at `path`.
    pub(super) fn of(self, path: &Path) -> ModelError {
        ModelError::Value {
            path: path.to_owned(),
            field: self.field,
            expected: self.expected,
            found: self.found,
        }
    }
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

impl Document<Vec<SelectedFeature>> {
    /// The model, once everything is checked that the types do not say.
    fn model(mut self) -> Result<Model, Invalid> {
        let base = match self.index_base {
            0 => IndexBase::Zero,
            other => {
                require(other == 1, "index_base", "0 or 1", other)?;
                IndexBase::One
            }
        };
        self.check_sampler()?;
        check_sizes(&self.data, self.kernel.is_none())?;
        // No more columns than 32 bits count: that was checked.
        let first = base.first();
        let columns = u64::from(first)..u64::from(first) + self.data.columns as u64;
        let kernel = self.check_kernel(&columns)?;
        if kernel.is_none() {
            self.check_features(&columns)?;
        }
        self.check_path()?;
        let settings = SelectionOptions {
            strategy: self.strategy.selects_by(),
            criterion: self.criterion()?,
            query_weight: self.query_weight,
            scale: self.scale,
            sample: self.candidates,
            seed: self.seed.unwrap_or(SEED),
            target: self.target,
            ..SelectionOptions::new(self.features.len(), self.lambda)
        };
        self.recount(|column| *column -= first);
        for feature in &mut self.features {
            feature.feature -= first;
            feature
                .identical
                .iter_mut()
                .for_each(|column| *column -= first);
        }
        let rows = kernel.zip(self.basis);
        Ok(Model {
            strategy: self.strategy,
            objective: self.objective,
            settings,
            index_base: base,
            table: self.table,
            features: self.features,
            expansion: rows
                .map(|(kernel, rows)| Expansion::of_rows(kernel, rows, self.data.columns)),
            path: self.path,
            data: self.data,
        })
    }

    /// The kernel, if there is one: then there is a basis, and there are no features.
    fn check_kernel(&self, columns: &Range<u64>) -> Result<Option<Kernel>, Invalid> {
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
        let count = self.features.len();
        let legal = count == 0 && !kernel.is_linear();
        let expected = "none, as the model has a kernel that is not linear";
        require(legal, "features", expected, count)?;
        let selected = self.strategy.is_selection();
        require(!selected, "strategy", "all or given", self.strategy)?;
        let (most, rows) = (self.data.rows, basis.len());
        let expected = format!("from 1 to {most} rows, those of the data");
        require((1..=most).contains(&rows), "basis", expected, rows)?;
        for (number, row) in basis.iter().enumerate() {
            let field = |name: &str| format!("basis[{number}].{name}");
            let (indices, values) = (row.indices.len(), row.values.len());
            let expected = format!("{indices} values, one an index");
            require(indices == values, field("values"), expected, values)?;
            let (first, last) = (columns.start, columns.end - 1);
            let expected = format!("ascending indices from {first} to {last}");
            let ascending = row.indices.is_sorted_by(|a, b| a < b);
            let within = row
                .indices
                .iter()
                .all(|&index| columns.contains(&index.into()));
            require(ascending && within, field("indices"), expected, "others")?;
            let finite = row.coefficient.is_finite() && row.values.iter().all(|v| v.is_finite());
            require(finite, field("values"), "finite numbers", "others")?;
        }
        Ok(Some(checked))
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
    fn check_features(&self, columns: &Range<u64>) -> Result<(), Invalid> {
        let data = &self.data;
        let (most, which) = if self.strategy.is_selection() {
            (data.column_classes, "one a column class")
        } else {
            // No more constant columns than columns: that was checked.
            let varying = data.columns - data.constant_columns;
            (varying, "the columns that vary")
        };
        let count = self.features.len();
        let expected = format!("from 1 to {most} features, {which}");
        require((1..=most).contains(&count), "features", expected, count)?;
        let mut weights = self.features.iter().map(|feature| feature.weight);
        if let Some(number) = weights.position(|weight| !weight.is_finite()) {
            let field = format!("features[{number}].weight");
            require(
                false,
                field,
                "a finite number",
                self.features[number].weight,
            )?;
        }
        let mut indices = Vec::with_capacity(count);
        for (number, feature) in self.features.iter().enumerate() {
            for &index in [feature.feature].iter().chain(&feature.identical) {
                if !columns.contains(&index.into()) {
                    let expected = format!("indices from {} to {}", columns.start, columns.end - 1);
                    require(false, format!("features[{number}]"), expected, index)?;
                }
                indices.push(index);
            }
        }
        indices.sort_unstable();
        let twice = indices.windows(2).find(|pair| pair[0] == pair[1]);
        let found = twice.map_or_else(String::new, |pair| format!("{} twice", pair[0]));
        require(twice.is_none(), "features", "every index once", found)
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
        for (number, (step, feature)) in path.iter().zip(features).enumerate() {
            let field = |name: &str| format!("path[{number}].{name}");
            let (next, index) = (number + 1, feature.feature);
            require(
                step.step == next,
                field("step"),
                next.to_string(),
                step.step,
            )?;
            let expected = format!("{index}, the feature in its place");
            require(
                step.feature == index,
                field("feature"),
                expected,
                step.feature,
            )?;
            let error = step.lqo_error;
            let legal = error.is_finite() && error >= 0.0;
            require(
                legal,
                field("lqo_error"),
                "a finite number from 0 on",
                error,
            )?;
            let cindex = step.lqo_cindex.unwrap_or_default();
            let legal = (0.0..=1.0).contains(&cindex);
            require(legal, field("lqo_cindex"), "a number from 0 to 1", cindex)?;
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
    let cells = data.rows.saturating_mul(data.columns);
    within("nonzeros", data.nonzeros, 0, cells)?;
    let (columns, constant) = (data.columns, data.constant_columns);
    let (field, expected) = (
        "data.constant_columns",
        format!("at most {columns}, the columns"),
    );
    require(constant <= columns, field, expected, constant)?;
    let (least, most) = (usize::from(has_columns), columns - constant);
    within("column_classes", data.column_classes, least, most)
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
