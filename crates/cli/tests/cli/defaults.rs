//! The command and the library have the same defaults: the same data give the same model, bit for bit.

use rankrls::data::sample;
use rankrls::{Dataset, GreedyRankRls, Model, RankRls, StrategyKind};

use crate::support::Folder;

fn train() -> Dataset<'static> {
    sample::train()
}

/// The model that the command wrote into `model.json`.
fn written(model: &Model) -> String {
    let mut text = Vec::new();
    model.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_selection_without_options_is_that_of_the_library() {
    let (folder, data) = (Folder::new(), train());
    folder.run("select @parses -k 4 -o model.json");
    let options = GreedyRankRls::new(4, None);
    assert!(options.needs_folds());
    let model = options.fit(&data).unwrap();
    assert_eq!(folder.read("model.json"), written(&model));
}

#[test]
fn a_strategy_without_other_options_is_that_of_the_library() {
    let (folder, data) = (Folder::new(), train());
    // This strategy needs grades, which the sample's labels are not.
    let all = StrategyKind::ALL.into_iter();
    for strategy in all.filter(|kind| !kind.needs_grades()) {
        folder.run(&format!(
            "select @parses -k 1 --strategy {strategy} -o model.json"
        ));
        let options = GreedyRankRls {
            strategy,
            ..GreedyRankRls::new(1, None)
        };
        let model = options.fit(&data).unwrap();
        assert_eq!(folder.read("model.json"), written(&model), "{strategy}");
    }
}

#[test]
fn a_training_without_options_is_that_of_the_library() {
    let folder = Folder::new();
    folder.run("train @parses -o model.json");
    let model = RankRls::default().fit(&train()).unwrap();
    assert_eq!(folder.read("model.json"), written(&model));
}
