//! Selection towards a teacher, by the program.

use crate::support::{Folder, list, number};

fn steps(document: &serde_json::Value) -> usize {
    list(&document["steps"]).len()
}

#[test]
fn distil_tells_of_its_teacher_and_that_its_errors_are_biased() {
    let folder = Folder::new();
    let select = "select @parses -k 5 --lambda 16 --strategy distil --label-scale sqrt-sd";
    let text = folder.stdout(&format!("{select} -o model.json"));
    for part in [
        "blend 0.2, label scale sqrt-sd, refit cross-fitted",
        "teacher: RankRLS on all columns by dual, lambda ",
        "the LQO columns of distil are biased",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let document = folder.json(&format!("{select} --json"));
    assert_eq!(steps(&document), 5);
    assert_eq!(document["label_scale"], "sqrt-sd");
    let unit = number(&document["data"]["unit"]);
    let tried = [0.015_625, 0.0625, 0.25, 1.0, 4.0].map(|share| share * unit);
    assert_eq!(document["teacher_lambda"], serde_json::json!(tried));
    assert!(number(&document["teacher"]["cindex"]) > 0.6);
    let inspected = folder.stdout("inspect model.json");
    assert!(inspected.contains("label scale sqrt-sd"), "{inspected}");
    assert!(inspected.contains("biased"), "{inspected}");
    let compare = "compare @parses -k 2 --lambda 16 --strategy";
    folder.prints(&format!(
        "{compare} univariate,distil => the LQO columns of distil are biased"
    ));
    let compared = folder.stdout(&format!("{compare} univariate"));
    assert!(!compared.contains("biased"), "{compared}");
    folder.refused("tune @parses -k 4 --strategy distil --holdout lqo => biased");
}

#[test]
fn scores_of_a_file_teach() {
    let folder = Folder::new();
    folder.run("train @parses --lambda 64 -o all.json");
    folder.run("predict all.json @parses -o scores.txt");
    let select = "select @parses -k 3 --lambda 16 --strategy distil --teacher scores.txt";
    let document = folder.json(&format!("{select} --json"));
    assert!(document["teacher"]["solver"].is_null());
    let scores = folder.read("scores.txt");
    let (_, rest) = scores.split_once('\n').unwrap();
    for (text, says) in [
        (rest.to_owned(), "one for each row of the data, found"),
        (format!("nan\n{rest}"), "scores.txt:1"),
    ] {
        folder.write("scores.txt", text);
        folder.refused(&format!("{select} -o model.json => {says}"));
        assert!(!folder.list().contains(&"model.json".to_owned()));
    }
}
