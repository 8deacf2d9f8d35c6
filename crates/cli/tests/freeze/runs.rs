//! Snapshots that are the commands they have. To add one, write a file with lines such as
//! `$ rankrls select --help`, and have all snapshots written anew.

use crate::folder::{Folder, freeze, hold};

/// The two pages of help that people read first, tables, JSON documents (once a schema, of two steps),
/// and what is refused in a folder of the fixtures.
macro_rules! runs {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        fn $test() {
            freeze($name);
        }
    )*};
}

runs! {
    help: "help",
    table_of_select: "table-select",
    table_of_models: "table-models",
    table_of_train: "table-train",
    table_of_tune: "table-tune",
    table_of_compare: "table-compare",
    table_of_corpus_build: "table-corpus-build",
    json_of_select: "json-select",
    json_of_train: "json-train",
    json_of_tune: "json-tune",
    json_of_compare: "json-compare",
    json_of_explain: "json-explain",
    json_of_corpus: "json-corpus",
    errors_of_memory: "error-memory",
    errors_of_outputs: "error-outputs",
    errors_of_explain: "error-explain",
    errors_of_usage: "error-usage",
}

/// Data with little in it, and what is said of that.
#[test]
fn poor_data() {
    let folder = Folder::new();
    // Of the figures no digit is left: only the warning lasts.
    let lost = folder.run("train near.svm --lambda 1e-14");
    let (_, warning) = lost.split_once("--- stderr").unwrap();
    let text = folder.again("table-poor-data");
    hold("table-poor-data", &format!("{text}\n# training{warning}"));
}
