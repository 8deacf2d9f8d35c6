//! Malicious files, and disks and pipes that fail.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::Folder;

/// Runs the program under limits of the shell: `limits` are its commands.
#[cfg(unix)]
pub(crate) fn limited(folder: &Folder, limits: &str, arguments: &str) -> (Option<i32>, String) {
    let output = std::process::Command::new("sh")
        .current_dir(folder.path(""))
        .args(["-c", &format!("{limits}; exec \"$0\" {arguments}")])
        .arg(folder.command("").get_program())
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), errors)
}

#[test]
#[cfg(target_os = "linux")]
fn bombs_stop_at_the_limit_of_memory() {
    let folder = Folder::new();
    // Hundreds of megabytes of one line and of rows, in kilobytes.
    let megabytes = |text: &str| text.repeat((1 << 20) / text.len());
    for (name, text, count) in [
        ("line", megabytes("1"), 200),
        ("rows", megabytes("1\n"), 100),
        ("pairs", megabytes("1 1:1 2:1\n"), 100),
    ] {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        for _ in 0..count {
            std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        }
        let file = format!("{name}.svm.zst");
        folder.write(&file, encoder.finish().unwrap());
        let select = format!("select {file} -k 1 --lambda 1 --max-memory 64MiB");
        let (code, errors) = limited(&folder, "ulimit -v 700000", &select);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("67108864"), "{errors}");
    }
}

/// Models, lists and unfinished work may be malicious, too.
#[test]
#[cfg(target_os = "linux")]
fn no_file_takes_more_than_its_part_of_the_memory() {
    let folder = Folder::new();
    let bomb = |name: &str, begin: &str, text: &str| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let megabyte = text.repeat((1 << 20) / text.len());
        std::io::Write::write_all(&mut encoder, begin.as_bytes()).unwrap();
        for _ in 0..250 {
            std::io::Write::write_all(&mut encoder, megabyte.as_bytes()).unwrap();
        }
        folder.write(name, encoder.finish().unwrap());
    };
    bomb(
        "m.json.zst",
        "{\"schema\": \"rankrls.model/2\", \"steps\": [",
        "1,",
    );
    bomb("list.zst", "", "1");
    bomb("text.zst", "", "x");
    // The work of a run, as a sparse file.
    let file = fs::File::create(folder.path("t.json.part")).unwrap();
    file.set_len(1 << 40).unwrap();
    for arguments in [
        "predict m.json.zst train.svm",
        "evaluate train.svm --model m.json.zst",
        "explain m.json.zst train.svm a",
        "convert train.svm --model m.json.zst -o -",
        "select train.svm -k 1 --lambda 1 -o m.json.zst --resume",
        "train train.svm --lambda 1 --features m.json.zst",
        "train train.svm --lambda 1 --features list.zst",
        "train train.svm --lambda 1 --features /dev/zero",
        "select train.svm -k 1 --lambda 1 --names text.zst",
        "select train.svm -k 1 --lambda 1 --teacher list.zst --strategy distil",
        "select train.svm -k 1 --lambda 1 --query-file text.zst",
        "train train.svm --lambda 1 --objective pairs --pairs list.zst",
        "train train.svm --lambda 1 --holdout folds:text.zst",
        "evaluate train.svm --scores list.zst",
        "select /dev/zero -k 1 --lambda 1",
        "convert text.zst --format csv --label x -o -",
        "select train.svm -k 1 --lambda 1 -o t.json --resume",
        "select train.svm -k 1 --lambda 1 -o t.json",
    ] {
        let line = format!("{arguments} --max-memory 32MiB --threads 1");
        let (code, errors) = limited(&folder, "ulimit -v 250000", &line);
        assert_eq!(code, Some(1), "{arguments}: {errors}");
        assert!(errors.starts_with("error: "), "{arguments}: {errors}");
    }
}

