//! Properties of every reader, for any bytes. It returns sound data that can be written and read back, or an error
//! that says where. It takes a fixed part of memory, and at most a stated multiple of the input.
//!
//! Each reader has one function. The fuzz targets call it. So does `tests/untrusted.rs`, with drawn bytes and with
//! inputs that fuzzing found.

mod plain;

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use peak_alloc::PeakAlloc;
use rankrls::data::read::{
    self, Format, Loaded, Missing, ReadError, ReadErrorKind, ReadOptions, RowQueries, TableOptions,
};
use rankrls::data::{DataHash, Strings, write_names, write_svmlight_as_wide};
use rankrls::greedy::job::{select_among, unwatched};
use rankrls::greedy::{GreedyRankRls, Step};
use rankrls::memory::Memory;
use rankrls::model::read_features;
use rankrls::{ColumnClasses, Dataset, IndexBase, Model, Queries, StrategyKind, Warning};
use rankrls_files::Lines;
use rankrls_parses::linkgrammar::{self, Linkage};
use rankrls_parses::treebank::{Sentence, conllu as columns};
use tempfile::TempDir;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that a reader may take for each byte of its input.
const PER_BYTE: usize = 64;

/// Further bytes that it may take: buffers, chunks of text, tables of a decompressor.
const FIXED: usize = 2 << 20;

/// The readers' memory limit. Compressed input may take twice as much, and a zstd window of the 8 MiB that every
/// decoder must have.
const LIMIT: u64 = 1 << 20;

/// A property of a reader. Returns whether the input was read, not refused.
pub type Property = fn(&[u8]) -> bool;

/// All properties by name.
pub const ALL: &[(&str, Property)] = &[
    ("svmlight", svmlight),
    ("table", table),
    ("names", names),
    ("scores", scores),
    ("lists", lists),
    ("features", features),
    ("model", model),
    ("lines", lines),
    ("conllu", conllu),
    ("linkages", linkages),
];

/// The name of the input in messages.
const NAME: &str = "input";

thread_local! {
    /// A folder for readers of files. It goes with the thread of its test.
    static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder");
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    fs::write(&path, bytes).expect("the temporary folder can be written to");
    path
}

/// Reads, within the memory that `input` may take.
fn within<T>(input: &[u8], read: impl FnOnce() -> T) -> T {
    let compressed = 2 * usize::try_from(LIMIT).unwrap_or(usize::MAX) + (9 << 20);
    let more = if is_compressed(input) { compressed } else { 0 };
    let allowed = PER_BYTE * input.len() + FIXED + more;
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = read();
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken <= allowed, "{taken} bytes, {allowed} allowed");
    result
}

fn is_compressed(input: &[u8]) -> bool {
    matches!(
        input,
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
    )
}

/// Checks that an error helps: what was expected and found, and where. Returns false, as nothing was read.
fn explained(error: &ReadError, text: &[u8]) -> bool {
    assert!(!error.expected().is_empty() && !error.found().is_empty());
    let placed = error.place().is_some() || error.field().is_some();
    assert!(
        placed || error.kind() != ReadErrorKind::Malformed,
        "no place: {error}"
    );
    if let Some(place) = error.place()
        && !is_compressed(text)
    {
        let lines = text.split(|&byte| byte == b'\n').count() as u64;
        assert!((1..=lines).contains(&place.line), "{error}");
        assert!((1..=text.len() + 1).contains(&place.column), "{error}");
    }
    false
}

/// Checks the promises of every data set.
fn sound(data: &Dataset<'_>) {
    assert!(data.rows() > 0 && data.labels().len() == data.rows());
    assert!(data.labels().iter().all(|label| label.is_finite()));
    let bounds = data.queries().offsets();
    assert_eq!(bounds.first(), Some(&0));
    assert_eq!(bounds.last().map(|&last| last as usize), Some(data.rows()));
    assert!(bounds.is_sorted_by(|a, b| a < b));
    for position in 0..data.stored_columns() {
        let column = data.column(position);
        assert!((data.feature(position) as usize) < data.width());
        assert!(column.rows.is_sorted_by(|a, b| a < b));
        assert!(
            column
                .rows
                .last()
                .is_none_or(|&row| (row as usize) < data.rows())
        );
        assert!(
            column
                .values
                .iter()
                .all(|value| value.is_finite() && *value != 0.0)
        );
    }
}

