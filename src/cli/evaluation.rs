//! What `evaluate` prints.

use std::borrow::Cow;

use rankrls::data::read::Loaded;
use rankrls::metrics::{Convention, Evaluation};
use serde::{Serialize, Serializer};

use super::measures::Object;
use super::numbers::{measure, printable};
use super::table::{lines, table};

/// An evaluation to be printed.
#[derive(Debug)]
pub(crate) struct EvaluationReport<'a> {
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) loaded: &'a Loaded,
    pub(crate) per_query: bool,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    convention: Convention,
    metrics: Object<Option<f64>>,
    rows: usize,
    queries: usize,
    /// Queries without a value, by measure.
    left_out: Object<usize>,
    dropped_entries: u64,
    dropped_columns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Vec<Object<Cell<'a>>>>,
}

/// An identifier or a value.
#[derive(Debug)]
enum Cell<'a> {
    Query(Cow<'a, str>),
    Value(Option<f64>),
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Query(id) => id.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl EvaluationReport<'_> {
    /// The JSON document of the schema `rankrls.evaluation/1`.
    pub(crate) fn document(&self) -> impl Serialize {
        let metrics = &self.evaluation.metrics;
        let named = metrics.iter().map(|values| values.metric.to_string());
        let means = named.clone().zip(metrics.iter().map(|values| values.mean));
        let left_out = named.zip(metrics.iter().map(|values| values.left_out));
        let data = &self.loaded.dataset;
        Document {
            schema: "rankrls.evaluation/1",
            convention: self.evaluation.convention,
            metrics: Object(means.collect()),
            rows: data.rows(),
            queries: data.queries().len(),
            left_out: Object(left_out.collect()),
            dropped_entries: self.loaded.dropped_entries,
            dropped_columns: self.loaded.dropped_columns,
            per_query: self.per_query.then(|| self.entries()),
        }
    }

    fn entries(&self) -> Vec<Object<Cell<'_>>> {
        let entry = |query: usize| {
            let id = ("query".to_owned(), Cell::Query(self.query(query)));
            let values = self.evaluation.metrics.iter();
            let values = values.map(|values| {
                (
                    values.metric.to_string(),
                    Cell::Value(values.per_query[query]),
                )
            });
            Object(std::iter::once(id).chain(values).collect())
        };
        (0..self.loaded.dataset.queries().len())
            .map(entry)
            .collect()
    }

    /// The identifier of a query, or its number from 1 if it has none.
    fn query(&self, query: usize) -> Cow<'_, str> {
        let id = self.loaded.dataset.queries().id(query);
        id.map_or_else(|| (query + 1).to_string().into(), Cow::Borrowed)
    }

    /// The same for people.
    pub(crate) fn text(&self) -> String {
        let data = &self.loaded.dataset;
        let (rows, queries) = (data.rows(), data.queries().len());
        let convention = self.evaluation.convention;
        let mut text = format!("{rows} rows, {queries} queries, convention {convention}\n\n");
        text += &self.means();
        text.push('\n');
        if self.per_query {
            text.push('\n');
            text += &self.queries();
            text.push('\n');
        }
        text
    }

    fn means(&self) -> String {
        let mut table = table(&["measure", "mean", "queries", "left out"].map(str::to_owned));
        for values in &self.evaluation.metrics {
            table.add_row([
                values.metric.to_string(),
                measure(values.mean),
                values.queries.to_string(),
                values.left_out.to_string(),
            ]);
        }
        lines(table)
    }

    fn queries(&self) -> String {
        let metrics = &self.evaluation.metrics;
        let names = metrics.iter().map(|values| values.metric.to_string());
        let header: Vec<String> = std::iter::once("query".to_owned()).chain(names).collect();
        let mut table = table(&header);
        for query in 0..self.loaded.dataset.queries().len() {
            let values = metrics
                .iter()
                .map(|values| measure(values.per_query[query]));
            let id = printable(&self.query(query));
            table.add_row(std::iter::once(id).chain(values));
        }
        lines(table)
    }
}