/// With few addresses, a process has fewer threads, or an error. It never panics, and never hangs.
#[test]
#[cfg(target_os = "linux")]
fn a_process_of_few_addresses_works_or_says_why_not() {
    let folder = Folder::new();
    let (mut done, mut refused) = (0, 0);
    for kilobytes in [30_000, 45_000, 60_000, 90_000, 150_000, 400_000] {
        for arguments in [
            "select train.svm -k 2 --lambda 1 --threads 16",
            "tune train.svm -k 2 --threads 4",
            "train train.svm --lambda 1",
            "convert train.svm -o -",
        ] {
            let limits = format!("export RUST_BACKTRACE=1; ulimit -v {kilobytes}");
            let (code, errors) = limited(&folder, &limits, arguments);
            match code {
                Some(0) => done += 1,
                // The program itself does not fit.
                Some(127) => {}
                None if errors.is_empty() => {}
                Some(1) => {
                    refused += 1;
                    assert!(errors.contains("error: "), "{errors}");
                }
                code => panic!("{arguments} of {kilobytes} kB: {code:?} {errors}"),
            }
        }
    }
    assert!(done > 3, "{done} {refused}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_column_of_a_large_number_takes_no_memory() {
    let folder = Folder::new();
    let rows = "1 qid:a 1:1 4000000000:1\n0 qid:a 2:1\n0.5 qid:b 4000000000:1\n1 qid:b 1:1\n";
    folder.write("wide.svm", rows);
    let selected = folder.json("select wide.svm -k 2 --lambda 1 -o m.json --json");
    assert_eq!(selected["data"]["columns"], 4_000_000_000_u64);
    assert!(selected["peak_rss_bytes"].as_u64().unwrap() < 64 << 20);
    let (code, errors) = limited(&folder, "ulimit -v 700000", "predict m.json wide.svm");
    assert_eq!(code, Some(0), "{errors}");
}

fn model(folder: &Folder) -> Value {
    folder.stdout("select train.svm -k 2 --lambda 1 -o m.json --names names.txt");
    folder.document("m.json")
}

#[test]
fn scores_of_a_hostile_model_are_numbers_or_refused() {
    let folder = Folder::new();
    let mut model = model(&folder);
    for feature in model["steps"].as_array_mut().unwrap() {
        feature["weight"] = json!(1.5e308);
    }
    folder.write("m.json", model.to_string());
    folder.write("large.svm", "1 1:1e150 2:1 3:1e150\n0 1:-1e150 3:1e150\n");
    folder.refused("predict m.json large.svm => finite");
    folder.refused("evaluate large.svm --model m.json --rows-per-query 2 => must be finite");
}

#[test]
fn deep_and_long_documents_are_refused() {
    let folder = Folder::new();
    folder.write("deep.json", "[".repeat(1_000_000));
    let open = r#"{"schema": "rankrls.model/2", "steps": "#;
    folder.write("nested.json", format!("{open}{}", "[".repeat(1_000_000)));
    folder.write("short.json", open);
    for name in ["deep.json", "nested.json", "short.json"] {
        folder.refused(&format!("inspect {name} => {name}"));
    }
    for name in ["deep.json", "nested.json"] {
        fs::copy(folder.path(name), folder.path("m.json")).unwrap();
        folder.refused("select train.svm -k 2 --lambda 1 -o m.json --resume => m.json");
    }
}

/// Names are shown, and never interpreted.
#[test]
fn names_in_reports_are_text() {
    const NASTY: &str = "<img src=x onerror=alert(1)>";
    let folder = Folder::new();
    folder.write(
        "names.txt",
        format!("{NASTY}\n../../secret\n&amp;\n4\n5\n6\n7\n"),
    );
    let data = format!("{NASTY}.svm");
    fs::copy(folder.path("train.svm"), folder.path(&data)).unwrap();
    let run = |arguments: &[&str]| {
        let output = folder.command("").args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let select = [
        "select",
        &data,
        "-k3",
        "--lambda=1",
        "--names=names.txt",
        "-o=m.json",
    ];
    run(&[&select[..], &["--plot=select.svg"]].concat());
    folder.write("texts.txt", format!("{NASTY}\n").repeat(8));
    run(&[
        "explain",
        "m.json",
        &data,
        "a",
        "--texts=texts.txt",
        "--plot=explain.svg",
    ]);
    run(&[
        "tune",
        &data,
        "-k2",
        "--lambda=1,2",
        "-o=t.json",
        "--plot=tune.svg",
    ]);
    for page in ["select.svg", "explain.svg", "tune.svg"] {
        let text = folder.read(page);
        assert!(!text.contains("<img"), "{page}");
        assert!(!text.contains("<script"), "{page}");
        assert!(
            !text.contains("http://") || text.contains("http://www.w3.org/"),
            "{page}"
        );
    }
    assert!(folder.read("explain.svg").contains("&lt;img src=x"));
}

/// A name and an identifier that are wider than a table.
#[test]
fn tables_of_long_texts_end() {
    let folder = Folder::new();
    let long = "n".repeat(70_000);
    let words = "many words ".repeat(7_000);
    folder.write("names.txt", format!("{long}\n{words}\n3\n4\n5\n6\n7\n"));
    let rows = folder
        .read("train.svm")
        .replace("qid:a", &format!("qid:{long}"));
    folder.write("long.svm", rows);
    folder.run("train train.svm --lambda 1 --names names.txt -o all.json");
    let measures: Vec<String> = (1..=8000).map(|k| format!("p@{k}")).collect();
    let measures = measures.join(",");
    for arguments in [
        "select long.svm -k 2 --lambda 1 --names names.txt -o m.json",
        "inspect m.json",
        "inspect all.json",
        "tune long.svm -k 2 --lambda 1 --names names.txt --table t.csv",
        "compare long.svm -k 2 --lambda 1 --names names.txt --strategy lowmem,random",
        "evaluate long.svm --model m.json --model all.json --csv e.csv",
        &format!("evaluate long.svm --model m.json --metrics {measures}"),
        "explain m.json long.svm b",
        "info long.svm --names names.txt",
    ] {
        let text = folder.stdout(arguments);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            widest < Some(20_000) || arguments.len() > 1000,
            "{arguments}"
        );
    }
    let text = folder.stdout("inspect all.json");
    assert!(text.contains("nnn…") && !text.contains(&long), "{text}");
    // Documents and tables for scripts have the whole text.
    assert!(folder.read("e.csv").contains(&long));
    assert!(folder.read("t.csv").contains(&long));
    assert!(folder.stdout("inspect m.json --json").contains(&long));
}

/// Foreign text that would set colours, move the cursor, or turn letters around.
#[test]
#[cfg(unix)]
fn no_text_from_outside_commands_the_terminal() {
    const EVIL: &str = "\x1b[31m\x1b]0;t\x07\r\u{9b}2J\u{202e}\u{2066}\u{2028}";
    let folder = Folder::new();
    let evil = |name: &str| format!("{EVIL}{name}");
    // A line end of another system is refused.
    let name = EVIL.replace('\r', "");
    folder.write("names.txt", format!("{name}\n2\n3\n4\n5\n6\n7\n"));
    let ids = "\x1b[31m\u{202e}";
    let rows = folder
        .read("train.svm")
        .replace("qid:a", &format!("qid:{ids}"));
    folder.write(&evil("a.svm"), &rows);
    folder.write(&evil("bad.svm"), format!("1 qid:{ids} 1:{ids}\n"));
    folder.write(&evil("b.svm"), "1 qid:a 1:1\n0 qid:b 1:1\n1 qid:a 1:1\n");
    folder.write(
        "bad.svm",
        format!("1 qid:{ids} 1:1\n0 qid:b 1:1\n1 qid:{ids} 1:1\n"),
    );
    folder.run("select train.svm -k 2 --lambda 1 --names names.txt -o m.json");
    let edited = |name: &str, to: &str, key: &str, value: Value| {
        let mut document = folder.document(name);
        document[key] = value;
        folder.write(to, document.to_string());
    };
    edited("m.json", &evil("m.json"), "strategy", json!(EVIL));
    edited("m.json", "schema.json", "schema", json!(EVIL));
    fs::create_dir(folder.path(EVIL)).unwrap();
    folder.write("t.conllu", format!("# sent_id = {EVIL}\n1\t{EVIL}\n"));
    let (a, bad, b) = (evil("a.svm"), evil("bad.svm"), evil("b.svm"));
    let (model, absent, page) = (evil("m.json"), evil("absent"), evil("/x/p.svg"));
    for arguments in [
        &["select", &a, "-k2", "--lambda=1", "--names=names.txt"][..],
        &["select", &a, "-k2", "--lambda=1"],
        &["select", &a, "-k2", "--lambda=1", "-o", &page],
        &["select", &a, "-k2", "--lambda=1", "-o", &a],
        &["select", &bad, "-k2", "--lambda=1"],
        &["select", &b, "-k2", "--lambda=1"],
        &["select", "bad.svm", "-k2", "--lambda=1"],
        &["select", &absent, "-k2", "--lambda=1"],
        &["select", &a, "-k2", "--lambda", EVIL],
        &["select", &a, "-k2", "--strategy", EVIL],
        &["select", &a, "-k2", "--label", EVIL],
        &["select", &a, "-k2", "--lambda=1", "--plot", &page],
        &["select", &a, "-k2", "--lambda=1", "--resume", "-o", &b],
        &["tune", &a, "-k2", "--validation", EVIL],
        &["tune", &a, "-k2", "--lambda=1", "--holdout=lqo"],
        &["tune", &a, "-k2", "--table", EVIL],
        &["train", &a, "--lambda=1", "--holdout", EVIL],
        &["train", &a, "--lambda=1", "--kernel", EVIL],
        &["train", &a, "--lambda=1", "--features", &absent],
        &["compare", &a, "-k2", "--lambda=1", "--strategy=lowmem"],
        &["inspect", "m.json"],
        &["inspect", &model],
        &["inspect", &model],
        &["inspect", "schema.json"],
        &["inspect", &absent],
        &["predict", "m.json", &bad],
        &["evaluate", &a, "--model", "m.json", "--csv", EVIL],
        &["evaluate", &a, "--model", &model, "--model", "m.json"],
        &["evaluate", &a, "--metrics", EVIL],
        &["explain", "m.json", &a, EVIL],
        &["explain", "m.json", &a, ids],
        &["info", &a, "--names=names.txt"],
        &["convert", &a, "-o", &page],
        &["build", "t.conllu", "--candidates=t.conllu", "-o", "c"],
        &[EVIL],
        &["select", &format!("--{EVIL}")],
    ] {
        let output = folder.command("").args(arguments).output().unwrap();
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).unwrap();
            let is_evil = |char: char| {
                char.is_control() && char != '\n' || EVIL[5..].contains(char) && !char.is_ascii()
            };
            let found = text.find(is_evil);
            assert_eq!(found, None, "{arguments:?}: {text:?}");
        }
    }
}

