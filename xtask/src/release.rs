//! What a release takes: crates and the wheel as they are packed, workflows and citation.

use std::fs;

use anyhow::{Result, ensure};

use crate::commands::{cargo, command, output, run, target, tool};
use crate::python;

/// Each after those that it depends on.
const CRATES: [&str; 6] = [
    "rankrls-corpora",
    "rankrls-files",
    "rankrls-parses",
    "rankrls-plot",
    "rankrls",
    "rankrls-cli",
];
/// All crates of the workspace have the same, and this program, too.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the registry of crates takes at most.
const MOST_BYTES: u64 = 10 << 20;

/// Packs the crates. A package that is too large, or without licence or README, is an error. A weekly
/// job compiles them as packed.
pub(crate) fn package() -> Result<()> {
    run(&mut cargo("fetch --quiet --locked"))?;
    let package = "package --quiet --locked --offline --allow-dirty --no-verify";
    run(cargo(package).args(CRATES.map(|name| format!("--package={name}"))))?;
    for name in CRATES {
        let list = output(cargo(package).args(["--list", "--package", name]))?;
        for file in ["LICENSE", "README.md"] {
            ensure!(
                list.lines().any(|line| line == file),
                "{name} has no {file}"
            );
        }
        let file = format!("package/{name}-{VERSION}.crate");
        let bytes = fs::metadata(target().join(&file))?.len();
        ensure!(bytes <= MOST_BYTES, "{file} has {bytes} bytes");
        println!("{file}: {} files, {bytes} bytes", list.lines().count());
    }
    Ok(())
}

/// Checks workflows and citation, and changes nothing.
pub(crate) fn check() -> Result<()> {
    // Without the linters of scripts that some machines have, and some have not.
    run(&mut command(tool("actionlint")?, "-shellcheck= -pyflakes="))?;
    run(&mut command(tool("cffconvert")?, "--validate"))?;
    println!("release: workflows and citation are valid");
    Ok(())
}

/// Packs all that a release would have from this system, and publishes nothing.
pub(crate) fn rehearse() -> Result<()> {
    check()?;
    package()?;
    let wheel = python::wheel(&python::current()?, "")?;
    println!("\nPacked, and not published: {}", wheel.display());
    Ok(())
}
