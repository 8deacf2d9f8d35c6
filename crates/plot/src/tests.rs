//! Properties of figures of all kinds.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use super::*;

const NASTY: &str = "<script>\"&' \u{1}\u{ffff} 漢字";

fn parse(svg: &str) -> Document<'_> {
    Document::parse(svg).unwrap()
}

fn tagged<'a>(svg: &'a Document<'_>, tag: &str) -> Vec<Node<'a, 'a>> {
    let nodes = svg.descendants();
    nodes.filter(|node| node.tag_name().name() == tag).collect()
}

fn count(svg: &str, tag: &str) -> usize {
    tagged(&parse(svg), tag).len()
}

/// How often `text` stands in the drawing.
fn says(svg: &str, text: &str) -> usize {
    let svg = parse(svg);
    let texts = tagged(&svg, "text").into_iter();
    texts.filter(|node| node.text() == Some(text)).count()
}

fn numbers(node: Node<'_, '_>, attribute: &str) -> Vec<f64> {
    let numbers = node.attribute(attribute).unwrap_or_default();
    let numbers = numbers.split([' ', ',']).filter(|text| !text.is_empty());
    numbers.map(|number| number.parse().unwrap()).collect()
}

/// Colour and dashes of the lines of data or of a legend.
fn strokes(svg: &str, tag: &str) -> Vec<[Option<String>; 2]> {
    let svg = parse(svg);
    let nodes = tagged(&svg, tag).into_iter();
    let drawn = nodes.filter(|node| node.has_attribute("stroke-width"));
    let stroke = |node: Node<'_, '_>| {
        ["stroke", "stroke-dasharray"].map(|name| node.attribute(name).map(str::to_owned))
    };
    drawn.map(stroke).collect()
}

fn line(name: &str, values: &[f64]) -> Series {
    let points = (1..).zip(values);
    Series::new(name, points.map(|(x, &y)| (f64::from(x), Some(y))))
}

fn lines(series: impl IntoIterator<Item = Series>) -> LinePlot {
    let plot = LinePlot::new("features", "error");
    series.into_iter().fold(plot, LinePlot::series)
}

fn bars(x_label: &str, bars: &[(&str, f64)]) -> BarPlot {
    let bars = bars
        .iter()
        .map(|(name, length)| ((*name).to_owned(), *length));
    BarPlot {
        x_label: x_label.to_owned(),
        bars: bars.collect(),
    }
}

fn with_lines(series: impl IntoIterator<Item = Series>) -> Figure {
    Figure::new("A figure").lines(lines(series))
}

/// Everything that a panel may have to draw.
fn strange() -> Figure {
    let mut many = lines((0..14).map(|index| line(&index.to_string(), &[f64::from(index); 3])));
    many.title = NASTY.to_owned();
    let ordered = (0..21).map(|index| {
        let faint = Tone::Faint(f64::from(index) / 20.0);
        let line = line(&format!("2^{index}"), &[1.0, 2.0, f64::from(index)]);
        line.group(NASTY).stroke(Hue::Red).tone(faint)
    });
    let ordered = lines(ordered).series(line("b", &[1.0]).group("b"));
    let broken = [1.0, f64::NAN, 3.0, f64::INFINITY, 1e308, -1e308];
    Figure::new(NASTY)
        .columns(2)
        .note(NASTY)
        .lines(lines([]))
        .lines(lines([line(NASTY, &[])]))
        .lines(lines([line(NASTY, &[2.0])]))
        .lines(lines([line("a", &broken), line("b", &[5.0; 6])]))
        .lines(lines([line("a", &[-1.0, 0.0, 1.0, 100.0])]).scales(AxisScale::Log, AxisScale::Log))
        .lines(many)
        .lines(ordered.mark(2.0, 2.0, NASTY))
        .lines(lines([line("a", &[1.0])]).mark(f64::NAN, 1.0, "nowhere"))
        .bars(bars(NASTY, &[]))
        .bars(bars(
            "weight",
            &[(NASTY, 0.5), (&NASTY.repeat(20), -1e9), ("", f64::NAN)],
        ))
        .bars(bars("zero", &[("none", 0.0)]))
}

#[test]
fn every_series_is_one_polyline() {
    for number in [1, 3, 12] {
        let series = (0..number).map(|index| line(&index.to_string(), &[1.0, 3.0, 2.0]));
        assert_eq!(count(&with_lines(series).to_svg(), "polyline"), number);
    }
}

