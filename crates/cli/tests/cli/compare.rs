use std::collections::HashSet;

use crate::support::{Folder, list, number};

const SMALL: &str = "compare train.svm -k 3 --lambda 0.5 --seeds 2";

#[test]
fn all_strategies_are_compared() {
    let folder = Folder::new();
    let command = format!("{SMALL} --test test.svm --metrics cindex,map --json");
    let document = folder.json(&command);
    assert_eq!(document["data"]["rows"], 8);
    let entries = list(&document["strategies"]);
    assert_eq!(entries.len(), 9);
    for entry in entries {
        let name = entry["strategy"].as_str().unwrap();
        if name == "distil" {
            let error = entry["error"].as_str().unwrap();
            assert!(error.contains("3 queries: expected at least 10"), "{error}");
            continue;
        }
        assert!(entry["error"].is_null(), "{entry}");
        let exact = ["dense", "lowmem", "bounded"].contains(&name);
        assert_eq!(entry["exact"], exact, "{name}");
        let random = ["sampled", "random"].contains(&name);
        let runs = list(&entry["runs"]);
        assert_eq!(runs.len(), if random { 2 } else { 1 }, "{name}");
        assert_eq!(list(&entry["steps"]).len(), 3, "{name}");
        for step in list(&entry["steps"]) {
            assert!(step["test"]["cindex"]["mean"].is_number(), "{name}");
        }
        let overlap = number(&entry["overlap"]["mean"]);
        assert!((0.0..=1.0).contains(&overlap) && (!exact || overlap == 1.0));
        assert!(number(&entry["select_seconds"]["mean"]) > 0.0);
        assert!(entry["memory_bytes"].as_u64().unwrap() > 0, "{name}");
    }
    assert_eq!(document["reference"], "dense");
}

/// Reports have the figures of `select`.
#[test]
fn figures_are_those_of_select() {
    let folder = Folder::new();
    folder.write(
        "zero.svm",
        "1 qid:1 0:1 2:1\n0 qid:1 1:1\n1 qid:2 0:2\n0 qid:2 1:0.5 2:1\n",
    );
    let options = "zero.svm -k 2 --lambda 0.25 --zero-based --regroup";
    let document = folder.json(&format!(
        "compare {options} --strategies backfit,sampled:2 --json"
    ));
    let select = |more: &str| folder.json(&format!("select {options} {more} --json"));
    let entries = list(&document["strategies"]);
    let backfit = select("--strategy backfit");
    let sampled = select("--strategy sampled --candidates 2 --seed 4");
    assert_eq!(entries[1]["strategy"], "sampled:2");
    for (run, selection) in [
        (&entries[0]["runs"][0], &backfit),
        (&entries[1]["runs"][3], &sampled),
    ] {
        let steps = list(&selection["steps"]);
        let features: Vec<_> = steps.iter().map(|step| step["feature"].clone()).collect();
        assert_eq!(list(&run["features"]), &features);
        assert_eq!(run["seed"], selection["seed"]);
    }
    let error = &entries[0]["steps"][1]["lqo_error"]["mean"];
    assert_eq!(error, &backfit["steps"][1]["lqo_error"]);
    assert!(document["reference"].is_null() && entries[0]["overlap"].is_null());
}

#[test]
fn a_strategy_that_does_not_fit_is_a_row() {
    let folder = Folder::new();
    let command = "compare @parses -k 2 --lambda 16 --strategies dense,bounded \
                   --max-memory 16MiB --csv paths.csv";
    let text = folder.stdout(command);
    assert!(text.contains("too much      -"), "{text}");
    assert!(
        text.contains("does not fit into memory: it needs "),
        "{text}"
    );
    assert!(text.contains("16.0 MiB may be taken"), "{text}");
    let document = folder.json(&format!("{command} --json"));
    let dense = &document["strategies"][0];
    assert_eq!(dense["error"], "does not fit into memory");
    assert_eq!(dense["limit_bytes"], 16 << 20);
    assert!(dense["needs_bytes"].as_u64().unwrap() > 16 << 20);
    assert_eq!(document["reference"], "bounded");
    let mut reader = csv::Reader::from_path(folder.path("paths.csv")).unwrap();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 3);
    assert_eq!(&records[0][0], "dense");
    assert_eq!(&records[0][2], "does not fit into memory");
}

