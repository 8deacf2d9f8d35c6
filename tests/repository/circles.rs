//! The files of a crate import each other without circles, so a reader can read each file after its imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a module within its crate: `["greedy", "state"]`.
type Module = Vec<String>;

/// A file without its tests.
struct Source {
    /// The names in scope: `Step` by `crate::path::Step`, and whether the file only re-exports it.
    uses: Vec<(String, Module, bool)>,
    /// All paths in its code with `crate`, `super` or `self` at their head.
    paths: Vec<Module>,
}

/// Lines of code before the tests, without comments and test-only items.
fn code(text: &str) -> String {
    let end = text.find("\n#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let mut lines = text[..end].lines();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        let line = line.split("//").next().unwrap_or_default();
        if line.trim() == "#[cfg(test)]" || line.trim() == "#[cfg(doc)]" {
            // The item of the attribute: to the end of its statement, or of its block.
            let indent = line.len() - line.trim_start().len();
            let closing = format!("{}}}", " ".repeat(indent));
            for item in lines.by_ref() {
                if item.trim_end().ends_with(';') || item.starts_with(&closing) {
                    break;
                }
            }
            continue;
        }
        code.push_str(line);
        code.push('\n');
    }
    code
}

/// The paths of a tree such as `a::{b, c::{d, e as f}}`, each with its name in scope.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(String, Module)>) {
    let tree = tree.trim();
    if let Some((path, rest)) = tree.split_once("::{") {
        let before: Module = before.iter().cloned().chain(segments(path)).collect();
        let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
        let (mut depth, mut begin) = (0, 0);
        for (at, char) in inner.char_indices().chain([(inner.len(), ',')]) {
            match char {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    leaves(&inner[begin..at], &before, found);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let path: Module = before.iter().cloned().chain(segments(path)).collect();
    let Some(last) = path.last().filter(|last| !last.is_empty()) else {
        return;
    };
    let name = if name.is_empty() { last } else { name };
    found.push((name.trim().to_owned(), path.clone()));
}

fn segments(path: &str) -> impl Iterator<Item = String> + '_ {
    let parts = path.split("::").map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty())
}

impl Source {
    fn read(path: &Path) -> Self {
        let code = code(&fs::read_to_string(path).unwrap());
        let (mut uses, mut paths) = (Vec::new(), Vec::new());
        for statement in code.split(';') {
            // Attributes and ends of blocks may precede a statement.
            let Some(at) = statement.rfind("use ") else {
                continue;
            };
            let begins = statement[..at].lines().next_back().unwrap_or_default();
            let passes_on = begins.trim_start().starts_with("pub");
            if !(begins.trim().is_empty() || passes_on) {
                continue;
            }
            let mut found = Vec::new();
            leaves(&statement[at + 4..], &[], &mut found);
            uses.extend(
                found
                    .into_iter()
                    .map(|(name, path)| (name, path, passes_on)),
            );
        }
        for prefix in ["crate::", "super::", "self::"] {
            for (at, _) in code.match_indices(prefix) {
                let before = code[..at].chars().next_back();
                if before.is_some_and(|char| char.is_alphanumeric() || "_$:".contains(char)) {
                    continue;
                }
                let end = code[at..].find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
                let path = &code[at..at + end.unwrap_or(code.len() - at)];
                if !code[at + path.len()..].starts_with('{') {
                    paths.push(segments(path).collect());
                }
            }
        }
        Self { uses, paths }
    }
}

/// The files of a crate, by module.
struct Crate(BTreeMap<Module, Source>);

impl Crate {
    fn read(folder: &Path) -> Self {
        let mut all = BTreeMap::new();
        let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let within = path.strip_prefix(folder).unwrap().with_extension("");
                let mut module: Module = within
                    .iter()
                    .map(|part| part.to_str().unwrap().to_owned())
                    .collect();
                if matches!(module.last().map(String::as_str), Some("tests")) {
                    continue;
                }
                module.retain(|part| part != "mod" && part != "lib");
                all.insert(module, Source::read(&path));
            }
        }
        Self(all)
    }

    /// The file that `path` refers to in `from`; `None` outside of the crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Module> {
        let mut place = from.to_vec();
        let mut rest = path.iter();
        match path.first()?.as_str() {
            "crate" => {
                place.clear();
                rest.next();
            }
            "super" | "self" => {}
            // A module below, or another name in scope.
            first => {
                let mut below = place.clone();
                below.push(first.to_owned());
                if !self.0.contains_key(&below) {
                    return None;
                }
            }
        }
        for part in rest {
            match part.as_str() {
                "self" => continue,
                "super" => {
                    place.pop();
                    continue;
                }
                _ => {}
            }
            let mut below = place.clone();
            below.push(part.clone());
            if self.0.contains_key(&below) {
                place = below;
                continue;
            }
            let uses = &self.0.get(&place)?.uses;
            let passed = uses.iter().find(|(name, _, _)| name == part);
            let passed = passed.filter(|_| depth < 8 && place != from);
            return match passed {
                Some((_, path, _)) => self.resolve(&place, path, depth + 1),
                None => Some(place),
            };
        }
        Some(place)
    }

    /// The files that each file needs. A re-export does not count.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let arrows = self.0.iter().map(|(module, source)| {
            let used = source.uses.iter().filter(|(_, _, passes_on)| !passes_on);
            let used = used.map(|(_, path, _)| path).chain(&source.paths);
            let found = used.filter_map(|path| self.resolve(module, path, 0));
            (module, found.filter(|other| other != module).collect())
        });
        arrows.collect()
    }
}

/// Sets of files that need each other, directly or through others.
fn circles(arrows: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reached = |from: &Module| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = next.pop() {
            for other in arrows.get(&module).into_iter().flatten() {
                if seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        seen
    };
    let all: BTreeMap<&Module, BTreeSet<Module>> = arrows
        .keys()
        .map(|&module| (module, reached(module)))
        .collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (module, reach) in &all {
        if !reach.contains(*module) {
            continue;
        }
        let circle: Vec<String> = all
            .iter()
            .filter(|(other, back)| reach.contains(**other) && back.contains(*module))
            .map(|(other, _)| other.join("/"))
            .collect();
        if !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (folder, least) in [
        ("src", 100),
        ("crates/parses/src", 30),
        ("crates/cli/src", 50),
        ("crates/files/src", 5),
        ("crates/plot/src", 3),
        ("python/src", 10),
    ] {
        let files = Crate::read(&root.join(folder));
        let arrows = files.arrows();
        let count: usize = arrows.values().map(BTreeSet::len).sum();
        assert!(count > least, "{count} imports in {folder}");
        let found = circles(&arrows);
        assert!(found.is_empty(), "{folder}: {found:#?}");
    }
}
