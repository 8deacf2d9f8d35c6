//! A run does not replace its inputs, and each output has its own name.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::process::Command;

#[cfg(target_os = "linux")]
use crate::hostile::limited;
use crate::support::{Folder, TRAIN};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    fs::create_dir(folder.path("sub")).unwrap();
    symlink(folder.path("train.svm"), folder.path("link.svm")).unwrap();
    symlink(folder.path("."), folder.path("here")).unwrap();
    folder.write("folds.txt", "1\n1\n1\n2\n2\n3\n3\n3\n");
    folder
}

#[test]
fn an_output_that_is_an_input_is_refused_before_any_work() {
    let folder = folder();
    let model = folder.read("model.json");
    let absolute = folder.path("train.svm");
    let absolute = absolute.display();
    for arguments in [
        "select train.svm -k 1 --lambda 1 -o train.svm",
        "select train.svm -k 1 --lambda 1 -o ./train.svm",
        "select train.svm -k 1 --lambda 1 -o sub/../train.svm",
        "select train.svm -k 1 --lambda 1 -o .//train.svm",
        "select train.svm -k 1 --lambda 1 -o link.svm",
        "select train.svm -k 1 --lambda 1 -o here/train.svm",
        &format!("select train.svm -k 1 --lambda 1 -o {absolute}"),
        "select link.svm -k 1 --lambda 1 -o train.svm",
        "select test.svm -k 1 --lambda 1 --test train.svm -o train.svm",
        "select test.svm -k 1 --lambda 1 --names train.svm -o train.svm",
        "select test.svm -k 1 --lambda 1 --query-file train.svm -o train.svm",
        "select train.svm -k 1 --lambda 1 -o train.svm --resume",
        "tune train.svm -k 1 --table train.svm.csv -o train.svm",
        "tune train.svm -k 1 --validation test.svm -o test.svm",
        "train train.svm --lambda 1 -o train.svm",
        "train train.svm --lambda 1 --holdout-scores train.svm",
        "train train.svm --lambda 1 --objective pairs --pairs names.txt -o names.txt",
        "train train.svm --lambda 1 --holdout folds:folds.txt -o folds.txt",
        "predict model.json train.svm -o model.json",
        "predict model.json train.svm -o train.svm",
        "evaluate train.svm --model model.json --csv model.json",
        "convert train.svm -o train.svm",
        "convert train.svm --model model.json -o model.json",
    ] {
        folder.misused(&format!("{arguments} => a run reads it does not replace"));
        assert_eq!(folder.read("train.svm"), TRAIN, "{arguments}");
        assert_eq!(folder.read("model.json"), model, "{arguments}");
    }
}

/// Runs the program with redirections of a shell. The folder must stay as it is.
#[cfg(target_os = "linux")]
#[track_caller]
fn refused_by_shell(folder: &Folder, arguments: &str) {
    let kept = |name: &String| {
        let path = folder.path(name);
        fs::read_link(&path).is_err().then(|| fs::read(path).ok())
    };
    let names = folder.list();
    let before: Vec<_> = names.iter().map(kept).collect();
    let (code, errors) = limited(folder, ":", arguments);
    assert_eq!(code, Some(2), "{arguments}: {errors}");
    assert!(errors.starts_with("error: "), "{arguments}: {errors}");
    assert_eq!(folder.list(), names, "{arguments}");
    let after: Vec<_> = names.iter().map(kept).collect();
    assert!(before == after, "{arguments}");
}

