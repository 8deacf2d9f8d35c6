//! What is refused, and in which words.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::folder::{Folder, hold};

/// One file after the other under the name `name`, and what `lines` say to each.
fn refuse(snapshot: &str, name: &str, lines: &[&str], contents: &[&[u8]]) {
    let folder = Folder::new();
    let mut text = String::new();
    for content in contents {
        folder.write(name, content);
        let shown = String::from_utf8_lossy(content);
        let shown = shown.lines().collect::<Vec<_>>().join("\n    ");
        writeln!(text, "# {name}:\n    {shown}").unwrap();
        for line in lines {
            text += &folder.refused(1, line);
        }
    }
    hold(snapshot, &text);
}

/// One line after the other, all of them refused with 1.
fn refusals(folder: &Folder, lines: &[&str]) -> String {
    lines.iter().map(|line| folder.refused(1, line)).collect()
}

fn refuse_lines(snapshot: &str, lines: &[&str]) {
    hold(snapshot, &refusals(&Folder::new(), lines));
}

#[test]
fn svmlight() {
    refuse(
        "error-svmlight",
        "bad.svm",
        &["select bad.svm -k 1 --lambda 1"],
        &[
            b"1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 2:1\n",
            b"1 qid:1 1:1\n0 1:2\n",
            b"1 1:1\n0 qid:1 1:2\n",
            b"1 1:1 qid:1\n",
            b"1 qid: 1:1\n",
            b"1 qid:\xff 1:1\n",
            b"1 1:1 1:2\n",
            b"1 2:1 1:2\n",
            b"1 0:1 1:2\n",
            b"1 4294967295:1\n",
            b"1 -1:1\n",
            b"1 1:nan\n",
            b"1 1:x\n",
            b"x 1:1\n",
            b"nan 1:1\n",
            b"",
            b"1 qid:1 1:1\n0 qid:1 1:1\n",
            b"1 qid:1 1:1\n1 qid:1 2:1\n",
            b"1 qid:1 1:1e200\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2\n",
            b"1e200 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2\n",
        ],
    );
}

/// A message with the reason of a library: the place and what it is about is frozen.
#[test]
fn compressed_files() {
    let folder = Folder::new();
    let text = folder.read("train.svm");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let gz = encoder.finish().unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let mut corrupt = gz.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 40].fill(0xaa);
    folder.write("cut.svm.gz", &gz[..gz.len() / 2]);
    folder.write("cut.svm.zst", &zst[..zst.len() / 2]);
    folder.write("corrupt.svm.gz", corrupt);
    folder.write("end.svm.gz", &gz[..gz.len() - 4]);
    let lines = [
        "select cut.svm.gz -k 1 --lambda 1",
        "select cut.svm.zst -k 1 --lambda 1",
        "select corrupt.svm.gz -k 1 --lambda 1",
        "select end.svm.gz -k 1 --lambda 1",
    ];
    hold("error-compressed", &refusals(&folder, &lines));
}

#[test]
fn names() {
    refuse(
        "error-names",
        "few.txt",
        &["select train.svm -k 1 --lambda 1 --names few.txt"],
        &[b"a\nb\n", b"a\n\xff\n"],
    );
}

#[test]
fn scores() {
    refuse(
        "error-scores",
        "scores.txt",
        &["evaluate test.svm --scores scores.txt"],
        &[b"1\n2\n", b"1\nx\n", b"1\n2 3\n", b"nan\n", b""],
    );
}

#[test]
fn triplets() {
    let folder = Folder::new();
    let mut text = String::new();
    for (features, labels, qids) in [
        ("0:1\n1:1\n", "1\n", "a\na\n"),
        ("0:1\n1:1\n", "1\n0\n0\n", "a\na\n"),
        ("0:1\n1:1\n", "1\n0\n", "a\n"),
        ("0:1\n1:1\n0:2\n", "1\n0\n1\n", "a\nb\na\n"),
        ("0:1\n1:x\n", "1\n0\n", "a\na\n"),
        ("0:1\n1:1 0:1\n", "1\n0\n", "a\na\n"),
        ("0:1 # no\n1:1\n", "1\n0\n", "a\na\n"),
        ("0:1\n1:1\n", "1\ny\n", "a\na\n"),
        ("0:1\n1:1\n", "1\n0\n", "a\nb c\n"),
        ("", "", ""),
    ] {
        folder.write("x.features", features);
        folder.write("x.labels", labels);
        folder.write("x.qids", qids);
        writeln!(text, "# {features:?}, {labels:?}, {qids:?}:").unwrap();
        text += &folder.refused(1, "select x.features -k 1 --lambda 1");
    }
    fs::remove_file(folder.path("x.labels")).unwrap();
    text += &folder.refused(1, "select x.features -k 1 --lambda 1");
    hold("error-triplets", &text);
}