/// A disk that is full after 4 KiB of a file keeps the older file under its name, or nothing.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_no_half_file() {
    let folder = Folder::new();
    let mut text = String::new();
    for row in 0..300 {
        writeln!(text, "{row} qid:{} {}:1", row / 3, row + 1).unwrap();
    }
    folder.write("large.svm", text);
    folder.write("old.svm", "1 1:1\n");
    let names = [
        "large.svm",
        "long.txt",
        "names.txt",
        "old.svm",
        "test.svm",
        "train.svm",
    ];
    // Data that have room, and names that have none: files of one data set appear together.
    folder.write("long.txt", format!("{}\n", "x".repeat(300)).repeat(7));
    for (command, output) in [
        (
            "convert train.svm --names long.txt -o out.svm",
            "out.names.txt",
        ),
        ("select large.svm -k 30 --lambda 1 -o out.json", "out.json"),
        (
            "select large.svm -k 30 --lambda 1 --plot out.svg",
            "out.svg",
        ),
        ("train large.svm --lambda 1 -o out.json", "out.json"),
        ("tune large.svm --lambda 1 -k 20 --plot out.svg", "out.svg"),
        ("convert large.svm -o out.svm", "out.svm"),
        ("convert large.svm -o out.svm.gz", "out.svm.gz"),
        ("convert large.svm -o old.svm", "old.svm"),
    ] {
        // Blocks of 512 or of 1,024 bytes.
        let (code, errors) = limited(&folder, "ulimit -f 1", command);
        assert_eq!(code, Some(1), "{command}: {errors}");
        assert!(
            errors.contains("error: ") && errors.contains(output),
            "{command}: {errors}"
        );
        // The first steps may have fitted.
        let part = folder.path("out.json.part");
        if part.exists() {
            folder.warns("inspect out.json.part => is the model of an unfinished run");
            fs::remove_file(part).unwrap();
        }
        assert_eq!(folder.list(), names, "{command}");
    }
    assert_eq!(folder.read("old.svm"), "1 1:1\n");
}

