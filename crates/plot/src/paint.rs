//! Colours on light pages and on dark ones.

use std::borrow::Cow;

/// A colour of lines and bars, told apart from the others by most eyes: at least 4.5:1 against
/// its page. In order of use, where figures choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "colours are their names")]
pub enum Hue {
    Blue,
    Orange,
    Green,
    Purple,
    Olive,
    Pink,
    Teal,
    Brown,
    Red,
    Grey,
}

impl Hue {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Blue,
        Self::Orange,
        Self::Green,
        Self::Purple,
        Self::Olive,
        Self::Pink,
        Self::Teal,
        Self::Brown,
        Self::Red,
        Self::Grey,
    ];

    /// Name, and colours on light pages and on dark ones. `studies/style.py` has the same.
    fn facts(self) -> (&'static str, [u32; 2]) {
        match self {
            Self::Blue => ("blue", [0x09_69da, 0x58_a6ff]),
            Self::Orange => ("orange", [0xbc_4c00, 0xf0_883e]),
            Self::Green => ("green", [0x1a_7f37, 0x3f_b950]),
            Self::Purple => ("purple", [0x82_50df, 0xbc_8cff]),
            Self::Olive => ("olive", [0x7d_6600, 0xd4_b32c]),
            Self::Pink => ("pink", [0xbf_3989, 0xf7_78ba]),
            Self::Teal => ("teal", [0x0e_7c86, 0x39_c5cf]),
            Self::Brown => ("brown", [0x8a_5a44, 0xc6_9c85]),
            Self::Red => ("red", [0xcf_222e, 0xff_7b72]),
            Self::Grey => ("grey", [0x6e_7781, 0x8b_949e]),
        }
    }

    pub(super) fn paint(self) -> Paint {
        self.towards_page(100)
    }

    /// Steps back towards the page; `share` is 0 for the faintest and 1 for the strongest of them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a percentage"
    )]
    pub(super) fn faint(self, share: f64) -> Paint {
        self.towards_page((42.0 + 28.0 * share.clamp(0.0, 1.0)).round() as u32)
    }

    /// So many percent of the colour, and the page for the rest.
    fn towards_page(self, percent: u32) -> Paint {
        let (name, [light, dark]) = self.facts();
        let class = match percent {
            100 => format!("rk-{name}"),
            percent => format!("rk-{name}-{percent}"),
        };
        Paint {
            class: class.into(),
            light: mixed(light, PAGES[0], percent).into(),
            dark: mixed(dark, PAGES[1], percent).into(),
        }
    }
}

fn mixed(colour: u32, page: u32, percent: u32) -> String {
    let channel = |shift: u32| {
        let [own, other] = [colour, page].map(|colour| (colour >> shift) & 0xff);
        (own * percent + other * (100 - percent) + 50) / 100
    };
    let [red, green, blue] = [16, 8, 0].map(channel);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A colour on light pages and its counterpart on dark ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Paint {
    /// The class in style sheets. Equal classes are equal colours in all figures, as figures
    /// share a page.
    pub(super) class: Cow<'static, str>,
    pub(super) light: Cow<'static, str>,
    pub(super) dark: Cow<'static, str>,
}

/// The colours of [`PAPER`].
const PAGES: [u32; 2] = [0xff_ffff, 0x0d_1117];

/// The page.
pub(super) const PAPER: Paint = Paint::new("rk-paper", "#ffffff", "#0d1117");
/// Text.
pub(super) const INK: Paint = Paint::new("rk-ink", "#1f2328", "#e6edf3");
/// Text that steps back.
pub(super) const SOFT: Paint = Paint::new("rk-soft", "#59636e", "#9198a1");
/// Lines of the grid.
pub(super) const GRID: Paint = Paint::new("rk-grid", "#e4e8ec", "#272d35");

impl Paint {
    const fn new(class: &'static str, light: &'static str, dark: &'static str) -> Self {
        Self {
            class: Cow::Borrowed(class),
            light: Cow::Borrowed(light),
            dark: Cow::Borrowed(dark),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let faint = Hue::ALL.map(|hue| (hue.faint(0.0), 1.6));
        let plain = Hue::ALL.map(|hue| (hue.paint(), 4.5));
        let text = [(INK, 4.5), (SOFT, 4.5)];
        for (paint, least) in faint.into_iter().chain(plain).chain(text) {
            assert!(contrast(&paint.light, &PAPER.light) >= least, "{paint:?}");
            assert!(contrast(&paint.dark, &PAPER.dark) >= least, "{paint:?}");
        }
    }

    #[test]
    fn shades_are_told_apart_by_name_and_colour() {
        let shades = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| Hue::Teal.faint(share));
        let pairs = shades.windows(2);
        for pair in pairs {
            assert!(pair[0].class != pair[1].class && pair[0].light != pair[1].light);
        }
        assert_eq!(Hue::Blue.paint().light, "#0969da");
    }
}
