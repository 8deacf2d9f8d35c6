//! Other objectives, hold-outs and kernels of `train`.

use std::fmt::Write as _;

use crate::support::{Folder, keys, list, number};

/// Rows of one query, a fold for each, and preferences among them.
fn folder() -> Folder {
    let folder = Folder::new();
    let (mut rows, mut folds) = (String::new(), String::new());
    for row in 0..12 {
        let (a, b, c) = (row % 5, row * row % 7, (row * 3) % 4);
        writeln!(rows, "{} 1:{a} 2:{b} 3:{c}", a + 2 * b).unwrap();
        writeln!(folds, "{}", ["x", "y", "z"][row % 3]).unwrap();
    }
    folder.write("rows.svm", rows);
    folder.write("folds.txt", folds);
    folder.write(
        "pairs.txt",
        "# better, worse\n2 1\n3 1 2.5\n4 2 1 0.5\n5 6\n",
    );
    folder
}

#[test]
fn all_pairs_are_ordered_and_left_out() {
    let folder = folder();
    let document = folder.json(
        "train rows.svm --objective global --lambda 0.5,2,8 --choose-by cindex -o m.json \
         --holdout-scores pairs-out.txt --json",
    );
    assert_eq!(document["objective"], "global");
    assert_eq!(document["holdout"]["scheme"], "lpo");
    assert_eq!(list(&document["lambdas"]).len(), 3);
    let best = number(&document["holdout"]["cindex"]);
    for entry in list(&document["lambdas"]) {
        assert!(number(&entry["holdout"]["cindex"]) <= best);
        assert!(entry["lqo_error"].is_null());
    }
    let scores = folder.read("pairs-out.txt");
    assert_eq!(scores.lines().count(), 66);
    assert!(scores.starts_with("1 2 "), "{scores}");
    assert_eq!(folder.json("inspect m.json --json")["objective"], "global");
    assert!(folder.stdout("inspect m.json").contains("objective global"));
}

#[test]
fn folds_of_a_file_may_cut_queries() {
    let folder = folder();
    let command = "train rows.svm --lambda 1 --holdout folds.txt --holdout-scores s.txt --json";
    let document = folder.json(command);
    assert_eq!(document["holdout"]["scheme"], "folds:folds.txt");
    assert!(document["holdout"]["cindex"].is_number());
    assert_eq!(folder.read("s.txt").lines().count(), 12);
    let drawn = folder.json("train rows.svm --lambda 1 --holdout folds:4 --json");
    assert_eq!(drawn["holdout"]["scheme"], "folds:4");
    folder.write("ones.txt", "1\n".repeat(12));
    folder.write("short.txt", "1\n2\n");
    folder.write(
        "each.txt",
        (1..13).fold(String::new(), |text, row| format!("{text}{row}\n")),
    );
    folder.write("blank.txt", "1\n2\n\n".repeat(4));
    folder.write("none.txt", "\n".repeat(12));
    folder.write("empty.txt", "");
    let nothing =
        "expected the fold of each row, one a line, found no line, or blank lines at the end";
    for (file, message) in [
        ("ones.txt", "all examples are in one group"),
        ("short.txt", "folds, one for each row: expected 12, found 2"),
        ("each.txt", "no two predictions of a model can be compared"),
        (
            "blank.txt",
            "blank.txt:3: expected the fold of a row, found nothing",
        ),
        ("none.txt", nothing),
        ("empty.txt", nothing),
    ] {
        let command = format!("train rows.svm --lambda 1 --holdout folds:{file} -o new.json");
        folder.refused(&format!("{command} => {message}"));
        assert!(!folder.path("new.json").exists());
    }
}

