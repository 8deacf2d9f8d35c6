//! The command tells of faults as the library and Python do.

use crate::support::Folder;

#[path = "../../../../tests/support/faults.rs"]
mod table;

#[test]
fn faults_are_told_as_elsewhere() {
    for fault in table::Fault::all("command") {
        let folder = Folder::empty();
        folder.write(&fault.file, &fault.text);
        let (arguments, code) = match fault.name.as_str() {
            "a missing value" => ("train table.csv --label grade --query query", 1),
            "a share of labels without a teacher" => {
                ("select rows.svm -k 1 --lambda 1 --blend 0.5", 2)
            }
            "weights of queries where none are compared" => (
                "train rows.svm --lambda 1 --objective global --query-weight size",
                2,
            ),
            "little memory" => ("train rows.svm --lambda 1 --max-memory 16", 1),
            "a query left out of one" => ("train rows.svm --lambda 1 --holdout lqo", 1),
            name => panic!("{name}"),
        };
        fault.check(&folder.fails(arguments, code));
    }
}
