//! Small corpora as bytes, to try things without files. `README.md` says where they come from.
//!
//! The library rankrls reads them by its feature `sample`, and the command by their names: `@sentences`.

/// Rows of a corpus and what belongs to them: text compressed by zstd.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The name of the corpus in the command.
    pub name: &'static str,
    /// The rows, as svmlight text.
    pub rows: &'static [u8],
    /// The names of the columns, one a line.
    pub names: &'static [u8],
    /// A text for each row, one a line, if there are any.
    pub texts: Option<&'static [u8]>,
}

/// The two halves of a corpus as `rankrls build` makes it: to train on, and to test on.
macro_rules! corpus {
    ($folder:literal) => {
        [
            Sample {
                name: concat!("@", $folder),
                rows: include_bytes!(concat!($folder, "/train.svm.zst")),
                names: include_bytes!(concat!($folder, "/names.txt.zst")),
                texts: Some(include_bytes!(concat!($folder, "/texts.txt.zst"))),
            },
            Sample {
                name: concat!("@", $folder, "-test"),
                rows: include_bytes!(concat!($folder, "/test.svm.zst")),
                names: include_bytes!(concat!($folder, "/names.txt.zst")),
                texts: Some(include_bytes!(concat!($folder, "/test-texts.txt.zst"))),
            },
        ]
    };
}

/// Parses of English sentences.
pub const SENTENCES: [Sample; 2] = corpus!("sentences");

/// Pages about animals, which questions found.
pub const DOCUMENTS: [Sample; 2] = corpus!("documents");

/// Parses of sentences with invented words, more and wider than the others.
pub const PARSES: [Sample; 2] = [
    Sample {
        name: "@parses",
        rows: include_bytes!("parses/train.svm.zst"),
        names: include_bytes!("parses/names.txt.zst"),
        texts: None,
    },
    Sample {
        name: "@parses-test",
        rows: include_bytes!("parses/test.svm.zst"),
        names: include_bytes!("parses/names.txt.zst"),
        texts: None,
    },
];

/// All corpora, each with rows to train on and rows of other queries to test on.
pub const CORPORA: [[Sample; 2]; 3] = [SENTENCES, DOCUMENTS, PARSES];
