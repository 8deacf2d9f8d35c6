//! Axes: from values to places, and the ticks.

use super::text::{number, signed, trimmed};

/// How an axis places values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Equal differences are equal distances.
    #[default]
    Linear,
    /// Equal ratios are equal distances; values above 0 only.
    Log,
}

/// Beyond this, differences overflow.
const LARGEST: f64 = 1e300;

impl Scale {
    /// Where a value is in the units of the scale, if it can be placed.
    fn of(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => (value.abs() < LARGEST).then_some(value),
            Self::Log => (value > 1.0 / LARGEST && value < LARGEST).then(|| value.log10()),
        }
    }
}

/// A tick and its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    value: f64,
    pub(super) label: String,
}

/// An axis from the place `from` to the place `to`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// In the units of the scale: logarithms on a logarithmic one.
    low: f64,
    high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<Tick>,
}

impl Axis {
    /// An axis of `values` with a share `room` of their extent free at both ends, and about `most`
    /// ticks. `whole` axes count: their ticks are whole numbers.
    pub(super) fn around(
        scale: Scale,
        values: impl Iterator<Item = f64>,
        room: f64,
        most: usize,
        whole: bool,
    ) -> Self {
        let nothing = scale.of(1.0).unwrap_or_default();
        let (low, high) = extent(scale, values).unwrap_or((nothing, nothing));
        let room = if high - low > 1e-9 * low.abs().max(high.abs()) {
            room * (high - low)
        } else {
            match scale {
                Scale::Log => 0.5,
                Scale::Linear if whole || low == 0.0 => 1.0,
                Scale::Linear => 0.1 * low.abs(),
            }
        };
        Self::between(scale, low - room, high + room, most, whole)
    }

    /// The axis of bars of lengths `values`, from 0.
    pub(super) fn of_bars(values: impl Iterator<Item = f64>, most: usize) -> Self {
        let (low, high) = extent(Scale::Linear, values.chain([0.0])).unwrap_or_default();
        let high = if high > low { high } else { low + 1.0 };
        Self::between(Scale::Linear, low, high, most, false)
    }

    fn between(scale: Scale, low: f64, high: f64, most: usize, whole: bool) -> Self {
        let ticks = match scale {
            Scale::Linear => linear_ticks(low, high, most, whole),
            Scale::Log => log_ticks(low, high, most),
        };
        Self {
            scale,
            low,
            high,
            from: 0.0,
            to: 1.0,
            ticks,
        }
    }

    /// Places the axis.
    pub(super) fn placed(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    /// Where `value` is, if it can be placed.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = (self.scale.of(value)? - self.low) / (self.high - self.low);
        Some(self.from + share * (self.to - self.from))
    }

    /// Places and labels of the ticks.
    pub(super) fn marked(&self) -> impl Iterator<Item = (f64, &str)> {
        let ticks = self.ticks.iter();
        ticks.filter_map(|tick| Some((self.place(tick.value)?, &*tick.label)))
    }
}

/// The least and the largest of those `values` that can be placed, in the units of the scale.
fn extent(scale: Scale, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values.filter_map(|value| scale.of(value));
    let ends = ends.map(|value| (value, value));
    ends.reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, most: usize, whole: bool) -> Vec<Tick> {
    let step = nice_step((high - low) / most as f64);
    let step = if whole { step.max(1.0) } else { step };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let largest = low.abs().max(high.abs());
    let mut ticks = Vec::new();
    let mut multiple = first;
    while multiple <= last {
        let value = multiple * step;
        ticks.push(Tick {
            value,
            label: linear_label(value, step, largest),
        });
        multiple += 1.0;
    }
    ticks
}

