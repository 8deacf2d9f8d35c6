//! `rankrls shard`, and selecting from what it writes.

use std::fmt::Write as _;

use serde_json::Value;

#[cfg(unix)]
use crate::hostile::limited;
use crate::support::{Folder, draws, generated, list};

/// The steps and weights of a selection, and of what data.
fn path(document: &Value) -> (&Value, &Value, &Value) {
    (&document["steps"], &document["weights"], &document["data"])
}

#[test]
fn parts_are_selected_from_as_the_whole() {
    let folder = Folder::new();
    folder.write("large.svm", generated(600, 400));
    let report = folder.json("shard large.svm --parts 7 -o parts --max-memory 64KiB --json");
    assert_eq!(list(&report["parts"]).len(), 7);
    folder.prints("shard large.svm --parts 1 -o one => 1 part, the largest of");
    for strategy in ["lowmem", "bounded", "sampled", "univariate"] {
        let select = |data: &str| {
            folder.json(&format!(
                "select {data} -k 6 --lambda 4 --strategy {strategy} --scale sd --test large.svm \
                 -o {strategy}-{data}.json --json"
            ))
        };
        let whole = select("large.svm");
        for data in ["parts", "one"] {
            assert_eq!(path(&select(data)), path(&whole), "{strategy}");
            let model = |data: &str| folder.read(&format!("{strategy}-{data}.json"));
            assert_eq!(model(data), model("large.svm"));
        }
    }
    // A run goes on, with or without parts.
    folder.run("select parts -k 3 --lambda 4 -o three.json");
    folder.run("select large.svm -k 6 --extend three.json -o b.json");
    folder.run("select parts -k 6 --extend three.json -o a.json");
    assert_eq!(folder.read("a.json"), folder.read("b.json"));
    folder.run("select parts -k 3 --lambda 4 --checkpoint c");
    folder.run("select large.svm -k 3 --lambda 4 --checkpoint c --resume");
}

#[test]
#[cfg(unix)]
fn mistakes_are_found_before_any_work() {
    let folder = Folder::new();
    folder.refused(
        "shard train.svm --parts 8 -o parts => at most 7 parts, one for each column, found 8",
    );
    folder.fails("shard train.svm --parts 0 -o parts", 2);
    folder.refused(
        "shard none.svm --parts 150000 -o parts --max-memory 1GiB \
         => at most 2685 parts, 200 KiB of memory each, found 150000",
    );
    let many = "shard none.svm --parts 300 -o parts";
    let (code, error) = limited(&folder, "ulimit -n 256", many);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("two files for each of 300 parts: Too many open files"),
        "{error}"
    );
    folder.refused(
        "select parts -k 2 --lambda 1 => parts: expected data in parts, found no manifest.json",
    );
    folder.run("shard train.svm --parts 3 -o parts --names names.txt");
    folder.refused("shard train.svm --parts 3 -o parts => parts has files");
    folder.refused("select parts -k 2 => --lambda");
    folder.refused("tune parts -k 2 => data in parts are not folded");
    let document = folder.json("select parts -k 2 --lambda 1 --json");
    assert_eq!(
        document["steps"][0]["name"].as_str().map(str::is_empty),
        Some(false)
    );
    std::fs::remove_file(folder.path("parts/part-2.svm")).unwrap();
    folder.refused("select parts -k 2 --lambda 1 => part-2.svm");
}

/// 4,000 rows of 1,000 of 4,000 columns: 48 MB in columns, and as much in classes.
#[cfg(target_os = "linux")]
fn dense() -> String {
    let mut draw = draws(1);
    let mut text = String::new();
    for row in 0..4000 {
        write!(text, "{} qid:{}", row * row % 7, row / 40).unwrap();
        let mut column = 0;
        for _ in 0..1000 {
            column += 1 + draw(7);
            write!(text, " {column}:{}", 1 + draw(3)).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
#[cfg(target_os = "linux")]
fn columns_larger_than_the_memory_are_selected_from() {
    let folder = Folder::new();
    folder.write("dense.svm", dense());
    let limit = "ulimit -d 65536";
    let options = "-k 3 --lambda 16 --strategy bounded --threads 1";
    let (code, errors) = limited(
        &folder,
        limit,
        "shard dense.svm --parts 32 -o parts --max-memory 24MiB --threads 1",
    );
    assert_eq!(code, Some(0), "{errors}");
    let (code, _) = limited(
        &folder,
        limit,
        &format!("select dense.svm {options} --max-memory 4GiB"),
    );
    assert_ne!(code, Some(0));
    let (code, errors) = limited(
        &folder,
        limit,
        &format!("select parts {options} --max-memory 24MiB -o parts.json"),
    );
    assert_eq!(code, Some(0), "{errors}");
    folder.run(&format!("select dense.svm {options} -o whole.json"));
    assert_eq!(folder.read("parts.json"), folder.read("whole.json"));
}