/// An array as NumPy writes it.
fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    array.extend(header.as_bytes());
    array.extend(bytes);
    array
}

fn integers(values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy("<i8", &format!("({},)", values.len()), &bytes)
}

fn floats(values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy("<f8", &format!("({},)", values.len()), &bytes)
}

#[test]
fn matrices() {
    let folder = Folder::new();
    let mut text = String::new();
    let half = npy("<f2", "(3,)", &[0; 6]);
    for (what, name, bytes) in [
        ("another kind", "format", npy("|S3", "()", b"coo")),
        ("beyond the shape", "indices", integers(&[0, 3, 1])),
        ("twice in a row", "indices", integers(&[1, 1, 1])),
        ("bounds that fall", "indptr", integers(&[0, 2, 1])),
        ("lengths", "indices", integers(&[0, 1])),
        ("not a number", "data", floats(&[0.5, f64::NAN, 1.0])),
        ("rounded", "data", integers(&[9_007_199_254_740_993, 1, 1])),
        ("half floats", "data", half),
        ("rows", "shape", integers(&[3, 3])),
        ("cut", "data", floats(&[0.5, 1.5, 2.0])[..70].to_vec()),
        ("missing", "absent", integers(&[1])),
        ("labels", "labels", floats(&[1.0, f64::INFINITY])),
        ("more labels", "labels", floats(&[1.0, 0.0, 1.0])),
        ("queries", "qids", integers(&[1])),
    ] {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (array, usual) in [
            ("format", npy("|S3", "()", b"csr")),
            ("shape", integers(&[2, 3])),
            ("indptr", integers(&[0, 2, 3])),
            ("indices", integers(&[0, 2, 1])),
            ("data", floats(&[0.5, 1.5, -2.0])),
        ] {
            if what == "missing" && array == "shape" {
                continue;
            }
            let bytes = if array == name { &bytes } else { &usual };
            zip.start_file(format!("{array}.npy"), SimpleFileOptions::default())
                .unwrap();
            zip.write_all(bytes).unwrap();
        }
        folder.write("x.npz", zip.finish().unwrap().into_inner());
        for (array, usual) in [("labels", floats(&[1.0, 0.0])), ("qids", integers(&[1, 1]))] {
            let bytes = if array == name { &bytes } else { &usual };
            folder.write(&format!("x.{array}.npy"), bytes);
        }
        let refused = folder.refused(1, "corpus convert x.npz -");
        write!(text, "# {what}:\n{refused}").unwrap();
    }
    fs::remove_file(folder.path("x.labels.npy")).unwrap();
    text += &folder.refused(1, "corpus convert x.npz -");
    folder.write("x.npz", "1 1:1\n");
    let lines = [
        "corpus convert x.npz -",
        "corpus convert - - --format npz < x.npz",
    ];
    text += &refusals(&folder, &lines);
    hold("error-matrices", &text);
}

#[test]
fn models() {
    let folder = Folder::new();
    let whole = folder.read("models/bounded.json");
    let mut text = String::new();
    for (before, after) in [
        ("rankrls.model/1", "rankrls.model/2"),
        ("rankrls.model/1", "rankrls.selection/1"),
        ("\"lambda\": 2.0", "\"lambda\": 0.0"),
        ("\"lambda\": 2.0", "\"lambda\": \"2\""),
        ("\"lambda\": 2.0,", ""),
        ("\"lambda\": 2.0", "\"lambda\": 2.0, \"mu\": 1"),
        ("\"strategy\": \"bounded\"", "\"strategy\": \"best\""),
        ("\"strategy\": \"bounded\"", "\"strategy\": \"all\""),
        ("\"criterion\": \"squared\"", "\"criterion\": \"map\""),
        ("\"seed\": null", "\"seed\": 1"),
        ("\"index_base\": 1", "\"index_base\": 2"),
        ("\"index\": 4", "\"index\": 3"),
        ("\"index\": 4", "\"index\": 49"),
        ("\"step\": 2", "\"step\": 3"),
        ("\"feature\": 4", "\"feature\": 5"),
        ("\"rows\": 96", "\"rows\": 0"),
        ("\"column_classes\": 46", "\"column_classes\": 48"),
        ("\"hash\": \"ba", "\"hash\": \"xx"),
    ] {
        assert!(whole.contains(before), "{before}");
        folder.write("bad.json", whole.replacen(before, after, 1));
        let refused = folder.refused(1, "inspect bad.json");
        write!(text, "# {before} -> {after}\n{refused}").unwrap();
    }
    for (what, bytes) in [
        ("cut", &whole[..whole.len() / 2]),
        ("empty", ""),
        ("no JSON", "1 1:1\n"),
        ("another document", "[1]"),
    ] {
        folder.write("bad.json", bytes);
        write!(text, "# {what}\n{}", folder.refused(1, "inspect bad.json")).unwrap();
    }
    folder.run("train train.svm --lambda 1 -o trained.json");
    text += &refusals(
        &folder,
        &[
            "predict absent.json test.svm",
            "inspect trained.json --members",
            "corpus project test.svm --model test.svm -o a.svm",
            "select train.svm -k 3 --extend models/bounded.json",
            "select test.svm -k 9 --extend models/bounded.json",
            "select train.svm -k 9 --extend trained.json",
        ],
    );
    hold("error-models", &text);
}

