//! Axes: from values to places, and the ticks.

use super::text::number;

/// How an axis places values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AxisScale {
    /// Equal differences are equal distances.
    #[default]
    Linear,
    /// Equal ratios are equal distances; values above 0 only.
    Log,
}

/// Beyond this, differences overflow.
const LARGEST: f64 = 1e300;

impl AxisScale {
    /// Where a value is in the units of the scale, if it can be placed.
    fn of(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => (value.abs() < LARGEST).then_some(value),
            Self::Log => (value > 1.0 / LARGEST && value < LARGEST).then(|| value.log10()),
        }
    }
}

/// About so many ticks an axis has.
const TICKS: f64 = 6.0;

/// An axis from the place `from` to the place `to`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: AxisScale,
    /// In the units of the scale: logarithms on a logarithmic one.
    low: f64,
    high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis of `values` with a share `room` of their extent free at both ends. Where they are whole
    /// numbers, as counts are, so are the ticks.
    pub(super) fn new(scale: AxisScale, values: &[f64], room: f64, (from, to): (f64, f64)) -> Self {
        let whole = scale == AxisScale::Linear && values.iter().all(|value| value.fract() == 0.0);
        let placed = values.iter().filter_map(|&value| scale.of(value));
        let nothing = scale.of(1.0).unwrap_or_default();
        let low = placed.clone().reduce(f64::min).unwrap_or(nothing);
        let high = placed.reduce(f64::max).unwrap_or(nothing);
        let room = if high - low > 1e-9 * low.abs().max(high.abs()) {
            room * (high - low)
        } else {
            match scale {
                AxisScale::Log => 0.5,
                AxisScale::Linear if low == 0.0 => 1.0,
                AxisScale::Linear => 0.1 * low.abs(),
            }
        };
        let (low, high) = (low - room, high + room);
        Self {
            scale,
            low,
            high,
            from,
            to,
            ticks: match scale {
                AxisScale::Linear => linear_ticks(low, high, whole),
                AxisScale::Log => log_ticks(low, high),
            },
        }
    }

    /// Where `value` is, if it can be placed.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = (self.scale.of(value)? - self.low) / (self.high - self.low);
        Some(self.from + share * (self.to - self.from))
    }

    /// Places and labels of the ticks.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        // Twelve digits leave out what rounding adds to a multiple of a step.
        let label = |tick| Some((self.place(tick)?, number(tick, 12)));
        self.ticks.iter().filter_map(move |&tick| label(tick))
    }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, whole: bool) -> Vec<f64> {
    let step = nice_step((high - low) / TICKS);
    let step = if whole { step.max(1.0) } else { step };
    let first = (low / step).ceil();
    let multiples = std::iter::successors(Some(first), |multiple| Some(multiple + 1.0));
    let within = multiples.take_while(|multiple| *multiple <= (high / step).floor());
    within.map(|multiple| multiple * step).collect()
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

/// Ticks at powers of ten; where there are less than three of them at 2 and 5 times them as well, and
/// at equal differences where the ends are not a power apart.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exponents of floats, and a number of powers"
)]
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = high - low;
    if powers < 1.0 {
        return linear_ticks(10_f64.powf(low), 10_f64.powf(high), false);
    }
    let few = high.floor() - low.ceil() < 2.0;
    let factors: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = (powers / TICKS).ceil() as usize;
    let exponents = (low.floor() as i32..=high.floor() as i32).step_by(stride);
    let multiples = |exponent| {
        factors
            .iter()
            .map(move |factor| factor * 10_f64.powi(exponent))
    };
    let within = |value: &f64| (low - 1e-9..=high + 1e-9).contains(&value.log10());
    exponents.flat_map(multiples).filter(within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: AxisScale, low: f64, high: f64) -> Axis {
        Axis::new(scale, &[low, high], 0.04, (0.0, 100.0))
    }

    fn labels(scale: AxisScale, low: f64, high: f64) -> Vec<String> {
        let axis = axis(scale, low, high);
        axis.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_nice_numbers() {
        for (low, high, expected) in [
            (1.0, 46.0, "0 10 20 30 40"),
            (0.31, 0.49, "0.35 0.4 0.45"),
            (-2.0, 7.0, "\u{2212}2 0 2 4 6"),
            (0.0, 4e9, "0 1e9 2e9 3e9 4e9"),
            (1000.1, 1000.4, "1000.1 1000.2 1000.3 1000.4"),
            (
                3e-9,
                4e-9,
                "3e\u{2212}9 3.2e\u{2212}9 3.4e\u{2212}9 3.6e\u{2212}9 3.8e\u{2212}9 4e\u{2212}9",
            ),
            // Counts have whole ticks.
            (1.0, 2.0, "1 2"),
            (1.0, 1.0, "1"),
            (0.0, 0.0, "\u{2212}1 0 1"),
        ] {
            assert_eq!(labels(AxisScale::Linear, low, high).join(" "), expected);
        }
    }

    #[test]
    fn logarithmic_ticks() {
        for (low, high, expected) in [
            (1e-6, 1e6, "0.0001 0.1 100 100000"),
            (0.02, 30.0, "0.1 1 10"),
            (2.0, 30.0, "2 5 10 20"),
            (3.01, 3.09, "3.02 3.04 3.06 3.08"),
        ] {
            assert_eq!(labels(AxisScale::Log, low, high).join(" "), expected);
        }
        let place = axis(AxisScale::Log, 1.0, 100.0).place(10.0).unwrap();
        assert!((place - 50.0).abs() < 1e-9);
    }

    #[test]
    fn any_range_has_an_axis() {
        for scale in [AxisScale::Linear, AxisScale::Log] {
            for (low, high) in [
                (5.0, 5.0),
                (1e-299, 1e299),
                (1e299, 1.0001e299),
                (1.0, 1.0 + 1e-15),
            ] {
                let axis = axis(scale, low, high);
                assert!((1..12).contains(&axis.ticks.len()), "{axis:?}");
                for value in [low, high] {
                    let place = axis.place(value).unwrap();
                    assert!((0.0..=100.0).contains(&place), "{axis:?}");
                }
            }
            let none = Axis::new(scale, &[], 0.04, (0.0, 100.0));
            assert!(!none.ticks.is_empty());
        }
        assert_eq!(AxisScale::Linear.of(f64::NAN), None);
        assert_eq!(AxisScale::Log.of(0.0), None);
    }
}
