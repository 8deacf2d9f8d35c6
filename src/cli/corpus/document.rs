//! What `corpus generate` tells of a corpus.

use std::fmt::Write as _;

use rankrls_parses::language::{Corpus, CorpusOptions, Report};
use serde::Serialize;

/// The JSON document of the schema `rankrls.corpus/1`.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    options: &'a CorpusOptions,
    train: Part<'a>,
    test: Option<Part<'a>>,
}

/// One of the data sets.
#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    report: &'a Report,
    labels: Labels,
}

/// How labels spread.
#[derive(Debug, Serialize)]
struct Labels {
    least: f64,
    mean: f64,
    largest: f64,
    /// Mean over queries of the largest label less the least.
    mean_range: f64,
}

impl Labels {
    fn of(corpus: &Corpus) -> Self {
        let labels = &corpus.labels;
        let ranges = corpus.ranges().map(|rows| {
            let (least, largest) = extremes(&labels[rows]);
            largest - least
        });
        let (least, largest) = extremes(labels);
        Self {
            least,
            mean: labels.iter().sum::<f64>() / labels.len() as f64,
            largest,
            mean_range: ranges.sum::<f64>() / corpus.sizes.len() as f64,
        }
    }
}

fn extremes(labels: &[f64]) -> (f64, f64) {
    let first = (f64::INFINITY, f64::NEG_INFINITY);
    let wider = |(least, largest): (f64, f64), &label| (least.min(label), largest.max(label));
    labels.iter().fold(first, wider)
}

impl<'a> Document<'a> {
    pub(super) fn new(
        options: &'a CorpusOptions,
        train: &'a Corpus,
        test: Option<&'a Corpus>,
    ) -> Self {
        let part = |corpus: &'a Corpus| Part {
            report: &corpus.report,
            labels: Labels::of(corpus),
        };
        Self {
            schema: "rankrls.corpus/1",
            version: env!("CARGO_PKG_VERSION"),
            options,
            train: part(train),
            test: test.map(part),
        }
    }

    /// The same for people.
    pub(super) fn text(&self) -> String {
        let mut text = self.train.text("corpus");
        let (vocabulary, seed) = (self.train.report.vocabulary, self.options.seed);
        let _ = writeln!(text, "vocabulary of {vocabulary} words, seed {seed}");
        if let Some(test) = &self.test {
            text += &test.text("held out");
            let Report {
                unseen_features,
                unseen_entries,
                ..
            } = test.report;
            let _ = writeln!(
                text,
                "left out {unseen_entries} non-zeros of {unseen_features} features that training \
                 does not have"
            );
        }
        text
    }
}

impl Part<'_> {
    fn text(&self, title: &str) -> String {
        let (report, labels) = (self.report, &self.labels);
        let mut text = format!(
            "{title}: {} rows, {} queries, {} columns, {} non-zeros\n",
            report.rows, report.queries, report.columns, report.nonzeros
        );
        let _ = writeln!(
            text,
            "sentences drawn: {}; dropped: {} by length, {} with one parse, {} with equal labels, \
             {} to fit the rows, {} of training",
            report.drawn,
            report.wrong_length,
            report.unambiguous,
            report.tied,
            report.unfitting,
            report.repeated
        );
        let _ = writeln!(
            text,
            "labels: {:.4} to {:.4}, mean {:.4}, mean range within a query {:.4}; {} queries have their own \
             tree",
            labels.least, labels.largest, labels.mean, labels.mean_range, report.with_own_tree
        );
        text
    }
}
