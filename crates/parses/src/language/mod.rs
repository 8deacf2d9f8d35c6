//! Synthetic parse-reranking corpora.
//!
//! A sentence is drawn from a probabilistic grammar whose prepositional phrases, coordinations
//! and relative clauses attach in several ways. Every parse of it is a candidate, a row; the
//! sentence is the query; the label of a candidate is its labelled bracket F1 (0 to 1) against
//! the tree the sentence was drawn with. Features are words, productions, head-modifier pairs
//! and the like, most of them rare. [`Corpus::names`] has them all.
//!
//! **What there is to learn.** Words are drawn given the words that govern them: a preposition
//! leans towards nouns or verbs, some nouns and verbs like to govern one and each of them attracts
//! one of its own, and nouns, verbs, adjectives and adverbs have latent kinds that go together
//! and that show in the last rime of the stem (`Braisath`, `plunath`, `skevathed`). So word
//! features tell right attachments from wrong ones, on other sentences too.
//!
//! **Candidates.** Of all parses under the grammar the [`max_parses`](CorpusOptions::max_parses)
//! most probable ones are taken, by the probabilities of productions alone: words do not count,
//! and ties are broken by a fixed order. As with a real parser, the tree that the sentence was
//! drawn with may be missed, and then no candidate has label 1; [`Report::with_own_tree`] counts
//! the queries that have it. A sentence is left out when it has one parse only, or when all its
//! candidates have the same label.
//!
//! **Features**, by the names of their templates; words are separated by `~` from the word that
//! governs them:
//!
//! | template | what it counts |
//! |---|---|
//! | `word:w`, `bigram:v_w` | words, `^` and `$` standing for the edges of the sentence |
//! | `prod:NP>NP_PP`, `gprod:VP^NP>NP_PP` | productions, and under the phrase above |
//! | `lexprod:NP>NP_PP:w`, `glexprod:VP:v^NP>NP_PP:w` | the same with head words |
//! | `anc:w:N^NBAR`, `proj:w^NBAR^NP` | a word with the phrases above it, and with those it heads |
//! | `span:NP:5-6`, `edges:NP:v..w`, `before:NP:v\|w`, `after:NP:v\|w` | phrases by length, by first and last word, and by the words at their boundaries |
//! | `head~mod:v~w`, `arc:VP>VP_PP:v~w` | head and modifier, without and with the production that joins them |
//! | `head~tag:v~P`, `tag~mod:VT~w`, `ends:VP>VP_PP:ath~with` | the same with parts of speech, or with the rimes of stems |
//! | `dist:VT~P:+3` | parts of speech of head and modifier with their distance |
//! | `chain:u~v~w`, `sib:u:v~w` | modifier of a modifier; neighbouring modifiers of one head |
//! | `pp:v_with_w`, `pp:VT_with_w`, `pp:v_P_w`, `pp~ends:VT_ath_with_ol` | attachments of prepositional phrases: head, preposition and object |
//! | `conj:v~w`, `conj:v~and~w`, `conj~tags:N~PN`, `conj~shape:NBAR>N=NBAR>N`, `conj~length:NP:+2` | what is coordinated |
//! | `num:log2prob`, `num:depth`, `num:right-branch`, `num:mean-distance` | probability of the parse in bits (to sixteenths), nodes from root to deepest word and to last word, mean distance of modifiers |
//!
//! **Columns** are numbered by first occurrence, in the order of rows. Words and word bigrams
//! are constant within a query and many columns are equal: corpora of parses are like that.
//! Values are counts, or else numbers of at most four decimals, as labels are.
//!
//! **Determinism.** Sentence `i` is drawn from stream `i` of the seed's `ChaCha8` generator,
//! stream 0 being the lexicon's, and nothing but integer arithmetic decides on anything: a seed gives
//! the same corpus on every platform and at any number of threads.
//!
//! Corpora of real parses are built by [`crate::corpus`], treebanks to parse drawn by [`english`].
//!
//! ```
//! use rankrls_parses::language::{CorpusOptions, generate};
//!
//! let options = CorpusOptions { rows: 100, ..CorpusOptions::default() };
//! let corpus = generate(&options, &|_| ())?;
//! assert_eq!(corpus.labels.len(), 100);
//! assert!(corpus.labels.iter().all(|&f1| (0.0..=1.0).contains(&f1)));
//! # Ok::<(), rankrls_parses::language::CorpusError>(())
//! ```

mod assembly;
mod candidates;
mod chart;
pub mod english;
mod grammar;
mod lexicon;
mod options;
mod templates;
mod tree;

#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use assembly::{Assembly, Training};
use lexicon::Lexicon;
use options::MAX_VOCABULARY;
use rankrls_files::Strings;
use serde::Serialize;

pub use options::{CorpusError, CorpusOptions, Report};

/// Told the number of rows there are, now and then. It starts anew when the vocabulary proves
/// too small for the columns asked for.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// A generated corpus: one row a candidate parse, one query a sentence, one named column a feature.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The entries in compressed columns: where each column begins, and where the last one ends.
    pub indptr: Vec<usize>,
    /// The row of each entry, ascending in a column.
    pub rows: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<f64>,
    /// The label of each row.
    pub labels: Vec<f64>,
    /// Rows of each query.
    pub sizes: Vec<usize>,
    /// What identifies each query: the number of its sentence.
    pub ids: Strings,
    /// The name of each column.
    pub names: Strings,
    /// The sentences, one a query.
    pub sentences: Vec<Sentence>,
    /// What became of the sentences drawn.
    pub report: Report,
}

impl Corpus {
    /// The rows of each query.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.sizes.iter().scan(0, |end, size| {
            let start = *end;
            *end += size;
            Some(start..*end)
        })
    }

    /// Rows and values of a column.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, position: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.indptr[position]..self.indptr[position + 1];
        let rows = self.rows[entries.clone()].iter().map(|&row| row as usize);
        rows.zip(self.values[entries].iter().copied())
    }
}