#[test]
fn checkpoints() {
    let folder = Folder::new();
    let select = "select train.svm --names names.txt -k 2 --lambda 2 --checkpoint run.ck";
    let tune = "tune train.svm -k 2 --lambdas 1,4 --checkpoint tune.ck";
    folder.run(select);
    folder.run(&format!("{tune} --folds 3 --measure cindex --rule one-se"));
    let whole = folder.read("run.ck");
    let mut text = folder.refused(1, select);
    for (what, content) in [
        ("cut", whole[..whole.len() - 7].to_owned()),
        ("changed", whole.replace("\"k\":2", "\"k\":3")),
        ("version", whole.replacen("checkpoint/1", "checkpoint/2", 1)),
        ("empty", String::new()),
        ("a tuning", folder.read("tune.ck")),
    ] {
        folder.write("run.ck", content);
        let refused = folder.refused(1, &format!("{select} --resume"));
        write!(text, "# {what}\n{refused}").unwrap();
    }
    folder.write("run.ck", &whole);
    let select = format!("{select} --resume");
    let other = "-k 3 --lambda 3 --strategy sampled --seed 5 --criterion ndcg@5 --convention letor";
    text += &refusals(
        &folder,
        &[
            &select.replace("-k 2 --lambda 2", other),
            &select.replace("train.svm --names names.txt", "test.svm"),
            &format!("{} --resume", tune.replace("-k 2", "-k 3")),
            "select train.svm -k 1 --lambda 1 --checkpoint absent/run.ck",
        ],
    );
    hold("error-checkpoints", &text);
}

#[test]
fn memory() {
    refuse_lines(
        "error-memory",
        &[
            "select @parses -k 5 --lambda 1 --max-memory 1KiB",
            "select @parses -k 5 --lambda 1 --max-memory 20MiB --strategy dense",
            "select train.svm -k 5 --lambda 1 --max-memory 32KiB",
            "train train.svm --lambda 1 --max-memory 32KiB",
            "train @parses --lambda 1 --max-memory 20MiB --solver dual",
            "compare @parses -k 2 --lambda 16 --strategies dense --max-memory 16MiB",
        ],
    );
}

#[test]
fn outputs() {
    refuse_lines(
        "error-outputs",
        &[
            "select absent.svm -k 1 --lambda 1",
            "select train.svm -k 1 --lambda 1 -o absent/model.json",
            "select train.svm -k 200 --lambda 1e-300 -o a.json",
            "train train.svm --lambda 1 --holdout folds:40",
            "tune train.svm -k 2 --folds 40",
            "letor absent",
            "letor models",
            "corpus check models/bounded.json",
            "corpus build build/gold.conllu --candidates build/nbest.conllu -o absent/c",
            "corpus build build/gold.conllu --link-grammar -o c --link-parser no-such-parser",
        ],
    );
}

#[test]
fn treebanks() {
    let folder = Folder::new();
    let (gold, nbest) = (
        folder.read("build/gold.conllu"),
        folder.read("build/nbest.conllu"),
    );
    let head = |head: &str| gold.replacen("PRON\t_\t_\t2", &format!("PRON\t_\t_\t{head}"), 1);
    let mut text = String::new();
    for (what, gold, nbest) in [
        ("a head", head("9"), nbest.clone()),
        ("no head", head("_"), nbest.clone()),
        ("a cycle", head("1"), nbest.clone()),
        (
            "a number",
            gold.replacen("1\tThey", "2\tThey", 1),
            nbest.clone(),
        ),
        (
            "columns",
            gold.clone(),
            nbest.replacen("\tPRON\t_", "\tPRON", 1),
        ),
        (
            "an identifier twice",
            gold.replace("id = s2", "id = s1"),
            nbest.clone(),
        ),
        (
            "equal labels",
            gold.clone(),
            nbest.replace("ADP\t_\t_\t3", "ADP\t_\t_\t2"),
        ),
        ("nothing", String::new(), nbest.clone()),
    ] {
        folder.write("gold.conllu", gold);
        folder.write("nbest.conllu", nbest);
        let line = "corpus build gold.conllu --candidates nbest.conllu -o c";
        write!(text, "# {what}\n{}", folder.refused(1, line)).unwrap();
    }
    hold("error-treebanks", &text);
}