#[test]
#[cfg(target_os = "linux")]
fn standard_input_and_descriptors_are_files_too() {
    let folder = folder();
    fs::hard_link(folder.path("train.svm"), folder.path("hard.svm")).unwrap();
    folder.write("log", "earlier");
    folder.write("log.svg", "earlier");
    folder.write("c/train.svm.zst", "");
    for arguments in [
        "select - -k 1 --lambda 1 -o train.svm < train.svm",
        "select - -k 1 --lambda 1 -o link.svm < train.svm",
        "select - -k 1 --lambda 1 -o here/train.svm < link.svm",
        "select /dev/stdin -k 1 --lambda 1 -o train.svm < train.svm",
        "select /proc/self/fd/0 -k 1 --lambda 1 -o train.svm < train.svm",
        "select /dev/fd/3 -k 1 --lambda 1 -o train.svm 3< train.svm",
        "select train.svm -k 1 --lambda 1 -o /dev/fd/3 3>> train.svm",
        "select train.svm -k 1 --lambda 1 -o /dev/fd/3 3>> hard.svm",
        "select - -k 1 --lambda 1 -o /proc/self/fd/3 < train.svm 3>> train.svm",
        "select - -k 1 --lambda 1 -o train.svm --resume < train.svm",
        "train - --lambda 1 -o train.svm < train.svm",
        "train - --lambda 1 --holdout-scores train.svm < train.svm",
        "tune - -k 1 --table a.csv -o train.svm < train.svm",
        "tune train.svm -k 1 --validation - -o test.svm < test.svm",
        "predict model.json - -o train.svm < train.svm",
        "predict - train.svm -o model.json < model.json",
        "predict model.json - -o /dev/stdin < train.svm",
        "evaluate - --model model.json --csv train.svm < train.svm",
        "convert - -o train.svm < train.svm",
        "convert - --model model.json -o train.svm < train.svm",
        "build - --link-grammar -o c < c/train.svm.zst",
        "select train.svm -k 1 --lambda 1 >> train.svm",
        "predict model.json train.svm >> train.svm",
        "convert train.svm -o - >> train.svm",
        "inspect model.json >> model.json",
        "select train.svm -k 1 --lambda 1 -o log >> log",
        "select train.svm -k 1 --lambda 1 --plot log.svg >> log.svg",
    ] {
        refused_by_shell(&folder, arguments);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_descriptor_is_written_to_behind_all_that_it_has() {
    let folder = folder();
    symlink("/dev/stdout", folder.path("out")).unwrap();
    folder.write("log", "earlier\n");
    let run = |arguments: &str| {
        let (code, errors) = limited(&folder, ":", arguments);
        assert_eq!(code, Some(0), "{arguments}: {errors}");
        assert!(!errors.contains("cannot write"), "{errors}");
        folder.read("log")
    };
    let scores = folder.stdout("predict model.json train.svm");
    let mut log = "earlier\n".to_owned();
    for arguments in [
        "predict model.json train.svm -o /dev/stdout >> log",
        "predict model.json train.svm -o - >> log",
        "predict model.json train.svm -o out >> log",
        "predict model.json train.svm -o /dev/fd/1 >> log",
        "predict model.json train.svm -o /dev/fd/3 3>> log",
        "predict model.json train.svm -o /proc/self/fd/3 3<> log",
        "predict model.json train.svm -o /dev/stderr 2>> log",
        "predict model.json train.svm >> log",
    ] {
        log += &scores;
        assert_eq!(run(arguments), log, "{arguments}");
    }
    // An output that is also standard output is written once, without the report.
    let model = folder.read("model.json");
    for arguments in [
        "select train.svm -k 2 --lambda 1 -o /dev/fd/3 3>> log >> log",
        "select train.svm -k 2 --lambda 1 -o out >> log",
    ] {
        log += &model;
        assert_eq!(run(arguments), log, "{arguments}");
    }
    let select = "select train.svm -k 2 --lambda 1 -o /dev/fd/3 3> log";
    assert_eq!(run(select), model);
    assert!(
        fs::symlink_metadata(folder.path("out"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn files_that_belong_to_data_are_inputs() {
    let folder = folder();
    folder.run("convert train.svm -o x.svm --names names.txt");
    folder.write("boost.svm.query", "1\n");
    for arguments in [
        "convert x.names.txt -o x.svm".to_owned(),
        "convert train.svm -o n.svm --query-file n.names.txt".to_owned(),
        "convert boost.svm.query --model model.json -o boost.svm --to lightgbm".to_owned(),
    ] {
        let before = folder.list();
        folder.misused(&format!("{arguments} => a run reads it does not replace"));
        assert_eq!(folder.list(), before, "{arguments}");
    }
    // Rewriting is allowed for unchanged names, and for files that are not the data's.
    folder.run("convert train.svm -o w.svm --names x.names.txt");
    folder.run("convert train.svm -o x.svm --names x.names.txt");
    assert_eq!(folder.read("x.names.txt"), folder.read("w.names.txt"));
}

#[test]
fn two_outputs_of_one_name_are_refused_before_any_work() {
    let folder = folder();
    symlink("new.svg", folder.path("first.svg")).unwrap();
    symlink("here/first.svg", folder.path("second.svg")).unwrap();
    for (arguments, options) in [
        (
            "select train.svm -k 1 --lambda 1 -o new.svg --plot ./new.svg",
            "--plot and --output",
        ),
        (
            "tune train.svm -k 1 --table new.json -o new.json",
            "--table and --output",
        ),
        (
            "train train.svm --lambda 1 -o new --holdout-scores new",
            "--holdout-scores and --output",
        ),
        // Links may lead to missing files.
        (
            "select train.svm -k 1 --lambda 1 --plot first.svg -o new.svg",
            "--plot and --output",
        ),
        (
            "select train.svm -k 1 --lambda 1 --plot first.svg -o second.svg",
            "--plot and --output",
        ),
        (
            "tune train.svm -k 1 --table here/new.csv -o new.csv",
            "--table and --output",
        ),
    ] {
        folder.misused(&format!("{arguments} => {options}"));
        for name in ["new", "new.svg", "new.csv", "new.json"] {
            assert!(!folder.path(name).exists(), "{arguments} wrote {name}");
        }
    }
}

#[test]
fn what_takes_nothing_away_stays_legal() {
    let folder = folder();
    folder.run("select train.svm -k 3 --lambda 1 -o new.json");
    folder.run("select train.svm -k 3 --lambda 1 -o new.json --resume");
    folder.run("select train.svm -k 1 --lambda 1 -o /dev/null --plot new.svg");
    fs::hard_link(folder.path("train.svm"), folder.path("hard.svm")).unwrap();
    folder.misused("select train.svm -k 1 --lambda 1 -o hard.svm => does not replace");
    folder.run("evaluate train.svm --model model.json --model model.json");
    // A name that only resembles a file of the data.
    folder.run("convert train.svm -o train");
    folder.run("predict model.json train.svm -o model");
}

#[test]
fn a_link_to_nothing_is_followed() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    fs::create_dir(folder.path("far")).unwrap();
    symlink("far/new.json", folder.path("dangling.json")).unwrap();
    symlink("here/dangling.json", folder.path("second.json")).unwrap();
    symlink("around.json", folder.path("around.json")).unwrap();
    folder.run("select train.svm -k 1 --lambda 1 -o plain.json");
    folder.run("select train.svm -k 1 --lambda 1 -o second.json");
    let mode = |name| {
        fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("far/new.json"), mode("plain.json"));
    for link in ["dangling.json", "second.json"] {
        assert!(
            fs::symlink_metadata(folder.path(link))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(folder.read(link), folder.read("plain.json"));
    }
    folder.refused("select train.svm -k 1 --lambda 1 -o around.json => around.json");
}

/// Names beside the data are read, so no output replaces them.
#[test]
fn names_beside_data_for_a_model_are_inputs() {
    let folder = folder();
    folder.run("select train.svm -k 1 --lambda 1 --names names.txt -o named.json");
    let beside = "test.names.txt";
    folder.write(beside, folder.read("names.txt"));
    for run in [
        format!("predict named.json test.svm -o {beside}"),
        format!("evaluate test.svm --model named.json --metrics cindex --csv ./{beside}"),
        format!("select train.svm -k 1 --lambda 1 --names names.txt --test test.svm -o {beside}"),
        format!("select test.svm -k 1 --lambda 1 -o {beside}"),
    ] {
        folder.misused(&format!("{run} => a run reads it does not replace"));
        assert_eq!(folder.read(beside), folder.read("names.txt"), "{run}");
    }
    folder.run("predict named.json test.svm -o test-names.txt");
    // The names are read, and written again unchanged.
    folder.write("train.names.txt", folder.read("names.txt"));
    folder.run("convert train.svm -o train.svm.zst");
    assert_eq!(folder.read("train.names.txt"), folder.read("names.txt"));
}

/// The data would be lost under a name that nobody asked for.
#[test]
fn a_name_that_only_a_folder_has_is_no_file() {
    let folder = folder();
    symlink("new/", folder.path("slash")).unwrap();
    let before = folder.list();
    for name in [
        "new/",
        "new//",
        "new/.",
        "new/././",
        "train.svm/",
        "train.svm/.",
        "link.svm/",
        "slash",
    ] {
        for command in [
            "select absent.svm -k 1 --lambda 1 -o",
            "train absent.svm --lambda 1 --holdout-scores",
            "predict model.json absent.svm -o",
            "evaluate absent.svm --file-order --csv",
            "convert absent.svm -o",
        ] {
            folder.refused(&format!(
                "{command} {name} => a name with a slash at its end names a folder"
            ));
        }
    }
    assert_eq!(folder.list(), before);
    assert_eq!(folder.read("train.svm"), TRAIN);
}

/// A run writes files with longer names beside its output. It checks these names before the work, too.
#[test]
fn a_name_of_any_length_is_taken_or_refused_before_any_work() {
    let folder = Folder::new();
    let name = |length: usize| "n".repeat(length);
    for length in [200, 247, 248, 249, 250] {
        let name = name(length);
        folder.run(&format!("select train.svm -k 1 --lambda 1 -o {name}"));
        folder.run(&format!(
            "select train.svm -k 2 --lambda 1 -o {name} --resume"
        ));
        assert_eq!(folder.document(&name)["steps"].as_array().unwrap().len(), 2);
    }
    folder.run(&format!("tune train.svm -k 1 --lambda 1 -o {}", name(255)));
    folder.run(&format!("convert train.svm -o {}", name(245)));
    let before = folder.list();
    for (command, length) in [
        ("select absent.svm -k 1 --lambda 1 -o", 256),
        ("train absent.svm --lambda 1 -o", 256),
        ("tune absent.svm -k 1 --lambda 1 -o", 256),
        ("convert absent.svm -o", 246),
        ("convert absent.svm --to lightgbm -o", 250),
    ] {
        folder.refused(&format!("{command} {} => cannot write to n", name(length)));
    }
    for length in [251, 255] {
        let select = "select absent.svm -k 1 --lambda 1 -o";
        folder.refused(&format!(
            "{select} {} => .part: expected a readable file, found File name too long",
            name(length)
        ));
    }
    assert_eq!(folder.list(), before);
}

/// Names of unfinished files are random, and no run deletes files that it finds.
#[test]
fn a_file_that_is_named_like_an_unfinished_one_is_data() {
    let folder = Folder::new();
    let kept = [".m.json.rankrls-0", ".a.svm.rankrls-0", ".rankrls-aaaaaa"];
    for name in kept {
        folder.write(name, TRAIN);
        folder.run(&format!("select {name} -k 1 --lambda 1 -o m.json"));
        folder.run(&format!("convert {name} --names names.txt -o a.svm"));
    }
    for name in kept {
        assert_eq!(folder.read(name), TRAIN);
    }
    assert_eq!(folder.list().len(), kept.len() + 6);
}

/// With this flag, opening a pipe without a reader is an error.
#[cfg(target_os = "linux")]
const NONBLOCK: i32 = 0o4000;

/// A run resolves its outputs once, at the start. At the end it compares them with the inputs again.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_given_to_inputs_while_a_run_is_at_work_lose_nothing() {
    let folder = folder();
    let (names, model) = (folder.read("names.txt"), folder.read("model.json"));
    for (command, code) in [
        (
            "select data --names names.txt -k 1 --lambda 1 -o out.json",
            0,
        ),
        ("tune data --names names.txt -k 1 --lambda 1 -o out.json", 0),
        ("train data --names names.txt --lambda 1 -o out.json", 0),
        ("convert data --names names.txt -o out.json", 0),
        ("predict model.json data -o out.json", 0),
        (
            "select data --names names.txt -k 1 --lambda 1 --plot out.json.svg",
            0,
        ),
        // This one is renamed, not linked.
        ("predict model.json data -o out.json", 1),
    ] {
        let output = folder.path(if command.ends_with("svg") {
            "out.json.svg"
        } else {
            "out.json"
        });
        let status = Command::new("mkfifo").arg(folder.path("data")).status();
        assert!(status.unwrap().success());
        let mut run = folder.spawn(command);
        // The pipe opens when the run reads, after it has resolved all outputs.
        let mut data = loop {
            let mut writer = fs::File::options();
            let opened = writer
                .write(true)
                .custom_flags(NONBLOCK)
                .open(folder.path("data"));
            if let Ok(data) = opened {
                break data;
            }
            assert!(run.try_wait().unwrap().is_none(), "{command}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        if code == 0 {
            let input = if command.contains("names") {
                "names.txt"
            } else {
                "model.json"
            };
            symlink(folder.path(input), &output).unwrap();
        } else {
            fs::rename(folder.path("model.json"), &output).unwrap();
        }
        data.write_all(TRAIN.as_bytes()).unwrap();
        drop(data);
        assert_eq!(run.wait().unwrap().code(), Some(code), "{command}");
        assert_eq!(folder.read("names.txt"), names, "{command}");
        let kept = if code == 0 {
            folder.path("model.json")
        } else {
            output.clone()
        };
        assert_eq!(fs::read_to_string(kept).unwrap(), model, "{command}");
        assert!(
            fs::symlink_metadata(&output).unwrap().is_file(),
            "{command}"
        );
        fs::remove_file(output).unwrap();
        fs::remove_file(folder.path("data")).unwrap();
    }
}

/// Names of embedded data begin with @ and are not files.
#[test]
fn outputs_have_names_of_files_and_endings_in_any_case() {
    let folder = folder();
    let before = folder.list();
    for command in [
        "convert @sentences -o @sentences",
        "select train.svm -k 1 --lambda 1 -o @documents",
        "train train.svm --lambda 1 --holdout-scores @mine",
        "build corpora/treebank.conllu --link-grammar -o @corpus",
    ] {
        folder.misused(&format!(
            "{command} => names with @ are those of data that come with the program; write ./@"
        ));
        assert_eq!(folder.list(), before, "{command}");
    }
    folder.run("convert train.svm -o ./@mine");
    folder.run("convert train.svm --names names.txt -o c.svm.GZ");
    assert!(
        fs::read(folder.path("c.svm.GZ"))
            .unwrap()
            .starts_with(&[0x1f, 0x8b])
    );
    assert!(folder.path("c.names.txt").exists());
    folder.misused(
        "convert train.svm --to xgboost -o d.svm.Zst => --to writes a file without .gz or .zst",
    );
}
