//! Parses of a sentence as arcs over its words, and bars of the deciding features.

use super::svg::{BOLD, Canvas, END, Hue, MARGIN, MIDDLE, Point, SMALL, listed};
use super::text::{number, width, wrapped};

/// The least width of the drawing.
const WIDTH: f64 = 760.0;

/// Widest row of words. Wider sentences stack their words.
const WIDE: f64 = 1400.0;

/// Size of words.
const WORD: f64 = 14.0;

/// Height of the lowest arcs, and distance between arcs above each other.
const LOW: f64 = 18.0;
const STEP: f64 = 15.0;

/// Distance between the ends of arcs at one word.
const END_STEP: f64 = 7.0;

/// Height of a line of text.
const LINE: f64 = 18.0;

/// Up to two parses of a sentence, and the features that decide between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arcs {
    /// Title of the drawing.
    pub title: String,
    /// The parses. If they have the same words, the words stand at the same places.
    pub trees: Vec<Tree>,
    /// Heading of the bars.
    pub heading: String,
    /// Lighter text behind that heading.
    pub remark: String,
    /// The deciding features, from the top.
    pub bars: Vec<Bar>,
}

/// A parse.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Heading of the parse.
    pub heading: String,
    /// The colour of its heading, and of its differing arcs.
    pub hue: Hue,
    /// Its words, or other text if there are no arcs.
    pub words: Vec<String>,
    /// Its arcs.
    pub arcs: Vec<Arc>,
}

/// An arc from a word to a dependent word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arc {
    /// The place of the governing word; `None` for the root.
    pub head: Option<usize>,
    /// The place of the dependent word.
    pub modifier: usize,
    /// Its label, which is shown if the arc differs.
    pub label: String,
    /// Whether the other parse lacks it.
    pub differs: bool,
}

/// A feature and its contribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The feature.
    pub name: String,
    /// Its values.
    pub change: String,
    /// Its contribution.
    pub value: f64,
}

impl Arc {
    /// The words that it joins, from left to right.
    fn ends(&self) -> Option<(usize, usize)> {
        let head = self.head?;
        Some((head.min(self.modifier), head.max(self.modifier)))
    }
}

impl Arcs {
    /// One SVG document.
    pub fn to_svg(&self) -> String {
        let drawn = self.trees.iter().filter(|tree| !tree.arcs.is_empty());
        let drawn: Vec<&Tree> = drawn.collect();
        let same = drawn.windows(2).all(|pair| pair[0].words == pair[1].words);
        let slots = |down: bool| -> Vec<Vec<f64>> {
            let own = drawn.iter().map(|tree| tree.slots(down));
            let mut own: Vec<Vec<f64>> = own.collect();
            if let ([first, second], true) = (&mut own[..], same) {
                for (a, b) in first.iter_mut().zip(second) {
                    *a = a.max(*b);
                    *b = *a;
                }
            }
            own
        };
        let widths = slots(false)
            .into_iter()
            .map(|slots| slots.iter().sum::<f64>());
        let widest = widths.fold(0.0, f64::max) + 2.0 * MARGIN;
        let down = widest > WIDE;
        let pictures: Vec<Canvas> = drawn
            .iter()
            .zip(slots(down))
            .map(|(tree, slots)| tree.drawn(&slots, down))
            .collect();
        let needed = pictures.iter().map(|picture| picture.width);
        let needed = if down {
            needed.sum()
        } else {
            needed.fold(0.0, f64::max)
        };
        let mut page = Canvas::new(needed.max(WIDTH));
        page.paragraph(&self.title, 16.0, Hue::Ink, BOLD);
        for tree in self.trees.iter().filter(|tree| tree.arcs.is_empty()) {
            page.height += 8.0;
            page.paragraph(&tree.heading, WORD, tree.hue, BOLD);
            page.paragraph(&tree.words.join(" "), WORD, Hue::Ink, "");
        }
        let (top, mut left) = (page.height + 8.0, 0.0);
        for picture in &pictures {
            page.place(picture, (left, if down { top } else { page.height + 8.0 }));
            left += if down { picture.width } else { 0.0 };
        }
        self.draw_bars(&mut page);
        page.finish(&self.described())
    }

