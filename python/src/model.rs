//! Models, as in files of the command.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankrls::data::read::Missing;
use rankrls::model::{SelectedFeature, Shown};
use rankrls::warning::Warning;
use rankrls::{IndexBase, Model as Inner, Queries};
use serde_json::json;

use crate::data::{Array, Data, Filling, Matrix};
use crate::errors::{Result, value};
use crate::job;
use crate::warnings::told;

/// A model, as in a file of the command.
#[pyclass(frozen, module = "rankrls._rankrls")]
pub(crate) struct Model(Inner);

/// A row, its score, the positions of features in the model, and their contributions to the score.
type ExplainedRow = (usize, f64, Array<usize>, Array<f64>);

impl Model {
    /// A model that has been fitted: its columns count from 1, as in files.
    pub(crate) fn of(fitted: Inner) -> Self {
        Self(fitted.counted_from(IndexBase::One))
    }
}

#[pymethods]
impl Model {
    /// The model of a document, which messages call `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name="model.json"))]
    fn from_json(text: &[u8], name: &str) -> Result<Self> {
        Ok(Self(Inner::parse(text, Path::new(name))?))
    }

    /// Warnings of the model, which messages call `name`.
    fn warnings(&self, name: &str) -> Vec<String> {
        told(Warning::of_unfinished(name, self.0.unfinished))
    }

    /// The document, with the names of the columns if `names` has one for every column.
    #[pyo3(signature = (names=None))]
    fn to_json<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
    ) -> Result<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        match names {
            None => self.0.write_to(&mut text)?,
            Some(names) => {
                let (columns, found) = (self.0.data.columns, names.len());
                if found != columns {
                    let names = format!("expected {columns} names of columns, found {found}");
                    return Err(value(names));
                }
                let named = self.0.clone().with_column_names(names);
                named.write_to(&mut text)?;
            }
        }
        Ok(PyBytes::new(py, &text))
    }

    /// The model with a name for each feature, in its order, as far as they are known.
    fn with_names(&self, names: Vec<Option<String>>) -> Self {
        let mut model = self.0.clone();
        for (feature, name) in model.features.iter_mut().zip(names) {
            feature.name = name;
        }
        Self(model)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let text = slf.get().to_json(slf.py(), None)?;
        let arguments = (text,).into_pyobject(slf.py())?;
        Ok((slf.getattr("from_json")?, arguments.into_any()))
    }

    /// 0-based columns, in order of selection.
    #[getter]
    fn features(&self) -> Array<i64> {
        let features = self.0.features.iter();
        Array(features.map(|feature| feature.feature.into()).collect())
    }

    /// A weight for each feature.
    #[getter]
    fn weights(&self) -> Array<f64> {
        let features = self.0.features.iter();
        Array(features.map(|feature| feature.weight).collect())
    }

    /// A coefficient for each row of the basis, under a kernel that is not linear.
    #[getter]
    fn coefficients(&self) -> Array<f64> {
        let rows = self.0.expansion.iter().flat_map(|basis| &basis.rows);
        Array(rows.map(|row| row.coefficient).collect())
    }

    /// Names of the features. `None` for an unknown name.
    #[getter]
    fn names(&self) -> Vec<Option<&str>> {
        let features = self.0.features.iter();
        features.map(|feature| feature.name.as_deref()).collect()
    }

    /// Names of all columns, if the document has them.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.0.column_names.iter().map(String::as_str).collect()
    }

    /// The rest of the model in JSON. For each selected feature, `identical` lists the columns that centre to the
    /// same column up to sign.
    #[getter]
    fn facts(&self) -> String {
        let model = &self.0;
        let features: &[SelectedFeature] = if model.strategy.is_selection() {
            &model.features
        } else {
            &[]
        };
        let identical = features.iter().map(|feature| &feature.identical);
        let measured = |step: &SelectedFeature| json!({"lqo_error": step.lqo_error, "lqo_cindex": step.lqo_cindex});
        let facts = json!({
            "strategy": model.strategy,
            "objective": model.objective,
            "settings": model.settings,
            "choice": model.choice,
            "kernel": model.expansion.as_ref().map(|basis| basis.kernel),
            "missing": model.table.missing,
            "columns": model.data.columns,
            "rows": model.data.rows,
            "path": features.iter().map(measured).collect::<Vec<_>>(),
            "identical": identical.collect::<Vec<_>>(),
        });
        facts.to_string()
    }

    /// Scores of the rows of `x`, computed on `threads` threads.
    fn scores(&self, py: Python<'_>, x: Matrix<'_>, threads: usize) -> Result<Array<f64>> {
        let copy = x.copied()?;
        job::finish(py, threads, || {
            Ok(Array(self.0.scores(&copy.unlabelled()?)))
        })
    }

    /// A warning if the model was trained on the rows of `data`.
    fn seen(&self, py: Python<'_>, data: Data<'_>) -> Result<Vec<String>> {
        let (copy, trained) = (data.copied()?, self.0.data.hash);
        let seen = job::finish(py, 1, || {
            Ok(Warning::of_training_data(trained, &copy.dataset()?))
        })?;
        Ok(told(seen))
    }

    /// Why the rows of the query at position `query` are in their order: the reference of the scores, and the rows.
    fn explain(
        &self,
        py: Python<'_>,
        data: Data<'_>,
        query: usize,
        versus: Option<usize>,
    ) -> Result<(f64, Vec<ExplainedRow>)> {
        let copy = data.copied()?;
        let found = job::finish(py, 1, || {
            let (data, versus) = (copy.dataset()?, versus.map(|row| row + 1));
            Ok(self.0.explain(&data, query, versus, Shown::All)?)
        })?;
        let rows = found.rows.iter().map(|row| {
            let parts = row.contributions.iter();
            let places = parts.clone().map(|part| part.position).collect();
            let amounts = parts.map(|part| part.contribution).collect();
            (row.row - 1, row.score, Array(places), Array(amounts))
        });
        Ok((found.reference, rows.collect()))
    }
}

/// The values of `columns` with numbers for nan. `columns` are compressed columns, whose rows are in queries of
/// `sizes` rows each. `missing` is a number or mean.
#[pyfunction]
pub(crate) fn fill(
    py: Python<'_>,
    columns: Filling<'_>,
    sizes: Vec<usize>,
    missing: &str,
    threads: usize,
) -> Result<Array<f64>> {
    let missing: Missing = missing.parse().map_err(value)?;
    let queries = Queries::from_sizes(&sizes)?;
    let parts = columns.copied()?;
    job::finish(py, threads, || Ok(Array(parts.filled(missing, &queries))))
}
