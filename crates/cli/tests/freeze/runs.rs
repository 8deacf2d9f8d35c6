//! Snapshots that contain their own commands. To add one, write a file with lines such as `$ rankrls select
//! --help`, and have all snapshots written anew.

use crate::folder::freeze;

/// The first two pages of help, three tables, and the keys of JSON documents.
macro_rules! runs {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        fn $test() {
            freeze($name);
        }
    )*};
}

runs! {
    help: "help",
    table_of_select: "table-select",
    table_of_train: "table-train",
    table_of_tune: "table-tune",
    documents: "json",
}