    /// The drawing as text, for readers who cannot see it.
    fn described(&self) -> String {
        let trees = self.trees.iter();
        let trees = trees.map(|tree| match &tree.words[..] {
            [] => tree.heading.clone(),
            words => format!("{}: {}", tree.heading, words.join(" ")),
        });
        let parts = [self.title.clone()].into_iter().chain(trees);
        let parts: Vec<String> = parts.chain([self.heading.clone()]).collect();
        parts.join(". ")
    }

    /// Widths of the columns of names, changes and contributions on a page.
    fn columns(&self, page: f64) -> [f64; 3] {
        let widest = |text: fn(&Bar) -> &str| {
            let widths = self.bars.iter().map(|bar| width(text(bar), SMALL));
            widths.fold(0.0, f64::max) + 1.0
        };
        let names = widest(|bar| &bar.name).min(0.42 * page);
        let changes = widest(|bar| &bar.change).min(0.2 * page);
        let numbers = self.bars.iter().map(|bar| width(&signed(bar.value), SMALL));
        let numbers = numbers.fold(0.0, f64::max) + 8.0;
        [names, changes, numbers]
    }

    fn draw_bars(&self, page: &mut Canvas) {
        page.height += 16.0;
        page.paragraph(&self.heading, WORD, Hue::Ink, BOLD);
        page.paragraph(&self.remark, 12.5, Hue::Grey, "");
        page.height += 8.0;
        let [names, changes, numbers] = self.columns(page.width);
        let right = MARGIN + names + 20.0 + changes;
        let area = (right + 16.0, page.width - MARGIN);
        let values = || {
            self.bars
                .iter()
                .map(|bar| bar.value)
                .filter(|value| value.is_finite())
        };
        let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        // Leave room for numbers on both sides of the bars.
        let unit = ((area.1 - area.0 - 2.0 * numbers) / (high - low).max(1e-300)).min(1e300);
        let zero = area.0 + numbers - low * unit;
        let top = page.height;
        for bar in &self.bars {
            page.begin("rk-bar", &format!("{} {}", bar.name, signed(bar.value)));
            let (first, mut y) = (page.height + 14.0, page.height);
            for line in wrapped(&bar.name, SMALL, names) {
                y += LINE;
                page.text((MARGIN, y - 4.0), SMALL, Hue::Ink, "", &line);
            }
            let mut last = page.height;
            for line in wrapped(&bar.change, SMALL, changes) {
                last += LINE;
                page.text((right, last - 4.0), SMALL, Hue::Grey, END, &line);
            }
            let value = if bar.value.is_finite() {
                bar.value
            } else {
                0.0
            };
            let (hue, more, gap) = match value {
                value if value < 0.0 => (Hue::Orange, END, -6.0),
                _ => (Hue::Blue, "", 6.0),
            };
            let end = zero + value * unit;
            page.rectangle(
                (zero.min(end), first - 11.0),
                ((end - zero).abs(), 13.0),
                hue,
            );
            page.text((end + gap, first), SMALL, hue, more, &signed(bar.value));
            page.end();
            page.height = y.max(last).max(page.height + LINE) + 4.0;
        }
        if !self.bars.is_empty() {
            page.line((zero, top), (zero, page.height), 1.0, Hue::Grey, "");
        }
    }
}

/// A number with its sign.
fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value, 3))
}

impl Tree {
    /// Room for each word along the sentence: its own width, and the ends of its arcs.
    fn slots(&self, down: bool) -> Vec<f64> {
        let ends = |word: usize| {
            let own = |arc: &&Arc| arc.ends().is_some_and(|(a, b)| a == word || b == word);
            self.arcs.iter().filter(own).count() as f64
        };
        let slot = |(word, text): (usize, &String)| {
            let own = if down { 22.0 } else { width(text, WORD) + 14.0 };
            own.max(END_STEP * ends(word) + 12.0)
        };
        self.words.iter().enumerate().map(slot).collect()
    }

