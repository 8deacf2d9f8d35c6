//! Data in parts: what is written is read back, and selected from as if it were whole.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use rankrls::data::read::ReadOptions;
use rankrls::data::{DataHash, sample, write_svmlight};
use rankrls::greedy::job::{resume_among, select, select_among};
use rankrls::greedy::strategy::{OwnStrategy, Round, Strategy};
use rankrls::greedy::{Criterion, Ending, SelectError, Selection, Step};
use rankrls::shards::{ShardError, Sharding, Shards};
use rankrls::tune::{TuneOptions, Tuning};
use rankrls::{
    Candidates, Convention, Dataset, Lambda, Lambdas, Metric, QueryWeight, Scale, SelectionOptions,
    StrategyKind,
};
use serde_json::{Value, json};

/// The sample in parts, with rows that are written to the disk some at a time.
fn sharded(folder: &Path, parts: usize) -> Shards {
    shards_of(sample::TRAIN, folder, parts)
}

fn shards_of(text: &[u8], folder: &Path, parts: usize) -> Shards {
    let limit = Some(200_000);
    let parts = NonZeroUsize::new(parts).unwrap();
    let sharding = Sharding::begin(folder, parts, limit).unwrap();
    let options = sharding.options(ReadOptions::new());
    let rows = options.read_from(text, "sample").unwrap().dataset;
    let rows = rows.with_names(sample::names()).unwrap();
    sharding.finish(&rows).unwrap()
}

/// Bytes that the largest part takes, and no more.
fn least_room(shards: &Shards) -> u64 {
    let entries = (0..shards.parts()).map(|part| shards.sizes(part).1);
    28 * entries.max().unwrap() as u64
}

#[test]
fn parts_are_the_data() {
    let whole = sample::train();
    for count in [1, 3, 8] {
        let folder = tempfile::tempdir().unwrap();
        sharded(folder.path(), count);
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, count + 3, "rows, names and a manifest");
        let shards = Shards::open(folder.path()).unwrap();
        assert_eq!(shards.hash(), DataHash::of(&whole));
        let rows = shards.rows().unwrap();
        assert_eq!(DataHash::of(&rows), DataHash::of(&whole));
        assert_eq!(
            (rows.nonzeros(), rows.names()),
            (whole.nonzeros(), whole.names())
        );
        let mut seen = 0;
        for part in 0..count {
            let data = shards.read(part).unwrap();
            assert_eq!(shards.sizes(part), (data.stored_columns(), data.nonzeros()));
            assert_eq!(
                (data.labels(), data.queries()),
                (whole.labels(), whole.queries())
            );
            assert_eq!((data.width(), data.names()), (whole.width(), whole.names()));
            seen += data.stored_columns();
            for position in 0..data.stored_columns() {
                let feature = data.feature(position);
                let own = whole.column(whole.position(feature).unwrap());
                let found = data.column(position);
                assert_eq!((found.rows, found.values), (own.rows, own.values));
            }
        }
        assert_eq!(seen, whole.stored_columns());
        assert!(matches!(shards.read(count), Err(ShardError::Absent { .. })));
    }
}

#[test]
fn rows_that_move_and_data_of_other_kinds_come_through() {
    let folders = tempfile::tempdir().unwrap();
    let texts = [
        "2 qid:a 1:0.5 7:1\n0 qid:b 2:-3.25\n1 qid:a 2:3 7:300\n0 qid:b\n",
        "2 1:0.5 4294967293:1\n0 2:1\n",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let regrouping = ReadOptions::new().regroup(true);
        let whole = regrouping.read_from(text.as_bytes(), "f").unwrap().dataset;
        let folder = folders.path().join(number.to_string());
        let sharding = Sharding::begin(&folder, NonZeroUsize::MIN, Some(1)).unwrap();
        let options = sharding.options(ReadOptions::new().regroup(true));
        let rows = options.read_from(text.as_bytes(), "f").unwrap().dataset;
        let shards = sharding.finish(&rows).unwrap();
        assert_eq!(shards.hash(), DataHash::of(&whole));
        assert_eq!(DataHash::of(&shards.read(0).unwrap()), DataHash::of(&whole));
    }
}

