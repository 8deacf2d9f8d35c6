use std::fs;
use std::thread::sleep;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::hostile::limited;
use crate::support::{Folder, generated, keys};

const SELECT: &str = "select train.svm -k 3 --lambda 0.5 --names names.txt --strategy bounded";

#[test]
fn a_run_that_goes_on_ends_in_the_same_model() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} -o whole.json"));
    let with = "--checkpoint run.checkpoint --checkpoint-every 0";
    // There is no checkpoint yet.
    let (first, errors) = folder.run(&format!("{SELECT} {with} --resume -o first.json"));
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(folder.read("first.json"), folder.read("whole.json"));
    let (second, errors) = folder.run(&format!("{SELECT} {with} --resume -o second.json"));
    assert!(
        errors.contains("going on after 3 of 3 features"),
        "{errors}"
    );
    assert_eq!(folder.read("second.json"), folder.read("whole.json"));
    let table = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(table(&first), table(&second));
}

#[test]
fn test_data_are_measured_along_the_whole_path() {
    let folder = Folder::new();
    let select = format!("{SELECT} --test test.svm --json --checkpoint run.checkpoint --resume");
    let (first, second) = (folder.json(&select), folder.json(&select));
    assert_eq!(first["steps"], second["steps"]);
    assert!(keys(&second["steps"][0]).contains(&"test"));
}

#[test]
fn no_checkpoint_is_written_over_unasked() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} --checkpoint run.checkpoint"));
    let before = folder.read("run.checkpoint");
    let other = SELECT.replace("0.5", "0.25");
    folder.fails(&format!("{SELECT} --checkpoint run.checkpoint"), 1);
    folder.fails(&format!("{other} --checkpoint run.checkpoint --resume"), 1);
    folder.write("train.svm", crate::support::TRAIN.replace("2:0.3", "2:0.4"));
    folder.fails(&format!("{SELECT} --checkpoint run.checkpoint --resume"), 1);
    assert_eq!(folder.read("run.checkpoint"), before);
}

#[test]
fn a_torn_line_is_dropped_and_damage_before_it_is_refused_with_its_place() {
    let folder = Folder::new();
    let with = "--checkpoint run.checkpoint --checkpoint-every 0";
    folder.run(&format!("{SELECT} {with} -o whole.json"));
    let resume = format!("{SELECT} {with} --resume");
    let whole = folder.read("run.checkpoint");
    // The first says what the run is, three have a step each.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 4);
    folder.write("run.checkpoint", &whole[..whole.len() - 9]);
    folder.warns(&format!(
        "{resume} -o again.json => going on after 2 of 3 features"
    ));
    assert_eq!(folder.read("again.json"), folder.read("whole.json"));
    assert_eq!(folder.read("run.checkpoint"), whole);
    let damaged = whole.replacen("\"evaluated\":", "\"evaluates\":", 1);
    folder.write("run.checkpoint", &damaged);
    folder.refused(&format!(
        "{resume} => run.checkpoint:2:1: expected the line that was written, by its checksum, found a \
         damaged one (keep only the lines before it to go on from there, or delete the file"
    ));
    assert_eq!(folder.read("run.checkpoint"), damaged);
    folder.write("run.checkpoint", lines[..3].concat());
    folder.warns(&format!(
        "{resume} -o again.json => going on after 2 of 3 features"
    ));
    assert_eq!(folder.read("run.checkpoint"), whole);
}