#[test]
fn the_paths_are_a_table() {
    let folder = Folder::new();
    folder.run(&format!(
        "{SMALL} --names names.txt --test test.svm --csv paths.csv"
    ));
    let mut reader = csv::Reader::from_path(folder.path("paths.csv")).unwrap();
    let titles = reader.headers().unwrap().clone();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    // Six strategies once and two twice, three steps each, and one that has too few queries.
    assert_eq!(records.len(), 31);
    let column = |name: &str| titles.iter().position(|title| title == name).unwrap();
    let run = |record: &csv::StringRecord| {
        ["strategy", "seed"].map(|name| record[column(name)].to_owned())
    };
    assert_eq!(records.iter().map(run).collect::<HashSet<_>>().len(), 11);
    let ran = |record: &&csv::StringRecord| record[column("error")].is_empty();
    for record in records.iter().filter(ran) {
        for number in ["lqo_error", "evaluated", "select_seconds", "test_cindex"] {
            assert!(record[column(number)].parse::<f64>().is_ok(), "{number}");
        }
    }
    let mut names = records.iter().map(|record| &record[column("name")]);
    assert!(names.any(|name| name == "word:a"));
}

#[test]
fn fewer_candidates_than_asked_for_are_a_warning() {
    let folder = Folder::new();
    folder.warns(
        "compare train.svm -k 50 --lambda 1 --strategies bounded \
         => bounded selected 4 features, not 50",
    );
}

/// A strategy that has ended is kept.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_there_is() {
    let folder = Folder::new();
    folder.write("big.svm", crate::support::generated(1000, 2000));
    let compare = "compare big.svm -k 600 --lambda 1 --strategies random,lowmem,bounded \
                   --seeds 1 -v --json";
    let (output, rest) = crate::signals::interrupt(&folder, compare, "strategy=lowmem");
    assert!(rest.contains("interrupted after 1 strategy"), "{rest}");
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(document["interrupted"], true);
    let errors = list(&document["strategies"])
        .iter()
        .map(|entry| &entry["error"]);
    let errors: Vec<_> = errors.map(serde_json::Value::as_str).collect();
    assert_eq!(errors, [None, Some("interrupted"), Some("interrupted")]);
}

#[test]
fn measures_are_drawn() {
    let folder = Folder::new();
    let compare = "compare train.svm -k 2 --lambda 1 --strategies dense,lowmem --test test.svm";
    folder.run(&format!("{compare} --plot figure.svg --relevant-from 2"));
    let svg = folder.read("figure.svg");
    assert!(
        svg.contains("LQO error") && svg.contains("test cindex"),
        "{svg}"
    );
    // Two strategies share a line in each of four panels, and have dots for time and memory.
    assert_eq!(svg.matches("<polyline").count(), 4);
    assert_eq!(svg.matches(">dense, lowmem</text>").count(), 4);
    assert_eq!(svg.matches("class=\"rk-dot\"").count(), 4);
    // Seeds are bands.
    folder.run(&format!("{SMALL} --strategies random --plot seeds.svg"));
    assert!(folder.read("seeds.svg").contains("<polygon"));
}

#[test]
fn the_table_fits_a_terminal() {
    let folder = Folder::new();
    for more in [
        "",
        "--test test.svm",
        "--test test.svm --metrics cindex,map,mrr,ndcg@10,p@5",
    ] {
        let text = folder.stdout(&format!("{SMALL} {more}"));
        let lines = text.lines().filter(|line| !line.contains("did not run"));
        let widest = lines.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(
            text.contains("exact") && text.contains("evaluated"),
            "{text}"
        );
    }
}
