//! Kinds of files.

use std::path::Path;

use super::PlotError;

/// A kind of file that a figure can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlotFormat {
    /// Vectors, with tooltips, light and dark.
    Svg,
    /// Pixels, light.
    Png,
    /// A page of its own with the vectors in it, which fits phones and desktops.
    Html,
}

impl PlotFormat {
    /// By the extension of `path`, in any case.
    ///
    /// # Errors
    /// [`PlotError::Extension`] unless it is `.svg`, `.png` or `.html`.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html") => Ok(Self::Html),
            _ => Err(PlotError::Extension {
                path: path.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (path, format) in [
            ("a.svg", PlotFormat::Svg),
            ("b/a.b.PNG", PlotFormat::Png),
            ("a.html", PlotFormat::Html),
        ] {
            assert_eq!(PlotFormat::of(Path::new(path)).unwrap(), format);
        }
        for (path, found) in [("a.pdf", ".pdf"), ("svg", "none"), ("a.svg.gz", ".gz")] {
            let error = PlotFormat::of(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(".svg, .png or .html"), "{error}");
            assert!(error.contains(&format!("found {found}")), "{error}");
        }
    }
}
