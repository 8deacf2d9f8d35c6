use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::Duration;

use crate::signals::OnTerminal;
use crate::support::{Folder, TRAIN, generated, keys, list};

const SELECT: &str = "select train.svm --names names.txt --lambda 0.5 --strategy bounded";

#[test]
fn a_run_that_goes_on_ends_in_the_same_model() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} -k 3 -o whole.json"));
    // There is no model yet.
    let resume = format!("{SELECT} -k 3 -o model.json --resume");
    let (first, errors) = folder.run(&resume);
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
    let (second, errors) = folder.run(&resume);
    let told = "going on after 3 of 3 features";
    assert!(errors.contains(told), "{errors}");
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
    let table = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(table(&first), table(&second));
    folder.misused(&format!("{SELECT} -k 3 --resume => --output"));
    folder.misused(&format!(
        "{SELECT} -k 3 -o /dev/null --resume => expected a file for --output"
    ));
}

#[test]
fn test_data_are_measured_along_the_whole_path() {
    let folder = Folder::new();
    let select = format!("{SELECT} -k 3 --test test.svm --json -o model.json --resume");
    let (first, second) = (folder.json(&select), folder.json(&select));
    for (first, second) in list(&first["steps"]).iter().zip(list(&second["steps"])) {
        assert_eq!(first["test"], second["test"]);
        assert_eq!(first["lqo_error"], second["lqo_error"]);
    }
    assert!(keys(&second["steps"][0]).contains(&"test"));
}

#[test]
fn a_model_grows_to_the_model_of_more_features() {
    let folder = Folder::new();
    for options in [
        "--lambda 1/16u",
        "--lambda auto",
        "--lambda 0.5 --strategy sampled --sample 2 --seed 5",
        "--lambda 2 --criterion ndcg@2 --convention letor --query-weight pairs",
    ] {
        let select = format!("select big.svm {options}");
        folder.write("big.svm", generated(60, 20));
        // Folds choose it once, for the smaller number of features.
        let whole = if options.contains("auto") { 2 } else { 4 };
        folder.run(&format!("{select} -k {whole} -o whole.json"));
        folder.run(&format!("{select} -k 2 -o model.json"));
        folder.warns(&format!(
            "{select} -k {whole} -o model.json --resume => going on after 2 of {whole} features"
        ));
        let (found, expected) = (folder.read("model.json"), folder.read("whole.json"));
        assert_eq!(found, expected, "{options}");
    }
}

/// The refusal names each differing setting, and the model stays.
#[test]
fn other_runs_are_refused() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} -k 3 -o model.json"));
    let before = folder.read("model.json");
    for (options, told) in [
        ("--lambda 0.25 -k 3", "lambda was 0.5 and is 0.25 now"),
        (
            "--lambda 0.5 -k 2",
            "has 3 features: expected as many or more as -k, found 2",
        ),
        (
            "--lambda 0.5 -k 3 --scale sd",
            "scale was not given and is sd now",
        ),
        (
            "--lambda 0.5 -k 3 --strategy dense",
            "strategy was bounded and is dense now",
        ),
        (
            "--lambda 0.5 -k 3 --criterion map",
            "criterion was not given and is map",
        ),
    ] {
        let select = format!("select train.svm --names names.txt {options} -o model.json");
        folder.refused(&format!("{select} --resume => {told}"));
        assert_eq!(folder.read("model.json"), before, "{options}");
    }
    folder.run("train train.svm --lambda 1 -o all.json");
    let all = folder.read("all.json");
    let refused = "all.json: the features were not selected but all";
    folder.refused(&format!("{SELECT} -k 3 -o all.json --resume => {refused}"));
    assert_eq!(folder.read("all.json"), all);
    folder.write("text.json", "no model");
    folder.refused(&format!(
        "{SELECT} -k 3 -o text.json --resume => text.json:1:"
    ));
    let other = before.replacen("\"lqo_error\": ", "\"lqo_error\": 1", 1);
    folder.write("other.json", &other);
    let refused = "step 1 of the earlier run cannot be taken again: the held-out error is";
    folder.refused(&format!(
        "{SELECT} -q -k 3 -o other.json --resume => {refused}"
    ));
    assert_eq!(folder.read("other.json"), other);
    folder.write("train.svm", TRAIN.replace("2:0.3", "2:0.4"));
    folder.refused(&format!(
        "{SELECT} -k 3 -o model.json --resume => trained on other data"
    ));
    assert_eq!(folder.read("model.json"), before);
}

