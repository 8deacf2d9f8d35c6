//! Sizes of memory as people write them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

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

/// A whole number is multiplied exactly, others to the precision of a float.
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
    /// In the largest binary unit of which there is one.
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
        for text in [
            "",
            "0",
            "0.0GiB",
            "GiB",
            "-1",
            "1XB",
            "1 2",
            "1.2.3MB",
            "99999999TiB",
            "99999999.5TiB",
            "1e9",
            "nan",
            "inf",
            ".",
        ] {
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
    }
}
