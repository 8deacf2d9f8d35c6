//! The layers of the library: the table of folders in CONTRIBUTING.md, the list of modules in
//! `src/lib.rs` and the imports agree.

use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("../../CONTRIBUTING.md");

/// The modules of the table, lowest first: `data` for `src/data/`, `peers` for `src/peers.rs`.
fn layers() -> Vec<&'static str> {
    let rows = TABLE.lines().filter(|line| line.starts_with("| `src/"));
    let places = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let modules = places.map(|place| {
        let place = place.strip_prefix("src/").expect("a path in src/");
        place.split(['/', '.']).next().unwrap()
    });
    let mut layers: Vec<&str> = modules.collect();
    layers.dedup();
    layers
}

/// Names after `prefix` in the code lines of a source, with their line numbers.
fn names<'a>(source: &'a str, prefix: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let code = source.lines().enumerate().map(|(at, line)| (at + 1, line));
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(move |(line, code)| code.split(prefix).skip(1).map(move |rest| (line, rest)))
        .map(|(line, rest)| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            (line, &rest[..end.unwrap_or(rest.len())])
        })
}

pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn modules_import_modules_above_them_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let layers = layers();
    let place = |name: &str| layers.iter().position(|layer| *layer == name);
    let mut broken = Vec::new();
    for path in sources(&root.join("src")) {
        let path = path.strip_prefix(root).unwrap();
        let module = path.components().nth(1).unwrap().as_os_str().to_str();
        let module = module.unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = place(module).unwrap_or_else(|| panic!("no row of the table has src/{module}"));
        let source = fs::read_to_string(root.join(path)).unwrap();
        // Tests may import any module. They stand last, or in their own file.
        let tests = source.find("\nmod tests {").unwrap_or(source.len());
        let tests = if path.ends_with("tests.rs") { 0 } else { tests };
        let tests = source[..tests].lines().count();
        for (line, name) in names(&source, "crate::") {
            let rule = match place(name) {
                None => "names no module of the table: modules name modules, not the crate's root",
                Some(other) if other > own && line <= tests => "is below it in CONTRIBUTING.md",
                Some(_) => continue,
            };
            let path = path.display();
            broken.push(format!(
                "{path}:{line}: `{module}` imports `{name}`, which {rule}"
            ));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_crate_lists_its_modules_as_the_table_does() {
    let source = include_str!("../../src/lib.rs");
    let mut declared: Vec<&str> = names(source, "mod ").map(|(_, name)| name).collect();
    let mut layers = layers();
    let lines = source
        .lines()
        .filter_map(|line| line.strip_prefix("//! - [`"));
    let listed: Vec<&str> = lines
        .map(|line| line.trim_start_matches("mod@").split('`').next().unwrap())
        .collect();
    let public = |name: &&str| source.contains(&format!("\npub mod {name};"));
    let ordered: Vec<&str> = layers.iter().copied().filter(public).collect();
    assert_eq!(
        listed, ordered,
        "src/lib.rs lists its public modules, lowest first"
    );
    layers.sort_unstable();
    declared.sort_unstable();
    assert_eq!(
        declared, layers,
        "src/lib.rs and the table have the same modules"
    );
}