#[test]
fn rows_that_were_moved_keep_their_numbers() {
    let folder = folder();
    let rows = folder.read("rows.svm");
    // Every other row belongs to the other query.
    let with_queries = |order: &[usize]| {
        let lines: Vec<&str> = rows.lines().collect();
        let line = |&row: &usize| {
            lines[row].replacen(' ', if row % 2 == 0 { " qid:a " } else { " qid:b " }, 1)
        };
        order.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let all: Vec<usize> = (0..12).collect();
    let sorted: Vec<usize> = (0..12).step_by(2).chain((1..12).step_by(2)).collect();
    folder.write("mixed.svm", with_queries(&all));
    folder.write("sorted.svm", with_queries(&sorted));
    let folds: Vec<String> = folder
        .read("folds.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    let folds: Vec<&str> = sorted.iter().map(|&row| folds[row].as_str()).collect();
    folder.write("sorted-folds.txt", folds.join("\n"));
    let train = |data: &str, folds: &str| {
        let command = format!(
            "train {data} --lambda 1 --holdout folds:{folds} --holdout-scores s.txt --json"
        );
        let error = folder.json(&command)["holdout"]["squared"]
            .as_f64()
            .unwrap();
        let scores = folder.read("s.txt");
        (error, scores.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let (error, scores) = train("mixed.svm", "folds.txt");
    let (expected, other) = train("sorted.svm", "sorted-folds.txt");
    assert_eq!(error, expected);
    for (place, &row) in sorted.iter().enumerate() {
        assert_eq!(scores[row], other[place]);
    }
}

#[test]
fn preferences_are_learnt_and_left_out() {
    let folder = folder();
    let command = "train rows.svm --objective pairs --pairs pairs.txt --lambda 1 -o m.json --holdout-scores s.txt --json";
    let document = folder.json(command);
    assert_eq!(document["holdout"]["scheme"], "lpo");
    assert_eq!(folder.read("s.txt").lines().count(), 4);
    let folds = folder.json(
        "train rows.svm --objective pairs --pairs pairs.txt --lambda 1 --holdout folds:2 --json",
    );
    assert_eq!(folds["holdout"]["scheme"], "folds:2");
    let scores = folder.scores("predict m.json rows.svm -q");
    assert!(scores[2] > scores[0]);
    for (text, message) in [
        (
            "1 13\n",
            "pairs.txt:1:3: expected a row from 1 to 12, found \"13\"",
        ),
        ("0 1\n", "pairs.txt:1:1: expected a row from 1 to 12"),
        (
            "1 2\n1\n",
            "pairs.txt:2:2: expected a row from 1 to 12, found the end of the line",
        ),
        ("1 2 x\n", "pairs.txt:1:5: "),
        ("1 2 1 0\n", "pairs.txt:1:7: expected a weight above 0"),
        ("", "no preference compares two rows"),
        ("3 3\n", "pairs.txt:1:3: expected another row than 3"),
    ] {
        folder.write("pairs.txt", text);
        folder.refused(&format!("{command} => {message}"));
    }
}

#[test]
fn a_gamma_at_the_edge_of_its_grid_is_a_warning() {
    let folder = folder();
    // Under the last gamma, no two rows are alike.
    folder.run("train train.svm --kernel gaussian:1,1e200 --lambda 1 --holdout folds:2");
    let warned = |gammas: &str| {
        let train = format!("train train.svm --kernel gaussian:{gammas} --lambda 1");
        let (_, errors) = folder.run(&train);
        errors.contains("the chosen gamma") && errors.contains("of the grid")
    };
    let list: Vec<f64> = (-12..=6)
        .step_by(3)
        .map(|power| 2_f64.powi(power))
        .collect();
    let document = folder.json("train train.svm --kernel gaussian:2^-12..2^6:3 --lambda 1 --json");
    let best = number(&document["kernel"]["gamma"]);
    let place = list.iter().position(|&gamma| gamma == best).unwrap();
    let ends = [0, list.len() - 1].contains(&place);
    assert_eq!(warned("2^-12..2^6:3"), ends);
    assert!(!warned(&best.to_string()));
    let other = |factor: f64| format!("{best},{}", best * factor);
    assert!(warned(&other(1e3)) && warned(&other(1e-3)));
}

#[test]
fn kernels_keep_their_rows() {
    let folder = folder();
    let document =
        folder.json("train train.svm --kernel gaussian:0.25,1 --lambda 0.5,2 -o m.json --json");
    assert_eq!(list(&document["lambdas"]).len(), 4);
    assert!(keys(&document["lambdas"][0]).contains(&"gamma"));
    assert_eq!(document["basis"], 8);
    assert_eq!(document["weights"], 0);
    assert_eq!(document["holdout"]["scheme"], "lqo");
    let text = folder.stdout("inspect m.json");
    assert!(
        text.contains("kernel gaussian, gamma ") && text.contains("over 8 rows"),
        "{text}"
    );
    assert_eq!(
        folder.stdout("predict m.json train.svm -q").lines().count(),
        8
    );
    folder.refused("predict m.json test.svm => beyond the 7 of the model");
    for command in [
        "convert train.svm --model m.json -o p.svm",
        "train train.svm --features m.json --lambda 1",
    ] {
        folder.refused(&format!("{command} => kernel"));
    }
    // Draw a basis, and give one.
    let drawn = folder
        .json("train train.svm --kernel polynomial:2:1 --basis 3 --lambda 1 -o b.json --json");
    assert_eq!(drawn["basis"], 3);
    folder.write("basis.txt", "7\n1\n4\n");
    let given = folder.json("train train.svm --basis basis.txt --lambda 1 -o l.json --json");
    // A linear kernel gives weights, like any linear model.
    assert_eq!(given["basis"], 3);
    assert!(
        folder.json("inspect l.json --json")["steps"]
            .as_array()
            .unwrap()
            .len()
            > 1
    );
    for (text, message) in [
        ("9\n", "a row from 1 to 8"),
        ("1\n1\n", "each row once"),
        ("", "a basis of 0 rows"),
    ] {
        folder.write("basis.txt", text);
        folder.refused(&format!(
            "train train.svm --basis basis.txt --lambda 1 => {message}"
        ));
    }
}

#[test]
fn a_kernel_that_is_given_is_that_of_the_columns() {
    let folder = folder();
    // Products of the rows of rows.svm, and the same rows themselves. Rows of the first file are moved, and its
    // columns are not.
    let rows: Vec<Vec<f64>> = (0..12)
        .map(|row| {
            [row % 5, row * row % 7, row * 3 % 4]
                .map(f64::from)
                .to_vec()
        })
        .collect();
    let mut text = String::new();
    for (number, (row, line)) in rows.iter().zip(folder.read("rows.svm").lines()).enumerate() {
        let label = line.split(' ').next().unwrap();
        write!(text, "{label} qid:{}", number % 2).unwrap();
        for (column, other) in (1..).zip(&rows) {
            let product: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            write!(text, " {column}:{product}").unwrap();
        }
        text.push('\n');
    }
    folder.write("kernel.svm", &text);
    let options = "--objective global --lambda 0.5 --json";
    let kernel = folder.json(&format!(
        "train kernel.svm --kernel precomputed {options} -o k.json"
    ));
    let linear = folder.json(&format!("train rows.svm {options} -o m.json"));
    let squared = |document: &serde_json::Value| number(&document["holdout"]["squared"]);
    assert!((squared(&kernel) / squared(&linear) - 1.0).abs() < 1e-9);
    let scores = |model: &str, data: &str| -> Vec<f64> {
        let text = folder.stdout(&format!("predict {model} {data} -q"));
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let (found, expected) = (scores("k.json", "kernel.svm"), scores("m.json", "rows.svm"));
    for (a, b) in found.iter().zip(&expected) {
        assert!(
            ((a - found[0]) - (b - expected[0])).abs() < 1e-9,
            "{a} for {b}"
        );
    }
    folder.refused("train rows.svm --kernel precomputed --lambda 1 => 12 rows and 3 columns");
}

#[test]
fn options_that_do_not_fit_together_are_refused() {
    let folder = folder();
    for case in [
        "--holdout lpo --solver cg => solver cg has no hold-outs by lpo",
        "--objective global --holdout lqo => leave-query-out is undefined",
        "--objective pairs --pairs pairs.txt --holdout lqo => lpo, every preference on its own",
        "--objective global --choose-by ndcg@10 => expected squared or cindex",
        "--kernel gaussian:1e308 --holdout folds:2 => is beyond all numbers",
        "--kernel gaussian:1e200 --holdout folds:2 => no two rows have a kernel above 0, found 1e200",
        "--kernel gaussian --max-memory 32KiB --holdout folds:2 => a reduced set fits, with a basis of",
        "--holdout folds:13 => 13 folds of 12 rows: expected from 2 to as many folds as rows",
    ] {
        folder.refused(&format!("train rows.svm --lambda 1 {case}"));
    }
}
