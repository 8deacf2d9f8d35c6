//! The library tells of faults as the command and Python do.

use std::error::Error;
use std::fs;
use std::path::Path;

use rankrls::data::read::{ReadOptions, TableOptions};
use rankrls::{Dataset, GreedyRankRls, Lambda, Objective, QueryWeight, RankRls};

#[path = "../support/faults.rs"]
mod table;

/// Makes a fault with the file at `path`.
fn make(fault: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let options = match fault {
        "a missing value" => ReadOptions::new().table(TableOptions {
            label: Some("grade".to_owned()),
            query: Some("query".to_owned()),
            ..TableOptions::default()
        }),
        "little memory" => ReadOptions::new().memory(16),
        _ => ReadOptions::new(),
    };
    let data: Dataset<'_> = options.read(path)?.dataset;
    let params = RankRls {
        lambdas: Lambda::new(1.0)?.into(),
        ..RankRls::default()
    };
    match fault {
        "a share of labels without a teacher" => {
            let mut options = GreedyRankRls::new(1, None);
            options.blend = Some(0.5);
            drop(options.fit(&data)?);
        }
        "weights of queries where none are compared" => {
            let weighted = RankRls {
                objective: Objective::Global,
                query_weight: QueryWeight::Size,
                ..params
            };
            drop(weighted.fit(&data)?);
        }
        "a query left out of one" => {
            let holdout = "lqo".parse()?;
            drop(RankRls { holdout, ..params }.fit(&data)?);
        }
        _ => panic!("{fault}"),
    }
    Ok(())
}

#[test]
fn faults_are_told_as_elsewhere() {
    for fault in table::Fault::all("library") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(&fault.file);
        fs::write(&path, &fault.text).unwrap();
        fault.check(&make(&fault.name, &path).unwrap_err().to_string());
    }
}
