//! Colours, for light pages and for dark ones.

/// A colour in both versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Colour {
    /// The class in style sheets. Equal classes are equal colours in all figures, as figures
    /// share a page.
    pub(super) class: String,
    pub(super) light: String,
    pub(super) dark: String,
}

impl Colour {
    fn new(class: String, light: &str, dark: &str) -> Self {
        Self {
            class,
            light: light.to_owned(),
            dark: dark.to_owned(),
        }
    }
}

/// Told apart by most eyes, at least 4.5:1 against their page.
const DISTINCT: [(&str, &str); 8] = [
    ("#1f6fb4", "#6db3f2"),
    ("#c8511b", "#ff9361"),
    ("#14784f", "#4fd19b"),
    ("#9a4fb0", "#cf9be6"),
    ("#8a7000", "#d9c04a"),
    ("#c23b6e", "#ff86b3"),
    ("#4b5d73", "#a9b8cc"),
    ("#0b7f8b", "#53d0dd"),
];

/// From what is near the page to what is far from it.
const LIGHT: [[f64; 3]; 5] = [
    [222.0, 160.0, 48.0],
    [222.0, 98.0, 60.0],
    [178.0, 50.0, 96.0],
    [104.0, 36.0, 124.0],
    [24.0, 20.0, 82.0],
];

const DARK: [[f64; 3]; 5] = [
    [126.0, 84.0, 196.0],
    [190.0, 84.0, 164.0],
    [240.0, 112.0, 96.0],
    [250.0, 172.0, 84.0],
    [252.0, 244.0, 176.0],
];

/// The colour of line `index` of several that have no order.
pub(super) fn distinct(index: usize) -> Colour {
    let index = index % DISTINCT.len();
    let (light, dark) = DISTINCT[index];
    Colour::new(format!("rk-c{index}"), light, dark)
}

/// How often [`distinct`] has been through its colours at line `index`.
pub(super) fn round(index: usize) -> usize {
    index / DISTINCT.len()
}

/// The colour of line `index` of `count` in order.
pub(super) fn ordered(index: usize, count: usize) -> Colour {
    let place = if count > 1 {
        index as f64 / (count - 1) as f64
    } else {
        1.0
    };
    let class = format!("rk-q{index}-{count}");
    Colour::new(class, &between(&LIGHT, place), &between(&DARK, place))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 4, and from 0 to 255"
)]
fn between(stops: &[[f64; 3]; 5], place: f64) -> String {
    let place = place * (stops.len() - 1) as f64;
    let first = (place as usize).min(stops.len() - 2);
    let share = place - first as f64;
    let mix = |channel: usize| {
        let (from, to) = (stops[first][channel], stops[first + 1][channel]);
        (from + share * (to - from)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_run_from_end_to_end() {
        assert_eq!(ordered(0, 21).light, "#dea030");
        assert_eq!(ordered(20, 21).light, "#181452");
        assert_eq!(ordered(0, 1).dark, "#fcf4b0");
        let colours: std::collections::HashSet<String> =
            (0..21).map(|index| ordered(index, 21).light).collect();
        assert_eq!(colours.len(), 21);
    }

    /// Contrast of two colours by WCAG.
    fn contrast(first: &str, second: &str) -> f64 {
        let luminance = |colour: &str| {
            let channel = |from: usize| {
                let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) + 0.05
        };
        let (first, second) = (luminance(first), luminance(second));
        first.max(second) / first.min(second)
    }

    #[test]
    fn lines_stand_out_on_their_page() {
        for index in 0..8 {
            let colour = distinct(index);
            assert!(contrast(&colour.light, "#ffffff") >= 4.5, "{colour:?}");
            assert!(contrast(&colour.dark, "#14161a") >= 4.5, "{colour:?}");
        }
        for index in 0..21 {
            let colour = ordered(index, 21);
            assert!(contrast(&colour.light, "#ffffff") >= 2.2, "{colour:?}");
            assert!(contrast(&colour.dark, "#14161a") >= 2.2, "{colour:?}");
        }
    }
}
