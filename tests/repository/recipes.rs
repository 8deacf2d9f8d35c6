//! The diffs of CONTRIBUTING.md apply to the present code: their old lines stand in their file, in order.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../CONTRIBUTING.md");

/// A file, whether it is new, and the lines of a diff.
type Hunk<'a> = (&'a str, bool, Vec<&'a str>);

/// The hunks of all diffs of the page: each begins with `@@ PATH @@`, or `@@ PATH, new @@`.
fn hunks(page: &str) -> Vec<Hunk<'_>> {
    let blocks = page.split("\n```diff\n").skip(1);
    let blocks = blocks.map(|block| block.split("\n```").next().unwrap());
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        if let Some(head) = line.strip_prefix("@@ ") {
            let place = head.strip_suffix(" @@").expect("@@ at its end");
            let new = place.strip_suffix(", new");
            hunks.push((new.unwrap_or(place), new.is_some(), Vec::new()));
        } else {
            let (.., lines) = hunks.last_mut().expect("a file before lines");
            lines.push(line);
        }
    }
    hunks
}

/// `source` after a hunk. `None` if its lines are missing, or occur twice.
fn applied(source: &str, lines: &[&str]) -> Option<String> {
    let text = |without: char| -> String {
        let kept = lines.iter().filter(|line| !line.starts_with(without));
        kept.flat_map(|line| [&line[1..], "\n"]).collect()
    };
    let (before, after) = (format!("\n{}", text('+')), format!("\n{}", text('-')));
    (source.matches(&before).count() == 1).then(|| source.replacen(&before, &after, 1))
}

#[test]
fn the_recipes_apply() {
    let (root, hunks) = (Path::new(env!("CARGO_MANIFEST_DIR")), hunks(PAGE));
    assert!(hunks.len() > 9, "{hunks:?}");
    for (path, new, lines) in hunks {
        assert!(lines.iter().any(|line| line.starts_with('+')), "{path}");
        let file = root.join(path);
        if new {
            assert!(!file.exists() && lines.iter().all(|line| line.starts_with('+')));
            continue;
        }
        let source = fs::read_to_string(&file).expect(path);
        let found = applied(&source, &lines);
        assert!(
            found.is_some(),
            "{path}: does not apply:\n{}",
            lines.join("\n")
        );
    }
}

#[test]
fn lines_that_are_not_there_once_are_no_recipe() {
    let source = "\na\nb\nc\nb\n";
    assert_eq!(
        applied(source, &[" a", "-b", "+d"]).as_deref(),
        Some("\na\nd\nc\nb\n")
    );
    for lines in [&[" a", " c", "+d"][..], &[" b", "+d"], &["-e", "+d"]] {
        assert_eq!(applied(source, lines), None, "{lines:?}");
    }
}