/// Checks that warnings about data have text, and concern existing columns.
fn warned(data: &Dataset<'_>) {
    let units = Warning::of_units(&ColumnClasses::new(data), data);
    for warning in data.warnings().iter().chain(&units) {
        let column = warning.column.as_ref();
        assert!(column.is_none_or(|&(feature, _)| (feature as usize) < data.width()));
        assert!(!warning.text.is_empty());
    }
}

/// Checks a reader's result on `input`. Returns the data, if they were read.
fn judged(read: Result<Loaded, ReadError>, input: &[u8]) -> Option<Dataset<'static>> {
    match read {
        Ok(loaded) => {
            sound(&loaded.dataset);
            warned(&loaded.dataset);
            Some(loaded.dataset)
        }
        Err(error) => {
            explained(&error, input);
            None
        }
    }
}

/// Options by the bits of a byte.
fn options(flags: u8) -> ReadOptions {
    ReadOptions::new()
        .zero_based(flags & 1 != 0)
        .width((flags & 4 != 0).then_some(usize::from(flags >> 3)))
        .memory(LIMIT)
}

/// Checks that written data read back the same. Only an identifier that no text has may be refused.
fn comes_back(data: &Dataset<'_>) {
    let mut written = Vec::new();
    if let Err(refused) = write_svmlight_as_wide(data, data.index_base(), &mut written) {
        let mut ids = data.queries().ids().into_iter().flat_map(Strings::iter);
        let odd = [' ', '\t', '\r', '\n', '#', ':'];
        assert!(ids.any(|id| id.contains(odd)), "{refused}");
        return;
    }
    let again = ReadOptions::new()
        .zero_based(data.index_base() == IndexBase::Zero)
        .width(data.width())
        .read_from(&written[..], NAME)
        .expect("what was written can be read");
    assert_eq!(DataHash::of(data), DataHash::of(&again.dataset));
}

/// Returns whether there are data, and checks that they read back.
fn come_back(read: Result<Loaded, ReadError>, input: &[u8]) -> bool {
    let data = judged(read, input);
    data.iter().for_each(comes_back);
    data.is_some()
}

/// svmlight text after a byte of options. Compressed text is fuzzed with names and scores. Here a few bytes of it
/// would become megabytes of blank lines, which only take time.
pub fn svmlight(input: &[u8]) -> bool {
    let Some((&flags, text)) = input.split_first() else {
        return false;
    };
    if is_compressed(text) {
        return false;
    }
    let read = within(text, || options(flags).read_from(text, NAME));
    come_back(read, text)
}

/// A table after a byte of options: commas or tabs, and the roles of its columns.
pub fn table(input: &[u8]) -> bool {
    let Some((&flags, text)) = input.split_first() else {
        return false;
    };
    if is_compressed(text) {
        return false;
    }
    let named = |bit: u8, name: &str| (flags & bit != 0).then(|| name.to_owned());
    let format = match flags & 1 {
        0 => Format::Csv,
        _ => Format::Tsv,
    };
    let table = TableOptions {
        label: named(8, "grade"),
        query: named(16, "query"),
        missing: match flags >> 5 & 3 {
            0 => None,
            1 => Some(Missing::Mean),
            other => Some(Missing::Value(f64::from(other))),
        },
        ignore: named(128, "text").into_iter().collect(),
    };
    let options = ReadOptions::new()
        .format(format)
        .unlabelled(flags & 4 != 0)
        .memory(LIMIT)
        .table(table);
    let read = within(text, || options.read_from(text, NAME));
    if let Ok(loaded) = &read {
        let separator = if flags & 1 == 0 { b',' } else { b'\t' };
        let label = named(8, "grade");
        plain::agrees(&loaded.dataset, text, separator, label.as_deref());
    }
    come_back(read, text)
}

/// Names of features.
pub fn names(input: &[u8]) -> bool {
    let path = file("x.names.txt", input);
    let names = match within(input, || read::read_names(&path, Memory::limit(LIMIT))) {
        Ok(names) => names,
        Err(error) => return explained(&error, input),
    };
    let mut written = Vec::new();
    write_names(&names, &mut written).expect("names of a file fit their lines");
    let again = read::read_names(&file("y.names.txt", &written), Memory::default());
    assert_eq!(again.expect("what was written can be read"), names);
    true
}