#[test]
fn explanations_and_filters() {
    let folder = Folder::new();
    let real = |row: u32| format!("{} qid:{} 1:{row}\n", f64::from(row) / 8.0, row / 4);
    folder.write("real.svm", (0..40).map(real).collect::<String>());
    folder.write("other.svm", "1 qid:a 60:1\n0 qid:a 61:1\n");
    folder.write("one.svm", "1 9:1\n0 7:1\n");
    let lines = [
        "explain models/bounded.json test.svm --query s11",
        "explain models/bounded.json test.svm --query s101 --versus 9",
        "explain models/bounded.json test.svm --query s101 --row 99999",
        "explain models/bounded.json one.svm --query 2",
        "explain models/bounded.json other.svm --query a",
        "explain models/bounded.json test.svm --query s101 --texts names.txt",
        "select real.svm -k 1 --lambda 1 --strategy fs-ed",
    ];
    hold("error-explain", &refusals(&folder, &lines));
}

#[test]
fn folds_of_letor() {
    let folder = crate::tables::folds();
    folder.write("data/Fold1/vali.txt", "1 qid:1 1:1\n0 qid:1 1:x\n");
    let mut text = folder.refused(1, "letor data/Fold1");
    fs::remove_file(folder.path("data/Fold1/vali.txt")).unwrap();
    text += &folder.refused(1, "letor data");
    hold("error-letor", &text);
}

#[test]
fn lists_of_features() {
    refuse(
        "error-features",
        "list.txt",
        &["train train.svm --lambda 1 --features list.txt"],
        &[b"99\n", b"1\n1\n", b"1\nword:a\n", b"48\n", b"# none\n"],
    );
}

