//! Faults that each front end tells of alike, in its own words for the remedy.

use serde_json::Value;

/// A fault, and a file with which it can be made.
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) text: String,
    /// What all front ends say, and the remedy of this one.
    parts: Vec<String>,
}

impl Fault {
    /// All of them, with the remedies of a front end.
    pub(crate) fn all(front_end: &str) -> Vec<Self> {
        let cases: Vec<Value> = serde_json::from_str(include_str!("faults.json")).unwrap();
        let fault = |case: &Value| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let said = case["said"].as_array().unwrap().iter();
            Self {
                name: text(&case["fault"]),
                file: text(&case["file"]),
                text: text(&case["text"]),
                parts: said.chain([&case[front_end]]).map(text).collect(),
            }
        };
        cases.iter().map(fault).collect()
    }

    #[track_caller]
    pub(crate) fn check(&self, error: &str) {
        for part in &self.parts {
            assert!(
                error.contains(part),
                "{}: no {part:?} in {error}",
                self.name
            );
        }
    }
}