/// Scores.
pub fn scores(input: &[u8]) -> bool {
    let path = file("x.scores.txt", input);
    match within(input, || read::read_scores(&path, Memory::limit(LIMIT))) {
        Ok(scores) => scores.iter().all(|score| score.is_finite()) || panic!("{scores:?}"),
        Err(error) => explained(&error, input),
    }
}

/// A list for seven rows. The first byte tells its kind: queries, perhaps scattered, preferences, basis rows,
/// folds, or texts.
pub fn lists(input: &[u8]) -> bool {
    const ROWS: usize = 7;
    let Some((&kind, text)) = input.split_first() else {
        return false;
    };
    let (path, memory) = (file("x.list.txt", text), Memory::limit(LIMIT));
    let read = within(text, || match kind % 6 {
        0 | 1 => {
            let options = ReadOptions::new().memory(LIMIT);
            let options = options.row_queries(RowQueries::File(path));
            let rows = b"1 1:1\n".repeat(ROWS);
            let loaded = options.read_from(&rows[..], NAME)?;
            sound(&loaded.dataset);
            Ok(())
        }
        2 => read::read_preferences(&path, ROWS, memory).map(|list| {
            for (_, one) in list {
                let last = one.preferred.max(one.other);
                assert!(last < 7 && one.magnitude.is_finite() && one.weight > 0.0);
            }
        }),
        3 => read::read_rows(&path, ROWS, memory)
            .map(|rows| assert!(rows.iter().all(|&row| row < ROWS))),
        4 => read::read_folds(&path, memory).map(drop),
        _ => read::read_texts(&path, memory).map(drop),
    });
    match read {
        Ok(()) => true,
        Err(error) => explained(&error, text),
    }
}

/// A list of features.
pub fn features(input: &[u8]) -> bool {
    const WIDTH: usize = 16;
    let path = file("x.txt", input);
    let read = within(input, || {
        read_features(&path, IndexBase::One, WIDTH, Memory::default())
    });
    match read {
        Ok(listed) => {
            let mut features = listed.columns;
            features.sort_unstable();
            assert!(features.is_sorted_by(|a, b| a < b));
            assert!(features.iter().all(|&feature| (feature as usize) < WIDTH));
            true
        }
        Err(error) => names_the_file(&error, "x.txt"),
    }
}

/// Checks that a message names its file. Returns false, as nothing was read.
fn names_the_file(error: &impl Display, name: &str) -> bool {
    assert!(error.to_string().contains(name), "{error}");
    false
}

/// A model file.
pub fn model(input: &[u8]) -> bool {
    let model = match within(input, || Model::parse(input, Path::new(NAME))) {
        Ok(model) => model,
        Err(error) => return names_the_file(&error, NAME),
    };
    let mut written = Vec::new();
    model
        .write_to(&mut written)
        .expect("what was read can be written");
    let again = Model::parse(&written, Path::new(NAME)).expect("what was written can be read");
    assert_eq!(model, again);
    assert_eq!(model.scores(&tiny()).len(), tiny().rows());
    let options = GreedyRankRls {
        k: model.features.len() + 1,
        ..model.settings.clone()
    };
    let candidates = options.candidates(&tiny()).unwrap();
    if let Ok((options, steps)) = model.go_on(&options, &candidates, model.data.hash) {
        replay(&options, &steps);
    }
    true
}

/// Resumes from steps of unknown origin.
fn replay(options: &GreedyRankRls, steps: &[Step]) {
    let data = tiny();
    let options = GreedyRankRls {
        strategy: StrategyKind::LowMem,
        ..options.clone()
    };
    let candidates = ColumnClasses::new(&data);
    if let Ok(selection) = select_among(&candidates, &data, &options, steps, &mut unwatched) {
        assert!(selection.weights.iter().all(|weight| weight.is_finite()));
        assert!(
            selection
                .steps
                .iter()
                .all(|step| step.lqo_error.is_finite())
        );
    }
}

/// Four rows in two queries, with three columns.
fn tiny() -> Dataset<'static> {
    let queries = Queries::from_row_ids(&["a", "a", "b", "b"]).expect("queries with rows");
    let labels = vec![1.0, 0.0, 0.5, 0.25];
    let (indices, values) = ([0, 2, 1, 0, 2], [1.0, 2.0, 0.5, 3.0, -1.0]);
    Dataset::from_csr(&[0, 2, 3, 4, 5], &indices, &values, 3, labels, queries).expect("valid rows")
}

