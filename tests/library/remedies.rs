//! Words of remedies in the library and in Python: they name what there is.

use std::fs;
use std::path::Path;

use rankrls::{Remedy, Wording};

/// The text of all files with this ending in a folder.
fn sources(folder: &str, ending: &str) -> String {
    let mut text = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

/// The words of a text, of letters, digits, and what else `is_part` of them.
fn words(text: &str, is_part: fn(char) -> bool) -> impl Iterator<Item = &str> {
    let is_part = move |char: char| char.is_ascii_alphanumeric() || is_part(char);
    text.split(move |char| !is_part(char))
}

#[test]
fn every_remedy_of_python_names_arguments_that_there_are() {
    let package = sources("python/rankrls", "py");
    // A parameter stands at the beginning of its line, or after the one before.
    let is_argument = |name: &str| {
        let typed = [
            format!(" {name}: "),
            format!("({name}: "),
            format!(" {name}="),
        ];
        typed.iter().any(|typed| package.contains(typed))
    };
    let mut named = 0;
    for remedy in Remedy::examples() {
        let worded = remedy.worded(Wording::Python);
        assert!(
            !worded.contains("::") && !worded.contains("--"),
            "{worded:?} is of others"
        );
        let names: Vec<&str> = match remedy {
            Remedy::Name(_) => vec![&worded],
            _ => words(&worded, |char| matches!(char, '_' | '='))
                .filter_map(|word| Some(word.split_once('=')?.0))
                .collect(),
        };
        for name in names
            .into_iter()
            .filter(|name| !matches!(*name, "" | "index"))
        {
            assert!(is_argument(name), "{remedy:?}: there is no {name}=");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}

#[test]
fn every_remedy_of_the_library_names_items_that_there_are() {
    let library = [sources("src", "rs"), sources("crates/files/src", "rs")].concat();
    let mut named = 0;
    for remedy in Remedy::examples() {
        let worded = remedy.worded(Wording::Library);
        for path in words(&worded, |char| matches!(char, '_' | ':')) {
            let Some((owner, item)) = path.trim_end_matches(':').split_once("::") else {
                continue;
            };
            assert!(
                ["struct", "enum"]
                    .iter()
                    .any(|kind| library.contains(&format!("pub {kind} {owner}"))),
                "there is no {owner}"
            );
            let forms = [
                format!("pub {item}: "),
                format!("pub fn {item}"),
                format!("        {item}: "),
            ];
            let found = forms.iter().any(|form| library.contains(form));
            assert!(found, "{remedy:?}: there is no {owner}::{item}");
            named += 1;
        }
    }
    assert!(named > 56, "{named}");
}