fn assert_same(found: &Selection, expected: &Selection) {
    let bits = |selection: &Selection| -> Vec<(u32, u64, Option<u64>, usize)> {
        let step = |step: &Step| {
            let cindex = step.lqo_cindex.map(f64::to_bits);
            (
                step.feature,
                step.lqo_error.to_bits(),
                cindex,
                step.identical_columns,
            )
        };
        selection.steps.iter().map(step).collect()
    };
    assert_eq!(
        bits(found),
        bits(expected),
        "{}",
        expected.strategy.unwrap()
    );
    assert_eq!(found.weights, expected.weights);
    assert_eq!(
        (&found.classes, found.ending),
        (&expected.classes, Ending::Complete)
    );
}

#[test]
fn parts_that_take_turns_select_as_the_whole() {
    let whole = sample::train();
    let folder = tempfile::tempdir().unwrap();
    let shards = sharded(folder.path(), 16);
    let rows = shards.rows().unwrap();
    let base = SelectionOptions::new(6, Lambda::new(4.0).unwrap());
    let all = StrategyKind::ALL.into_iter();
    let strategies = all.filter(|kind| !kind.distils() && !kind.needs_grades());
    let mut wanted: Vec<SelectionOptions> = strategies
        .map(|strategy| SelectionOptions {
            strategy: Some(strategy),
            ..base.clone()
        })
        .collect();
    wanted.push(SelectionOptions {
        query_weight: QueryWeight::Pairs,
        scale: Scale::Sd,
        ..wanted[0].clone()
    });
    wanted.push(SelectionOptions {
        criterion: Criterion::Ranking {
            metric: Metric::Concordance,
            convention: Convention::Standard,
        },
        sample: Some(300),
        strategy: Some(StrategyKind::Sampled),
        ..base
    });
    for options in wanted {
        let expected = select(&whole, &options, &mut ()).unwrap();
        for room in [least_room(&shards), u64::MAX] {
            let (weight, scale) = (options.query_weight, options.scale);
            let candidates = shards.candidates(&rows, weight, scale, room).unwrap();
            let own = options.candidates(&whole);
            assert_eq!(candidates.summary(), own.summary());
            assert_eq!(candidates.memory() < own.memory(), room < u64::MAX);
            let found = select_among(&candidates, &rows, &options, &mut ()).unwrap();
            assert_same(&found, &expected);
            // An earlier run, of the whole data.
            let steps = &expected.steps[..3];
            let resumed = resume_among(&candidates, &rows, &options, steps, &mut ()).unwrap();
            assert_same(&resumed, &expected);
        }
    }
}

/// Takes the columns with the most entries, or gives half of the values.
#[derive(Clone)]
struct Frequent {
    halved: bool,
}

impl Strategy for Frequent {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let entries = |&place: &u32| round.candidates.column(place as usize).rows.len();
        let count = eligible.len() / if self.halved { 2 } else { 1 };
        let errors = eligible[..count].iter().map(entries);
        errors.map(|count| -(count as f64)).collect()
    }
}

#[test]
fn a_strategy_of_ones_own_sees_one_part_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let shards = sharded(folder.path(), 16);
    let (whole, rows) = (sample::train(), shards.rows().unwrap());
    let room = least_room(&shards);
    let of_shards = shards.candidates(&rows, QueryWeight::Uniform, Scale::None, room);
    let candidates = of_shards.unwrap();
    let lambdas = Lambdas::of(&[Lambda::new(4.0).unwrap()]);
    let options = TuneOptions::new(SelectionOptions::new(4, None), lambdas);
    let selected = |halved: bool| {
        let own = OwnStrategy::new(Frequent { halved });
        let tuning = Tuning {
            candidates: Some(&candidates),
            own: Some(&own),
            ..Tuning::new(&rows, &options)
        };
        tuning
            .run(&mut ())
            .map(|tuned| tuned.outcomes[0].selection(4).unwrap())
    };
    let own = OwnStrategy::new(Frequent { halved: false });
    let tuning = Tuning {
        own: Some(&own),
        ..Tuning::new(&whole, &options)
    };
    let expected = tuning.run(&mut ()).unwrap().outcomes[0].selection(4);
    let expected = expected.unwrap();
    let found = selected(false).unwrap();
    assert_eq!(found.steps, expected.steps);
    assert_eq!(found.weights, expected.weights);
    let error = selected(true).unwrap_err().to_string();
    assert!(error.contains("errors in step 1"), "{error}");
}

