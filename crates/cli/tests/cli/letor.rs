//! The experiment of the Greedy RankRLS paper on a fold of MQ2008, as in `studies/letor.py`. The corpus belongs to
//! others and lives outside the repository.

use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, list, number};

const MEASURES: &str = "map,p@10,mean-ndcg,ndcg@10";

/// The four decimals that the paper prints.
fn printed(measures: &Value) -> Vec<String> {
    let names = MEASURES.split(',');
    names
        .map(|name| format!("{:.4}", number(&measures[name])))
        .collect()
}

fn features(selection: &Value) -> Vec<u64> {
    let steps = list(&selection["steps"]).iter();
    steps
        .map(|step| step["feature"].as_u64().unwrap())
        .collect()
}

/// Tables 2 and 7 to 10 of the paper, which an independent Algorithm 1 confirms.
#[test]
fn fold_3_of_mq2008_is_that_of_the_paper() {
    let Some(corpora) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test LETOR");
        return;
    };
    let fold = Path::new(&corpora).join("letor-mq2008-fold3");
    let [train, validation, test] = ["train", "vali", "test"]
        .map(|part| fold.join(format!("{part}.txt.zst")).display().to_string());
    let folder = Folder::new();
    let rules = format!("--convention letor --metrics {MEASURES} --json -q");
    let tuned = folder.json(&format!(
        "tune {train} -k 46 --lambda 2^-10..2^10 --validation {validation} --choose-by map --test {test} {rules}"
    ));
    let selection = &tuned["selection"];
    assert_eq!(tuned["chosen"]["lambda"], 8.0);
    assert_eq!(features(selection), [39, 29, 25, 23, 46, 37, 19]);
    let measured = &list(&selection["steps"])[6]["test"];
    assert_eq!(printed(measured), ["0.4582", "0.2363", "0.4787", "0.2558"]);
    for strategy in ["dense", "lowmem", "bounded"] {
        let select = format!("select {train} -k 7 --lambda 8 --strategy {strategy} --test {test}");
        let selected = folder.json(&format!("{select} {rules}"));
        assert_eq!(features(&selected), features(selection), "{strategy}");
        assert_eq!(&list(&selected["steps"])[6]["test"], measured);
    }
    let evaluate = |data: &str, lambda: f64| {
        let evaluate = format!("evaluate {data} --model {lambda}.json {rules}");
        folder.json(&evaluate)["metrics"].take()
    };
    let lambdas = (-10..=10).map(|power| 2_f64.powi(power));
    let judged = lambdas.map(|lambda| {
        folder.run(&format!(
            "train {train} --lambda {lambda} --holdout none -o {lambda}.json -q"
        ));
        (number(&evaluate(&validation, lambda)["map"]), lambda)
    });
    let (_, lambda) = judged
        .max_by(|one, other| one.partial_cmp(other).unwrap())
        .unwrap();
    assert_eq!(lambda, 256.0);
    let expected = ["0.4542", "0.2325", "0.4741", "0.2489"];
    assert_eq!(printed(&evaluate(&test, lambda)), expected);
}
