//! `rankrls corpus check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls_parses::corpus::{Checked, Listing, Verdict};
use serde::Serialize;

use crate::cli::output::table;
use crate::cli::output::{print, print_json};

/// Check that the files of a corpus are those that `corpus build` wrote
///
/// Hashes the text of the files that a manifest lists, which stand beside it: they may have been
/// compressed again, but not changed. Exits with 1 if one is changed or cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus check parses-manifest.json
  rankrls corpus check parses-manifest.json --json")]
pub(crate) struct CheckArgs {
    /// Manifest of the corpus, PREFIX-manifest.json
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The JSON document of the schema `rankrls.corpus-check/1`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    intact: bool,
    files: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    role: &'static str,
    file: &'a str,
    verdict: &'static str,
    expected: &'a str,
    /// Hash of the text that is there, if it can be read.
    found: Option<&'a str>,
    /// Why it cannot be read.
    error: Option<String>,
}

impl Document<'_> {
    fn text(&self) -> String {
        let mut table = table(&["role", "file", "verdict"].map(str::to_owned));
        for file in &self.files {
            table.add_row(file.row());
        }
        table.trim_fmt() + "\n"
    }
}

impl<'a> Entry<'a> {
    fn new(checked: &'a Checked<'a>) -> Self {
        let (verdict, found, error) = match &checked.verdict {
            Verdict::Intact => ("intact", Some(&*checked.listed.blake3), None),
            Verdict::Changed(hash) => ("changed", Some(&**hash), None),
            Verdict::Unreadable(error) => ("unreadable", None, Some(error.to_string())),
        };
        Self {
            role: checked.role,
            file: &checked.listed.file,
            verdict,
            expected: &checked.listed.blake3,
            found,
            error,
        }
    }

    fn row(&self) -> [String; 3] {
        let verdict = match &self.error {
            Some(error) => format!("{}: {error}", self.verdict),
            None => self.verdict.to_owned(),
        };
        [self.role.to_owned(), self.file.to_owned(), verdict]
    }
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let listing = Listing::read(&args.manifest)?;
    let folder = args.manifest.parent().unwrap_or(Path::new(""));
    let checked = listing.check(folder);
    let document = Document {
        schema: "rankrls.corpus-check/1",
        intact: checked
            .iter()
            .all(|file| matches!(file.verdict, Verdict::Intact)),
        files: checked.iter().map(Entry::new).collect(),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(|output| output.write_all(document.text().as_bytes()))?;
    }
    Ok(if document.intact {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
