use crate::support::{Folder, list};

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
    for output in ["few.svm.zst", "few.svm"] {
        folder.run(&format!(
            "corpus project @parses --model model.json -o {output}"
        ));
        let found = steps(&format!("{output} --names few.names.txt -k 8"));
        assert_eq!(found, expected, "{output}");
    }
    // Test data gets the same columns, used or not.
    folder.run("corpus project @parses-test --model model.json -o test.svm");
    let info = folder.json("corpus info test.svm --json");
    assert_eq!(info["data"]["columns"], 8);
}

#[test]
fn numbers_can_be_kept() {
    let folder = Folder::new();
    folder.run("select train.svm -k 2 --lambda 1 --names names.txt -o model.json");
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
    folder.run("select train.svm -k 4 --lambda 1 -o model.json");
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
    folder.run("select train.svm -k 1 --lambda 1 -o model.json");
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
    folder.run(&format!("{project} -o x.svm --for xgboost"));
    folder.run(&format!("{project} -o l.svm --for lightgbm"));
    let sizes = folder.read("l.svm.query");
    let sizes = sizes.lines().map(|size| size.parse::<usize>().unwrap());
    let queries = (1..).zip(sizes).flat_map(|(query, size)| vec![query; size]);
    let queries: Vec<u32> = queries.collect();
    let (x, l) = (folder.read("x.svm"), folder.read("l.svm"));
    assert_eq!(
        (x.lines().count(), l.lines().count()),
        (queries.len(), queries.len())
    );
    for ((x, l), query) in x.lines().zip(l.lines()).zip(queries) {
        assert_eq!(x.replacen(&format!(" qid:{query}"), "", 1), l);
        let grade: f64 = l.split(' ').next().unwrap().parse().unwrap();
        assert!(grade.fract() == 0.0 && (0.0..=30.0).contains(&grade));
    }
    assert!(!folder.path("x.svm.query").exists());
    for output in ["a.svm.zst", "-"] {
        folder.fails(&format!("{project} -o {output} --for xgboost"), 2);
    }
    folder.fails(&format!("{project} -o a.svm --for ranklib"), 2);
}
