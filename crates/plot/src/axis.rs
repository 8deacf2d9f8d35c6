//! Axes: places of values, and ticks.

use super::text::number;

/// Beyond this, differences overflow.
const LARGEST: f64 = 1e300;

/// Rough number of ticks on an axis.
const TICKS: f64 = 6.0;

/// An axis from the place `from` to the place `to`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis of `values` with a share `room` of their extent free at both ends. Whole values, such as counts, get
    /// whole ticks.
    pub(super) fn new(values: &[f64], room: f64, (from, to): (f64, f64)) -> Self {
        let whole = values.iter().all(|value| value.fract() == 0.0);
        let placed = values.iter().filter(|value| value.abs() < LARGEST).copied();
        let low = placed.clone().reduce(f64::min).unwrap_or(1.0);
        let high = placed.reduce(f64::max).unwrap_or(1.0);
        let room = if high - low > 1e-9 * low.abs().max(high.abs()) {
            room * (high - low)
        } else if low == 0.0 {
            1.0
        } else {
            0.1 * low.abs()
        };
        let (low, high) = (low - room, high + room);
        Self {
            low,
            high,
            from,
            to,
            ticks: ticks(low, high, whole),
        }
    }

    /// The place of `value`. `None` if it is too large.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = (value - self.low) / (self.high - self.low);
        (value.abs() < LARGEST).then_some(self.from + share * (self.to - self.from))
    }

    /// Places and labels of the ticks.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        // Twelve digits hide the rounding of a multiple of a step.
        let label = |tick| Some((self.place(tick)?, number(tick, 12)));
        self.ticks.iter().filter_map(move |&tick| label(tick))
    }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn ticks(low: f64, high: f64, whole: bool) -> Vec<f64> {
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
    // Division and powers round, so a step that is slightly too short counts.
    nice.into_iter()
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let axis = Axis::new(&[low, high], 0.04, (0.0, 100.0));
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
            assert_eq!(labels(low, high).join(" "), expected);
        }
    }

    #[test]
    fn any_range_has_an_axis() {
        for (low, high) in [
            (5.0, 5.0),
            (1e-299, 1e299),
            (1e299, 1.0001e299),
            (1.0, 1.0 + 1e-15),
        ] {
            let axis = Axis::new(&[low, high], 0.04, (0.0, 100.0));
            assert!((1..12).contains(&axis.ticks.len()), "{axis:?}");
            for value in [low, high] {
                let place = axis.place(value).unwrap();
                assert!((0.0..=100.0).contains(&place), "{axis:?}");
            }
        }
        let none = Axis::new(&[], 0.04, (0.0, 100.0));
        assert!(!none.ticks.is_empty());
        assert_eq!(none.place(f64::NAN), None);
    }
}
