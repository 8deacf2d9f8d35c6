//! Pixels.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::PlotError;

/// Most pixels of a picture: 256 MB of memory.
const MOST: u64 = 64 << 20;

/// The elements of an SVG document that was written here, text as outlines.
pub(super) fn tree(svg: &str) -> Result<Tree, PlotError> {
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: fonts(),
        ..Options::default()
    };
    Tree::from_str(svg, &options).map_err(|error| PlotError::Png(error.to_string()))
}

/// Draws an SVG document that was written here, with `scale` pixels a unit.
pub(super) fn draw(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size();
    let size = size.scale_by(scale).unwrap_or(size);
    let (width, height) = (size.width(), size.height());
    let too_large = || PlotError::TooLarge {
        width,
        height,
        most: MOST,
    };
    if u64::from(width) * u64::from(height) > MOST {
        return Err(too_large());
    }
    let mut pixels = Pixmap::new(width, height).ok_or_else(too_large)?;
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| PlotError::Png(error.to_string()))
}

const FAMILY: &str = "DejaVu Sans";

/// The one font, whatever the machine has: the same figure is the same picture everywhere.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(include_bytes!("font/DejaVuSans.ttf").to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    };
    Arc::clone(FONTS.get_or_init(load))
}
