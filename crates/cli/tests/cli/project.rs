use crate::support::{Folder, TRAIN, list};

/// Indices of the features of a model, as in its file.
fn features(folder: &Folder, arguments: &str) -> Vec<String> {
    let document = folder.json(&format!("select {arguments} -o model.json --json"));
    let steps = list(&document["steps"]).iter();
    steps.map(|step| step["feature"].to_string()).collect()
}

/// The value that a line of svmlight has for an index.
fn value<'l>(line: &'l str, index: &str) -> Option<&'l str> {
    let prefix = format!("{index}:");
    line.split(' ').find_map(|pair| pair.strip_prefix(&prefix))
}

#[test]
fn features_become_columns_in_order_of_selection() {
    let folder = Folder::new();
    let features = features(&folder, "train.svm -k 3 --lambda 1 --names names.txt");
    folder.run("corpus project train.svm --model model.json -o out.svm");
    let rows = TRAIN.lines().skip(1);
    let text = folder.read("out.svm");
    assert_eq!(text.lines().count(), 8);
    for (row, line) in rows.zip(text.lines()) {
        for (feature, number) in features.iter().zip(1..) {
            let projected = value(line, &number.to_string()).filter(|value| *value != "0");
            assert_eq!(projected, value(row, feature), "{line}");
        }
        let head = |line: &str| {
            line.split(' ')
                .take(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(head(line), head(row));
    }
    let all: Vec<&str> = crate::support::NAMES.lines().collect();
    let names = folder.read("out.names.txt");
    let expected: Vec<&str> = features
        .iter()
        .map(|feature| all[feature.parse::<usize>().unwrap() - 1])
        .collect();
    assert_eq!(names.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_model_is_selected_again() {
    let folder = Folder::new();
    let steps = |arguments: &str| {
        let document = folder.json(&format!("select {arguments} --lambda 16 --json"));
        let steps = list(&document["steps"]);
        let names = steps.iter().map(|step| step["name"].clone());
        let errors = steps.iter().map(|step| step["lqo_error"].clone());
        (names.collect::<Vec<_>>(), errors.collect::<Vec<_>>())
    };
    let expected = steps("@parses -k 8 -o model.json");
    for output in ["few.svm.zst", "few.features", "few.npz"] {
        folder.run(&format!(
            "corpus project @parses --model model.json -o {output}"
        ));
        let found = steps(&format!("{output} --names few.names.txt -k 8"));
        assert_eq!(found, expected, "{output}");
    }
    // Test data gets the same columns, used or not.
    folder.run("corpus project @parses-test --model model.json -o test.npz");
    let info = folder.json("corpus info test.npz --json");
    assert_eq!(info["data"]["columns"], 8);
}

#[test]
fn numbers_can_be_kept() {
    let folder = Folder::new();
    features(&folder, "train.svm -k 2 --lambda 1 --names names.txt");
    folder.run("corpus project test.svm --model model.json -o kept.svm --keep-numbers");
    assert!(!folder.path("kept.names.txt").exists());
    let scores = |data: &str| folder.stdout(&format!("predict model.json {data} -q"));
    assert_eq!(scores("kept.svm"), scores("test.svm"));
    let info = folder.json("corpus info kept.svm --json");
    assert_eq!(info["data"]["columns"], 7);
}

#[test]
fn unknown_columns_are_dropped_and_counted() {
    let folder = Folder::new();
    features(&folder, "train.svm -k 4 --lambda 1");
    let (text, errors) = folder.run("corpus project test.svm --model model.json -o -");
    assert_eq!(
        errors,
        "warning: dropped 3 non-zeros in 2 columns unknown to the model\n"
    );
    assert_eq!(text.lines().count(), 5);
    assert!(text.lines().all(|line| line.contains(" qid:")));
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new();
    features(&folder, "train.svm -k 1 --lambda 1");
    for case in [
        "train.svm --model absent.json -o a.svm => absent.json",
        "train.svm --model train.svm -o a.svm => train.svm",
        "absent.svm --model model.json -o a.svm => absent.svm",
        "train.svm --model model.json -o absent/a.svm => cannot write to",
    ] {
        folder.refused(&format!("corpus project {case}"));
    }
}

#[test]
fn other_rankers_get_grades_and_their_queries() {
    let folder = Folder::new();
    folder.run("select @parses -k 5 --lambda 16 -o model.json");
    let project = "corpus project @parses --model model.json";
    folder.run(&format!("{project} -o plain.svm"));
    folder.run(&format!("{project} -o x.svm --for xgboost"));
    folder.run(&format!("{project} -o l.svm --for lightgbm"));
    let (plain, x, l) = (
        folder.read("plain.svm"),
        folder.read("x.svm"),
        folder.read("l.svm"),
    );
    let rows = |text: &str| -> Vec<Vec<String>> {
        let split = |line: &str| line.split(' ').map(str::to_owned).collect();
        text.lines().map(split).collect()
    };
    let (plain, x, l) = (rows(&plain), rows(&x), rows(&l));
    assert!(plain.len() == x.len() && plain.len() == l.len());
    let number = |text: &str| text.parse::<f64>().unwrap();
    let mut queries = 0;
    let mut sizes: Vec<usize> = Vec::new();
    for place in 0..plain.len() {
        if place == 0 || plain[place][1] != plain[place - 1][1] {
            queries += 1;
            sizes.push(0);
        }
        *sizes.last_mut().unwrap() += 1;
        assert_eq!(x[place][1], format!("qid:{queries}"));
        assert_eq!(
            (&x[place][0], &x[place][2..]),
            (&l[place][0], &l[place][1..])
        );
        let grade = number(&x[place][0]);
        assert!(grade.fract() == 0.0 && (0.0..=30.0).contains(&grade));
        if place > 0 && plain[place][1] == plain[place - 1][1] {
            let order = number(&plain[place][0]).total_cmp(&number(&plain[place - 1][0]));
            assert_eq!(order, grade.total_cmp(&number(&x[place - 1][0])));
        }
        for (own, other) in plain[place][2..].iter().zip(&x[place][2..]) {
            let ((i, value), (j, same)) =
                (own.split_once(':').unwrap(), other.split_once(':').unwrap());
            assert_eq!((number(i) - 1.0, value), (number(j), same));
        }
    }
    let found = folder.read("l.svm.query");
    let found: Vec<usize> = found.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(found, sizes);
    assert!(!folder.path("x.svm.query").exists());
    for output in ["a.npz", "a.svm.zst", "-", "a.features"] {
        folder.fails(&format!("{project} -o {output} --for xgboost"), 2);
    }
    folder.fails(&format!("{project} -o a.svm --for ranklib"), 2);
}