/// So many columns that every machine needs a long time.
const LONG: &str = "select big.svm -k 1500 --lambda 1 --strategy lowmem -q -o model.json";

/// A folder with an older model, and the work of a run that was killed once it had work.
fn killed() -> Folder {
    let folder = Folder::new();
    folder.write("big.svm", generated(1500, 3000));
    folder.write("model.json", "old");
    let mut child = folder.command(LONG).spawn().unwrap();
    while !folder.path("model.json.part").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without work");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(folder.read("model.json"), "old");
    folder
}

#[test]
fn unfinished_work_is_told_of_and_gone_on_with() {
    let folder = killed();
    let part = folder.read("model.json.part");
    let document = folder.document("model.json.part");
    let taken = list(&document["steps"]).len();
    assert_eq!(document["unfinished"]["taken"], taken);
    assert_eq!(document["unfinished"]["asked"], 1500);
    let select = "select big.svm --lambda 1 --strategy lowmem -o model.json";
    for arguments in [
        format!("{select} -k 9"),
        "select absent.svm -k 9 --lambda 3 -o model.json".to_owned(),
    ] {
        folder.refused(&format!(
            "{arguments} => model.json.part: expected no unfinished work, found {taken} of 1500 features (go on with --resume, or delete it)"
        ));
    }
    for (options, told) in [
        (
            "--lambda 2 --strategy lowmem -k 1500",
            "lambda was 1.0 and is 2.0 now",
        ),
        (
            "--lambda 1 --strategy dense -k 1500",
            "strategy was lowmem and is dense now",
        ),
    ] {
        folder.refused(&format!(
            "select big.svm {options} -o model.json --resume => model.json.part: the model has other settings: {told}"
        ));
    }
    folder.refused("select train.svm -k 1500 --lambda 1 -o model.json --resume => model.json.part: the model was trained on other data");
    assert_eq!(folder.read("model.json.part"), part);
    assert_eq!(folder.read("model.json"), "old");
    let k = taken + 2;
    folder.warns(&format!(
        "{select} -k {k} --resume => going on after {taken} of {k} features"
    ));
    folder.run(&format!("{select} -k {k} -o whole.json").replace("-o model.json", ""));
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
    assert!(!folder.path("model.json.part").exists());
}

/// A run resumes the finished model only if it has more steps of the same run.
#[test]
fn the_longer_of_two_models_is_gone_on_with() {
    let folder = killed();
    let part = folder.read("model.json.part");
    let taken = list(&folder.document("model.json.part")["steps"]).len();
    let select = "select big.svm --lambda 1 --strategy lowmem";
    let (more, k) = (taken + 1, taken + 3);
    folder.run(&format!("{select} -k {k} -o whole.json"));
    for (finished, given) in [
        (format!("{select} -k {more} -o other.json"), more),
        (format!("{select} -k {} -o other.json", k + 1), taken),
        (
            format!("select big.svm --lambda 2 -k {more} -o other.json"),
            taken,
        ),
        ("train train.svm --lambda 1 -o other.json".to_owned(), taken),
    ] {
        folder.run(&finished);
        fs::rename(folder.path("other.json"), folder.path("model.json")).unwrap();
        folder.write("model.json.part", &part);
        let told = format!("going on after {given} of {k} features");
        folder.warns(&format!("{select} -k {k} -o model.json --resume => {told}"));
        assert_eq!(
            folder.read("model.json"),
            folder.read("whole.json"),
            "{finished}"
        );
    }
}