#[test]
fn points_without_a_value_break_the_line() {
    let series = line("a", &[1.0, 2.0, f64::NAN, 2.0, f64::INFINITY, 3.0, 4.0]);
    let svg = with_lines([series]).to_svg();
    assert_eq!((count(&svg, "polyline"), count(&svg, "circle")), (2, 5));
    let series = line("a", &[1.0, -2.0, 2.0, 3.0]);
    let plot = lines([series]).scales(AxisScale::Linear, AxisScale::Log);
    assert_eq!(count(&Figure::new("").lines(plot).to_svg(), "polyline"), 1);
}

#[test]
fn one_point_is_a_dot() {
    let svg = with_lines([line("", &[7.0])]).to_svg();
    assert_eq!((count(&svg, "polyline"), count(&svg, "circle")), (0, 1));
    let svg = parse(&svg);
    let title = tagged(&svg, "title").pop().unwrap();
    assert_eq!(title.text(), Some("features: 1\nerror: 7"));
}

#[test]
fn strange_figures_are_xml_without_strange_numbers() {
    let text = strange().to_svg();
    assert_eq!(says(&text, "no values"), 3);
    let svg = parse(&text);
    let names = [
        "x", "y", "cx", "cy", "x1", "y2", "width", "height", "points", "viewBox",
    ];
    let nodes = svg.descendants();
    let places = nodes.flat_map(|node| names.map(|name| numbers(node, name)).concat());
    let places: Vec<f64> = places.collect();
    assert!(places.len() > 500);
    let near = |place: &f64| place.is_finite() && place.abs() < 1e4;
    assert!(places.iter().all(near));
    let mut titles = tagged(&svg, "title").into_iter();
    let legible = "<script>\"&' \u{fffd}\u{fffd} 漢字";
    assert!(titles.any(|title| title.text() == Some(legible)));
}

#[test]
fn nothing_lies_outside() {
    let svg = strange().columns(1).to_svg();
    assert!(svg.contains("viewBox=\"0 0 440 "), "{svg}");
    for node in tagged(&parse(&svg), "text") {
        let (x, size) = (numbers(node, "x")[0], numbers(node, "font-size")[0]);
        let text = node.text().unwrap_or_default();
        let width = text::width(text, size);
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        let inside = left >= -1.0 && left + width <= 441.0;
        assert!(inside, "{left} {width} {text}");
    }
}

#[test]
fn a_name_is_one_stroke_in_all_panels() {
    let panel = |names: &[&str]| lines(names.iter().map(|name| line(name, &[1.0, 2.0])));
    let many: Vec<String> = (0..24).map(|index| format!("name {index}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let figure = Figure::new("").lines(panel(&many));
    let svg = figure.lines(panel(&many[9..])).to_svg();
    let drawn = strokes(&svg, "polyline");
    assert_eq!(drawn[9..24], drawn[24..]);
    assert_eq!(drawn[..24].iter().collect::<BTreeSet<_>>().len(), 24);
    // Every panel has every name of its own, whole.
    let times = |place: usize| 1 + usize::from(place >= 9);
    let named = many.iter().enumerate();
    assert!(
        named
            .into_iter()
            .all(|(place, name)| says(&svg, name) == times(place))
    );
}

/// Upper ends of the names of lines, in their order.
fn heights(svg: &str, names: &[&str]) -> Vec<f64> {
    let svg = parse(svg);
    let texts = tagged(&svg, "text").into_iter();
    let named = texts.filter(|node| node.text().is_some_and(|text| names.contains(&text)));
    named.map(|node| numbers(node, "y")[0]).collect()
}

#[test]
fn names_of_lines_that_end_alike_stand_apart() {
    let names = ["first", "second", "third"];
    let equal = names.map(|name| line(name, &[3.0, 1.0]).stroke(Hue::Pink));
    let mut heights = heights(&with_lines(equal).to_svg(), &names);
    heights.sort_by(f64::total_cmp);
    assert!(
        heights.windows(2).all(|pair| pair[1] - pair[0] >= 13.0),
        "{heights:?}"
    );
}

#[test]
fn names_of_faint_lines_give_way() {
    let names: Vec<String> = (0..60).map(|index| format!("2^{index}")).collect();
    let faint = names
        .iter()
        .map(|name| line(name, &[1.0, 2.0]).tone(Tone::Faint(0.5)));
    let strong = line("chosen", &[1.0, 2.0]).tone(Tone::Strong);
    let svg = with_lines(faint.chain([strong])).to_svg();
    let shown = names.iter().filter(|name| says(&svg, name) == 1).count();
    assert!(
        (4..30).contains(&shown) && says(&svg, "chosen") == 1,
        "{shown}"
    );
    assert_eq!(count(&svg, "polyline"), 61);
}

#[test]
fn groups_are_named_where_there_are_several() {
    let grouped = |group: &str, name: &str| line(name, &[1.0, 2.0]).group(group);
    let one = with_lines([grouped("a", "1"), grouped("a", "2")]).to_svg();
    assert_eq!(says(&one, "a"), 0);
    let two = with_lines([grouped("a", "1"), grouped("a", "2"), grouped("b", "3")]).to_svg();
    assert_eq!((says(&two, "a"), says(&two, "b")), (1, 1));
}

#[test]
fn names_of_values_have_room() {
    for (count, least) in [(1, 1), (20, 20), (300, 30)] {
        let values = vec![0.5; count];
        let names = (1..=count).map(|value| format!("{value} is a name {NASTY} of some length"));
        let figure = with_lines([line("", &values)]).lines(lines([line("", &values)]));
        let svg = figure.names(names).to_svg();
        let parsed = parse(&svg);
        let texts = tagged(&parsed, "text").into_iter();
        let turned = texts.filter(|node| node.has_attribute("transform"));
        let places: Vec<f64> = turned.map(|node| numbers(node, "x")[0]).collect();
        assert!((least..45).contains(&places.len()), "{}", places.len());
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 16.0));
        // They are below the last row of panels alone.
        assert_eq!(says(&svg, "features"), 1);
    }
}