/// A sentence of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// Its number among the sentences drawn, from 1.
    pub number: u64,
    /// The tree it was drawn with, in brackets: `(S (NP (PN Sobor)) (VP (VI traned)))`.
    pub tree: String,
    /// Parses it has under the grammar, whatever the limit on candidates; `u64::MAX` stands for
    /// that many or more.
    pub parses: u64,
    /// Position of its own tree among the candidates, from 0.
    pub own_rank: Option<usize>,
}

/// A corpus to train on and one to test on.
#[derive(Debug, Clone)]
pub struct Split {
    /// The corpus that [`generate`] returns for the same options.
    pub train: Corpus,
    /// Other sentences of the same language, over the columns of `train`.
    pub test: Corpus,
}

/// Generates a corpus.
///
/// Time is linear in the non-zeros. Memory is some 24 bytes a non-zero at its peak and 12 after,
/// and at its peak some 80 bytes a column, for its name. With
/// [`columns`](CorpusOptions::columns), pilots of an eighth of the rows come first, of which
/// `progress` is not told. The work is spread over the threads of the current rayon pool.
///
/// # Errors
/// [`CorpusError`] for options out of range, for columns that no vocabulary gives, and for
/// lengths so rare that sentences run out.
pub fn generate(options: &CorpusOptions, progress: Progress<'_>) -> Result<Corpus, CorpusError> {
    let (corpus, ..) = training(options, progress, None)?;
    Ok(corpus)
}

/// Generates a corpus and one of `test_rows` rows that is held out: from the same lexicon and
/// grammar, of other sentences, and over the training columns. Features that training does not
/// have are left out and counted ([`Report::unseen_features`]). `progress` is told the rows of
/// both.
///
/// # Errors
/// Those of [`generate`]; `test_rows` has the range of [`CorpusOptions::rows`].
pub fn generate_split(
    options: &CorpusOptions,
    test_rows: usize,
    progress: Progress<'_>,
) -> Result<Split, CorpusError> {
    options.validate_rows("test_rows", test_rows)?;
    split(options, test_rows, progress, None)
}

/// A row on its way.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// What identifies the query.
    pub query: &'a str,
    /// The label.
    pub label: f64,
    /// Column and value of each entry, columns ascending.
    pub entries: &'a [(u32, f64)],
}

/// Takes the rows of a corpus in order, until it breaks.
pub type Take<'t> = &'t mut dyn FnMut(Row<'_>) -> ControlFlow<()>;

/// Generates the corpus of [`generate`] row by row, and the one held out of [`generate_split`] if there
/// are `test_rows`. What is returned of training has no entries. Memory is some 100 bytes a column, for
/// its name. With [`columns`](CorpusOptions::columns) all sentences are drawn twice, first to find the
/// vocabulary.
///
/// # Errors
/// Those of [`generate_split`], and [`CorpusError::Stopped`] when `take` breaks.
pub fn generate_rows(
    options: &CorpusOptions,
    test_rows: Option<usize>,
    progress: Progress<'_>,
    take: Take<'_>,
) -> Result<(Corpus, Option<Corpus>), CorpusError> {
    let Some(test_rows) = test_rows else {
        let (corpus, ..) = training(options, progress, Some(take))?;
        return Ok((corpus, None));
    };
    options.validate_rows("test_rows", test_rows)?;
    let Split { train, test } = split(options, test_rows, progress, Some(take))?;
    Ok((train, Some(test)))
}

fn split(
    options: &CorpusOptions,
    test_rows: usize,
    progress: Progress<'_>,
    take: Option<Take<'_>>,
) -> Result<Split, CorpusError> {
    let (train, training, lexicon) = training(options, progress, take)?;
    let mut assembly = Assembly::held_out(&training);
    assembly.fill(options, &lexicon, test_rows, &|rows| {
        progress(options.rows + rows);
    })?;
    let (test, _) = assembly.finish(train.report.vocabulary);
    Ok(Split { train, test })
}

fn training(
    options: &CorpusOptions,
    progress: Progress<'_>,
    take: Option<Take<'_>>,
) -> Result<(Corpus, Training, Lexicon), CorpusError> {
    options.validate()?;
    let columns = options.columns.unwrap_or(0);
    let mut vocabulary = match options.columns {
        None => options.vocabulary,
        Some(columns) => assembly::promising(options, columns)?,
    };
    loop {
        let lexicon = Lexicon::new(options.seed, vocabulary, options.attraction);
        let finished = |assembly: Assembly<'_>, lexicon| {
            let (corpus, training) = assembly.finish(vocabulary);
            (corpus, training, lexicon)
        };
        let mut reached = columns;
        if take.is_none() || columns > 0 {
            // Rows that are to be taken are not kept.
            let mut pass = |_: Row<'_>| ControlFlow::Continue(());
            let mut assembly = match take {
                None => Assembly::default(),
                Some(_) => Assembly::streaming(&mut pass),
            };
            assembly.fill(options, &lexicon, options.rows, progress)?;
            (_, reached) = assembly.growth();
            if reached >= columns && take.is_none() {
                return Ok(finished(assembly, lexicon));
            }
        }
        if reached >= columns
            && let Some(take) = take
        {
            let mut assembly = Assembly::streaming(take);
            assembly.fill(options, &lexicon, options.rows, progress)?;
            return Ok(finished(assembly, lexicon));
        }
        if vocabulary == MAX_VOCABULARY {
            return Err(CorpusError::Columns {
                asked: columns,
                reached,
                vocabulary,
            });
        }
        vocabulary = assembly::larger(vocabulary);
    }
}
