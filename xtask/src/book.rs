//! The pages of `docs/` as a book with checked links.

use std::fs;
use std::io;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::commands::{command, root, run, target, tool};

/// Pages of the book that stand elsewhere, where GitHub shows them.
const ELSEWHERE: [(&str, &str); 2] = [
    ("index.md", "README.md"),
    ("python-reference.md", "python/REFERENCE.md"),
];

/// Most words of a sentence.
const WORDS: usize = 25;

/// Makes the book in `target/book`. An unlisted page and a broken link are errors.
pub(crate) fn build() -> Result<()> {
    let (docs, book) = (root().join("docs"), target().join("book"));
    let listed = fs::read_to_string(docs.join("SUMMARY.md"))?;
    for entry in fs::read_dir(docs)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let page = name
            .strip_suffix(".md")
            .is_some_and(|page| page != "SUMMARY");
        let told = !page || listed.contains(&format!("]({name})"));
        ensure!(told, "docs/SUMMARY.md does not list {name}");
    }
    if book.exists() {
        fs::remove_dir_all(&book)?;
    }
    run(command(tool("mdbook")?, "build --dest-dir").arg(&book))?;
    println!("book: all links lead somewhere, in {}", book.display());
    Ok(())
}

/// The preprocessor that mdBook starts: reads the book as JSON, and writes it with links between its pages.
pub(crate) fn preprocess() -> Result<()> {
    let (_, mut book): (Value, Value) = serde_json::from_reader(io::stdin())?;
    let items = book["items"].as_array_mut().context("expected items")?;
    items.iter_mut().try_for_each(prepare)?;
    Ok(serde_json::to_writer(io::stdout(), &book)?)
}

fn prepare(item: &mut Value) -> Result<()> {
    // Other items are lines between chapters.
    let Some(chapter) = item.get_mut("Chapter") else {
        return Ok(());
    };
    let path = chapter["path"]
        .as_str()
        .context("expected a path")?
        .to_owned();
    let elsewhere = ELSEWHERE.iter().find(|(page, _)| *page == path);
    let file = elsewhere.map_or_else(|| format!("docs/{path}"), |(_, file)| (*file).to_owned());
    let text = fs::read_to_string(root().join(&file))?;
    let text = short(&text)
        .and_then(|()| page(&text, &file))
        .with_context(|| file)?;
    // The README stands one folder above the other pages.
    chapter["content"] = text.replace("=\"docs/figures/", "=\"figures/").into();
    let inner = chapter["sub_items"].as_array_mut();
    inner.into_iter().flatten().try_for_each(prepare)
}

/// Refuses sentences of more than `WORDS` words. Code does not count.
fn short(text: &str) -> Result<()> {
    for block in text.split("```").step_by(2) {
        let spoken = |line: &&str| !line.starts_with("    ") && !line.starts_with('<');
        let begins = |line: &str| line.is_empty() || line.starts_with(['#', '|', '-']);
        let mut sentence = Vec::new();
        for line in block.lines().filter(spoken) {
            if begins(line) {
                sentence.clear();
            }
            let in_table = line.starts_with('|');
            for cell in line.split(|char| in_table && char == '|') {
                if in_table {
                    sentence.clear();
                }
                let prose: Vec<&str> = cell.split('`').step_by(2).collect();
                for word in prose.join(" ").split_whitespace() {
                    if word.chars().any(char::is_alphanumeric) {
                        sentence.push(word.to_owned());
                    }
                    let long = sentence.len() > WORDS;
                    ensure!(!long, "more than {WORDS} words: {}", sentence.join(" "));
                    let end = word.trim_end_matches([')', '"', '*']);
                    if end.ends_with(['.', '?', '!', ':', ';']) {
                        sentence.clear();
                    }
                }
            }
        }
    }
    Ok(())
}

/// Converts the links and formulas of a page of the book. Blocks of code stay.
fn page(text: &str, file: &str) -> Result<String> {
    let parts = text.split("```").enumerate();
    let parts = parts.map(
        |(place, part)| match (place % 2, part.strip_prefix("math\n")) {
            (0, _) => linked(part, file).map(|prose| formulas(&prose)),
            (_, Some(formula)) => Ok(tex('[', formula.trim(), ']')),
            _ => Ok(format!("```{part}```")),
        },
    );
    parts.collect()
}

/// Prose with formulas in `MathJax`'s notation instead of GitHub's.
fn formulas(prose: &str) -> String {
    let mut parts = prose.split("$`");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (formula, rest) = part.split_once("`$").unwrap_or((part, ""));
        out.extend([&tex('(', formula, ')'), rest]);
    }
    out
}

/// An escaped formula between backslashed brackets, which Markdown leaves alone.
fn tex(open: char, formula: &str, close: char) -> String {
    let text = format!("\\{open}{formula}\\{close}");
    let escaped = text.chars().map(|char| match char {
        char if char.is_ascii_punctuation() => format!("\\{char}"),
        char => char.to_string(),
    });
    escaped.collect()
}

/// Links of the page `own` to other pages. Links to files become paths, since the book has no files.
fn linked(prose: &str, own: &str) -> Result<String> {
    let folder = own.rfind('/').map_or("", |end| &own[..=end]);
    let mut parts = prose.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once(')').context("expected ) after a link")?;
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        if link.contains("://") {
            out.extend(["](", link, ")"]);
        } else {
            let above = file.strip_prefix("../").map(str::to_owned);
            let path = match file {
                "" => own.to_owned(),
                _ => above.unwrap_or_else(|| format!("{folder}{file}")),
            };
            let leads = root().join(&path).exists() && (anchor.is_empty() || has(&path, anchor)?);
            ensure!(leads, "{link} leads nowhere");
            let elsewhere = ELSEWHERE.iter().find(|(_, file)| *file == path);
            let page = match path.strip_prefix("docs/") {
                _ if file.is_empty() => Some(""),
                None => elsewhere.map(|(page, _)| *page),
                page => page,
            };
            if let Some(page) = page {
                out.extend(["](", page, &link[file.len()..], ")"]);
            } else {
                let words = out.rfind('[').context("expected [ before a link")?;
                out.remove(words);
                if !out[words..].contains(&path) {
                    out.extend([" (`", &path, "`)"]);
                }
            }
        }
        out += rest;
    }
    Ok(out)
}

/// Whether a page has a heading with this anchor.
fn has(page: &str, anchor: &str) -> Result<bool> {
    let text = fs::read_to_string(root().join(page))?;
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    Ok(headings.any(|heading| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|&char| char.is_alphanumeric() || " -_".contains(char));
        kept.map(|char| if char == ' ' { '-' } else { char })
            .eq(anchor.chars())
    }))
}
