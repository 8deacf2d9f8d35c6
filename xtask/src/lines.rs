//! Lines by folder, beside the aims of the design: they are printed, and nothing fails.

use anyhow::Result;

use crate::commands::{command, output, root};

/// Folders, endings of the files that count, and aims.
const AIMS: [(&str, &str, usize); 6] = [
    ("src", "rs", 32_000),
    ("crates/cli/src", "rs", 8_000),
    ("crates/parses", "rs", 5_500),
    ("python", "rs py", 5_500),
    ("xtask", "rs", 800),
    ("tests crates/cli/tests", "rs py snap", 13_500),
];

/// Prints a line for each folder.
pub(crate) fn print() -> Result<()> {
    for (folders, endings, aim) in AIMS {
        let files = output(&mut command("git", &format!("ls-files {folders}")))?;
        let counts = |file: &&str| {
            endings
                .split(' ')
                .any(|end| file.ends_with(&format!(".{end}")))
        };
        let lines = files.lines().filter(counts).map(|file| {
            let text = std::fs::read_to_string(root().join(file));
            text.map_or(0, |text| text.lines().count())
        });
        println!("{:6} of {aim:6}  {folders}", lines.sum::<usize>());
    }
    Ok(())
}