/// The least of 1, 2 and 5 times a power of ten that is no less than `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power);
    // Division and powers round: a step that is short by that is no shorter.
    nice.into_iter()
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
fn linear_label(value: f64, step: f64, largest: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = |value: f64| (value.log10() + 1e-9).floor() as i32;
    let digits = |count: i32| usize::try_from(count).unwrap_or(0);
    if !(1e-4..1e7).contains(&largest) {
        let decimals = digits(exponent(value.abs()) - exponent(step));
        let text = format!("{value:.decimals$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return signed(&format!("{}e{exponent}", trimmed(mantissa)));
    }
    let decimals = digits(-exponent(step));
    signed(&format!("{value:.decimals$}"))
}

/// Ticks at powers of ten; where there are too few of them, at 2 and 5 times them as well, and
/// at equal differences where even these are too few.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let within = |value: &f64| (low - 1e-9..=high + 1e-9).contains(&value.log10());
    let power = |exponent: i32| 10_f64.powi(exponent);
    let labelled = |value: f64| Tick {
        value,
        label: number(value, 6),
    };
    let powers: Vec<f64> = (first..=last).map(power).filter(within).collect();
    if powers.len() > 2 {
        let stride = powers.len().div_ceil(most.max(1));
        let kept = powers.into_iter().step_by(stride);
        return kept.map(labelled).collect();
    }
    let finer = (first..=last)
        .flat_map(|exponent| [1.0, 2.0, 5.0].map(|factor| factor * power(exponent)))
        .filter(within);
    let finer: Vec<Tick> = finer.map(labelled).collect();
    if finer.len() > 1 {
        return finer;
    }
    linear_ticks(10_f64.powf(low), 10_f64.powf(high), most, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| &*tick.label).collect()
    }

    fn around(scale: Scale, low: f64, high: f64, whole: bool) -> Axis {
        Axis::around(scale, [low, high].into_iter(), 0.04, 5, whole)
    }

    #[test]
    fn ticks_are_nice_numbers() {
        for (low, high, expected) in [
            (1.0, 46.0, &["0", "10", "20", "30", "40"][..]),
            (0.31, 0.49, &["0.35", "0.40", "0.45"]),
            (-2.0, 7.0, &["\u{2212}2", "0", "2", "4", "6"]),
            (0.0, 5e9, &["0", "2e9", "4e9"]),
            (1000.1, 1000.4, &["1000.1", "1000.2", "1000.3", "1000.4"]),
            (
                2e-9,
                4e-9,
                &[
                    "2e\u{2212}9",
                    "2.5e\u{2212}9",
                    "3e\u{2212}9",
                    "3.5e\u{2212}9",
                    "4e\u{2212}9",
                ],
            ),
        ] {
            assert_eq!(labels(&around(Scale::Linear, low, high, false)), expected);
        }
    }

    #[test]
    fn counts_have_whole_ticks() {
        assert_eq!(labels(&around(Scale::Linear, 1.0, 2.0, true)), ["1", "2"]);
        let one = around(Scale::Linear, 1.0, 1.0, true);
        assert_eq!(labels(&one), ["0", "1", "2"]);
    }

    #[test]
    fn logarithmic_ticks() {
        let wide = around(Scale::Log, 1e-6, 1e6, false);
        assert!(wide.ticks.len() <= 5, "{wide:?}");
        assert_eq!(
            labels(&around(Scale::Log, 0.02, 30.0, false)),
            ["0.1", "1", "10"]
        );
        assert_eq!(
            labels(&around(Scale::Log, 2.0, 30.0, false)),
            ["2", "5", "10", "20"]
        );
        let narrow = around(Scale::Log, 3.01, 3.09, false);
        assert!(narrow.ticks.len() > 2, "{narrow:?}");
        let axis = around(Scale::Log, 1.0, 100.0, false).placed(0.0, 100.0);
        assert!((axis.place(10.0).unwrap() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn any_range_has_an_axis() {
        for scale in [Scale::Linear, Scale::Log] {
            for (low, high) in [
                (5.0, 5.0),
                (1e-299, 1e299),
                (1e299, 1.0001e299),
                (1.0, 1.0 + 1e-15),
            ] {
                let axis = around(scale, low, high, false).placed(0.0, 100.0);
                assert!(axis.ticks.len() < 12, "{axis:?}");
                for value in [low, high] {
                    assert!(
                        (0.0..=100.0).contains(&axis.place(value).unwrap()),
                        "{axis:?}"
                    );
                }
            }
            let none = Axis::around(scale, std::iter::empty(), 0.04, 5, false);
            assert!(!none.ticks.is_empty());
        }
        assert_eq!(Scale::Linear.of(f64::NAN), None);
        assert_eq!(Scale::Log.of(0.0), None);
    }

    #[test]
    fn bars_start_at_nought() {
        let of = |lengths: [f64; 2]| Axis::of_bars(lengths.into_iter(), 5).placed(0.0, 70.0);
        let axis = of([2.0, 7.0]);
        assert_eq!((axis.place(0.0), axis.place(7.0)), (Some(0.0), Some(70.0)));
        assert_eq!(of([-1.0, 1.0]).place(0.0), Some(35.0));
        assert_eq!(of([0.0, 0.0]).place(0.0), Some(0.0));
    }
}