#[test]
fn what_needs_all_columns_is_refused_where_parts_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let shards = sharded(folder.path(), 16);
    let rows = shards.rows().unwrap();
    let within = |room| shards.candidates(&rows, QueryWeight::Uniform, Scale::None, room);
    let few = least_room(&shards) - 1;
    assert!(matches!(within(few), Err(ShardError::Memory { .. })));
    let candidates: Candidates = within(few + 1).unwrap();
    let distil = SelectionOptions {
        strategy: Some(StrategyKind::Distil),
        ..SelectionOptions::new(2, None)
    };
    let error = select_among(&candidates, &rows, &distil, &mut ()).unwrap_err();
    assert!(matches!(error, SelectError::Parted { .. }), "{error}");
    let taught = rows.clone().with_teacher(rows.labels().to_vec()).unwrap();
    select_among(&candidates, &taught, &distil, &mut ()).unwrap();
}

/// The error of opening and reading everything in a folder.
fn error_of(folder: &Path) -> Option<String> {
    let read = || -> Result<(), ShardError> {
        let shards = Shards::open(folder)?;
        let rows: Dataset<'_> = shards.rows()?;
        (0..shards.parts()).try_for_each(|part| shards.read_with(&rows, part).map(|_| ()))
    };
    read().err().map(|error| error.to_string())
}

#[test]
fn damaged_and_mixed_parts_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    sharded(folder, 2);
    assert_eq!(error_of(folder), None);
    let part = folder.join("part-2.npz");
    let bytes = fs::read(&part).unwrap();
    let refused = |expected: &str| {
        let error = error_of(folder).unwrap();
        assert!(error.contains(expected), "{error}");
    };
    fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    refused("part-2.npz: expected a zip archive");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    fs::write(&part, &changed).unwrap();
    refused("part-2.npz: ");
    fs::remove_file(&part).unwrap();
    refused("part-2.npz: ");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", &part).unwrap();
        refused("part-2.npz: expected a regular file");
        fs::remove_file(&part).unwrap();
    }
    // Columns of other data, as many as there are.
    let other = tempfile::tempdir().unwrap();
    let mut bytes_of_sample = Vec::new();
    write_svmlight(&sample::train(), &mut bytes_of_sample).unwrap();
    let doubled = String::from_utf8(bytes_of_sample)
        .unwrap()
        .replace(":1 ", ":2 ");
    shards_of(doubled.as_bytes(), other.path(), 2);
    fs::copy(other.path().join("part-2.npz"), &part).unwrap();
    refused("part-2.npz: expected ");
    refused(" columns of the hash ");
    let first = folder.join("part-1.npz");
    fs::copy(&first, &part).unwrap();
    refused("part-2.npz: expected ");
    fs::write(&part, &bytes).unwrap();
    let own = fs::read(&first).unwrap();
    fs::copy(&part, &first).unwrap();
    refused(" entries, found more; shard the data again");
    fs::write(&first, own).unwrap();
    let rows = folder.join("rows.svm");
    let text = fs::read_to_string(&rows).unwrap();
    fs::write(&rows, text.replacen('1', "2", 1)).unwrap();
    refused("rows.svm: expected rows that make ");
    fs::write(&rows, text.replacen('\n', " 1:1\n", 1)).unwrap();
    refused("rows.svm: expected ");
    fs::write(&rows, text).unwrap();
    let names = folder.join("names.txt");
    let text = fs::read_to_string(&names).unwrap();
    fs::write(&names, format!("{text}one more\n")).unwrap();
    refused("names.txt: expected ");
    // The same names in another order, one under another name, and a link to such a file.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(0, 1);
    fs::write(&names, lines.join("\n")).unwrap();
    refused("names.txt: expected names of the hash ");
    fs::write(&names, text.replacen('a', "b", 1)).unwrap();
    refused("names.txt: expected names of the hash ");
    #[cfg(unix)]
    for file in ["names.txt", "rows.svm"] {
        let path = folder.join(file);
        fs::rename(&path, folder.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        refused(&format!("{file}: expected a regular file, found a link"));
        fs::rename(folder.join("elsewhere"), &path).unwrap();
    }
    fs::write(&names, text).unwrap();
    fs::remove_file(folder.join("manifest.json")).unwrap();
    refused("manifest.json");
}