#[test]
#[cfg(target_os = "linux")]
fn standard_output_that_is_full_is_an_error() {
    let folder = Folder::new();
    for command in [
        "select train.svm -k 2 --lambda 1 -o m.json",
        "info train.svm",
    ] {
        let (code, errors) = limited(&folder, "exec >/dev/full", command);
        assert_eq!(code, Some(1), "{errors}");
        assert!(
            errors.contains("cannot write to standard output"),
            "{errors}"
        );
    }
    // The finished model is saved all the same.
    assert!(folder.list().contains(&"m.json".to_owned()));
}

#[test]
fn answers_that_lose_digits_come_with_a_warning() {
    let folder = Folder::new();
    folder.write(
        "near.svm",
        "1 qid:1 1:1 2:1.00000001\n0 qid:1\n0.5 qid:1 1:0.5 2:0.5\n\
         1 qid:2 1:2 2:2\n0 qid:2 2:0.00000001\n0.25 qid:2 1:1 2:1\n",
    );
    let tune = "tune near.svm -k 2 --lambda 1e-10 --rule min-improvement:0 --json";
    folder.warns(&format!("{tune} => the condition number is"));
    let condition = |lambda: &str| {
        let select = format!("select near.svm -k 2 --lambda {lambda} --json -q");
        folder.json(&select)["condition"].as_f64().unwrap()
    };
    assert!(condition("1") < 100.0);
    assert!(condition("1e-10") > 1e9);
    let (_, errors) = folder.run("select near.svm -k 2 --lambda 1 --json");
    assert_eq!(errors, "");
}

