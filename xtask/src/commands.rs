//! Programs that tasks start, and where things are.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in the repository")
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The program `rankrls` of a profile.
pub(crate) fn program(profile: &str) -> PathBuf {
    target().join(profile).join("rankrls")
}

/// Where `name` is on the path, if it is.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A command in the folder of the repository, with arguments that have no spaces in them.
pub(crate) fn command(name: impl AsRef<OsStr>, arguments: &str) -> Command {
    let mut command = Command::new(name);
    let arguments = arguments.split_whitespace();
    command.args(arguments).current_dir(root());
    command
}

/// The `cargo` that started this.
pub(crate) fn cargo(arguments: &str) -> Command {
    command(
        env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        arguments,
    )
}

/// Runs a command to its end.
///
/// # Errors
/// If it cannot be started, or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// Runs a command and gives what it prints.
///
/// # Errors
/// As [`run`].
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}",
        output.status
    );
    String::from_utf8(output.stdout).context("expected UTF-8")
}

/// The program `rankrls`, built in the release profile.
///
/// # Errors
/// As [`run`].
pub(crate) fn released() -> Result<PathBuf> {
    run(&mut cargo("build --release --quiet --locked --bin rankrls"))?;
    Ok(program("release"))
}

/// Runs a task of this program, built in the release profile.
///
/// # Errors
/// As [`run`].
pub(crate) fn in_release(arguments: &[&str]) -> Result<()> {
    run(&mut task_in_release(arguments))
}

/// The same, for what it prints.
///
/// # Errors
/// As [`run`].
pub(crate) fn printed_in_release(task: &str) -> Result<String> {
    output(&mut task_in_release(&[task]))
}

fn task_in_release(arguments: &[&str]) -> Command {
    let mut command = cargo("run --release --quiet --locked --package xtask --");
    command.args(arguments);
    command
}

/// The Python of an environment with the packages of `requirements`, in `target/NAME`, or in the
/// folder that `RANKRLS_NAME_VENV` names. It is made anew when the requirements change.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn environment(name: &str, requirements: &Path) -> Result<PathBuf> {
    let variable = format!("RANKRLS_{}_VENV", name.to_uppercase());
    let venv = env::var_os(variable).map_or_else(|| target().join(name), PathBuf::from);
    let (wanted, kept) = (fs::read(requirements)?, venv.join("requirements.txt"));
    let python = venv.join("bin/python");
    if fs::read(&kept).ok() != Some(wanted) {
        run(command("python3", "-m venv").arg(&venv))?;
        let pip = "-m pip install --quiet --disable-pip-version-check -r";
        run(command(&python, pip).arg(requirements))?;
        fs::copy(requirements, kept)?;
    }
    Ok(python)
}

/// A program that comes with a package of Python: mdBook, actionlint, cargo-dist.
///
/// # Errors
/// If it cannot be installed.
pub(crate) fn tool(name: &str) -> Result<PathBuf> {
    let python = environment("publishing", &root().join("xtask/requirements.txt"))?;
    Ok(python.with_file_name(name))
}

/// A folder of corpora that is not part of the repository, if it is at hand.
pub(crate) fn corpora() -> Option<PathBuf> {
    env::var_os("RANKRLS_CORPORA").map(PathBuf::from)
}
