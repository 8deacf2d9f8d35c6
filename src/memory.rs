//! The memory that a call may take, and sizes as people write them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::error::{Error, Result};

/// The memory that a call may take: a limit, and the memory that the caller holds. The JSON is the limit.
///
/// ```
/// use rankrls::memory::Memory;
///
/// let memory = Memory::limit(8 << 30).holding(2 << 30);
/// assert_eq!(memory.left(), Some(6 << 30));
/// assert_eq!(Memory::default().holding(2 << 30).left(), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<u64>")]
pub struct Memory {
    /// Most bytes in use in all; `None`: no limit.
    pub limit: Option<u64>,
    /// Bytes held besides the data and the column classes of a call, which the call counts itself.
    pub held: u64,
}

impl Memory {
    /// At most `bytes` in all, of which none are held; `None`: no limit.
    pub fn limit(bytes: impl Into<Option<u64>>) -> Self {
        let (limit, held) = (bytes.into(), 0);
        Self { limit, held }
    }

    /// The same with `bytes` more held.
    #[must_use]
    pub fn holding(self, bytes: u64) -> Self {
        let held = self.held.saturating_add(bytes);
        Self { held, ..self }
    }

    /// The same under a limit of `bytes`, unless there is one.
    #[must_use]
    pub fn within(self, bytes: Option<u64>) -> Self {
        let limit = self.limit.or(bytes);
        Self { limit, ..self }
    }

    /// Bytes left; `None`: no limit.
    pub fn left(self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.held))
    }

    /// Whether `bytes` more are within the limit.
    pub(crate) fn allows(self, bytes: u64) -> bool {
        let all = self.holding(bytes).held;
        self.limit.is_none_or(|limit| all <= limit)
    }

    /// The same with `bytes` more held. Every large block is required here before it is allocated.
    ///
    /// `what` is the block, with its verb. `remedy` says what to do.
    ///
    /// # Errors
    /// Of the kind [`Memory`](crate::Kind::Memory), if the limit does not allow the bytes.
    ///
    /// ```
    /// use rankrls::memory::Memory;
    ///
    /// let memory = Memory::limit(100).holding(60);
    /// assert_eq!(memory.require("the report needs", 40, "allow more memory")?.left(), Some(0));
    /// let error = memory.require("the report needs", 41, "allow more memory").unwrap_err();
    /// let expected = "the report needs 101 bytes with the data, 100 bytes are allowed; allow more memory";
    /// assert_eq!(error.to_string(), expected);
    /// # Ok::<(), rankrls::Error>(())
    /// ```
    pub fn require(
        self,
        what: impl fmt::Display,
        bytes: u64,
        remedy: impl fmt::Display,
    ) -> Result<Self> {
        if self.allows(bytes) {
            return Ok(self.holding(bytes));
        }
        Err(self.refusal(what, bytes, remedy))
    }

    /// The error of [`require`](Self::require).
    pub(crate) fn refusal(
        self,
        what: impl fmt::Display,
        bytes: u64,
        remedy: impl fmt::Display,
    ) -> Error {
        let needed = Bytes(self.holding(bytes).held).exact();
        let limit = Bytes(self.limit.unwrap_or(u64::MAX)).exact();
        Error::memory(format!(
            "{what} {needed} with the data, {limit} are allowed; {remedy}"
        ))
    }
}

impl From<Option<u64>> for Memory {
    fn from(limit: Option<u64>) -> Self {
        Self::limit(limit)
    }
}

impl From<u64> for Memory {
    fn from(limit: u64) -> Self {
        Self::limit(limit)
    }
}

/// A number of bytes as people write it: `8GiB`, `2.5GB`, `1000000 bytes`. It must be above 0 when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The number, and for large ones the same in a readable unit.
    pub(crate) fn exact(self) -> String {
        if self.0 < 1 << 10 {
            return self.to_string();
        }
        format!("{} bytes ({self})", self.0)
    }
}

const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("b", 1),
    ("bytes", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "expected a size above 0 such as 8GiB, 512MiB, 2.5GB or 1000000 bytes, found {text:?}"
            )
        };
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim_start().to_ascii_lowercase();
        let (_, unit) = UNITS
            .into_iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(refused)?;
        let bytes = times(number, unit).ok_or_else(refused)?;
        Some(Self(bytes)).filter(|_| bytes > 0).ok_or_else(refused)
    }
}

/// Whole numbers are multiplied exactly, and others to the precision of a float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn times(number: &str, unit: u64) -> Option<u64> {
    if !number.contains('.') {
        return number.parse::<u64>().ok()?.checked_mul(unit);
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes < 2.0_f64.powi(63)).then_some(bytes as u64)
}

impl fmt::Display for Bytes {
    /// In the largest binary unit that does not exceed it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match units.into_iter().find(|(_, shift)| self.0 >> shift > 0) {
            Some((name, shift)) => {
                let size = self.0 as f64 / (1_u64 << shift) as f64;
                write!(formatter, "{size:.1} {name}")
            }
            None => write!(formatter, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_towards_the_limit() {
        let memory = Memory::limit(10).holding(3).holding(4);
        assert_eq!((memory.held, memory.left()), (7, Some(3)));
        assert!(memory.allows(3) && !memory.allows(4));
        assert!(!memory.holding(4).allows(0));
        assert_eq!(memory.holding(u64::MAX).left(), Some(0));
        assert_eq!(memory.within(Some(99)), memory);
        let open = Memory::default().holding(7);
        assert!(open.allows(u64::MAX) && open.left().is_none());
        assert_eq!(open.within(Some(10)), memory);
        let read = |json| serde_json::from_str::<Memory>(json).unwrap();
        assert_eq!(read("10"), Memory::limit(10));
        assert_eq!(read("null"), Memory::default());
    }

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("1", 1),
            ("1000000 bytes", 1_000_000),
            ("8GiB", 8 << 30),
            ("8 gib", 8 << 30),
            ("512MiB", 512 << 20),
            ("4KiB", 4096),
            ("3kb", 3000),
            ("2.5GB", 2_500_000_000),
            ("0.5KiB", 512),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        let others = ",0,0.0GiB,GiB,-1,1XB,1 2,1.2.3MB,99999999TiB,99999999.5TiB,1e9,nan,inf,.";
        for text in others.split(',') {
            let error = text.parse::<Bytes>().unwrap_err();
            assert!(error.contains("8GiB"), "{text}");
        }
    }

    #[test]
    fn sizes_are_written() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Bytes(1023).exact(), "1023 bytes");
        assert_eq!(Bytes(3 << 29).exact(), "1610612736 bytes (1.5 GiB)");
    }
}
