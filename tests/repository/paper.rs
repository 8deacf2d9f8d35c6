//! The paper can be built. Its header has title, authors and bibliography, and the bibliography has every citation.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const PAPER: &str = include_str!("../../paper/paper.md");
const BIBLIOGRAPHY: &str = include_str!("../../paper/paper.bib");
/// It shows the output of `compare`, which a test runs.
const PAGE: &str = include_str!("../../docs/paper.md");
const README: &str = include_str!("../../README.md");
/// `studies/figures.py` fills in the tables.
const EVIDENCE: &str = include_str!("../../docs/evidence.md");

#[test]
fn the_header_has_title_authors_and_bibliography() {
    let header = PAPER.strip_prefix("---\n").expect("a header first");
    let (header, text) = header.split_once("\n---\n").expect("the header's end");
    let keys = header.lines().filter(|line| !line.starts_with([' ', '-']));
    let keys: Vec<&str> = keys
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    for key in [
        "title",
        "tags",
        "authors",
        "affiliations",
        "date",
        "bibliography",
    ] {
        assert!(keys.contains(&key), "{key}: {keys:?}");
    }
    assert!(header.contains("\n  - name: "), "{header}");
    assert!(header.ends_with("\nbibliography: paper.bib"), "{header}");
    assert!(text.starts_with("\n# Summary\n"));
}

#[test]
fn the_bibliography_has_what_is_cited() {
    let entries = BIBLIOGRAPHY.lines().filter(|line| line.starts_with('@'));
    let entries = entries.map(|line| line.split(['{', ',']).nth(1).expect("a key"));
    let entries: BTreeSet<&str> = entries.collect();
    let cited = PAPER
        .split(['[', ' ', ';', '\n'])
        .filter_map(|word| word.strip_prefix('@'));
    let cited: BTreeSet<&str> = cited
        .map(|key| key.trim_end_matches([']', '.', ',']))
        .collect();
    assert!(cited.len() > 20, "{cited:?}");
    let absent: Vec<_> = cited.difference(&entries).collect();
    assert!(absent.is_empty(), "cited without an entry: {absent:?}");
}

fn number(text: &str) -> f64 {
    text.parse().expect(text)
}

/// Whether `written` is `found`, rounded to the decimals of `written`.
fn rounds(written: &str, found: f64) -> bool {
    let (_, decimals) = written.split_once('.').unwrap_or_default();
    let unit = decimals.chars().fold(1.0, |unit, _| unit / 10.0);
    (number(written) - found).abs() <= 0.501 * unit
}

#[test]
fn the_table_has_the_figures_of_the_page() {
    let rows = PAPER.lines().filter(|line| line.contains(" MiB |"));
    let rows = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let mut compared = 0;
    for row in rows {
        let [_, name, memory, error, cindex, _] = row[..] else {
            panic!("{row:?}");
        };
        let name = name.split('`').nth(1).expect(name);
        // The page omits times.
        let words = |line: &'static str| line.split_whitespace().filter(|word| *word != "...");
        let lines = PAGE.lines().map(words);
        let mut lines = lines.map(Iterator::collect::<Vec<_>>);
        let found = lines
            .find(|words| words.len() == 11 && words[0] == name)
            .expect(name);
        let share = if found[2] == "KiB" { 1024.0 } else { 1.0 };
        let memory = rounds(memory.trim_end_matches(" MiB"), number(found[1]) / share);
        let error = error == "-" || rounds(error, number(found[3]));
        assert!(memory && error, "{row:?}: {found:?}");
        assert!(rounds(cindex, number(found[5])), "{row:?}: {found:?}");
        compared += 1;
    }
    assert_eq!(compared, 6);
}

#[test]
fn shares_and_times_are_those_of_evidence() {
    let words = README.split_whitespace().chain(PAPER.split_whitespace());
    let words: Vec<&str> = words
        .map(|word| word.trim_end_matches([',', '.']))
        .collect();
    let shares: BTreeSet<&&str> = words.iter().filter(|word| word.ends_with('%')).collect();
    assert!(shares.len() > 2, "{shares:?}");
    for share in shares {
        let found = [" (", " |"].map(|end| EVIDENCE.contains(&format!("| {share}{end}")));
        assert!(found.contains(&true), "{share}");
    }
    let text = README
        .split_once("Selecting ten of 107,291 columns")
        .expect("times")
        .1;
    let text = text.split_once("\n\n").expect("their end").0;
    let mut compared = 0;
    for (seconds, unit) in text.split_whitespace().zip(text.split_whitespace().skip(1)) {
        if unit == "s" {
            assert!(EVIDENCE.contains(&format!("| {seconds} s |")), "{seconds}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3, "{text}");
}

/// Runs if `RANKRLS_PANDOC` is set.
#[test]
fn pandoc_builds_it() {
    if std::env::var_os("RANKRLS_PANDOC").is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("paper");
    let mut pandoc = Command::new("pandoc");
    pandoc.args("paper.md --citeproc --fail-if-warnings --standalone --to html".split(' '));
    let built = pandoc
        .current_dir(folder)
        .output()
        .expect("pandoc is installed");
    let (page, errors) = (
        String::from_utf8_lossy(&built.stdout),
        String::from_utf8_lossy(&built.stderr),
    );
    assert!(built.status.success(), "{errors}");
    for part in ["<h1 class=\"title\">rankrls: ", "id=\"refs\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