    /// The number of arcs below each arc. Arcs over the same words are stacked.
    fn levels(&self) -> Vec<usize> {
        let span = |arc: &Arc| arc.ends().map_or(0, |(left, right)| right - left);
        let mut order: Vec<usize> = (0..self.arcs.len()).collect();
        order.sort_by_key(|&arc| span(&self.arcs[arc]));
        let mut levels = vec![0; self.arcs.len()];
        for (place, &arc) in order.iter().enumerate() {
            let Some((left, right)) = self.arcs[arc].ends() else {
                continue;
            };
            let below = order[..place].iter().filter(|&&other| {
                let ends = self.arcs[other].ends();
                ends.is_some_and(|(from, to)| from < right && left < to)
            });
            levels[arc] = below.map(|&other| levels[other] + 1).max().unwrap_or(0);
        }
        levels
    }

    /// Distance from the middle of `word` to the end of `arc`. Short arcs end outside, so that no arcs cross.
    fn beside(&self, word: usize, arc: usize) -> f64 {
        let Some((left, right)) = self.arcs[arc].ends() else {
            return 0.0;
        };
        let to_right = word == left;
        let side = |(from, to): (usize, usize)| if to_right { from == word } else { to == word };
        let longer = self.arcs.iter().enumerate().filter(|&(other, own)| {
            let span = |(from, to): (usize, usize)| to - from;
            own.ends().is_some_and(|ends| {
                let (own, this) = (span(ends), right - left);
                side(ends) && (own > this || own == this && other < arc)
            })
        });
        let far = 4.0 + END_STEP * longer.count() as f64;
        if to_right { far } else { -far }
    }

    /// Its heading, its words with room `slots`, and its arcs: above words side by side, or to the right of words
    /// that go `down`.
    fn drawn(&self, slots: &[f64], down: bool) -> Canvas {
        let levels = self.levels();
        let deepest = levels.iter().copied().max().unwrap_or(0);
        let depth = LOW + STEP * deepest as f64 + 16.0;
        let all: f64 = slots.iter().sum();
        let widest = self
            .words
            .iter()
            .map(|word| width(word, WORD))
            .fold(0.0, f64::max);
        let labels = self.arcs.iter().filter(|arc| arc.differs);
        let labels = labels
            .map(|arc| width(&arc.label, 11.0))
            .fold(0.0, f64::max);
        let mut canvas = Canvas::new(if down {
            (2.0 * MARGIN + widest + depth + labels).max(WIDTH / 2.0)
        } else {
            (2.0 * MARGIN + all).max(WIDTH)
        });
        canvas.paragraph(&self.heading, WORD, self.hue, BOLD);
        let top = canvas.height + 8.0;
        let free = (canvas.width - 2.0 * MARGIN - all) / slots.len().max(1) as f64;
        let free = if down { 0.0 } else { free };
        let mut places = Vec::new();
        let mut from = if down { top } else { MARGIN };
        for slot in slots {
            places.push(from + (slot + free) / 2.0);
            from += slot + free;
        }
        let sketch = Sketch {
            down,
            base: if down {
                MARGIN + widest + 8.0
            } else {
                top + depth
            },
        };
        for (word, &along) in self.words.iter().zip(&places) {
            let (at, more) = if down {
                ((sketch.base - 8.0, along + 5.0), END)
            } else {
                ((along, sketch.base + 18.0), MIDDLE)
            };
            canvas.text(at, WORD, Hue::Ink, more, word);
        }
        self.draw_arcs(&mut canvas, &sketch, &places);
        canvas.height = if down { from + 8.0 } else { sketch.base + 28.0 };
        canvas
    }