/// Names of columns and queries in JSON are safe on terminals, and read back the same.
#[test]
fn documents_hold_no_controls() {
    let folder = Folder::new();
    let hostile = "a\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{61c}\u{2028}ü";
    let rows = "1,q\u{85}1,1,2\n0,q\u{85}1,2,1\n1,b,1,0\n0,b,0,2\n";
    folder.write("n.csv", format!("grade,query,{hostile},y\n{rows}"));
    let read = "n.csv --label grade --query query";
    folder.run(&format!("select {read} -k 2 --lambda 1 -o m.json"));
    for command in [
        &format!("select {read} -k 2 --lambda 1 --json"),
        &format!("select {read} -k 2 --lambda 1 -o -"),
        &format!("info {read} --json"),
        &format!("tune {read} -k 1 --lambda 1 --json"),
        &format!("train {read} --lambda 1 -o -"),
        "inspect m.json --json",
        "evaluate n.csv --model m.json --json",
        "explain m.json n.csv b --json",
    ] {
        let text = folder.stdout(command);
        let is_plain = |char: char| char == '\n' || char == 'ü' || (' '..='~').contains(&char);
        assert!(text.chars().all(is_plain), "{command}: {text:?}");
    }
    assert_eq!(folder.document("m.json")["steps"][0]["name"], hostile);
}
