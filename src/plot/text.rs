//! Text: how wide it is, where it is cut, where labels stand, and numbers.

use unicode_width::UnicodeWidthChar;

/// Width of a character in ems: of `DejaVu` Sans, which is wider than most, rounded up, so that
/// what fits here fits in other fonts.
fn em(char: char) -> f64 {
    match char {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        '+' | '=' | '<' | '>' | '~' | '^' | '#' | '&' => 0.84,
        'A'..='Z' => 0.78,
        char if char.is_ascii() => 0.64,
        char => match char.width() {
            Some(0) => 0.0,
            Some(1) | None => 0.75,
            Some(_) => 1.05,
        },
    }
}

/// Width of `text` at `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// `text`, or its beginning and an ellipsis, so that it is no wider than `most`.
pub(super) fn cut(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut left = most - size;
    let fits = |char: &char| {
        left -= em(*char) * size;
        left >= 0.0
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// The lines of `text`, broken at blanks, none wider than `most`.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.34 * size <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| cut(line, size, most)).collect()
}

/// A number of `digits` significant digits, without zeros at its end.
pub(super) fn number(value: f64, digits: u8) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponential = format!("{value:.*e}", usize::from(digits.max(1) - 1));
    let (mantissa, exponent) = exponential.split_once('e').unwrap_or((&exponential, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..7).contains(&exponent) {
        return signed(&format!("{}e{exponent}", trimmed(mantissa)));
    }
    let decimals = usize::try_from(i32::from(digits) - 1 - exponent).unwrap_or(0);
    signed(trimmed(&format!("{value:.decimals$}")))
}

/// Without zeros that say nothing.
pub(super) fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// With a minus sign in place of a hyphen.
pub(super) fn signed(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

/// Places as near to `wanted` as may be, in their order, at least `gap` apart, from `top` to
/// `bottom`. `wanted` need not be sorted; where there is no room for all, the gaps are less.
pub(super) fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let room = (bottom - top) / (wanted.len().max(2) - 1) as f64;
    let gap = gap.min(room);
    let mut blocks: Vec<Block> = Vec::new();
    for &index in &order {
        blocks.push(Block {
            middle: wanted[index],
            members: 1,
        });
        settle(&mut blocks, gap, top, bottom);
    }
    let mut placed = vec![0.0; wanted.len()];
    let mut order = order.into_iter();
    for block in blocks {
        for (member, index) in (0..block.members).zip(order.by_ref()) {
            placed[index] = block.top(gap) + gap * member as f64;
        }
    }
    placed
}

/// Labels in a row, as near to each other as they may be.
struct Block {
    middle: f64,
    members: usize,
}

impl Block {
    fn top(&self, gap: f64) -> f64 {
        self.middle - self.half(gap)
    }

    fn bottom(&self, gap: f64) -> f64 {
        self.middle + self.half(gap)
    }

    fn half(&self, gap: f64) -> f64 {
        gap * (self.members - 1) as f64 / 2.0
    }
}

/// Keeps the last block within the limits, and joins it with those that it is too near to.
fn settle(blocks: &mut Vec<Block>, gap: f64, top: f64, bottom: f64) {
    while let Some(mut last) = blocks.pop() {
        let half = last.half(gap);
        // Not `clamp`: rounding may leave no room at all.
        last.middle = last.middle.min(bottom - half).max(top + half);
        match blocks.pop() {
            Some(before) if last.top(gap) < before.bottom(gap) + gap => {
                let members = before.members + last.members;
                let sum = before.middle * before.members as f64 + last.middle * last.members as f64;
                blocks.push(Block {
                    middle: sum / members as f64,
                    members,
                });
            }
            before => {
                blocks.extend(before);
                blocks.push(last);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay() {
        assert_eq!(spread(&[50.0, 10.0], 15.0, 0.0, 100.0), [50.0, 10.0]);
        assert!(spread(&[], 15.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn labels_never_overlap() {
        let wanted = [3.0, 99.0, 98.0, 97.0, 50.0, 1.0, 2.0];
        let placed = spread(&wanted, 12.0, 0.0, 100.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 11.999));
        assert!(sorted[0] >= 0.0 && sorted[6] <= 100.0, "{sorted:?}");
        for (a, b) in [(5, 6), (6, 0), (0, 4), (4, 3), (3, 2), (2, 1)] {
            assert!(placed[a] < placed[b], "{placed:?}");
        }
        let full = spread(&[5.0; 30], 12.0, 0.0, 100.0);
        assert!(
            full.iter()
                .all(|place| (-1e-9..=100.0 + 1e-9).contains(place))
        );
    }

    #[test]
    fn what_is_cut_fits() {
        let long = "Wörter, die länger sind als ihr Platz 漢字漢字漢字";
        for most in [20.0, 60.0, 150.0, 260.0] {
            let cut = cut(long, 13.0, most);
            assert!(width(&cut, 13.0) <= most && cut.ends_with('…'), "{cut}");
        }
        assert_eq!(cut("short", 13.0, 60.0), "short");
        assert_eq!(cut("abc", 13.0, 0.0), "…");
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        let lines = wrapped("one two  three\nfour", 10.0, 50.0);
        assert_eq!(lines, ["one two", "three", "four"]);
        assert!(wrapped("", 10.0, 50.0).is_empty());
        assert_eq!(wrapped(&"x".repeat(40), 10.0, 50.0).len(), 1);
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (-1.5, "\u{2212}1.5"),
            (1024.0, "1024"),
            (123_456.0, "123456"),
            (0.000_976_562_5, "0.000977"),
            (1e-9, "1e\u{2212}9"),
            (2.5e12, "2.5e12"),
            (99_999_999.0, "1e8"),
        ] {
            assert_eq!(number(value, 3), text, "{value}");
        }
        assert_eq!(number(123_456.7, 3), "123457");
    }
}
