//! Models, as the command's files have them.

use std::path::Path;

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankrls::data::Strings;
use rankrls::{Dataset, FeatureNames, Model as Inner};

use crate::data::{Matrix, dataset};
use crate::errors::{self, value};
use crate::job;

/// A model, as a file of the command has it.
#[pyclass(frozen, module = "rankrls._rankrls")]
pub(crate) struct Model(pub(crate) Inner);

/// A row, its score, the positions of features in the model, and what each adds to the score.
type ExplainedRow<'py> = (
    usize,
    f64,
    Bound<'py, PyArray1<usize>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl Model {
    /// The model of a document, which messages call `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name="model.json"))]
    fn from_json(text: &[u8], name: &str) -> PyResult<Self> {
        Inner::parse(text, Path::new(name)).map(Self).map_err(value)
    }

    /// The document, with the names of the features where `names` has one for every column.
    #[pyo3(signature = (names=None))]
    fn to_json<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        let written = match names {
            None => self.0.write_to(&mut text),
            Some(names) => {
                let names = FeatureNames::new(names.iter().collect::<Strings>());
                self.0.clone().with_names(&names).write_to(&mut text)
            }
        };
        written.map_err(value)?;
        Ok(PyBytes::new(py, &text))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let text = slf.get().to_json(slf.py(), None)?;
        let arguments = (text,).into_pyobject(slf.py())?;
        Ok((slf.getattr("from_json")?, arguments.into_any()))
    }

    /// 0-based columns, in order of selection.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let features = self.0.features().iter();
        PyArray1::from_iter(py, features.map(|feature| feature.feature.into()))
    }

    /// A weight for each of them.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let features = self.0.features().iter();
        PyArray1::from_iter(py, features.map(|feature| feature.weight))
    }

    /// The kernel in JSON, where it is not linear in the columns.
    #[getter]
    fn kernel(&self) -> PyResult<Option<String>> {
        let kernel = self.0.expansion().map(|basis| basis.kernel);
        let text = kernel.map(|kernel| serde_json::to_string(&kernel));
        text.transpose().map_err(value)
    }

    /// A coefficient for each row of the basis, under such a kernel.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let rows = self.0.expansion().into_iter().flat_map(|basis| &basis.rows);
        PyArray1::from_iter(py, rows.map(|row| row.coefficient))
    }

    /// Scores of the rows of `x`, on so many threads.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let view = x.view()?;
        let scores = job::finish(py, threads, || {
            let data = Dataset::unlabelled(view).map_err(errors::dataset)?;
            Ok(self.0.scores(&data))
        })?;
        Ok(scores.to_pyarray(py))
    }

    /// Why the rows of the query at position `query` are in their order: the reference of the
    /// scores, and the rows.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        codes: PyReadonlyArray1<'py, i64>,
        ids: Vec<String>,
        query: usize,
        versus: Option<usize>,
    ) -> PyResult<(f64, Vec<ExplainedRow<'py>>)> {
        let labels = vec![0.0; codes.len()?];
        let (view, codes) = (x.view()?, codes.as_slice()?);
        let found = job::finish(py, 1, || {
            let data = dataset(view, &labels, codes, &ids).map_err(errors::dataset)?;
            let versus = versus.map(|row| row + 1);
            self.0.explain(&data, query, versus).map_err(value)
        })?;
        let rows = found.rows.iter().map(|row| {
            let parts = row.contributions.iter();
            let places = PyArray1::from_iter(py, parts.clone().map(|part| part.position));
            let amounts = PyArray1::from_iter(py, parts.map(|part| part.contribution));
            (row.row - 1, row.score, places, amounts)
        });
        Ok((found.reference, rows.collect()))
    }

    /// Columns that centre to the same one up to sign, for each of them.
    #[getter]
    fn identical(&self) -> Vec<Vec<u32>> {
        let features = self.0.features().iter();
        features.map(|feature| feature.identical.clone()).collect()
    }

    /// Names of the features, as far as they are known.
    #[getter]
    fn names(&self) -> Vec<Option<String>> {
        let features = self.0.features().iter();
        features.map(|feature| feature.name.clone()).collect()
    }

    /// Leave-query-out error and concordance index after each step; none for `RankRLS`.
    #[getter]
    fn path(&self) -> Vec<(f64, Option<f64>)> {
        let path = self.0.path().iter();
        path.map(|step| (step.lqo_error, step.lqo_cindex)).collect()
    }

    /// What is taken for missing values: a number or `mean`, as text, if it was said in training.
    #[getter]
    fn missing(&self) -> Option<String> {
        self.0.table().missing.map(|missing| missing.to_string())
    }

    /// Columns of the training data.
    #[getter]
    fn columns(&self) -> usize {
        self.0.data().columns
    }

    /// Which pairs were to be ordered.
    #[getter]
    fn objective(&self) -> &'static str {
        self.0.objective().name()
    }

    /// The ridge parameter.
    #[getter]
    fn alpha(&self) -> f64 {
        self.0.settings().lambda.value()
    }

    /// The ridge parameter of cross-fitted weights.
    #[getter]
    fn refit_alpha(&self) -> Option<f64> {
        // A model has the number.
        let ridge = self.0.settings().target.refit_lambda?;
        Some(ridge.lambda(1.0).value())
    }

    /// How the features were chosen.
    #[getter]
    fn strategy(&self) -> &'static str {
        self.0.strategy().name()
    }
}