/// The first line of a run, as its reader writes it.
fn first_line() -> serde_json::Value {
    serde_json::json!({"run": 1, "schema": "fuzz/1"})
}

/// The finished work of a run, as it is or behind a sound first line.
pub fn lines(input: &[u8]) -> bool {
    let Some((&kind, text)) = input.split_first() else {
        return false;
    };
    let written = match kind % 2 {
        0 => text.to_vec(),
        _ => [first_line().to_string().as_bytes(), b"\n", text].concat(),
    };
    let path = file("x.part", &written);
    let output = path.with_extension("");
    let (mut lines, found) = match within(&written, || resumed(&output)) {
        Ok(resumed) => resumed,
        Err(error) => {
            assert_eq!(fs::read(&path).expect("the file is there"), written);
            return explained(&error, &written);
        }
    };
    lines.push(&found).expect("the folder takes a line");
    drop(lines);
    let (_, again) = resumed(&output).expect("what was written can be read");
    assert_eq!(again[..found.len()], found);
    assert_eq!(again[found.len()..], [serde_json::Value::from(found)]);
    true
}

/// The lines of a run that are JSON, each read during the run and once more.
fn resumed(output: &Path) -> Result<(Lines, Vec<serde_json::Value>), ReadError> {
    let mut found = Vec::new();
    let lines = Lines::open(output, &first_line(), "lines", true, None, |place, text| {
        if let Ok(line) = serde_json::from_slice::<serde_json::Value>(text) {
            found.push((place, line));
        }
        Ok(())
    })?;
    for (place, line) in &found {
        assert_eq!(lines.read::<serde_json::Value>(*place)?, *line);
    }
    Ok((lines, found.into_iter().map(|(_, line)| line).collect()))
}

/// CoNLL-U.
pub fn conllu(input: &[u8]) -> bool {
    let read = within(input, || {
        columns::sentences(input, NAME).collect::<Vec<_>>()
    });
    for sentence in read {
        match sentence {
            Ok(sentence) => is_tree(&sentence),
            Err(error) => drop(names_the_file(&error, "input:")),
        }
    }
    columns::read(input, NAME, true).for_each(drop);
    let mut all = true;
    for group in columns::n_best(input, NAME) {
        match group {
            Ok(group) => group.parses.iter().for_each(is_tree),
            Err(error) => all = names_the_file(&error, "input:"),
        }
    }
    all
}

/// The letters of a sentence, a line end, and the output of `link-parser`.
pub fn linkages(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let (letters, printed) = text.split_once('\n').unwrap_or_default();
    let found = match within(text.as_bytes(), || linkgrammar::linkages(printed)) {
        Ok(found) => found,
        Err(unknown) => {
            assert!(unknown.starts_with("expected ") && unknown.contains(", found "));
            return false;
        }
    };
    let costs = printed
        .lines()
        .filter(|line| line.contains("cost vector = ("));
    for (linkage, line) in found.iter().zip(costs) {
        has_costs(linkage, line);
        let words = linkage.words.len();
        for link in &linkage.links {
            assert!(link.left < link.right && link.right < words);
            link.right_is_head();
        }
        for word in &linkage.words {
            assert!(word.shown.contains(word.form()));
            assert!(word.subscript().is_none_or(|own| word.shown.ends_with(own)));
        }
        for place in linkage.places(letters).into_iter().flatten() {
            assert!(!letters[place].is_empty());
        }
    }
    !found.is_empty()
}

/// The costs of a linkage are the numbers of its line.
fn has_costs(linkage: &Linkage, line: &str) {
    let (_, costs) = line.rsplit_once("(UNUSED=").expect("costs");
    let numbers: Vec<f64> = costs
        .split(|char: char| {
            char.is_ascii_uppercase() || char.is_whitespace() || "=)".contains(char)
        })
        .filter_map(|text| text.parse().ok())
        .collect();
    let found = [
        linkage.unused.into(),
        f64::from(linkage.cost) / 100.0,
        linkage.length.into(),
    ];
    assert_eq!(numbers, found, "{line}");
}

/// Checks that every word has a head, and that no word governs itself through others.
fn is_tree(sentence: &Sentence) {
    let words = sentence.words();
    for start in 1..=words.len() {
        let (mut word, mut steps) = (start, 0);
        while word != 0 {
            word = words[word - 1].head as usize;
            steps += 1;
            assert!(steps <= words.len(), "a cycle");
        }
    }
}
