//! Odd files of other programs are read as meant, or refused with the place and a working remedy.

use crate::support::{Folder, gz};

const TABLE: &str = "--label grade --query topic";

#[test]
fn titles_of_other_programs_are_left_out_or_told() {
    let folder = Folder::empty();
    let rows = "\"1\",2,\"a\",7.5\n\"2\",0,\"a\",3.25\n";
    folder.write(
        "t.csv",
        format!("\"\",\"grade\",\"topic\",\"bm25\"\n{rows}"),
    );
    folder.refused(&format!(
        "info t.csv {TABLE} => t.csv:1:1: expected columns of features, found one without a name (leave it out by --ignore=\"\""
    ));
    let output = folder.shell(&format!("rankrls info t.csv {TABLE} --ignore \"\""));
    assert!(output.status.success(), "{output:?}");
    folder.write("t.svm", "2,5 qid:a 1:1\n");
    folder.refused("info t.svm => found \"2,5\" (write a decimal point");
    folder.write("t.svm", "2,5 1:1\n");
    assert!(!folder.fails("info t.svm", 1).contains("decimal point"));
}

#[test]
fn a_table_by_another_name_and_a_file_that_is_none_are_told() {
    let folder = Folder::new();
    folder.write("t.txt", "grade,topic,bm25\n2,a,7.5\n0,a,3\n");
    folder.refused("info t.txt => (if it is a table, say so by --format=csv or tsv)");
    folder.prints(&format!("info t.txt --format csv {TABLE} => data: 2 rows"));
    std::fs::create_dir(folder.path("parts")).unwrap();
    for path in ["parts", "none.svm", "none.csv"] {
        folder.refused(&format!(
            "info {path} {TABLE} => {path}: expected a readable file"
        ));
    }
    let error = folder.fails("evaluate test.svm model.json", 2);
    assert!(
        error.contains("give a model by --model model.json"),
        "{error}"
    );
    folder.run("select train.svm -k 1 --lambda 1 -o m.json");
    folder.refused(
        "predict m.json t.txt --format csv => give names by --names where the model is trained",
    );
    let padded = [gz("1 qid:a 1:2\n0 qid:a 1:3\n"), vec![0; 5000]].concat();
    folder.write("p.svm.gz", padded);
    folder.prints("info p.svm.gz => data: 2 rows");
}

/// A sentence of two words, with two parses, of which the first is right.
fn parses(heading: &str) -> [String; 2] {
    let row =
        |number: u8, head: u8| format!("{number}\tw{number}\t_\tNOUN\t_\t_\t{head}\tx\t_\t_\n");
    let tree = |heads: [u8; 3]| -> String {
        heads
            .iter()
            .zip(1..)
            .map(|(&head, number)| row(number, head))
            .collect()
    };
    let (gold, other) = (tree([2, 0, 2]), tree([0, 1, 1]));
    [
        format!("{heading}{gold}\n"),
        format!("{heading}{gold}\n{heading}{other}\n"),
    ]
}

#[test]
fn sentences_keep_their_identifiers_and_numbers() {
    let folder = Folder::empty();
    let ids = ["Tale:0", "a b#c", "東京\u{3000}1"];
    let named = ids.map(|id| parses(&format!("# sent_id = {id}\n")));
    folder.write(
        "gold.conllu",
        named.each_ref().map(|both| both[0].clone()).concat(),
    );
    folder.write(
        "best.conllu",
        named.each_ref().map(|both| both[1].clone()).concat(),
    );
    folder.run("build gold.conllu --candidates best.conllu --test-share 0 -o named");
    folder.run("select named/train.svm.zst -k 1 --lambda 1 -o m.json");
    folder.run("convert named/train.svm.zst -o again.svm");
    for id in ids {
        for data in ["named/train.svm.zst", "again.svm"] {
            let output = folder.shell(&format!("rankrls explain m.json {data} '{id}'"));
            assert!(output.status.success(), "{output:?}");
        }
    }
    // A sentence without identifier is named by its place in the file.
    let malformed = "1\tw1\t_\tNOUN\t_\t_\t7\tx\t_\t_\n\n";
    let [gold, _] = parses("");
    folder.write("gold.conllu", format!("{gold}{malformed}{gold}{gold}"));
    let best = [1, 3, 4].map(|number| parses(&format!("# sent_id = {number}\n"))[1].clone());
    folder.write("best.conllu", best.concat());
    folder.run(
        "build gold.conllu --candidates best.conllu --skip-malformed --test-share 0 -o numbered",
    );
    folder.run("convert numbered/train.svm.zst -o n.svm");
    for number in [1, 3, 4] {
        assert!(folder.read("n.svm").contains(&format!("1 qid:{number} ")));
    }
}

#[test]
fn half_a_treebank_is_told_in_a_line() {
    let folder = Folder::empty();
    let named: Vec<[String; 2]> = (0..30)
        .map(|id| parses(&format!("# sent_id = s{id}\n")))
        .collect();
    let file = |which: usize, kept: std::ops::Range<usize>| -> String {
        named[kept]
            .iter()
            .map(|both| both[which].as_str())
            .collect()
    };
    folder.write("gold.conllu", file(0, 0..20));
    folder.write("best.conllu", file(1, 10..30));
    let (_, errors) =
        folder.run("build gold.conllu --candidates best.conllu --test-share 0 -o half");
    assert_eq!(errors.matches("warning: ").count(), 2, "{errors}");
    assert_eq!(
        errors
            .matches("; so are 9 more, which the manifest names")
            .count(),
        2,
        "{errors}"
    );
}
