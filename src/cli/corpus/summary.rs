//! What `corpus build` tells of a corpus.

use std::fmt::Write as _;

use rankrls::corpus::build::{Manifest, Part, Reason};

/// The manifest for people.
pub(super) fn summary(manifest: &Manifest) -> String {
    let sentences = &manifest.sentences;
    let mut text = format!(
        "sentences: {} read, {} to train on, {} held out",
        sentences.read, sentences.train, sentences.test
    );
    for (count, reason) in [
        (sentences.malformed, Reason::Malformed),
        (sentences.failed, Reason::Failed),
        (sentences.timed_out, Reason::TimedOut),
        (sentences.misaligned, Reason::Misaligned),
        (sentences.missing, Reason::Missing),
        (sentences.single, Reason::Single),
        (sentences.tied, Reason::Tied),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {}", reason.text());
        }
    }
    text.push('\n');
    part(&mut text, &manifest.files.train.file, &manifest.train);
    let test = manifest.files.test.as_ref().zip(manifest.test.as_ref());
    if let Some((file, test)) = test {
        part(&mut text, &file.file, test);
    }
    let _ = writeln!(text, "{}: names of the columns", manifest.files.names.file);
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
