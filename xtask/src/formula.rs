//! Formulas of the documentation as `MathML`.
//!
//! They are written as in `docs/derivation.md`: `_` and `^` for indices and powers, a last `^` for
//! a hat, `'` for the transpose, `.` for the product of vectors, `|x|` for a norm, Greek letters by
//! name. `{ }` groups and is not drawn.

/// Names, and the signs that are drawn in their place.
const LETTERS: &str = "alpha α beta β delta δ eps ε eta η kappa κ lambda λ mu μ nu ν omega ω phi φ Phi Φ psi ψ rho ρ tau τ";
/// The same, with their index below.
const LARGE: &str = "sum ∑ max max min min mean mean argmin argmin in ∈";
/// Names that are drawn upright.
const NAMES: &str =
    "blend bound diag exp gain high least limit log loss low most off share slack slop trace";
/// Signs between terms, as written and as drawn, longest first.
const OPERATORS: &str = "<= ≤ >= ≥ <- ← = = < &lt; > &gt; + + - − * ∗ / / . ⋅ , , ; ; : : × ×";

/// Every other word of a list, with the next.
fn pairs(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = || list.split_whitespace();
    words().zip(words().skip(1)).step_by(2)
}

/// A formula in a line of text, or `None` if `code` is anything else, such as the name of a file.
pub(crate) fn inline(code: &str) -> Option<String> {
    let (formula, foreign) = read(code, false);
    // Options, and ranges of numbers.
    let foreign = foreign || code.contains("--") || code.contains("..");
    (!foreign).then(|| tag("math", &formula))
}

/// A block of formulas: a row for each line, aligned at its first relation. Two spaces and more
/// part columns. Words that are no names stay words.
pub(crate) fn block(text: &str) -> String {
    let mut rows = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let relations = [" = ", " <- ", " <= ", " >= "]
            .into_iter()
            .filter_map(|relation| line.find(relation));
        let (left, right) = line.split_at(relations.min().unwrap_or(0));
        let right = right.split("  ").filter(|cell| !cell.trim().is_empty());
        let cells = std::iter::once(left).chain(right);
        let cells = cells.map(|cell| tag("mtd", &read(cell.trim(), true).0));
        rows += &tag("mtr", &cells.collect::<Vec<_>>().concat());
    }
    format!(
        "<div class=\"formulas\"><math display=\"block\"><mtable displaystyle=\"true\">{rows}</mtable></math></div>"
    )
}

fn tag(name: &str, content: &str) -> String {
    format!("<{name}>{content}</{name}>")
}

/// The formula, and whether something in it is none.
fn read(text: &str, display: bool) -> (String, bool) {
    let text = match text.split(' ').collect::<Vec<_>>()[..] {
        // A shape.
        [rows, "x", columns] => format!("{rows} × {columns}"),
        _ => text.to_owned(),
    };
    let mut reader = Reader {
        rest: &text,
        display,
        foreign: false,
    };
    (reader.terms(None), reader.foreign)
}

struct Reader<'a> {
    rest: &'a str,
    /// In a block: with fractions.
    display: bool,
    foreign: bool,
}

