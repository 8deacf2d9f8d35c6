//! What is wrong, where, and what to do.
//!
//! Every function of the library that can fail returns an [`Error`]. The text is written where the fault is found.
//! It has the place, what was expected and found, and a remedy where one is certain.

use std::error::Error as StdError;
use std::sync::Arc;
use std::{fmt, io};

use rankrls_files::{ReadError, ReadErrorKind};

/// The result of a function of the library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, on which programs may act. The text says the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An option out of range, without effect, or in conflict with another.
    Options,
    /// Unsuitable data: labels, queries, values, sizes.
    Data,
    /// Numbers out of the range or precision of floats.
    Numbers,
    /// More memory than is allowed.
    Memory,
    /// A file that cannot be read or written, or has other content.
    File,
    /// The work was asked to end before it had a result.
    Stopped,
}

/// Why a function could not do what it was asked. Its [`Debug`](fmt::Debug) is its text: programs whose `main`
/// returns it print that.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: Kind,
    text: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind with this text.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        let (text, source) = (text.into(), None);
        Self(Box::new(Inner { kind, text, source }))
    }

    /// The same error, with its cause.
    #[must_use]
    pub fn from_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// The same error, with `place` before its text.
    #[must_use]
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.text = format!("{place}{}", self.0.text);
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Whether another setting may work with the same data.
    pub(crate) fn is_of_setting(&self) -> bool {
        matches!(self.kind(), Kind::Data | Kind::Numbers | Kind::Memory)
    }

    /// An unsuitable parameter.
    pub fn options(text: impl Into<String>) -> Self {
        Self::new(Kind::Options, text)
    }

    /// Unsuitable data.
    pub fn data(text: impl Into<String>) -> Self {
        Self::new(Kind::Data, text)
    }

    /// Numbers out of the range of floats.
    pub fn numbers(text: impl Into<String>) -> Self {
        Self::new(Kind::Numbers, text)
    }

    /// More memory than is allowed.
    pub fn memory(text: impl Into<String>) -> Self {
        Self::new(Kind::Memory, text)
    }

    /// The work was asked to end before it had a result.
    pub fn stopped() -> Self {
        Self::new(Kind::Stopped, "interrupted before there was a result")
    }
}

/// Text and kind are compared, and the cause is not.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.0.kind, &self.0.text) == (other.0.kind, &other.0.text)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let kind = match error.kind() {
            ReadErrorKind::TooLarge => Kind::Memory,
            ReadErrorKind::Io(io::ErrorKind::Interrupted) => Kind::Stopped,
            _ => Kind::File,
        };
        Self::new(kind, error.to_string()).from_source(error)
    }
}

/// `ensure!(legal, kind, "text {with} values")` returns an [`Error`] of the constructor `kind` unless `legal` is
/// true.
macro_rules! ensure {
    ($legal:expr, $kind:ident, $($text:tt)+) => {
        let legal: bool = $legal;
        if !legal {
            return Err($crate::error::Error::$kind(format!($($text)+)));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_by_an_error_prints_its_sentence() {
        let refused = crate::data::Dataset::read("no-such.svm").unwrap_err();
        let errors = [
            Error::options("k: expected 1 or more, found 0"),
            refused.into(),
        ];
        for (error, kind) in errors.iter().zip([Kind::Options, Kind::File]) {
            let main: Result<()> = Err(error.clone());
            assert_eq!(format!("{main:?}"), format!("Err({error})"));
            assert_eq!(error.kind(), kind);
        }
        let told = "no-such.svm: expected a readable file, found ";
        assert!(format!("{:?}", errors[1]).starts_with(told));
    }
}
