//! What `corpus build` tells of a corpus.

use std::fmt::Write as _;

use rankrls_parses::corpus::{Manifest, Part};

/// The manifest for people.
pub(super) fn summary(manifest: &Manifest) -> String {
    let sentences = &manifest.sentences;
    let mut text = format!(
        "sentences: {} read, {} to train on, {} {}",
        sentences.read,
        sentences.train,
        sentences.test,
        if manifest.train.is_some() {
            "held out"
        } else {
            "to rank"
        }
    );
    for (count, reason) in sentences.left_out() {
        let _ = write!(text, ", {count} {}", reason.text());
    }
    text.push('\n');
    let files = &manifest.files;
    for (file, rows) in [
        (&files.train, &manifest.train),
        (&files.test, &manifest.test),
    ] {
        if let Some((file, rows)) = file.as_ref().zip(rows.as_ref()) {
            part(&mut text, &file.file, rows);
        }
    }
    for (file, what) in [
        (&files.names, "names of the columns"),
        (&files.arcs, "arcs"),
    ] {
        if let Some(file) = file {
            let _ = writeln!(text, "{}: {what}", file.file);
        }
    }
    text
}

fn part(text: &mut String, file: &str, part: &Part) {
    let labels = &part.labels;
    let _ = writeln!(
        text,
        "{file}: {} rows, {} queries, {} columns, {} non-zeros",
        part.rows, part.queries, part.columns, part.nonzeros
    );
    if part.unseen_features > 0 {
        let _ = writeln!(
            text,
            "  left out {} non-zeros of {} features without a column",
            part.unseen_entries, part.unseen_features
        );
    }
    let _ = writeln!(
        text,
        "  labels {:.4} to {:.4}, mean {:.4}; first candidates {:.4}, best {:.4}",
        labels.least, labels.largest, labels.mean, labels.mean_first, labels.mean_best
    );
}
