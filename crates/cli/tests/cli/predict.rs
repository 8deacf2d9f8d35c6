use crate::support::{Folder, TEST, TRAIN, gz, list, number};

#[test]
fn scores_are_weights_times_values() {
    let folder = Folder::new();
    let selection = folder.json("select train.svm -k 4 --lambda 1 -o model.json --json");
    let (text, errors) = folder.run("predict model.json test.svm");
    assert_eq!(text.lines().count(), 5);
    assert_eq!(
        errors,
        "warning: dropped 3 non-zeros in 2 columns unknown to the model\n"
    );
    // The feature's weight, and twice that weight, in rows with no other feature.
    let weight = |feature: u64| {
        let mut steps = list(&selection["steps"]).iter();
        let place = steps.position(|step| step["feature"] == feature);
        place.map_or(0.0, |place| number(&selection["weights"][place]))
    };
    for (line, expected) in
        text.lines()
            .skip(2)
            .zip([weight(3), 2.0 * weight(1) + weight(3), weight(7)])
    {
        let score: f64 = line.parse().unwrap();
        assert!((score - expected).abs() < 1e-15, "{line} for {expected}");
        let digits = line.split('e').next().unwrap().chars();
        assert_eq!(digits.filter(char::is_ascii_digit).count(), 17, "{line}");
    }
}

#[test]
fn scores_are_in_input_order() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 4 --lambda 1 -o model.json");
    let mut rows: Vec<&str> = TEST.lines().collect();
    let plain = folder.stdout("predict model.json test.svm");
    rows.swap(1, 3);
    folder.write("mixed.svm", rows.join("\n"));
    let told =
        "comes back on line 4, after other queries: the rows of each query are brought together";
    folder.warns(&format!("predict model.json mixed.svm => {told}"));
    let mixed = folder.stdout("predict model.json mixed.svm");
    let mut expected: Vec<&str> = plain.lines().collect();
    expected.swap(1, 3);
    assert_eq!(mixed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn rows_need_no_labels() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 4 --lambda 1 -o model.json");
    let with = folder.stdout("predict model.json test.svm -q");
    let without = |line: &str| match line.split_once(' ') {
        Some((_, rest)) if !line.starts_with('#') => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    folder.write("bare.svm", TEST.lines().map(without).collect::<String>());
    assert_eq!(folder.stdout("predict model.json bare.svm -q"), with);
    for command in [
        "evaluate bare.svm --model model.json",
        "select bare.svm -k 1 --lambda 1",
    ] {
        folder.refused(&format!("{command} => bare.svm:1:1: expected a label"));
    }
}

#[test]
fn scores_go_to_a_file() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 2 --lambda 1 -o model.json");
    let printed = folder.stdout("predict model.json test.svm");
    assert_eq!(
        folder.stdout("predict model.json test.svm -o scores.txt"),
        ""
    );
    assert_eq!(folder.read("scores.txt"), printed);
    folder.stdout("predict model.json test.svm -o scores.gz");
    let evaluation = "evaluate test.svm --metrics cindex --json --scores";
    let plain = folder.json(&format!("{evaluation} scores.txt"));
    assert_eq!(folder.json(&format!("{evaluation} scores.gz")), plain);
    folder.refused(
        "predict model.json absent.svm -o absent/scores.txt => cannot write to absent/scores.txt",
    );
}

#[test]
fn a_text_counts_indices_by_itself_whatever_the_model_did() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 qid:1 0:1\n0 qid:1 1:1\n0 qid:2\n");
    folder.write("one.svm", "1 qid:1 1:1\n0 qid:1 2:1\n0 qid:2\n");
    folder.stdout("select zero.svm --zero-based -k 1 --lambda 1 -o zero.json");
    folder.stdout("select one.svm -k 1 --lambda 1 -o one.json");
    let expected = folder.stdout("predict one.json one.svm");
    for model in ["zero.json", "one.json"] {
        for data in ["zero.svm --zero-based", "one.svm"] {
            let (scores, errors) = folder.run(&format!("predict {model} {data}"));
            assert_eq!((&*scores, &*errors), (&*expected, ""), "{model} {data}");
        }
        folder.refused(&format!("predict {model} zero.svm => zero.svm:1:"));
    }
    // Text that may count from 0 or 1: index 0 has no entries.
    folder.write("zero.svm", "1 qid:1 1:1\n0 qid:1\n0 qid:2\n");
    for command in [
        "predict zero.json zero.svm",
        "evaluate zero.svm --model zero.json",
    ] {
        folder.warns(&format!(
            "{command} => if they are here, too, pass --zero-based"
        ));
        assert_eq!(
            folder.run(&format!("{command} --zero-based")).1,
            "",
            "{command}"
        );
        assert_eq!(
            folder.run(&command.replace("zero.json", "one.json")).1,
            "",
            "{command}"
        );
    }
}

