//! Every remedy of a refusal works: the command succeeds after it.

use rankrls_files::Remedy;

use crate::support::{Folder, TRAIN};

/// A refusal, words of its remedy, and commands that follow it. `NAME < TEXT` writes a file. A line of a shell
/// begins with `rankrls`.
struct Case {
    refused: &'static str,
    remedy: &'static str,
    followed: &'static [&'static str],
}

const fn case(
    refused: &'static str,
    remedy: &'static str,
    followed: &'static [&'static str],
) -> Case {
    Case {
        refused,
        remedy,
        followed,
    }
}

const TABLE: &str = "topic,grade,x,y\n1,2,1,0\n1,0,0,2\n2,1,1,1\n2,0,3,0\n";

/// The fewest queries that a teacher takes.
const MANY: &str = "\
1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:2\n0 qid:2 2:3\n1 qid:3 1:1\n0 qid:3 2:2\n1 qid:4 1:3\n0 qid:4 2:1\n\
1 qid:5 1:1\n0 qid:5 2:1\n1 qid:6 1:2\n0 qid:6 2:3\n1 qid:7 1:1\n0 qid:7 2:2\n1 qid:8 1:3\n0 qid:8 2:1\n\
1 qid:9 1:1\n0 qid:9 2:1\n1 qid:10 1:2\n0 qid:10 2:3\n1 qid:11 1:1\n0 qid:11 2:2\n1 qid:12 1:3\n0 qid:12 2:1\n\
1 qid:13 1:1\n0 qid:13 2:1\n1 qid:14 1:2\n0 qid:14 2:3\n1 qid:15 1:1\n0 qid:15 2:2\n1 qid:16 1:3\n0 qid:16 2:1\n\
1 qid:17 1:1\n0 qid:17 2:1\n1 qid:18 1:2\n0 qid:18 2:3\n1 qid:19 1:1\n0 qid:19 2:2\n1 qid:20 1:3\n0 qid:20 2:1\n";

/// A sentence with its tree.
const GOLD: &str = "# sent_id = 1\n1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\
    3\tloudly\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n\n";

/// Two parses of it.
const PARSES: &str = "# sent_id = 1\n1\tDogs\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\
    3\tloudly\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n\n\
    # sent_id = 1\n1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\
    3\tloudly\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n\n";

/// The files of the cases.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("rows.svm", "2 1:1\n0 2:1\n1 1:2\n0 2:3\n"),
        ("rows.svm.query", "2\n2\n"),
        ("ids.txt", "a\na\nb\nb\n"),
        ("t.csv", TABLE),
        ("t.txt", TABLE),
        (
            "r.csv",
            "relevance,id,x,y\n2,1,1,0\n0,1,0,2\n1,2,1,1\n0,2,3,0\n",
        ),
        (
            "na.svm",
            "2 qid:1 1:NA 2:1\n0 qid:1 2:1\n1 qid:2 1:2\n0 qid:2 2:3\n",
        ),
        (
            "zero.svm",
            "2 qid:1 0:1\n0 qid:1 1:1\n1 qid:2 0:2\n0 qid:2 1:3\n",
        ),
        ("mixed.svm", "2 qid:1 1:1\n0 qid:1 2:1\n1 1:1\n0 2:1\n"),
        ("bare.csv", "1,2,1,0\n1,0,0,2\n"),
        (
            "index.csv",
            "Unnamed: 0,topic,grade,x,y\n0,1,2,1,0\n1,1,0,0,2\n2,2,1,1,1\n3,2,0,3,0\n",
        ),
        (
            "stray.csv",
            "topic,grade,note,x\n1,2,\"5\" pipe\",1\n1,0,a,2\n2,1,b,1\n2,0,c,0\n",
        ),
        (
            "broken.csv",
            "topic,grade,note,x\n1,2,\"a,0\nb\",1\n1,0,a,2\n2,1,\"b, 1, 2\nc\",1\n2,0,c,0\n",
        ),
        (
            "comma.csv",
            "topic,grade,x\n1,2,\"0,5\"\n1,0,2\n2,1,1\n2,0,0\n",
        ),
        ("one.svm", "2 qid:1 1:1\n0 qid:1 2:1\n"),
        ("self.txt", "1 1\n2 3\n"),
        (
            "negative.svm",
            "-1 qid:1 1:1\n1 qid:1 2:1\n1 qid:2 1:2\n-1 qid:2 2:3\n",
        ),
        (
            "large.svm",
            "1 qid:1 1:1e60\n0 qid:1 2:1e60\n1 qid:2 1:1e60\n0 qid:2 2:1\n",
        ),
        ("other.txt", "1\n2\n"),
        ("empty.json", "{}\n"),
        (
            "kernel.svm",
            "2 qid:1 1:1 2:2\n0 qid:1 1:2 2:1\n1 qid:2 3:1\n0 qid:2 4:1\n",
        ),
        ("many.svm", MANY),
        (
            "equal.svm",
            "1 qid:1 1:1\n1 qid:1 2:1\n1 qid:2 1:2\n1 qid:2 2:3\n1 qid:3 1:2\n1 qid:3 2:3\n",
        ),
        (
            "quotes.csv",
            "grade,topic,x\n1,a,1\n0,a\",2\n1,b,1\n0,b,3\n",
        ),
        ("gold.conllu", GOLD),
        ("nbest.conllu", PARSES),
        ("mine/notes.txt", "mine\n"),
    ] {
        folder.write(name, text);
    }
    folder.run("select train.svm -k 2 --lambda 1 -o m.json");
    folder.run("select t.csv --label grade --query topic --missing mean -k 1 --lambda 1 -o t.json");
    folder.run("train train.svm --kernel gaussian:0.1 --lambda 1 -o k.json");
    folder
}