    /// Draws its arcs over words at these places.
    fn draw_arcs(&self, canvas: &mut Canvas, sketch: &Sketch, places: &[f64]) {
        let levels = self.levels();
        let along = |place: usize, arc: &Arc| {
            let ends = [arc.head.unwrap_or(arc.modifier), arc.modifier];
            ends.map(|word| places[word] + self.beside(word, place))
        };
        let far = |place: usize| LOW + STEP * levels[place] as f64;
        // Draw differing arcs over the others, and labels over all arcs.
        for differs in [false, true] {
            let hue = if differs { self.hue } else { Hue::Grey };
            let own = self.arcs.iter().enumerate();
            for (place, arc) in own.filter(|(_, arc)| arc.differs == differs) {
                sketch.arc(canvas, arc, along(place, arc), far(place), hue);
            }
        }
        for (place, arc) in self.arcs.iter().enumerate().filter(|(_, arc)| arc.differs) {
            let (middle, beside) = (along(place, arc), places[arc.modifier]);
            let (at, more) = if sketch.down {
                let (x, y) = sketch.at(beside, far(place) + 4.0);
                ((x, y + 4.0), "")
            } else {
                let (x, y) = sketch.at(f64::midpoint(middle[0], middle[1]), far(place));
                ((x, y - 4.0), MIDDLE)
            };
            canvas.halo(at, 11.0, self.hue, more, &arc.label);
        }
    }
}

/// Direction of the words, and the `base` where arcs begin. Arcs go up, or to the right if words go `down`.
struct Sketch {
    down: bool,
    base: f64,
}

impl Sketch {
    /// The point at distance `along` the sentence and `away` from it.
    fn at(&self, along: f64, away: f64) -> Point {
        if self.down {
            (self.base + away, along)
        } else {
            (along, self.base - away)
        }
    }

