//! The pages of `docs/` as a book for the web: links, and a check of the pages that come out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::commands::{command, root, run, target, tool};

const BLOB: &str = "https://github.com/rankrls/rankrls/blob/main/";

/// Makes the book in `target/book` and checks it.
///
/// # Errors
/// If mdBook fails, a page is missing, or a link leads nowhere.
pub(crate) fn build() -> Result<()> {
    let book = target().join("book");
    if book.exists() {
        fs::remove_dir_all(&book)?;
    }
    run(command(tool("mdbook")?, "build --dest-dir").arg(&book))?;
    for entry in fs::read_dir(root().join("docs"))? {
        let page = PathBuf::from(entry?.file_name());
        let made =
            page == Path::new("SUMMARY.md") || book.join(page.with_extension("html")).exists();
        let told = made || page.extension().is_none_or(|extension| extension != "md");
        ensure!(told, "docs/SUMMARY.md does not list {}", page.display());
    }
    check(&book)
}

/// What mdBook starts: reads the book as JSON and writes it with links for the web.
///
/// # Errors
/// If the book cannot be read or written, or a link leads nowhere.
pub(crate) fn preprocess() -> Result<()> {
    let (_, mut book): (Value, Value) = serde_json::from_reader(io::stdin())?;
    let items = book["items"].as_array_mut().context("expected items")?;
    items.iter_mut().try_for_each(prepare)?;
    Ok(serde_json::to_writer(io::stdout(), &book)?)
}

fn prepare(item: &mut Value) -> Result<()> {
    // Else it is a line between chapters.
    let Some(chapter) = item.get_mut("Chapter") else {
        return Ok(());
    };
    let path = chapter["path"]
        .as_str()
        .context("expected a path")?
        .to_owned();
    let text = chapter["content"].as_str().context("expected content")?;
    // The first page is the README, which stands in the folder above.
    let folder = if path == "index.md" { "" } else { "docs/" };
    let text = page(text, folder).with_context(|| path)?;
    chapter["content"] = text.into();
    let inner = chapter["sub_items"].as_array_mut();
    inner.into_iter().flatten().try_for_each(prepare)
}

/// A page for the web: its links, but not what stands in blocks of code.
fn page(text: &str, folder: &str) -> Result<String> {
    let parts = text.split("```").enumerate();
    let parts = parts.map(|(place, part)| match place % 2 {
        0 => linked(part, folder),
        _ => Ok(format!("```{part}```")),
    });
    parts.collect()
}

/// Links from the folder of the page, for the web: other pages, or files of the repository.
fn linked(prose: &str, folder: &str) -> Result<String> {
    let mut parts = prose.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once(')').context("expected ) after a link")?;
        let (file, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
        out += "](";
        if file.is_empty() || link.contains("://") {
            out += link;
        } else {
            let above = file.strip_prefix("../").map(str::to_owned);
            let path = above.unwrap_or_else(|| format!("{folder}{file}"));
            ensure!(root().join(&path).exists(), "{link} leads nowhere");
            match path.strip_prefix("docs/") {
                Some(page) => out += page,
                None if path == "README.md" => out += "index.md",
                None => out.extend([BLOB, &path]),
            }
            out += anchor;
        }
        out.extend([")", rest]);
    }
    Ok(out)
}

/// Follows every link in the book, and refuses pages that load anything from elsewhere.
fn check(book: &Path) -> Result<()> {
    let (mut pages, mut anchors) = (BTreeMap::new(), BTreeSet::new());
    for entry in fs::read_dir(book)? {
        let path = PathBuf::from(entry?.file_name());
        if path
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            let text = fs::read_to_string(book.join(&path))?;
            anchors.extend(
                attributes(&text, "id")
                    .into_iter()
                    .map(|id| format!("{}#{id}", path.display())),
            );
            pages.insert(path, text);
        }
    }
    let mut wrong = Vec::new();
    for (page, text) in &pages {
        let page = page.to_string_lossy();
        // Styles, and programs that the reader may run.
        for loads in ["<link rel=\"stylesheet\" href=\"http", "class=\"playground"] {
            ensure!(
                !text.contains(loads),
                "{page} has {loads}, which loads from elsewhere"
            );
        }
        for name in ["href", "src"] {
            for link in attributes(text, name) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let file = if file.is_empty() { &page } else { file };
                let leads = match anchor {
                    _ if link.contains("://") => name == "href",
                    "" => book.join(file).exists(),
                    anchor => anchors.contains(&format!("{file}#{anchor}")),
                };
                if !leads {
                    wrong.push(format!("{page}: {name} {link}"));
                }
            }
        }
    }
    ensure!(
        wrong.is_empty(),
        "links that lead nowhere, or load from elsewhere\n{}",
        wrong.join("\n")
    );
    println!(
        "book: {} pages, all links lead somewhere, in {}",
        pages.len(),
        book.display()
    );
    Ok(())
}

/// The values of an attribute in a page.
fn attributes<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let values = text.split(start.as_str()).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}
