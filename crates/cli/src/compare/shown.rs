//! A comparison as a document and as a figure.

use rankrls::memory::Bytes;
use rankrls_plot::{Dot, DotPlot, Figure, Hue, LinePlot, Series, Stroke, Tone};

use super::report::{Comparison, Spread, StrategyReport};
use crate::document::Document;
use crate::figures::{file_name, hue, lambda_name};
use crate::numbers::{counted, printable, ridge};
use crate::report::BIASED;
use crate::sheet::Sheet;

/// The first of [`Comparison::merits`] that is a measure of test data.
const TESTED: usize = 2;

impl<'a> Comparison<'a> {
    /// Titles of the figures of merit, in two lines.
    fn merits(&self) -> Vec<String> {
        let lqo = ["LQO\nerror", "LQO\ncindex"].map(str::to_owned);
        let test = self.metrics.iter().map(|metric| format!("test\n{metric}"));
        lqo.into_iter().chain(test).collect()
    }

    /// The report for people.
    pub(super) fn document(&self) -> Document {
        let mut document = Document::default();
        let features = counted(self.k, "feature");
        let lambda = ridge(self.lambda, self.data.unit);
        let (file, data) = (printable(&self.file), self.data.lines());
        document.lines(format!("{file}: {features}, lambda {lambda}\n{data}"));
        if let (Some(path), Some(test)) = (&self.test_file, &self.test) {
            let (file, rules) = (printable(path), test.rules.text());
            let sizes = [counted(test.rows, "row"), counted(test.queries, "query")].join(", ");
            document.lines(format!("test data: {file}, {sizes}, {rules}\n"));
        }
        if self.strategies.iter().any(|entry| entry.runs.len() > 1) {
            document.lines("means of several runs, ± their standard deviation\n");
        }
        document.lines("\n");
        self.tables(&mut document);
        if self.ran().any(|entry| entry.one.kind.distils()) {
            document.lines(BIASED);
        }
        for failure in self.failures() {
            document.lines(format!("{}\n", printable(&failure)));
        }
        document
    }

    /// A line a strategy, as far as it ran: what it costs and is worth, then what it did, beside it
    /// where there is room.
    fn tables(&self, document: &mut Document) {
        let names = || {
            let names = Sheet::of(&self.strategies);
            names.words("strategy", |entry| &*entry.one.name)
        };
        let whole = did(self.worth(names())).table();
        if whole.is_narrow() {
            return document.narrow(whole);
        }
        document.narrow(self.worth(names()).table());
        document.lines("\n");
        document.narrow(did(names()).table());
    }