#[test]
fn readers_of_an_unfinished_model_warn() {
    let folder = Folder::new();
    folder.run("select train.svm -k 2 --lambda 1 -o m.json");
    let mut document = folder.document("m.json");
    document["unfinished"] = serde_json::json!({"taken": 2, "asked": 40});
    folder.write("m.json.part", document.to_string());
    for arguments in [
        "predict m.json.part train.svm",
        "predict m.json.part train.svm -o s.txt",
        "inspect m.json.part",
        "inspect m.json.part --json",
        "evaluate train.svm --model m.json.part --model m.json",
        "explain m.json.part train.svm a",
        "convert train.svm --model m.json.part -o c.svm",
        "train train.svm --lambda 1 --features m.json.part",
    ] {
        let told =
            "warning: m.json.part is the model of an unfinished run: it has 2 of 40 features\n";
        folder.warns(&format!("{arguments} => {told}"));
        let (_, errors) = folder.run(&arguments.replace("m.json.part", "m.json"));
        assert!(!errors.contains("unfinished"), "{errors}");
    }
}

/// Anything under the name of the unfinished work stays, and is not waited for.
#[test]
fn whatever_is_called_like_unfinished_work_stays() {
    let folder = Folder::new();
    folder.run("select train.svm -k 2 --lambda 1 -o m.json");
    folder.run("select train.svm -k 2 --lambda 1 -o finished.json");
    let before = folder.read("m.json");
    let part = folder.path("m.json.part");
    let make: [(&str, &dyn Fn()); 8] = [
        ("found a pipe or a device", &|| {
            let made = std::process::Command::new("mkfifo").arg(&part).status();
            assert!(made.unwrap().success());
        }),
        ("found a link", &|| symlink("finished.json", &part).unwrap()),
        ("found a link", &|| symlink("absent", &part).unwrap()),
        ("found a link", &|| symlink("/dev/zero", &part).unwrap()),
        ("found a folder", &|| fs::create_dir(&part).unwrap()),
        ("found another file", &|| {
            folder.write("m.json.part", "notes");
        }),
        ("found another file", &|| folder.write("m.json.part", "")),
        ("found a finished model", &|| {
            fs::copy(folder.path("finished.json"), &part)
                .map(drop)
                .unwrap();
        }),
    ];
    for (found, make) in make {
        make();
        let kind = || fs::symlink_metadata(&part).unwrap().file_type();
        let (was, content) = (kind(), fs::read_link(&part).ok());
        let text = was.is_file().then(|| folder.read("m.json.part"));
        for resume in ["", "--resume"] {
            let expected = "m.json.part: expected no unfinished work, or a file of it";
            folder.refused(&format!(
                "select train.svm -k 3 --lambda 1 -o m.json {resume} => {expected}, {found} (it is something else: move it away"
            ));
        }
        assert_eq!((kind(), fs::read_link(&part).ok()), (was, content));
        assert_eq!(was.is_file().then(|| folder.read("m.json.part")), text);
        let _ = fs::remove_file(&part).or_else(|_| fs::remove_dir(&part));
    }
    assert_eq!(folder.read("m.json"), before);
    folder.write("m.json.part", TRAIN);
    folder
        .misused("select m.json.part -k 1 --lambda 1 -o m.json => a run reads it does not replace");
    symlink("n.json.part", folder.path("link.svg")).unwrap();
    folder.misused(
        "select train.svm -k 1 --lambda 1 --plot link.svg -o n.json => name the same file",
    );
    assert_eq!(folder.read("m.json.part"), TRAIN);
}

#[test]
fn a_second_run_does_not_write_the_same_model() {
    let folder = killed();
    let mut first = folder.command(&format!("{LONG} --resume")).spawn().unwrap();
    // The first run has the lock by now.
    let begun = folder.read("model.json.part");
    while folder.read("model.json.part") == begun {
        assert!(first.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(5));
    }
    for resume in ["", "--resume"] {
        folder.refused(&format!(
            "{LONG} {resume} => model.json.part: expected a file that no other process writes"
        ));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    // A run that began before there was any work finds it at its first step.
    let part = folder.read("model.json.part");
    fs::remove_file(folder.path("model.json.part")).unwrap();
    let late = OnTerminal::spawn(&folder, "select - -k 9 --lambda 1 -o model.json");
    let rest = late.wait_for("reading");
    let mut late = late.child;
    folder.write("model.json.part", &part);
    late.stdin
        .take()
        .unwrap()
        .write_all(generated(300, 200).as_bytes())
        .unwrap();
    let rest = rest.join().unwrap();
    assert_eq!(late.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("found that of another run"), "{rest}");
    assert_eq!(folder.read("model.json.part"), part);
    assert_eq!(folder.read("model.json"), "old");
}
