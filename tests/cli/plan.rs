use crate::support::Folder;

#[test]
fn the_plan_tells_of_all_strategies() {
    let folder = Folder::new();
    let plan = folder.json("select train.svm -k 3 --lambda 1 --dry-run --json --max-memory 1GiB");
    assert_eq!(plan["schema"], "rankrls.plan/1");
    assert_eq!(plan["limit_bytes"], 1 << 30);
    assert_eq!(plan["data"]["column_classes"], 4);
    let rows = plan["strategies"].as_array().unwrap();
    for name in ["dense", "lowmem", "sampled", "backfit"] {
        let row = rows.iter().find(|row| row["strategy"] == name).unwrap();
        let (bytes, total) = (&row["bytes"], &row["total_bytes"]);
        assert!(bytes.as_u64().unwrap() < total.as_u64().unwrap());
        assert_eq!(row["exact"], ["dense", "lowmem"].contains(&name));
        assert_eq!(row["fits"], true);
    }
    let selection = folder.json("select train.svm -k 3 --lambda 1 --json");
    assert_eq!(plan["auto"], selection["strategy"]);
}

#[test]
fn nothing_is_selected_or_written() {
    let folder = Folder::new();
    let before = folder.list();
    let text = folder.stdout("select train.svm -k 3 --lambda 1 --dry-run -o model.json");
    assert!(
        text.contains("with data") && text.contains("auto takes"),
        "{text}"
    );
    assert_eq!(folder.list(), before);
}

#[test]
fn a_random_subset_is_planned() {
    let folder = Folder::new();
    let plan = folder.json("select train.svm -k 3 --lambda 1 --dry-run --json --candidates 2");
    let rows = plan["strategies"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["exact"] == false));
    let dense = rows.iter().find(|row| row["strategy"] == "dense").unwrap();
    assert_eq!(dense["able"], false);
    assert_ne!(plan["auto"], "dense");
    let text = folder.stdout("select train.svm -k 3 --lambda 1 --dry-run --candidates 2");
    assert!(text.contains("cannot sample"), "{text}");
}

#[test]
fn where_nothing_fits_there_is_no_automatic_choice() {
    let folder = Folder::new();
    let plan = folder.json("select train.svm -k 3 --lambda 1 --dry-run --json --max-memory 2KiB");
    assert!(plan["auto"].is_null(), "{plan}");
    let text = folder.stdout("select train.svm -k 3 --lambda 1 --dry-run --max-memory 2KiB");
    assert!(text.contains("auto takes none"), "{text}");
}
