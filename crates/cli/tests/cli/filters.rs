//! The strategy fs-ed.

use crate::support::{Folder, keys};

#[test]
fn the_output_says_where_densities_are() {
    let folder = Folder::new();
    let select = "select train.svm -k 3 --lambda 1 --strategy fs-ed";
    let text = folder.stdout(select);
    let says = "densities at the values of the 8 training rows; --validation names other data\n";
    assert!(text.contains(says), "{text}");
    folder.prints(&format!(
        "{select} --validation test.svm => densities at the values of 5 validation rows\n"
    ));
    let document = folder.json(&format!("{select} --validation test.svm --json"));
    let expected = serde_json::json!({"training": false, "rows": 5});
    assert_eq!(document["densities_at"], expected);
    assert_eq!(document["strategy"], "fs-ed");
    let tune = "tune train.svm -k 2 --lambda 1,4 --strategy bounded,fs-ed --validation test.svm";
    let document = folder.json(&format!("{tune} --json"));
    assert_eq!(
        document["paths"].as_array().map(Vec::len),
        Some(4),
        "{:?}",
        keys(&document)
    );
}