#[test]
fn edited_manifests_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let (_, first) = sharded(folder, 2).sizes(0);
    let part = folder.join("part-2.npz");
    let refused = |expected: &str| {
        let error = error_of(folder).unwrap();
        assert!(error.contains(expected), "{error}");
    };
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let nonzeros = sample::train().nonzeros();
    for (from, to) in [
        (
            format!("\"nonzeros\": {nonzeros}"),
            format!("\"nonzeros\": {}", nonzeros + 1),
        ),
        (
            "\"first_index\": 1".to_owned(),
            "\"first_index\": 2".to_owned(),
        ),
        (
            format!("\"columns\": {}", sample::train().width()),
            "\"columns\": 1".to_owned(),
        ),
    ] {
        assert!(text.contains(&from), "{text}");
        fs::write(&manifest, text.replace(&from, &to)).unwrap();
        refused("manifest.json: expected parts whose sizes add up");
    }
    fs::write(
        &manifest,
        text.replace("\"first_index\": 1", "\"first_index\": 0"),
    )
    .unwrap();
    refused("rows.svm: expected rows that make ");
    // A manifest that says what the files hold, but of parts that are none of these data.
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        edit(&mut document);
        fs::write(&manifest, document.to_string()).unwrap();
    };
    edited(&|document| document["data"] = document["parts"][0]["hash"].clone());
    refused("rows.svm: expected rows that make ");
    edited(&|document| {
        document["parts"] = json!([document["parts"][0]]);
        document["nonzeros"] = json!(first);
    });
    refused("rows.svm: expected rows that make ");
    // A part twice, with the hash of such data.
    let first_part = folder.join("part-1.npz");
    let other = fs::read(&first_part).unwrap();
    fs::copy(&part, &first_part).unwrap();
    let twice = |hash: &str| {
        edited(&|document| {
            document["parts"][0] = document["parts"][1].clone();
            document["nonzeros"] = json!(2 * (nonzeros - first));
            document["check"] = json!(hash);
        });
        error_of(folder).unwrap()
    };
    let error = twice(&"0".repeat(64));
    let (_, hash) = error.split_once("found rows that make ").unwrap();
    assert!(twice(&hash[..64]).contains("expected columns that belong to this part"));
    fs::write(&first_part, other).unwrap();
    edited(&|document| document["columns"] = json!(1_000_000));
    refused("expected 1000000 names");
    let entries = |count: usize| format!("\"nonzeros\": {count},");
    let huge = text.replace(&entries(nonzeros), &entries(usize::MAX));
    let huge = huge.replace(&entries(first), &entries(usize::MAX));
    fs::write(&manifest, huge).unwrap();
    let shards = Shards::open(folder).unwrap();
    let rows = shards.rows().unwrap();
    let found = shards.candidates(&rows, QueryWeight::Uniform, Scale::None, 1 << 30);
    assert!(matches!(found, Err(ShardError::Memory { .. })));
    fs::write(
        &manifest,
        text.replace("rankrls.shards/1", "rankrls.shards/9"),
    )
    .unwrap();
    refused("manifest.json: expected rankrls.shards/1, found rankrls.shards/9");
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    refused("manifest.json: expected a manifest rankrls.shards/1, found ");
}

#[test]
fn folders_with_files_and_too_many_parts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let parts = NonZeroUsize::new(4).unwrap();
    let sharding = Sharding::begin(folder.path(), parts, None).unwrap();
    let options = sharding.options(ReadOptions::new());
    let rows = options
        .read_from(&b"1 qid:a 3:1\n0 qid:a\n"[..], "f")
        .unwrap();
    let error = sharding.finish(&rows.dataset).unwrap_err().to_string();
    assert_eq!(
        error,
        "expected at most 3 parts, one for each column, found 4"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(folder.path().join("x"), "").unwrap();
    let refused = Sharding::begin(folder.path(), parts, None).unwrap_err();
    assert!(matches!(refused, ShardError::NotEmpty { .. }), "{refused}");
}