const CASES: &[Case] = &[
    case(
        "select rows.svm -k 1 --lambda 1",
        "give the query of each row: for tables by --query, else by --query-file or --rows-per-query",
        &[
            "select rows.svm -k 1 --lambda 1 --rows-per-query 2",
            "select rows.svm -k 1 --lambda 1 --query-file ids.txt",
        ],
    ),
    case(
        "select t.csv --label grade -k 1 --lambda 1",
        "for tables by --query",
        &["select t.csv --label grade --query topic -k 1 --lambda 1"],
    ),
    case(
        "evaluate rows.svm --model m.json",
        "if rows.svm.query has the sizes of queries, pass --query-file rows.svm.query",
        &["evaluate rows.svm --model m.json --query-file rows.svm.query"],
    ),
    case(
        "evaluate rows.svm --model m.json",
        "if all rows are one query, pass --rows-per-query 4",
        &["evaluate rows.svm --model m.json --rows-per-query 4"],
    ),
    case(
        "info t.csv",
        "name that column by --label",
        &["info t.csv --label grade --query topic"],
    ),
    case(
        "info na.svm",
        "pass --missing=0; as the mean of their query, --missing=mean",
        &["info na.svm --missing 0", "info na.svm --missing mean"],
    ),
    case(
        "info zero.svm",
        "if the file counts its columns from 0, pass --zero-based",
        &["info zero.svm --zero-based"],
    ),
    case(
        "info mixed.svm",
        "give every row a qid, or none",
        &[
            "mixed.svm < 2 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2 2:1\n",
            "info mixed.svm",
            "mixed.svm < 2 1:1\n0 2:1\n1 1:1\n0 2:1\n",
            "info mixed.svm --rows-per-query 2",
        ],
    ),
    case(
        "info t.txt",
        "if it is a table, say so by --format=csv or tsv",
        &["info t.txt --format csv --label grade --query topic"],
    ),
    case(
        "info bare.csv --label grade",
        "write a header before the first row",
        &[
            "bare.csv < topic,grade,x,y\n1,2,1,0\n1,0,0,2\n",
            "info bare.csv --label grade --query topic",
        ],
    ),
    case(
        "info index.csv --label grade --query topic",
        "leave it out by --ignore=\"Unnamed: 0\"",
        &["rankrls info index.csv --label grade --query topic --ignore 'Unnamed: 0'"],
    ),
    case(
        "info stray.csv --label grade --query topic --ignore note",
        "has two for each in its text",
        &[
            "stray.csv < topic,grade,note,x\n1,2,\"5\"\" pipe\",1\n1,0,a,2\n2,1,b,1\n2,0,c,0\n",
            "info stray.csv --label grade --query topic --ignore note",
        ],
    ),
    case(
        "info broken.csv --label grade --query topic --ignore note",
        "if it is right, write no line break there",
        &[
            "broken.csv < topic,grade,note,x\n1,2,\"a,0 b\",1\n1,0,a,2\n2,1,\"b, 1, 2 c\",1\n2,0,c,0\n",
            "info broken.csv --label grade --query topic --ignore note",
        ],
    ),
    case(
        "info comma.csv --label grade --query topic",
        "write a decimal point",
        &[
            "comma.csv < topic,grade,x\n1,2,0.5\n1,0,2\n2,1,1\n2,0,0\n",
            "info comma.csv --label grade --query topic",
        ],
    ),
    case(
        "info train.svm --label grade",
        "leave --label out",
        &["info train.svm"],
    ),
    case(
        "info t.csv --label grade --query topic --zero-based",
        "leave --zero-based out",
        &["info t.csv --label grade --query topic"],
    ),
    case(
        "select train.svm -k 1 --lambda 1e-200",
        "raise --lambda",
        &["select train.svm -k 1 --lambda 1e-20"],
    ),
    case(
        "train train.svm --lambda 1e-200",
        "raise --lambda",
        &["train train.svm --lambda 1e-6"],
    ),
    case(
        "info train.svm --max-memory 300B",
        "raise --max-memory",
        &["info train.svm --max-memory 64MiB"],
    ),
    case(
        "inspect empty.json",
        "models are written by `rankrls select -o` and `train -o`",
        &[
            "select train.svm -k 1 --lambda 1 -o empty.json",
            "inspect empty.json",
            "train train.svm --lambda 1 -o empty.json",
            "inspect empty.json",
        ],
    ),
    case(
        "convert train.svm -o out.csv",
        "name a file of svmlight text",
        &["convert train.svm -o out.svm"],
    ),
    case(
        "convert train.svm -o @out",
        "write ./@out for a file",
        &["convert train.svm -o ./@out"],
    ),
    case(
        "select train.svm -k 1 --lambda 1 -o - --json",
        "name a file for --output",
        &["select train.svm -k 1 --lambda 1 -o new.json --json"],
    ),
    case(
        "predict m.json t.csv",
        "give names by --names where the model is trained",
        &[
            "names.txt < x\ny\na\nb\nc\nd\ne\n",
            "select train.svm --names names.txt -k 2 --lambda 1 -o named.json",
            "evaluate t.csv --label grade --query topic --model t.json",
        ],
    ),
    case(
        "evaluate t.csv --model t.json --missing 0",
        "leave the option out, or train a model with --missing 0",
        &[
            "evaluate t.csv --model t.json",
            "select t.csv --label grade --query topic --missing 0 -k 1 --lambda 1 -o t.json",
            "evaluate t.csv --model t.json --missing 0",
        ],
    ),
    case(
        "evaluate train.svm m.json",
        "give a model by --model m.json",
        &["evaluate train.svm --model m.json"],
    ),
    case(
        "explain m.json train.svm a --texts other.txt",
        "name the texts of these data",
        &[
            "other.txt < 1\n2\n3\n4\n5\n6\n7\n8\n",
            "explain m.json train.svm a --texts other.txt",
        ],
    ),
    case(
        "select train.svm -k 1 --lambda 1 --include first",
        "give their numbers",
        &["select train.svm -k 1 --lambda 1 --include 2"],
    ),
    case(
        "select train.svm -k 2 --lambda 1 --include 5",
        "is constant within every query, so that it cannot help: leave it out",
        &["select train.svm -k 2 --lambda 1"],
    ),
    case(
        "select train.svm -k 2 --lambda 1 --strategy bounded --criterion cindex",
        "; use ",
        &[
            "select train.svm -k 2 --lambda 1 --strategy lowmem --criterion cindex",
            "select train.svm -k 2 --lambda 1 --strategy dense --criterion cindex",
        ],
    ),
    case(
        "select negative.svm -k 1 --lambda 1 --strategy distil",
        "use a strategy and weights that need no teacher",
        &["select train.svm -k 1 --lambda 1 --strategy lowmem"],
    ),
    case(
        "explain k.json train.svm a",
        "train with the linear kernel, or select features",
        &[
            "train train.svm --lambda 1 -o k.json",
            "explain k.json train.svm a",
            "select train.svm -k 1 --lambda 1 -o k.json",
            "explain k.json train.svm a",
        ],
    ),
    case(
        "evaluate negative.svm --model m.json",
        "name them by --metrics",
        &["evaluate negative.svm --model m.json --metrics cindex"],
    ),
    case(
        "train train.svm --lambda 1 --objective pairs --pairs self.txt",
        "expected another row than 1",
        &[
            "self.txt < 1 2\n2 3\n",
            "train train.svm --lambda 1 --objective pairs --pairs self.txt",
        ],
    ),
    case(
        "train large.svm --lambda 1",
        "at most 1e100 can be computed with",
        &["train large.svm --lambda 1 --scale sd"],
    ),
    case(
        "train kernel.svm --lambda 1 --kernel precomputed",
        "to its diagonal, which makes it a kernel",
        &[
            "kernel.svm < 2 qid:1 1:2 2:2\n0 qid:1 1:2 2:2\n1 qid:2 3:2\n0 qid:2 4:2\n",
            "train kernel.svm --lambda 1 --kernel precomputed",
        ],
    ),
    case(
        "train large.svm --lambda 1 --kernel polynomial:20",
        "scale the data, or take a smaller gamma or degree",
        &[
            "train large.svm --lambda 1 --kernel polynomial:20:1:1e-120",
            "train large.svm --lambda 1 --kernel polynomial:1",
            "large.svm < 1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2 2:1e-60\n",
            "train large.svm --lambda 1 --kernel polynomial:20",
        ],
    ),
    case(
        "train train.svm --lambda 1,2 --choose-by map:9",
        "take another measure, such as squared (--choose-by)",
        &["train train.svm --lambda 1,2 --choose-by squared"],
    ),
    case(
        "tune equal.svm -k 1 --choose-by cindex --lambda 1",
        "take another measure, such as squared (--choose-by)",
        &["tune equal.svm -k 1 --choose-by squared --lambda 1"],
    ),
    case(
        "info quotes.csv --label grade --query topic",
        "take them out if they are stray, else quote the cell and double the quotes in it",
        &[
            "quotes.csv < grade,topic,x\n1,a,1\n0,\"a\"\"\",2\n1,b,1\n0,b,3\n",
            "info quotes.csv --label grade --query topic",
            "quotes.csv < grade,topic,x\n1,a,1\n0,a,2\n1,b,1\n0,b,3\n",
            "info quotes.csv --label grade --query topic",
        ],
    ),
    case(
        "build gold.conllu --candidates nbest.conllu --test-share 0 -o @new",
        "write ./@new for a folder",
        &["build gold.conllu --candidates nbest.conllu --test-share 0 -o ./@new"],
    ),
    case(
        "build gold.conllu --candidates nbest.conllu --test-share 0 -o mine",
        "give another name, or move it away",
        &["build gold.conllu --candidates nbest.conllu --test-share 0 -o new"],
    ),
    case(
        "tune train.svm -k 2 --label-scale raw,unit --lambda 1",
        "judge by a measure such as cindex (--choose-by), or give one scale of labels (--label-scale)",
        &[
            "tune train.svm -k 2 --label-scale raw,unit --lambda 1 --choose-by cindex",
            "tune train.svm -k 2 --label-scale unit --lambda 1",
        ],
    ),
    case(
        "tune many.svm -k 2 --strategy distil --holdout lqo --lambda 1",
        "judge by folds or by validation data",
        &[
            "tune many.svm -k 2 --strategy distil --holdout folds:2 --lambda 1",
            "tune many.svm -k 2 --strategy distil --validation test.svm --lambda 1",
        ],
    ),
];

