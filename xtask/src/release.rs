//! Checks of a release: packed crates and wheel, workflows and citation.

use std::fs;

use anyhow::{Result, ensure};

use crate::commands::{cargo, command, output, run, target, tool};
use crate::python;

/// Crates in the order of their dependencies.
const CRATES: [&str; 6] = [
    "rankrls-corpora",
    "rankrls-files",
    "rankrls-parses",
    "rankrls-plot",
    "rankrls",
    "rankrls-cli",
];
/// The version of all crates of the workspace, and of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Largest package that the registry of crates accepts, in bytes.
const MOST_BYTES: u64 = 10 << 20;

/// Packs the crates. A package that is too large, or lacks a licence or README, is an error. A weekly job compiles
/// the packed crates.
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
    // Without the linters of scripts, which only some machines have.
    run(&mut command(tool("actionlint")?, "-shellcheck= -pyflakes="))?;
    run(&mut command(tool("cffconvert")?, "--validate"))?;
    println!("release: workflows and citation are valid");
    Ok(())
}

/// Packs a release for this system, and publishes nothing.
pub(crate) fn rehearse() -> Result<()> {
    check()?;
    package()?;
    let wheel = python::wheel(&python::current()?, "")?;
    println!("\nPacked, and not published: {}", wheel.display());
    Ok(())
}
