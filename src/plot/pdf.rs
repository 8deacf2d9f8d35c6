//! One page of vectors, drawn from the same SVG as the pixels. Text is outlines: it looks the same
//! everywhere, and needs no font.
//!
//! Drawings have rectangles, lines, circles and text in plain colours, so the page has paths only.
//! The crate `svg2pdf` does more, but is archived and brings a second parser of SVG.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use resvg::tiny_skia::{PathSegment, Point, Transform};
use resvg::usvg::{Color, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Path};

use super::PlotError;
use super::png::tree;

/// Points of a page for a unit of the drawing: 96 units are an inch, 72 points are.
const POINTS: f32 = 0.75;

/// Draws an SVG document that was written here.
pub(super) fn draw(svg: &str) -> Result<Vec<u8>, PlotError> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut page = Page {
        content: String::new(),
        // PDF counts from the lower left corner.
        base: Transform::from_row(POINTS, 0.0, 0.0, -POINTS, 0.0, height),
        opacities: Vec::new(),
    };
    page.group(tree.root(), 1.0);
    page.file(width, height)
        .map_err(|error| PlotError::Png(error.to_string()))
}

/// A page as it is drawn.
struct Page {
    content: String,
    base: Transform,
    /// Opacities that were used: number `n` has the name `/On`.
    opacities: Vec<f32>,
}

impl Page {
    fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, opacity),
                Node::Text(text) => self.group(text.flattened(), opacity),
                Node::Path(path) if path.is_visible() => self.path(path, opacity),
                Node::Path(_) | Node::Image(_) => {}
            }
        }
    }

    fn path(&mut self, path: &Path, opacity: f32) {
        let fill = path.fill().map(|fill| (fill.paint(), fill.opacity().get()));
        let stroke = path.stroke();
        let transform = self.base.pre_concat(path.abs_transform());
        let fill = |page: &mut Self| {
            let Some((Paint::Color(colour), own)) = fill else {
                return;
            };
            page.begin(transform, own * opacity);
            page.colour(*colour, "rg");
            page.outline(path);
            page.content += "f Q\n";
        };
        let stroke = |page: &mut Self| {
            let Some((stroke, Paint::Color(colour))) = stroke.map(|own| (own, own.paint())) else {
                return;
            };
            page.begin(transform, stroke.opacity().get() * opacity);
            page.colour(*colour, "RG");
            let cap = match stroke.linecap() {
                LineCap::Butt => 0,
                LineCap::Round => 1,
                LineCap::Square => 2,
            };
            let join = match stroke.linejoin() {
                LineJoin::Round => 1,
                LineJoin::Bevel => 2,
                _ => 0,
            };
            let dashes = stroke.dasharray().unwrap_or_default().iter();
            let dashes: Vec<String> = dashes.map(|&dash| units(dash)).collect();
            let (width, dashes) = (units(stroke.width().get()), dashes.join(" "));
            let _ = writeln!(page.content, "{width} w {cap} J {join} j [{dashes}] 0 d");
            page.outline(path);
            page.content += "S Q\n";
        };
        match path.paint_order() {
            PaintOrder::FillAndStroke => {
                fill(self);
                stroke(self);
            }
            PaintOrder::StrokeAndFill => {
                stroke(self);
                fill(self);
            }
        }
    }

    fn begin(&mut self, transform: Transform, opacity: f32) {
        let Transform {
            sx,
            kx,
            ky,
            sy,
            tx,
            ty,
        } = transform;
        self.content += "q ";
        for part in [sx, ky, kx, sy, tx, ty] {
            let _ = write!(self.content, "{} ", units(part));
        }
        self.content += "cm\n";
        if opacity < 1.0 {
            let known = self.opacities.iter().position(|known| *known == opacity);
            let number = known.unwrap_or_else(|| {
                self.opacities.push(opacity);
                self.opacities.len() - 1
            });
            let _ = writeln!(self.content, "/O{number} gs");
        }
    }

    fn colour(&mut self, colour: Color, operator: &str) {
        let part = |part: u8| units(f32::from(part) / 255.0);
        let (red, green, blue) = (part(colour.red), part(colour.green), part(colour.blue));
        let _ = writeln!(self.content, "{red} {green} {blue} {operator}");
    }

    fn outline(&mut self, path: &Path) {
        let mut from = Point::zero();
        for segment in path.data().segments() {
            let (points, operator) = match segment {
                PathSegment::MoveTo(to) => (vec![to], "m"),
                PathSegment::LineTo(to) => (vec![to], "l"),
                // PDF has cubic curves only.
                PathSegment::QuadTo(by, to) => {
                    let towards = |end: Point| {
                        let part = |end: f32, by: f32| end + (by - end) * 2.0 / 3.0;
                        Point::from_xy(part(end.x, by.x), part(end.y, by.y))
                    };
                    (vec![towards(from), towards(to), to], "c")
                }
                PathSegment::CubicTo(first, second, to) => (vec![first, second, to], "c"),
                PathSegment::Close => (Vec::new(), "h"),
            };
            for point in &points {
                let _ = write!(self.content, "{} {} ", units(point.x), units(point.y));
            }
            let _ = writeln!(self.content, "{operator}");
            from = points.last().copied().unwrap_or(from);
        }
    }

    /// The bytes of the file: five objects, and where they begin.
    fn file(&self, width: f32, height: f32) -> std::io::Result<Vec<u8>> {
        let mut content = ZlibEncoder::new(Vec::new(), Compression::default());
        content.write_all(self.content.as_bytes())?;
        let content = content.finish()?;
        let states = self.opacities.iter().enumerate();
        let states = states.map(|(number, opacity)| {
            let opacity = units(*opacity);
            format!("/O{number} <</ca {opacity} /CA {opacity}>>")
        });
        let states: String = states.collect();
        let (width, height) = (units(width), units(height));
        let stream = format!(
            "<</Length {} /Filter /FlateDecode>>\nstream\n",
            content.len()
        );
        let stream = [stream.as_bytes(), &content, b"\nendstream"].concat();
        let objects = [
            b"<</Type /Catalog /Pages 2 0 R>>".to_vec(),
            b"<</Type /Pages /Kids [3 0 R] /Count 1>>".to_vec(),
            format!(
                "<</Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R \
                 /Resources <</ExtGState <<{states}>>>>>>"
            )
            .into_bytes(),
            stream,
        ];
        let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (number, object) in (1..).zip(&objects) {
            let _ = writeln!(table, "{:010} 00000 n ", file.len());
            writeln!(file, "{number} 0 obj")?;
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let (start, count) = (file.len(), objects.len() + 1);
        let trailer =
            format!("{table}trailer\n<</Size {count} /Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
        file.extend_from_slice(trailer.as_bytes());
        Ok(file)
    }
}

/// A number with four decimals at most.
fn units(value: f32) -> String {
    let text = format!("{value:.4}");
    super::text::trimmed(&text).to_owned()
}