/// A step of a remedy: a file, or a run that succeeds.
fn follow(folder: &Folder, step: &str) {
    match step.split_once(" < ") {
        Some((name, text)) => folder.write(name, text),
        None if step.starts_with("rankrls ") => {
            let output = folder.shell(step);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{step}: {errors}");
        }
        None => drop(folder.run(step)),
    }
}

#[test]
fn remedies_that_are_followed_help() {
    for Case {
        refused,
        remedy,
        followed,
    } in CASES
    {
        let folder = folder();
        let output = folder.command(refused).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{refused}");
        assert!(errors.contains(remedy), "{refused}: {errors}");
        followed.iter().for_each(|step| follow(&folder, step));
    }
}

/// The remedies for unfinished work, and for other files under its name.
#[test]
fn what_stands_in_the_way_is_moved_or_gone_on_with() {
    let folder = folder();
    let select = "select train.svm -k 2 --lambda 1 -o new.json";
    let mut model = folder.document("m.json");
    model["unfinished"] = serde_json::json!({"taken": 2, "asked": 3});
    folder.write("new.json.part", model.to_string());
    folder.refused(&format!("{select} => (go on with --resume, or delete it)"));
    folder.run(&format!("{select} --resume"));
    folder.write("new.json.part", TRAIN);
    let other = "it is something else: move it away, or name another output";
    folder.refused(&format!("{select} => {other}"));
    folder.run("select train.svm -k 2 --lambda 1 -o newer.json");
    std::fs::rename(folder.path("new.json.part"), folder.path("away")).unwrap();
    folder.run(select);
    // Two joined models are not the work of a run.
    let text = folder.read("new.json");
    folder.write("new.json.part", format!("{text}{text}"));
    folder.refused(&format!("{select} => found another file ({other})"));
    assert_eq!(folder.read("new.json.part").len(), 2 * text.len());
    // Names of other data stand beside an output.
    folder.write("c.names.txt", "other\n");
    let convert = "convert train.svm -o";
    folder.refused(&format!(
        "{convert} c.svm => give another output, or delete the file"
    ));
    folder.run(&format!("{convert} d.svm"));
    folder.run(&format!("{convert} c.svm --names names.txt"));
}