#[test]
fn equal_figures_are_equal_bytes_that_need_nothing_from_elsewhere() {
    let svg = strange().to_svg();
    assert_eq!(svg, strange().to_svg());
    assert!(svg.contains("prefers-color-scheme:dark"));
    for outside in ["href", "src=", "url(", "@import", "<script"] {
        assert!(!svg.contains(outside), "{outside}");
    }
}

#[test]
fn rings_mark_points_in_words() {
    let draw = |y: f64| {
        let chosen = line("16", &[0.6, 0.7]).tone(Tone::Strong);
        let plot = lines([line("1", &[0.5, 0.6]), chosen]);
        let words = "2 features: within one standard error of the best";
        Figure::new("t").lines(plot.mark(2.0, y, words)).to_svg()
    };
    let svg = draw(0.7);
    assert_eq!(svg.matches("rk-ink-s\"").count(), 1);
    // As many lines as the words need, and the whole of them as a tooltip.
    assert_eq!(says(&svg, "2 features: within one"), 1);
    assert!(svg.contains("<title>2 features: within one standard error of the best</title>"));
    // What has no place cannot be marked.
    assert!(!draw(f64::NAN).contains("rk-ink-s\""));
}

#[test]
fn spreads_and_levels_are_within_and_described() {
    let spread =
        line("seeds", &[1.0, 2.0, 3.0]).band([(1.0, 0.5, 1.5), (2.0, 1.0, 9.0), (3.0, 2.0, 4.0)]);
    let figure =
        Figure::new("A").lines(lines([spread]).level(12.0, "limit").mark(2.0, 2.0, "here"));
    let text = figure.to_svg();
    assert_eq!(says(&text, "limit: 12"), 1);
    let svg = parse(&text);
    let label = svg.root_element().attribute("aria-label");
    assert_eq!(label, Some("A. error against features"));
    let places = |tag: &str| numbers(tagged(&svg, tag)[0], "points");
    let (band, line) = (places("polygon"), places("polyline"));
    let mut lines = tagged(&svg, "line").into_iter();
    let level = lines.find(|line| line.has_attribute("stroke-dasharray"));
    let height = numbers(level.unwrap(), "y1")[0];
    assert!(band.iter().skip(1).step_by(2).all(|y| *y > height));
    // The edges of the band go along the line, below it and above it.
    for point in 0..3 {
        let (below, above) = (2 * point, 2 * (5 - point));
        assert_eq!((band[below], band[above]), (line[below], line[below]));
        assert!(band[below + 1] > line[below + 1] && line[below + 1] > band[above + 1]);
    }
}

#[test]
fn a_size_arranges_the_panels() {
    let panels = |size| {
        let plot = lines([line("a", &[1.0, 2.0])]);
        Figure::new("")
            .lines(plot.clone())
            .lines(plot)
            .size(size)
            .to_svg()
    };
    // Whether the second panel stands beside the first.
    let beside = |svg: &str| svg.contains("translate(440 ");
    let (wide, high) = (panels((1600, 600)), panels((600, 1600)));
    assert!(wide.contains("width=\"1600\" height=\"600\""));
    assert!(beside(&wide) && !beside(&high));
}
