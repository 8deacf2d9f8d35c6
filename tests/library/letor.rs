//! The protocol of LETOR on a fold of MQ2008, against the figures of the Greedy RankRLS paper. The
//! corpus is other people's and lives outside the repository: `RANKRLS_CORPORA` names its folder,
//! and without it this test says so and passes.

use std::path::Path;

use rankrls::data::read::ReadOptions;
use rankrls::letor::{self, FoldOutcome, Measures, validation};
use rankrls::{QueryWeight, SelectionOptions};

fn fold_3(options: &SelectionOptions) -> Option<FoldOutcome> {
    let Some(corpora) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test LETOR");
        return None;
    };
    let files = letor::find(&Path::new(&corpora).join("letor-mq2008-fold3")).unwrap();
    let fold = files[0].read(&ReadOptions::new()).unwrap();
    let lambdas = letor::lambdas();
    Some(letor::run(&fold, options, &lambdas, &mut ()).unwrap())
}

/// To the four decimals that the paper prints.
fn printed(measures: &Measures) -> [String; 4] {
    measures.map(|value| format!("{:.4}", value.unwrap()))
}

/// Tables 2 and 7 to 10 of the paper, fold 3 of MQ2008, which an independent Algorithm 1 gives
/// too. Features count from 1, as in the files.
#[test]
fn fold_3_of_mq2008_is_that_of_the_paper() {
    let Some(outcome) = fold_3(&letor::options()) else {
        return;
    };
    let selection = &outcome.greedy.selection;
    let features: Vec<u32> = selection
        .steps
        .iter()
        .map(|step| step.feature + 1)
        .collect();
    assert_eq!(features, [39, 29, 25, 23, 46, 37, 19]);
    assert_eq!(selection.lambda.value(), 8.0);
    let greedy = ["0.4582", "0.2363", "0.4787", "0.2558"];
    assert_eq!(printed(&outcome.greedy.test), greedy);
    let all_features = ["0.4542", "0.2325", "0.4741", "0.2489"];
    assert_eq!(printed(&outcome.all_features.test), all_features);
}

/// With every feature that varies selected, the last models of the paths are those of RankRLS on
/// all features: two ways to the same weights, whose rankings differ in ties at most.
#[test]
fn paths_end_with_all_features() {
    for query_weight in [QueryWeight::Uniform, QueryWeight::Pairs] {
        let options = SelectionOptions {
            query_weight,
            ..letor::options()
        };
        let Some(outcome) = fold_3(&options) else {
            return;
        };
        assert_eq!(outcome.paths.len(), 21);
        for (path, all) in outcome.paths.iter().zip(&outcome.all_features.grid) {
            assert_eq!(path.points.len(), outcome.summary.column_classes);
            let last = validation(path.points.last().unwrap());
            for (found, expected) in last.iter().zip(&all.unwrap()) {
                let difference = (found.unwrap() - expected.unwrap()).abs();
                assert!(difference < 1e-3, "{}: {difference}", path.lambda);
            }
        }
    }
}
