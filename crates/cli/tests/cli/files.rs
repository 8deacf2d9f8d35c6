//! What a run reads it does not replace, and each output has a name of its own.

use std::fs;
use std::os::unix::fs::symlink;

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
        "select test.svm -k 1 --lambda 1 --queries train.svm -o train.svm",
        "select train.svm -k 1 --lambda 1 --checkpoint train.svm --resume",
        "tune train.svm -k 1 --csv train.svm.csv --html train.svm",
        "tune train.svm -k 1 --evidence test.svm -o test.svm",
        "train train.svm --lambda 1 -o train.svm",
        "train train.svm --lambda 1 --holdout-scores train.svm",
        "train train.svm --lambda 1 --objective pairs --pairs names.txt -o names.txt",
        "train train.svm --lambda 1 --holdout folds:folds.txt -o folds.txt",
        "compare train.svm -k 1 --lambda 1 --csv train.svm",
        "predict model.json train.svm -o model.json",
        "predict model.json train.svm -o train.svm",
        "evaluate train.svm --model model.json --csv model.json",
        "corpus convert train.svm train.svm",
        "corpus project train.svm --model model.json -o model.json",
    ] {
        folder.misused(&format!("{arguments} => a run reads it does not replace"));
        assert_eq!(folder.read("train.svm"), TRAIN, "{arguments}");
        assert_eq!(folder.read("model.json"), model, "{arguments}");
    }
}

#[test]
fn two_outputs_of_one_name_are_refused_before_any_work() {
    let folder = folder();
    for (arguments, options) in [
        (
            "select train.svm -k 1 --lambda 1 -o new.svg --plot ./new.svg",
            "--plot and --output",
        ),
        (
            "select train.svm -k 1 --lambda 1 -o new --checkpoint new",
            "--checkpoint and --output",
        ),
        (
            "tune train.svm -k 1 --csv new.json -o new.json",
            "--csv and --output",
        ),
        (
            "tune train.svm -k 1 --csv new.csv --html new.csv",
            "--csv and --html",
        ),
        (
            "train train.svm --lambda 1 -o new --holdout-scores new",
            "--holdout-scores and --output",
        ),
        (
            "compare train.svm -k 1 --lambda 1 --csv new.svg --plot new.svg",
            "--plot and --csv",
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
    folder.run("select train.svm -k 3 --extend model.json -o model.json");
    folder.run("select train.svm -k 1 --lambda 1 -o /dev/null --plot new.svg");
    fs::hard_link(folder.path("train.svm"), folder.path("hard.svm")).unwrap();
    folder.run("select train.svm -k 1 --lambda 1 -o hard.svm");
    assert_eq!(folder.read("train.svm"), TRAIN);
    folder.run("evaluate train.svm --model model.json --model model.json");
}