    /// Adds what strategies cost and are worth.
    fn worth<'s>(&'s self, sheet: Rows<'s, 'a>) -> Rows<'s, 'a> {
        let cost = sheet
            .number("seconds", |entry| entry.select_seconds.map(seconds))
            .number("memory", |entry| match entry.needs_bytes {
                Some(_) => Some("too much".to_owned()),
                None => Some(size(entry.memory_bytes?)),
            });
        cost.measures(self.merits(), |entry, merit| {
            let value = entry.steps.last()?.merit(merit)?;
            let decimals = if merit == 0 { decimals(value.mean) } else { 3 };
            // Over seeds, the test data say how far the figures of merit vary.
            let spread = entry.runs.len() > 1 && (merit >= TESTED || self.metrics.is_empty());
            Some(with_spread(value, decimals, spread))
        })
    }

    /// Figures of merit against the number of features: means, and bands from the least value of
    /// several seeds to the largest. Below them time and memory.
    pub(super) fn figure(&self) -> Figure {
        let (file, unit) = (file_name(&self.file), self.data.unit);
        let lambda = lambda_name(self.lambda, unit);
        let title = format!("{file}: {} at lambda {lambda}", counted(self.k, "feature"));
        let paths = self.paths();
        let merits = self.merits().into_iter().enumerate();
        let panels = merits.map(|(merit, title)| {
            let panel = LinePlot::new("features", title.replace('\n', " "));
            let lines = paths.iter().filter_map(|path| path.line(merit));
            lines.fold(panel, LinePlot::series)
        });
        let figure = panels.fold(Figure::new(title).columns(2), Figure::lines);
        let mut notes = Vec::new();
        if self.strategies.iter().any(|entry| entry.runs.len() > 1) {
            notes.push("Bands: from the least to the largest value of several seeds.");
        }
        if self.ran().any(|entry| entry.one.kind.distils()) {
            notes.push("LQO errors of distil are of other labels, and left out.");
        }
        let figure = figure.note(notes.join(" "));
        let mib =
            |entry: &StrategyReport<'_>| Some(entry.memory_bytes? as f64 / f64::from(1 << 20));
        figure
            .dots(self.dots(
                "seconds to select",
                |entry| Some(entry.select_seconds?.mean),
                |entry| {
                    entry
                        .select_seconds
                        .map(|time| format!("{} s", seconds(time)))
                },
            ))
            .dots(self.dots("memory besides the data, MiB", mib, |entry| {
                entry.memory_bytes.map(size)
            }))
    }

    /// A dot a strategy.
    fn dots(
        &self,
        quantity: &str,
        value: impl Fn(&StrategyReport<'_>) -> Option<f64>,
        label: impl Fn(&StrategyReport<'_>) -> Option<String>,
    ) -> DotPlot {
        let dots = self.strategies.iter().map(|entry| Dot {
            name: entry.one.name.clone(),
            hue: hue(Some(entry.one.kind)),
            value: value(entry),
            label: label(entry).unwrap_or_else(|| match entry.needs_bytes {
                Some(_) => "does not fit".to_owned(),
                None => "did not run".to_owned(),
            }),
        });
        DotPlot {
            x_label: quantity.to_owned(),
            dots: dots.collect(),
        }
    }

    /// The paths of the strategies that ran, each with all that take it.
    fn paths(&self) -> Vec<SharedPath<'_, 'a>> {
        let mut paths: Vec<SharedPath<'_, 'a>> = Vec::new();
        for entry in self.ran() {
            match paths.iter_mut().find(|path| path.is_of(entry)) {
                Some(path) => path.entries.push(entry),
                None => paths.push(SharedPath {
                    entries: vec![entry],
                    dashes: 0,
                }),
            }
        }
        let mut used: Vec<Hue> = Vec::new();
        for path in &mut paths {
            let own = path.hue();
            path.dashes = used.iter().filter(|hue| **hue == own).count();
            used.push(own);
        }
        paths
    }
}

type Rows<'s, 'a> = Sheet<'s, StrategyReport<'a>>;

/// Adds the share of features that a strategy has in common, and the candidates that it judged.
fn did<'s, 'a>(sheet: Rows<'s, 'a>) -> Rows<'s, 'a> {
    sheet
        .number("overlap", |entry| match entry.overlap {
            Some(_) if entry.one.exact => Some("exact".to_owned()),
            overlap => overlap.map(|share| format!("{:.0}%", 100.0 * share.mean)),
        })
        .number("evaluated", |entry| {
            entry.evaluated.map(|count| format!("{:.0}", count.mean))
        })
}

/// A path that several strategies may take.
struct SharedPath<'s, 'a> {
    entries: Vec<&'s StrategyReport<'a>>,
    /// Earlier paths in the same colour.
    dashes: usize,
}

impl SharedPath<'_, '_> {
    /// Whether a strategy takes the path: the same features, and the same figures but for rounding.
    fn is_of(&self, other: &StrategyReport<'_>) -> bool {
        let own = self.entries[0];
        let features = |entry: &StrategyReport<'_>| -> Vec<Vec<u64>> {
            entry.runs.iter().map(|run| run.features.clone()).collect()
        };
        let near = |a: Option<Spread>, b: Option<Spread>| match (a, b) {
            (Some(a), Some(b)) => (a.mean - b.mean).abs() <= 1e-9 * a.mean.abs().max(b.mean.abs()),
            (a, b) => a.is_none() && b.is_none(),
        };
        features(own) == features(other)
            && own.steps.iter().zip(&other.steps).all(|(a, b)| {
                let mut merits = 0..TESTED + a.test.0.len();
                merits.all(|merit| near(a.merit(merit), b.merit(merit)))
            })
    }

    /// The colour of `bounded` where it takes the path.
    fn hue(&self) -> Hue {
        let mut kinds = self.entries.iter().map(|entry| entry.one.kind);
        let first = kinds.clone().next();
        hue(kinds
            .find(|kind| *kind == rankrls::StrategyKind::Bounded)
            .or(first))
    }

    /// The line of a figure of merit; `None` for errors in units of other labels.
    fn line(&self, merit: usize) -> Option<Series> {
        let own = self.entries[0];
        if merit == 0 && own.one.kind.distils() {
            return None;
        }
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.one.name).collect();
        let values = own.steps.iter().map(|step| step.merit(merit));
        let spreads = own.steps.iter().filter(|_| own.runs.len() > 1);
        let band = spreads.filter_map(|step| {
            let value = step.merit(merit)?;
            Some((step.step as f64, value.least, value.largest))
        });
        let tone = if own.one.exact {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let means = values.map(|value| value.map(|value| value.mean));
        let line = Series::path(names.join(", "), means).band(band).tone(tone);
        Some(line.stroke(Stroke {
            hue: self.hue(),
            dashes: self.dashes,
        }))
    }
}