#[test]
fn inputs_may_come_by_standard_input() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 2 --lambda 1 -o model.json");
    let expected = folder.stdout("predict model.json train.svm");
    let model = folder.read("model.json");
    for (arguments, input) in [("model.json -", gz(TRAIN)), ("- train.svm", model.into())] {
        let input: Vec<u8> = input;
        assert_eq!(
            folder.piped(&format!("predict {arguments}"), input),
            expected
        );
    }
}

#[test]
fn data_of_another_corpus_are_refused_by_their_names() {
    let folder = Folder::new();
    let names = |shift: usize| {
        let names: Vec<String> = (1..=7).map(|name| format!("n{}", name + shift)).collect();
        names.join("\n")
    };
    folder.write("a.names.txt", names(0));
    folder.write("b.names.txt", names(1));
    for data in ["a.svm", "b-test.svm", "c.svm"] {
        folder.write(data, TEST);
    }
    folder.write("d.svm", TRAIN);
    folder.write("d.names.txt", names(1));
    let select = "select train.svm -k 4 --lambda 1 --names a.names.txt";
    folder.stdout(&format!("{select} -o model.json"));
    folder.stdout("select train.svm -k 4 --lambda 1 -o unnamed.json");
    let plain = folder.stdout("predict model.json c.svm");
    for sound in [
        "model.json a.svm",
        "model.json c.svm --names a.names.txt",
        "model.json b-test.svm --names a.names.txt",
        "unnamed.json b-test.svm",
    ] {
        assert_eq!(folder.stdout(&format!("predict {sound}")), plain, "{sound}");
    }
    let other = "names.txt: expected \"n";
    for command in [
        "predict model.json b-test.svm",
        "predict model.json c.svm --names b.names.txt",
        "evaluate b-test.svm --model model.json",
        "evaluate d.svm --model unnamed.json --model model.json -q",
        "evaluate a.svm --model model.json --names b.names.txt",
        "explain model.json b-test.svm x",
        "convert b-test.svm --model model.json -o p.svm",
        &format!("{select} --test b-test.svm"),
    ] {
        folder.refused(&format!("{command} => {other}"));
    }
    // A table has its own names.
    folder.write("t.csv", "n1,n2,n3,n4,n5,n6,n7\n1,2,3,4,5,6,7\n");
    folder.write("t.names.txt", names(1));
    folder.stdout("predict model.json t.csv");
}

#[test]
fn a_model_takes_no_memory_for_columns_that_it_only_claims() {
    let folder = Folder::new();
    folder.write(
        "train.csv",
        "a,b,grade,query\n1,2,3,q\n2,1,1,q\n5,1,2,r\n1,7,1,r\n",
    );
    folder.stdout("select train.csv --label grade --query query -k 2 --lambda 1 -o model.json");
    let plain = folder.stdout("predict model.json train.csv");
    let claimed = folder
        .read("model.json")
        .replace("\"columns\": 2", "\"columns\": 4000000000");
    folder.write("claimed.json", claimed);
    folder.write(
        "train.svm",
        "3 qid:q 1:1 2:2\n1 qid:q 1:2 2:1\n2 qid:r 1:5 2:1\n1 qid:r 1:1 2:7\n",
    );
    for data in ["train.csv", "train.svm"] {
        assert_eq!(
            folder.stdout(&format!("predict claimed.json {data} --max-memory 100MB")),
            plain
        );
    }
    folder.stdout("evaluate train.csv --model claimed.json");
    folder.stdout("explain claimed.json train.csv q");
}