/// Mistakes in arguments, after what stands before each of them.
const USAGE: &[(&str, &[&str])] = &[
    (
        "select train.svm",
        &[
            "-k 0 --lambda 1",
            "-k x --lambda 1",
            "-k 1 --lambda -3",
            "-k 1 --lambda nan",
            "--lambda 1",
            "-k 1 --lambda best",
            "-k 1 --lambda 1 --strategy best",
            "-k 1 --lambda 1 --strategy dense --candidates 3",
            "-k 1 --lambda 1 --candidates 0",
            "-k 1 --lambda 1 --max-memory 1XB",
            "-k 1 --lambda 1 --threads 0",
            "-k 1 --lambda 1 --metrics map",
            "-k 1 --lambda 1 --test test.svm --metrics best",
            "-k 1 --lambda 1 --test test.svm --metrics ndcg@0",
            "-k 1 --lambda 1 --test test.svm --metrics map,,err",
            "-k 1 --lambda 1 --test test.svm --convention best",
            "-k 1 --lambda 1 --convention letor",
            "-k 1 --lambda 1 --criterion best",
            "-k 1 --lambda 1 --criterion map --strategy bounded",
            "-k 1 --lambda 1 --format xls",
            "-k 1 --lambda 1 -q -v",
            "-k 1 --lambda 1 -o -",
            "-k 1 --lambda 1 --unknown",
            "-k 1 --lambda 1 --plot a.png",
            "-k 1 --lambda 1 --plot a.svg -o a.svg",
            "-k 1 --lambda 1 --size 900x900",
            "-k 1 --lambda 1 --plot a.svg --size 9x9",
            "-k 4 --extend models/bounded.json --lambda 2",
            "-k 1 --lambda 1 --validation test.svm",
            "-k 1 --lambda 1 --resume",
            "-k 1 --lambda 1 --checkpoint -",
            "-k 1 --lambda 1 --checkpoint a --checkpoint-every never",
            "-k 1 --lambda 1 --checkpoint a --checkpoint-every=-1",
            "-k 1 --lambda 1 --scale log",
            "-k 1 --lambda 1 --labels raw,unit",
            "-k 1 --lambda 1 --blend 0.5",
            "-k 1 --lambda 1 --teacher-lambda 4",
            "-k 1 --lambda 1 --strategy bounded --teacher x",
            "-k 1 --lambda 1 --strategy distil --teacher x --teacher-lambda 4",
            "-k 1 --lambda 1 --strategy distil --blend 1.5",
            "-k 1 --lambda 1 --strategy distil --teacher-lambda 4,0",
            "-k 1 --lambda 1 --strategy fs-ed --criterion map",
        ],
    ),
    (
        "tune train.svm -k 2",
        &[
            "--lambdas 0",
            "--lambdas 1,,2",
            "--lambdas 2^3..2^1",
            "--lambdas 1..4",
            "--measure ndcg",
            "--measure mse",
            "--evidence validation",
            "--evidence lqo --folds 3",
            "--evidence folds --validation test.svm",
            "--evidence folds:1",
            "--folds 1",
            "--folds 3 --validation test.svm",
            "--evidence absent.svm",
            "--rule best --patience 3",
            "--rule one-se --min-improvement 0.1",
            "--rule min-improvement:0.1:0",
            "--min-improvement -0.1",
            "--min-improvement nan",
            "--patience 0",
            "--labels raw,raw",
            "--table t.txt",
            "--validation - --test -",
            "--strategy dense --candidates 3",
            "--strategies bounded --strategy dense",
            "--strategies dense,distil --candidates 3",
            "--strategies dense,distil,dense --folds 2",
        ],
    ),
    (
        "train train.svm",
        &[
            "--lambda 1,2 --holdout none -o a.json",
            "--lambda 1,,2",
            "--lambda 1 --solver best",
            "--lambda 1 --holdout folds",
            "--lambda 1 --holdout folds:",
            "--lambda 1 --objective pairs",
            "--lambda 1 --pairs pairs.txt",
            "--lambda 1 --gamma 2",
            "--lambda 1 --kernel gaussian --degree 2",
            "--lambda 1 --kernel polynomial --coef0 -1",
            "--lambda 1 --kernel gaussian --gamma 0",
            "--lambda 1 --kernel gaussian:1 --gamma 2",
            "--lambda 1 --kernel gaussian --solver cg",
            "--lambda 1 --kernel gaussian --scale sd",
            "--lambda 1 --objective global --query-weight pairs",
            "--lambda 1 --holdout none --holdout-scores s.txt",
            "--lambda 1 --holdout none --kernel gaussian --gamma 1,2",
        ],
    ),
    (
        "compare train.svm -k 2 --lambda 1",
        &[
            "--strategies dense,best",
            "--strategies dense:5",
            "--strategies dense,dense",
            "--seeds 0",
            "--metrics map",
        ],
    ),
    (
        "evaluate test.svm",
        &[
            "",
            "--scores s --metrics map,",
            "--scores s --scores t --resamples 100000001",
        ],
    ),
    (
        "corpus build build/gold.conllu -o c",
        &[
            "",
            "--candidates build/nbest.conllu --templates best",
            "--candidates build/nbest.conllu --test-share 1",
            "--candidates build/nbest.conllu --link-grammar",
            "--candidates build/nbest.conllu --resume",
            "--candidates build/nbest.conllu --linkages 1",
            "--candidates build/nbest.conllu --min-count 0",
            "--link-grammar --label labelled",
        ],
    ),
    (
        "corpus",
        &[
            "build build/gold.conllu --candidates build/nbest.conllu",
            "build build/gold.conllu --candidates build/nbest.conllu -o -",
            "convert train.svm",
            "convert train.svm - --to npz",
            "convert train.svm a.npz --to coo",
            "convert absent.svm a.csv",
            "info train.svm --query-size 0",
            "info train.svm --query-size 2 --queries names.txt",
            "info train.svm --queries names.txt --queries names.txt",
            "info train.svm --missing nan",
            "project train.svm -o a.svm",
            "project train.svm --model models/bounded.json",
            "project train.svm --model models/bounded.json -o - --to npz",
        ],
    ),
    (
        "",
        &[
            "explain models/bounded.json test.svm",
            "explain models/bounded.json test.svm --query s101 --row 0",
            "explain models/bounded.json test.svm --query s101 --row 2 --versus 2",
            "selct train.svm",
            "tune train.svm",
            "letor",
            "letor data --query-weight rows",
            "select - -k 1 --lambda 1 --test -",
            "predict - -",
            "inspect models/bounded.json --top x",
        ],
    ),
];

#[test]
fn usage() {
    let folder = Folder::new();
    let lines = |(command, ends): &(&str, &[&str])| -> Vec<String> {
        let line = |end: &&str| format!("{command} {end}").trim().to_owned();
        ends.iter().map(line).collect()
    };
    let lines = USAGE.iter().flat_map(lines);
    let shown: String = lines.map(|line| folder.refused(2, &line)).collect();
    hold("error-usage", &shown);
}