#[test]
fn a_second_process_does_not_write_the_checkpoint() {
    let folder = Folder::new();
    folder.write("big.svm", generated(1500, 3000));
    let select = "select big.svm -k 1500 --lambda 1 --strategy lowmem --checkpoint run.checkpoint";
    let mut child = folder.spawn(select);
    while fs::metadata(folder.path("run.checkpoint")).map_or(0, |file| file.len()) == 0 {
        sleep(Duration::from_millis(10));
    }
    folder.refused(&format!(
        "{select} --resume => run.checkpoint: expected a journal that no other process writes"
    ));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The run goes on, and the lines that there was room for are gone on with.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_end_the_run() {
    let folder = Folder::new();
    folder.write("big.svm", generated(120, 30));
    let select = "select big.svm -k 20 --lambda 1 --checkpoint run.checkpoint --checkpoint-every 0";
    folder.run(&format!("{select} -o whole.json"));
    let whole = folder.read("run.checkpoint");
    fs::remove_file(folder.path("run.checkpoint")).unwrap();
    // Blocks of 512 or of 1,024 bytes.
    let (code, errors) = limited(&folder, "ulimit -f 3", select);
    assert_eq!(code, Some(0), "{errors}");
    let told =
        "warning: cannot write run.checkpoint: File too large (os error 27); the checkpoint has ";
    assert!(errors.contains(told), "{errors}");
    let part = folder.read("run.checkpoint");
    assert!(part.len() < whole.len() && whole.starts_with(&part));
    assert!(part.ends_with('\n'), "{part}");
    folder.warns(&format!(
        "{select} --resume -o again.json => going on after "
    ));
    assert_eq!(folder.read("again.json"), folder.read("whole.json"));
    assert_eq!(folder.read("run.checkpoint"), whole);
    // Not even room for the first line.
    fs::remove_file(folder.path("run.checkpoint")).unwrap();
    let (code, errors) = limited(&folder, "ulimit -f 0", select);
    assert_eq!(code, Some(1), "{errors}");
    assert!(
        errors.contains("error: cannot write run.checkpoint"),
        "{errors}"
    );
    assert!(!folder.path("run.checkpoint").exists());
}

#[test]
fn a_model_grows_to_the_model_of_more_features() {
    let folder = Folder::new();
    for options in [
        "--lambda 0.5 --strategy bounded",
        "--lambda 0.5 --strategy sampled --candidates 2 --seed 5",
        "--lambda 0.5 --strategy sampled --seed 2",
        "--lambda 2 --criterion ndcg@2 --convention letor --query-weight pairs",
    ] {
        folder.run(&format!(
            "select train.svm --names names.txt -k 4 {options} -o whole.json"
        ));
        folder.run(&format!(
            "select train.svm --names names.txt -k 2 {options} -o two.json"
        ));
        let extend = "select train.svm --names names.txt -k 4 --extend two.json";
        folder.warns(&format!(
            "{extend} -o grown.json => going on after 2 of 4 features"
        ));
        assert_eq!(
            folder.read("grown.json"),
            folder.read("whole.json"),
            "{options}"
        );
        let with = "--checkpoint grown.checkpoint --resume";
        folder.run(&format!("{extend} -o again.json {with}"));
        folder.run(&format!("{extend} -o again.json {with}"));
        assert_eq!(
            folder.read("again.json"),
            folder.read("whole.json"),
            "{options}"
        );
        std::fs::remove_file(folder.path("grown.checkpoint")).unwrap();
    }
}

const TUNE: &str = "tune big.svm -k 5 --lambdas 0.5,2^3 --evidence folds:3";

#[test]
fn a_tuning_that_goes_on_ends_in_the_same_model_and_table() {
    let folder = Folder::new();
    folder.write("big.svm", generated(120, 30));
    folder.run(&format!("{TUNE} -o whole.json --csv whole.csv"));
    let with = "--checkpoint run.checkpoint --checkpoint-every 0 --resume";
    for (name, going_on) in [("first", false), ("second", true)] {
        let (_, errors) = folder.run(&format!("{TUNE} {with} -o {name}.json --csv {name}.csv"));
        // Two lambdas, the data and three folds, five steps each.
        let tells = errors.contains("going on after 40 steps");
        assert_eq!(tells, going_on, "{errors}");
        for ending in ["json", "csv"] {
            let read = |name: &str| folder.read(&format!("{name}.{ending}"));
            assert_eq!(read(name), read("whole"));
        }
    }
}

#[test]
fn a_teacher_that_has_taught_does_not_teach_again() {
    let folder = Folder::new();
    folder.write("big.svm", generated(200, 60));
    for command in [
        "select big.svm -k 5 --strategy distil",
        "tune big.svm -k 3 --strategies distil,dense --choose-by cindex --evidence folds:2 --lambdas 1,4",
    ] {
        folder.run(&format!("{command} -o whole.json"));
        let with = "-v --checkpoint run.checkpoint --checkpoint-every 0 --resume";
        for (name, teaches) in [("first", true), ("second", false)] {
            let (_, errors) = folder.run(&format!("{command} {with} -o {name}.json"));
            assert_eq!(errors.contains(" taught "), teaches, "{errors}");
            let model = folder.read(&format!("{name}.json"));
            assert_eq!(model, folder.read("whole.json"), "{command}");
        }
        std::fs::remove_file(folder.path("run.checkpoint")).unwrap();
    }
    // It took no time.
    folder.run("select big.svm -k 5 --strategy distil --checkpoint run.checkpoint");
    assert!(!folder.read("run.checkpoint").contains("\"teacher\":"));
    folder.fails(
        "tune big.svm -k 3 --strategies dense,distil,dense --evidence folds:2",
        2,
    );
}
