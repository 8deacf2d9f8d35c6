//! Properties of figures of all kinds.

use roxmltree::{Document, Node};

use super::*;

const SVG: &str = "http://www.w3.org/2000/svg";
const NASTY: &str = "<script>\"&' \u{1}\u{ffff} 漢字";

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

fn count(svg: &str, tag: &str) -> usize {
    let document = Document::parse(svg).unwrap();
    let nodes = document.descendants();
    nodes.filter(|node| node.has_tag_name((SVG, tag))).count()
}

fn texts(svg: &str, tag: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let nodes = document.descendants();
    let nodes = nodes.filter(|node| node.tag_name().name() == tag);
    nodes
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

/// Every number in an attribute that places something.
fn places(svg: &str) -> Vec<f64> {
    let document = Document::parse(svg).unwrap();
    let mut places = Vec::new();
    for node in document.descendants() {
        for attribute in node.attributes() {
            if [
                "x", "y", "cx", "cy", "x1", "y2", "width", "height", "points", "viewBox",
            ]
            .contains(&attribute.name())
            {
                let numbers = attribute.value().split([' ', ',']);
                places.extend(numbers.map(|number| number.parse::<f64>().unwrap()));
            }
        }
    }
    places
}

/// Everything that a panel may have to draw.
fn strange() -> Figure {
    let mut many = lines((0..14).map(|index| line(&index.to_string(), &[f64::from(index); 3])));
    many.title = NASTY.to_owned();
    let ordered = (0..21).map(|index| line(&format!("2^{index}"), &[1.0, 2.0, f64::from(index)]));
    let mut ordered = lines(ordered);
    ordered.parameter = Some(NASTY.to_owned());
    let broken = [1.0, f64::NAN, 3.0, f64::INFINITY, 1e308, -1e308];
    Figure::new(NASTY)
        .columns(2)
        .note(NASTY)
        .lines(lines([]))
        .lines(lines([line(NASTY, &[])]))
        .lines(lines([line(NASTY, &[2.0])]))
        .lines(lines([line("a", &broken), line("b", &[5.0; 6])]))
        .lines(lines([line("a", &[-1.0, 0.0, 1.0, 100.0])]).scales(Scale::Log, Scale::Log))
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
    let plot = lines([series]).scales(Scale::Linear, Scale::Log);
    assert_eq!(count(&Figure::new("").lines(plot).to_svg(), "polyline"), 1);
}

#[test]
fn one_point_is_a_dot() {
    let svg = with_lines([line("", &[7.0])]).to_svg();
    assert_eq!((count(&svg, "polyline"), count(&svg, "circle")), (0, 1));
    assert!(texts(&svg, "title").contains(&"features: 1\nerror: 7".to_owned()));
}

#[test]
fn strange_figures_are_xml_without_strange_numbers() {
    let svg = strange().to_svg();
    let places = places(&svg);
    assert!(places.len() > 500);
    assert!(
        places
            .iter()
            .all(|place| place.is_finite() && place.abs() < 1e4)
    );
    assert_eq!(
        texts(&svg, "text")
            .iter()
            .filter(|text| *text == "no values")
            .count(),
        3
    );
    let titles = texts(&svg, "title");
    assert!(
        titles.contains(&"<script>\"&' \u{fffd}\u{fffd} 漢字".to_owned()),
        "{titles:?}"
    );
}

/// The documents in a page.
fn documents(html: &str) -> Vec<String> {
    let parts = html.split("<svg ").skip(1);
    let parts = parts.map(|part| part.split_inclusive("</svg>").next().unwrap());
    parts
        .map(|part| format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {part}"))
        .collect()
}

#[test]
fn nothing_lies_outside() {
    let mut all = documents(&strange().to_html_fragment());
    all.push(strange().columns(1).to_svg());
    for svg in all {
        let document = Document::parse(&svg).unwrap();
        let view = document.root_element().attribute("viewBox").unwrap();
        assert!(view.starts_with("0 0 440 "), "{view}");
        for node in document
            .descendants()
            .filter(|node| node.has_tag_name((SVG, "text")))
        {
            let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let shown = node.text().unwrap_or_default();
            let width = text::width(shown, number("font-size"));
            let left = match node.attribute("text-anchor") {
                Some("middle") => number("x") - width / 2.0,
                Some("end") => number("x") - width,
                _ => number("x"),
            };
            let inside = left >= -1.0 && left + width <= 441.0;
            assert!(inside, "{left} {width} {shown}");
        }
    }
}

#[test]
fn a_name_is_one_colour_in_all_panels() {
    let panel = |names: &[&str]| lines(names.iter().map(|name| line(name, &[1.0, 2.0])));
    let of =
        |first: &[&str], second: &[&str]| Figure::new("").lines(panel(first)).lines(panel(second));
    let strokes = |svg: &str, tag: &str| -> Vec<String> {
        let document = Document::parse(svg).unwrap();
        let nodes = document
            .descendants()
            .filter(|node| node.has_tag_name((SVG, tag)));
        let stroke = |node: Node<'_, '_>| {
            let dash = node.attribute("stroke-dasharray").unwrap_or("none");
            Some(format!(
                "{} {dash}",
                node.attribute("stroke-width")
                    .and(node.attribute("stroke"))?
            ))
        };
        nodes.filter_map(stroke).collect()
    };
    let svg = of(&["a", "b", "c"], &["c", "a"]).to_svg();
    let drawn = strokes(&svg, "polyline");
    assert_eq!((&drawn[3], &drawn[4]), (&drawn[2], &drawn[0]));
    assert_eq!(
        texts(&svg, "text")
            .iter()
            .filter(|text| *text == "a")
            .count(),
        2
    );
    // Names that do not fit beside their lines are in a legend, once and whole.
    let long = [
        "exact, lambda 64, labels of a scale",
        "exact, lambda 64, cross-fitted",
    ];
    let svg = of(&long, &long[1..]).to_svg();
    let drawn = strokes(&svg, "polyline");
    assert_eq!(drawn[1], drawn[2]);
    assert_eq!(strokes(&svg, "line").len(), 2);
    for name in long {
        assert_eq!(
            texts(&svg, "text")
                .iter()
                .filter(|text| *text == name)
                .count(),
            1
        );
    }
    let many: Vec<String> = (0..24).map(|index| format!("name {index}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let svg = of(&many, &many[9..]).to_svg();
    let (drawn, legend) = (strokes(&svg, "polyline"), strokes(&svg, "line"));
    assert_eq!(drawn[9..24], drawn[24..]);
    assert_eq!(drawn[..24], legend);
    let different: std::collections::BTreeSet<_> = legend.iter().collect();
    assert_eq!(different.len(), 24);
}

#[test]
fn equal_figures_are_equal_bytes() {
    assert_eq!(strange().to_svg(), strange().to_svg());
    assert_eq!(strange().to_html_fragment(), strange().to_html_fragment());
}

#[test]
fn pages_need_nothing_from_elsewhere() {
    let html = strange().to_html_fragment();
    assert!(html.contains("prefers-color-scheme:dark"));
    for outside in ["href", "src=", "url(", "@import", "<script"] {
        assert!(!html.contains(outside), "{outside}");
    }
    // Eleven panels and a legend.
    let documents = documents(&html);
    assert_eq!(documents.len(), 12);
    for svg in documents {
        Document::parse(&svg).unwrap();
        assert!(svg.contains("width:100%;height:auto"));
    }
}

#[test]
fn paths_mark_what_was_chosen() {
    let steps = [(3.0, None), (2.0, Some(0.6)), (1.0, Some(0.7))];
    let path = |name: &str| Path::new(name, steps);
    let figure = paths("t", &[path("1"), path("16")], Some("lambda"), Some((1, 2)));
    let svg = figure.to_svg();
    assert_eq!(count(&svg, "polyline"), 4);
    assert_eq!(svg.matches("rk-ink-s\"").count(), 2);
    let labels = texts(&svg, "text");
    assert_eq!(
        labels
            .iter()
            .filter(|text| *text == "2 at lambda 16")
            .count(),
        2
    );
    let none = paths("t", &[path("")], None, None).to_svg();
    assert!(!none.contains("rk-ink-s\""));
    // A step without a value cannot be marked.
    let first = paths("t", &[path("")], None, Some((0, 1))).to_svg();
    assert_eq!(first.matches("rk-ink-s\"").count(), 1);
}

#[test]
fn spreads_and_levels_are_within_and_described() {
    let spread =
        line("seeds", &[1.0, 2.0, 3.0]).band([(1.0, 0.5, 1.5), (2.0, 1.0, 9.0), (3.0, 2.0, 4.0)]);
    let figure =
        Figure::new("A").lines(lines([spread]).level(12.0, "limit").mark(2.0, 2.0, "here"));
    let svg = figure.to_svg();
    assert_eq!((count(&svg, "polygon"), count(&svg, "polyline")), (1, 1));
    let document = Document::parse(&svg).unwrap();
    let label = document.root_element().attribute("aria-label").unwrap();
    assert_eq!(
        label,
        "A. error against features; lines end: seeds 3 at 3; line across: limit, 12; marked: here, 2"
    );
    let node = |tag: &str, attribute: &str| {
        let mut nodes = document.descendants();
        let found =
            nodes.find(|node| node.has_tag_name((SVG, tag)) && node.has_attribute(attribute));
        found.unwrap().attribute(attribute).unwrap().to_owned()
    };
    // The first dashed line is the level.
    let level = document
        .descendants()
        .find(|node| node.has_attribute("stroke-dasharray"));
    let height: f64 = level.unwrap().attribute("y1").unwrap().parse().unwrap();
    let points = |tag: &str| -> Vec<f64> {
        let points = node(tag, "points");
        points
            .split([' ', ','])
            .map(|place| place.parse().unwrap())
            .collect()
    };
    let (band, line) = (points("polygon"), points("polyline"));
    assert!(band.iter().skip(1).step_by(2).all(|y| *y > height));
    assert!(texts(&svg, "text").contains(&"limit: 12".to_owned()));
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
    let places = |svg: &str| {
        let document = Document::parse(svg).unwrap();
        let nodes = document.descendants();
        let mut places: Vec<String> = nodes
            .filter_map(|node| node.attribute("transform"))
            .map(str::to_owned)
            .collect();
        places.retain(|place| !place.contains("translate(0 0)"));
        places
    };
    let (wide, high) = (panels((1600, 600)), panels((600, 1600)));
    assert!(wide.contains("width=\"1600\" height=\"600\""));
    assert!(
        places(&wide)
            .iter()
            .any(|place| place.starts_with("translate(440 ")),
        "{wide}"
    );
    assert!(
        !places(&high)
            .iter()
            .any(|place| place.starts_with("translate(440 ")),
        "{high}"
    );
}
