//! The content of a data set in one number. `content` computes it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// BLAKE3 hash of the content of a data set: labels, queries with their identifiers, width, and the entries of
/// every column. It includes a teacher's scores and validation rows, if there are any. Compression and format of
/// the file, names, stored zeros and the index base do not matter. Written as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataHash(pub(super) blake3::Hash);

impl fmt::Display for DataHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for DataHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let no_hash = || format!("expected a hash of 64 hexadecimal digits, found {text:?}");
        let hash = blake3::Hash::from_hex(text);
        hash.map(Self).map_err(|_| Error::data(no_hash()))
    }
}

impl TryFrom<String> for DataHash {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<DataHash> for String {
    fn from(hash: DataHash) -> Self {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(text.parse::<DataHash>().unwrap().to_string(), text);
        for text in ["", "00", &text.replace(|_| true, "z")] {
            assert!(text.parse::<DataHash>().is_err());
        }
    }
}
