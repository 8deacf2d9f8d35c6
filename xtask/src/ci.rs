//! The checks of continuous integration, together and alone.

use std::env;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::Result;

use crate::commands::{PROGRAM, built, cargo, command, find, run, script, target};
use crate::{book, python, release};

/// Runs everything, soonest failures first.
pub(crate) fn run_all() -> Result<()> {
    match env::var("RANKRLS_CORPORA") {
        Ok(folder) => println!("RANKRLS_CORPORA: {folder}"),
        Err(_) => println!("RANKRLS_CORPORA: not set, tests on real data are skipped"),
    }
    step("format");
    run(&mut cargo("fmt --all --check"))?;
    step("lints");
    let clippy = |what: &str| cargo(&format!("clippy --locked {what} -- -D warnings"));
    run(&mut clippy("--workspace --all-targets"))?;
    step("documentation");
    let doc = "doc --locked --workspace --no-deps --document-private-items";
    run(cargo(doc).env("RUSTDOCFLAGS", "-D warnings"))?;
    step("licences, sources and advisories of dependencies");
    deny()?;
    step("dependencies without a use");
    machete()?;
    step("workflows and citation");
    release::check()?;
    step("the book of docs/ and its links");
    book::build()?;
    step("figures and tables of the studies");
    figures()?;
    step("the program, as users have it");
    let program = built()?;
    step("tests; the command's run this program");
    let mut tests = cargo("test --locked --workspace --exclude rankrls-benches");
    run(tests.env(PROGRAM, &program))?;
    step("packages");
    release::package()?;
    step("files against scikit-learn, SciPy and LightGBM");
    interop(&program)?;
    step("the Python package");
    python::check(&program)?;
    step("fuzz targets compile");
    // This folder has the built dependencies already.
    let mut fuzz = clippy("--manifest-path tests/fuzz/Cargo.toml");
    run(fuzz.env("CARGO_TARGET_DIR", target()))?;
    ranks()?;
    step("the end");
    Ok(())
}

/// Lints and tests `rankrls-mpi`, where MPI is installed.
fn ranks() -> Result<()> {
    step("ranks");
    if find("mpicc").is_none() && env::var_os("RANKRLS_MPI").is_none() {
        println!("NOT TESTED: Open MPI is not installed, and rankrls-mpi was not built");
        return Ok(());
    }
    for check in [
        "fmt --manifest-path crates/mpi/Cargo.toml --check",
        "clippy --manifest-path crates/mpi/Cargo.toml --locked --all-targets -- -D warnings",
        "test --manifest-path crates/mpi/Cargo.toml --locked",
    ] {
        run(cargo(check).env("CARGO_TARGET_DIR", target()))?;
    }
    Ok(())
}

/// Names the next step, and the time so far: by the clock, and processor time where the system tells.
fn step(name: &str) {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let seconds = BEGIN.get_or_init(Instant::now).elapsed().as_secs();
    let work =
        processor_seconds().map_or_else(String::new, |work| format!(", {work} of a processor"));
    println!("\n== {name} (after {seconds} s{work})");
}

/// Processor seconds of all ended child programs. Linux counts in hundredths.
fn processor_seconds() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may have blanks.
    let (_, fields) = status.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(13).take(2);
    let times: Result<Vec<u64>, _> = times.map(str::parse).collect();
    Some(times.ok()?.iter().sum::<u64>() / 100)
}

/// Checks dependencies by cargo-deny, if it is installed. A weekly job always does.
fn deny() -> Result<()> {
    let Some(deny) = find("cargo-deny") else {
        println!("NOT CHECKED: cargo-deny is not installed; the weekly job has it");
        return Ok(());
    };
    run(&mut command(&deny, "--offline check bans licenses sources"))?;
    if command(&deny, "fetch db").output()?.status.success() {
        return run(&mut command(&deny, "check advisories"));
    }
    println!("NOT CHECKED: advisories, whose database could not be fetched");
    Ok(())
}

/// Refuses unused dependencies in all manifests of the repository. `.ci/run` installs the program.
fn machete() -> Result<()> {
    let Some(machete) = find("cargo-machete") else {
        println!("NOT CHECKED: cargo-machete is not installed; .ci/run installs it");
        return Ok(());
    };
    run(&mut command(&machete, "."))
}

/// Checks that the files of studies/ make exactly the figures and tables of docs/.
pub(crate) fn figures() -> Result<()> {
    run(script("studies/figures.py")?.arg("--check"))
}

/// Compares the files of rankrls with scikit-learn, SciPy and LightGBM.
pub(crate) fn interop(program: &Path) -> Result<()> {
    run(command(python::current()?, "python/tests/interop.py").env(PROGRAM, program))
}