    /// An arc from a head to a modifier, with an arrow.
    fn arc(&self, canvas: &mut Canvas, arc: &Arc, [head, end]: [f64; 2], far: f64, hue: Hue) {
        let (thick, tip) = if arc.differs { (2.4, 4.5) } else { (1.2, 3.2) };
        canvas.begin("rk-arc", &arc.label);
        let corner = ((end - head) / 2.0).clamp(-14.0, 14.0);
        let line = |points: &[(f64, f64)]| {
            let points = points.iter().map(|&(along, away)| self.at(along, away));
            listed(&points.collect::<Vec<_>>())
        };
        let data = if arc.head.is_some() {
            let [begin, there] = [(head, 0.0), (end - corner, far)].map(|point| line(&[point]));
            let first = line(&[(head, far), (head + corner, far)]);
            let last = line(&[(end, far), (end, tip)]);
            format!("M{begin} Q{first} L{there} Q{last}")
        } else {
            let [begin, last] = [(end, far), (end, tip)].map(|point| line(&[point]));
            format!("M{begin} L{last}")
        };
        canvas.path(&data, thick, hue, "");
        let tips = [(end, 0.0), (end - tip, 1.6 * tip), (end + tip, 1.6 * tip)];
        canvas.polygon(&tips.map(|(along, away)| self.at(along, away)), hue, "");
        canvas.end();
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    fn arc(head: usize, modifier: usize) -> Arc {
        Arc {
            head: Some(head),
            modifier,
            label: format!("{head}-{modifier}"),
            differs: head == 0,
        }
    }

    fn tree(words: &[&str], arcs: &[Arc]) -> Tree {
        Tree {
            heading: "row".to_owned(),
            hue: Hue::Blue,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            arcs: arcs.to_vec(),
        }
    }

    fn figure(trees: impl IntoIterator<Item = Tree>, bars: &[(&str, f64)]) -> Arcs {
        let bar = |&(name, value): &(&str, f64)| Bar {
            name: name.to_owned(),
            change: "0 → 1".to_owned(),
            value,
        };
        Arcs {
            title: "A sentence".to_owned(),
            trees: trees.into_iter().collect(),
            heading: "Why".to_owned(),
            remark: String::new(),
            bars: bars.iter().map(bar).collect(),
        }
    }

    fn groups(svg: &str, class: &str) -> usize {
        svg.matches(&format!("<g class=\"{class}\">")).count()
    }

    /// All words: text, left and right ends, and height.
    fn words(svg: &str) -> Vec<(String, f64, f64, f64)> {
        let svg = Document::parse(svg).unwrap();
        let texts = svg.descendants().filter(|node| node.has_tag_name("text"));
        let texts = texts.map(|node| {
            let value = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let (text, x, size) = (node.text().unwrap(), value("x"), value("font-size"));
            let own = width(text, size);
            let left = match node.attribute("text-anchor") {
                Some("middle") => x - own / 2.0,
                Some("end") => x - own,
                _ => x,
            };
            (text.to_owned(), left, left + own, value("y"))
        });
        texts.collect()
    }

    #[test]
    fn trees_have_their_words_arcs_and_bars() {
        let names = ["she", "<&>", "漢字", "مرحبا"];
        let first = tree(&names, &[arc(0, 1), arc(1, 2), arc(1, 3)]);
        let mut second = first.clone();
        second.arcs[0].head = None;
        let figure = figure([first, second], &[("a", 0.5), ("b", -0.25)]);
        let svg = figure.to_svg();
        assert_eq!((groups(&svg, "rk-arc"), groups(&svg, "rk-bar")), (6, 2));
        let words = words(&svg);
        for name in names {
            let own = words.iter().filter(|word| word.0 == name);
            let places: Vec<f64> = own.map(|word| word.1).collect();
            // Words stand at the same place in both parses.
            assert!(
                matches!(places[..], [a, b] if (a - b).abs() < 0.02),
                "{name}"
            );
        }
        // Differing arcs have labels.
        assert_eq!(words.iter().filter(|word| word.0 == "0-1").count(), 2);
        assert!(!words.iter().any(|word| word.0 == "1-2"));
        assert_eq!(svg, figure.to_svg());
    }

    #[test]
    fn the_description_has_what_there_is() {
        let label = |words: &[&str]| {
            let svg = figure([tree(words, &[])], &[("a", 0.5)]).to_svg();
            let svg = Document::parse(&svg).unwrap();
            let label = svg.root_element().attribute("aria-label");
            label.unwrap().to_owned()
        };
        assert_eq!(label(&["she", "sings"]), "A sentence. row: she sings. Why");
        assert_eq!(label(&[]), "A sentence. row. Why");
    }

    #[test]
    fn words_overlap_nothing_in_sentences_of_any_length() {
        for count in [1, 2, 12, 60] {
            let names: Vec<String> = (0..count).map(|word| "w".repeat(1 + word % 13)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let arcs: Vec<Arc> = (1..count).map(|word| arc(word / 2, word)).collect();
            let root = Arc {
                head: None,
                ..arc(0, 0)
            };
            let arcs = [&arcs[..], &[root]].concat();
            let words = words(&figure([tree(&names, &arcs)], &[]).to_svg());
            let words: Vec<_> = words
                .iter()
                .filter(|word| word.0.starts_with('w'))
                .collect();
            assert_eq!(words.len(), count);
            for (place, a) in words.iter().enumerate() {
                assert!(a.1 >= -0.1, "{a:?}");
                for b in &words[..place] {
                    let apart = (a.3 - b.3).abs() > 13.0 || a.1 >= b.2 || b.1 >= a.2;
                    assert!(apart, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn arcs_over_one_stretch_of_words_have_heights_of_their_own() {
        let arcs = [arc(0, 1), arc(0, 3), arc(3, 2), arc(2, 4)];
        assert_eq!(tree(&["w"; 5], &arcs).levels(), [0, 2, 0, 1]);
        let tree = tree(&["w"; 5], &arcs);
        assert!(tree.beside(0, 0) > tree.beside(0, 1) && tree.beside(3, 1) < 0.0);
    }

    #[test]
    fn bars_have_whole_names_and_any_values() {
        let long = "fourgram-arcs:~".repeat(40);
        let values = [1e308, -1e308, 0.0, f64::NAN, 1e-300];
        let bars = values.map(|value| (&*long, value));
        for bars in [&bars[..], &bars[2..], &[]] {
            let svg = figure([], bars).to_svg();
            assert_eq!(groups(&svg, "rk-bar"), bars.len());
            assert!(!svg.contains("NaN\"") && !svg.contains("inf"), "{svg}");
            let texts: String = words(&svg).into_iter().map(|word| word.0).collect();
            assert_eq!(texts.matches(&long).count(), bars.len());
        }
        // Other text is wrapped like a paragraph.
        let text = tree(&[&"word ".repeat(100)], &[]);
        let svg = figure([text], &[("a", 1.0)]).to_svg();
        assert!(words(&svg).iter().all(|word| word.2 <= WIDTH), "{svg}");
    }
}