impl<'a> Reader<'a> {
    /// Terms up to `end`, which is taken, too.
    fn terms(&mut self, end: Option<char>) -> String {
        let mut terms: Vec<String> = Vec::new();
        // Where the product began that a `/` would divide.
        let mut product = 0;
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || end.is_some_and(|end| self.rest.starts_with(end)) {
                self.foreign |= self.rest.is_empty() && end.is_some();
                self.take(end.map_or(0, char::len_utf8).min(self.rest.len()));
                return terms.concat();
            }
            let Some((_, sign)) = pairs(OPERATORS).find(|(written, _)| self.eat(written)) else {
                let term = self.factor();
                // Sums, words and the like are no part of a product.
                let whole = ["<mo", "<munder", "<mtext"]
                    .iter()
                    .any(|tag| term.starts_with(tag));
                terms.push(term);
                product = if whole { terms.len() } else { product };
                continue;
            };
            if sign == "/" && self.display && product < terms.len() {
                self.rest = self.rest.trim_start();
                let above = match &terms.split_off(product)[..] {
                    [one] => bare(one).to_owned(),
                    several => several.concat(),
                };
                let below = self.factor();
                let parts = tag("mrow", &above) + &tag("mrow", bare(&below));
                terms.push(tag("mfrac", &parts));
            } else {
                terms.push(tag("mo", sign));
                product = terms.len();
            }
        }
    }

    /// A name, number or group with its index, power, hat and primes.
    fn factor(&mut self) -> String {
        let mut base = self.atom();
        let (mut below, mut above) = (String::new(), String::new());
        loop {
            let power = self
                .rest
                .strip_prefix('^')
                .map(|power| power.strip_prefix('-').unwrap_or(power));
            let power = power.is_some_and(|power| {
                power.starts_with(|char: char| char.is_alphanumeric() || char == '(')
            });
            if self.eat("_") {
                below += &self.index();
            } else if power {
                self.take(1);
                above += &self.index();
            } else if self.eat("^") {
                base = format!("<mover accent=\"true\"><mrow>{base}</mrow><mo>^</mo></mover>");
            } else if self.eat("'") {
                above += "<mo style=\"font-size: 125%\">′</mo>";
            } else {
                break;
            }
        }
        let name = match (below.is_empty(), above.is_empty()) {
            (true, true) => return base,
            (true, false) => "msup",
            (false, true) if base.starts_with("<mo ") => "munder",
            (false, true) => "msub",
            (false, false) => "msubsup",
        };
        for part in [below, above].iter().filter(|part| !part.is_empty()) {
            base += &tag("mrow", part);
        }
        tag(name, &base)
    }

    /// After `_` or `^`: a sign, a group, a number, a name, or letters that each are an index.
    fn index(&mut self) -> String {
        let sign = if self.eat("-") { "<mo>−</mo>" } else { "" };
        let letters = self
            .rest
            .find(|char: char| !char.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        let whole = letters > 2
            || self
                .rest
                .starts_with(|char: char| char.is_ascii_digit() || "({".contains(char));
        if whole {
            return sign.to_owned() + bare(&self.atom());
        }
        let letters = self.take(letters).chars();
        letters.fold(sign.to_owned(), |index, letter| {
            index + &tag("mi", &letter.to_string())
        })
    }

    fn atom(&mut self) -> String {
        for (open, close) in [("(", ')'), ("[", ']'), ("{", '}'), ("|", '|')] {
            if self.eat(open) {
                let inner = self.terms(Some(close));
                return match open {
                    "{" => tag("mrow", &inner),
                    // Not as it is: it would part the cells of a table.
                    "|" => format!("<mrow><mo>&#124;</mo>{inner}<mo>&#124;</mo></mrow>"),
                    _ => format!("<mrow><mo>{open}</mo>{inner}<mo>{close}</mo></mrow>"),
                };
            }
        }
        let length = self
            .rest
            .find(|char: char| !char.is_alphanumeric())
            .unwrap_or(self.rest.len());
        let word = self.take(length);
        let sign = |list| pairs(list).find_map(|(name, sign)| (name == word).then_some(sign));
        let name = word.len() == 1 || NAMES.split(' ').any(|name| name == word);
        let drawn = if word == "sqrt" {
            return tag("msqrt", bare(&self.atom()));
        } else if word.starts_with(|char: char| char.is_ascii_digit()) {
            // With decimals, or `e-12`.
            let more = self
                .rest
                .strip_prefix(if word.ends_with('e') { '-' } else { '.' });
            let more = more.map_or(0, |more| {
                more.find(|char: char| !char.is_ascii_digit())
                    .unwrap_or(more.len())
            });
            format!(
                "<mn>{word}{}</mn>",
                self.take(if more > 0 { more + 1 } else { 0 })
            )
        } else if let Some(sign) = sign(LARGE) {
            format!("<mo movablelimits=\"true\" lspace=\"0.2em\" rspace=\"0.2em\">{sign}</mo>")
        } else if let Some(name) = sign(LETTERS).or(name.then_some(word)) {
            tag("mi", name)
        } else {
            self.foreign = true;
            let sign = self.rest.chars().next().filter(|_| word.is_empty());
            format!(
                "<mtext>&nbsp;{word}{}&nbsp;</mtext>",
                self.take(sign.map_or(0, char::len_utf8))
            )
        };
        // A function with its argument.
        if word.len() > 1 && self.rest.starts_with('(') {
            return tag("mrow", &(drawn + &self.atom()));
        }
        drawn
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn eat(&mut self, sign: &str) -> bool {
        let eaten = self.rest.strip_prefix(sign);
        self.rest = eaten.unwrap_or(self.rest);
        eaten.is_some()
    }
}

/// One term without the parentheses around it, which a root, a fraction or an index replaces.
fn bare(term: &str) -> &str {
    let inner = term.strip_prefix("<mrow><mo>(</mo>");
    inner
        .and_then(|inner| inner.strip_suffix("<mo>)</mo></mrow>"))
        .unwrap_or(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formulas_are_drawn() {
        let hat = "<mover accent=\"true\"><mrow><mi>y</mi></mrow><mo>^</mo></mover>";
        let sum =
            format!("<math><msub>{hat}<mrow><mi>Q</mi></mrow></msub><mo>/</mo><mi>β</mi></math>");
        assert_eq!(inline("y^_Q / beta"), Some(sum));
        for code in [
            "block.rs",
            "State::add",
            "--lambda 2",
            "2^-2..2^10",
            "d_no_less",
            "(x",
        ] {
            assert_eq!(inline(code), None, "{code}");
        }
    }

    #[test]
    fn fractions_divide_a_product() {
        let drawn = block("a = 1 - 2 b / max(c, d)");
        let below = "<mo>(</mo><mi>c</mi><mo>,</mo><mi>d</mi><mo>)</mo>";
        assert!(
            drawn.contains("<mo>−</mo><mfrac><mrow><mn>2</mn><mi>b</mi></mrow>"),
            "{drawn}"
        );
        assert!(drawn.contains(below), "{drawn}");
    }
}