/// Two digits of a time, and all before the point.
fn seconds(time: Spread) -> String {
    let time = time.mean;
    match time {
        ..1e-4 => "<0.0001".to_owned(),
        ..0.01 => format!("{time:.4}"),
        ..0.1 => format!("{time:.3}"),
        ..1.0 => format!("{time:.2}"),
        ..10.0 => format!("{time:.1}"),
        _ => format!("{time:.0}"),
    }
}

/// Two digits of a size, and all before the point.
fn size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    // From 1,000 of a unit on, the next has fewer characters.
    let large = units
        .into_iter()
        .find(|(_, shift)| bytes >= 1000 << (shift - 10));
    let Some((unit, shift)) = large else {
        return Bytes(bytes).to_string();
    };
    let size = bytes as f64 / (1_u64 << shift) as f64;
    let decimals = usize::from(size < 9.95);
    format!("{size:.decimals$} {unit}")
}

/// Decimals of four digits.
fn decimals(value: f64) -> usize {
    let above = [1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2].into_iter();
    above.take_while(|power| value.abs() < *power).count()
}

/// A mean, and the standard deviation where it is to be shown.
fn with_spread(value: Spread, decimals: usize, spread: bool) -> String {
    let mean = format!("{:.decimals$}", value.mean);
    if !spread {
        return mean;
    }
    let deviation = format!("{:.decimals$}", value.deviation);
    let short = match deviation.trim_start_matches('0') {
        rest if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => "0",
        rest => rest,
    };
    format!("{mean} ±{short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(mean: f64, deviation: f64) -> Spread {
        Spread {
            mean,
            deviation,
            least: mean,
            largest: mean,
        }
    }

    #[test]
    fn times_and_sizes_are_short() {
        let times = [1e-9, 0.0012, 0.0423, 0.78, 1.27, 12.3, 4000.0];
        let shown = times.map(|time| seconds(spread(time, 0.0)));
        let expected = ["<0.0001", "0.0012", "0.042", "0.78", "1.3", "12", "4000"];
        assert_eq!(shown, expected);
        for (bytes, text) in [
            (999, "999 bytes"),
            (1 << 10, "1.0 KiB"),
            (900_000, "879 KiB"),
            (1020 << 10, "1.0 MiB"),
            (536_400_000, "512 MiB"),
            (3 << 40, "3.0 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn figures_of_merit_have_few_digits() {
        for (value, decimals_of, text) in [
            (spread(0.608_44, 0.0146), 3, "0.608 ±.015"),
            (spread(2.634_4, 0.0652), decimals(2.634_4), "2.634 ±.065"),
            (spread(45.709_2, 1.25), decimals(45.709_2), "45.71 ±1.25"),
            (spread(123_456.0, 0.2), decimals(123_456.0), "123456 ±0"),
            (spread(0.5, 0.0), 3, "0.500 ±0"),
        ] {
            assert_eq!(with_spread(value, decimals_of, true), text);
        }
        assert_eq!(with_spread(spread(0.25, 0.1), 3, false), "0.250");
    }
}
