//! `rankrls corpus check`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls_parses::corpus::{Checked, Listing, Verdict};
use serde::Serialize;

use crate::files::InPath;
use crate::session::Session;
use crate::sheet::Sheet;

/// Check that the files of a corpus are as `corpus build` wrote them
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
    manifest: InPath,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The JSON document of the schema `rankrls.corpus-check/1`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    intact: bool,
    files: Vec<Checked<'a>>,
}

impl Document<'_> {
    fn text(&self) -> String {
        let verdict = |file: &Checked<'_>| match &file.error {
            Some(error) => format!("{}: {error}", file.verdict),
            None => file.verdict.to_string(),
        };
        let table = Sheet::of(&self.files)
            .words("role", |file| file.role)
            .words("file", |file| file.file)
            .words("verdict", verdict);
        table.text() + "\n"
    }
}

pub(crate) fn run(args: &CheckArgs, session: &Session<'_>) -> Result<ExitCode> {
    let listing = Listing::read(&args.manifest)?;
    let folder = args.manifest.parent().unwrap_or(Path::new(""));
    let files = listing.check(folder);
    let document = Document {
        schema: "rankrls.corpus-check/1",
        intact: files.iter().all(|file| file.verdict == Verdict::Intact),
        files,
    };
    let code = session.end(args.json, &document, || document.text(), Ok(()))?;
    Ok(if document.intact {
        code
    } else {
        ExitCode::FAILURE
    })
}