#[test]
fn without_a_parser_candidates_are_taken_from_a_file() {
    let folder = folder();
    let build = "build gold.conllu --test-share 0 -o new";
    let mut alone = folder.command(&format!("{build} --link-grammar"));
    let output = alone.env("PATH", "").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(errors.contains("link-parser was not found"), "{errors}");
    assert!(
        errors.contains("or take candidates from a file"),
        "{errors}"
    );
    assert!(!folder.path("new").exists() && !folder.path("new.part").exists());
    folder.run(&format!("{build} --candidates nbest.conllu"));
}

#[test]
fn what_another_process_writes_is_waited_for() {
    let folder = folder();
    let select = "select train.svm -k 2 --lambda 1 -o m.json";
    let mut model = folder.document("m.json");
    model["unfinished"] = serde_json::json!({"taken": 2, "asked": 3});
    let path = folder.path("m.json.part");
    std::fs::write(&path, model.to_string()).unwrap();
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    for resume in ["", " --resume"] {
        folder.refused(&format!("{select}{resume} => (wait until it ends)"));
    }
    other.unlock().unwrap();
    folder.run(&format!("{select} --resume"));
    assert!(!path.exists());
}

/// Each fixed remedy stands in a case, unless the command cannot reach it.
#[test]
fn no_remedy_is_left_out() {
    let elsewhere = [
        // Only arrays have gaps, and only ranks lack a teacher.
        "as --missing does when it reads a file",
        "as --teacher, for example",
        // Other tests follow these.
        "go on with --resume",
        // Few data have no lambda for folds to choose.
        "give one with --lambda",
    ];
    for remedy in Remedy::PLAIN {
        let words = remedy.to_string();
        let known = |part: &str| words.contains(part) || part.contains(&*words);
        let is_here = CASES.iter().any(|case| known(case.remedy));
        assert!(is_here || elsewhere.into_iter().any(known), "{words}");
    }
}
