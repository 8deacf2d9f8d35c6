//! Programs that tasks start, and folders.

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

/// The build folder of cargo.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The package with the program `rankrls`.
const PACKAGE: &str = "rankrls-cli";

/// The variable that names the program `rankrls` to tests of the command, its files and Python.
pub(crate) const PROGRAM: &str = "RANKRLS_COMMAND";

/// Builds the release program `rankrls`. Its dependencies have the features of the wheel's, so that they are built
/// once.
pub(crate) fn built() -> Result<PathBuf> {
    run(&mut cargo(&format!(
        "build --quiet --locked --release --bin rankrls --package {PACKAGE} --package xtask"
    )))?;
    Ok(target().join("release/rankrls"))
}

/// The path of the program `name`, if the system finds one.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A command in the folder of the repository. No argument may have spaces.
pub(crate) fn command(name: impl AsRef<OsStr>, arguments: &str) -> Command {
    let mut command = Command::new(name);
    let arguments = arguments.split_whitespace();
    command.args(arguments).current_dir(root());
    command
}

/// The `cargo` that started this program.
pub(crate) fn cargo(arguments: &str) -> Command {
    command(
        env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        arguments,
    )
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// Runs a command and returns its output.
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

/// The folder of a Python environment: `target/NAME`, or the value of `RANKRLS_NAME_VENV`.
fn venv(name: &str) -> PathBuf {
    let variable = format!("RANKRLS_{}_VENV", name.to_uppercase());
    env::var_os(variable).map_or_else(|| target().join(name), PathBuf::from)
}

/// The Python of an environment with the packages of `requirements`. Changed requirements rebuild it.
pub(crate) fn environment(name: &str, requirements: &Path) -> Result<PathBuf> {
    let venv = venv(name);
    let (wanted, kept) = (fs::read(requirements)?, venv.join("requirements.txt"));
    let python = venv.join("bin/python");
    if fs::read(&kept).ok() != Some(wanted) {
        run(command("python3", "-m venv").arg(&venv))?;
        // `--no-compile`: Python compiles modules when it imports them.
        let pip = "-m pip install --quiet --disable-pip-version-check --no-compile -r";
        run(command(&python, pip).arg(requirements))?;
        fs::copy(requirements, kept)?;
    }
    Ok(python)
}

/// A Python program, in the environment of the requirements beside it. The environment has the name of the folder.
pub(crate) fn script(file: &str) -> Result<Command> {
    let file = root().join(file);
    let folder = file.parent().context("expected a folder")?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let python = environment(&name, &folder.join("requirements.txt"))?;
    let mut script = command(python, "");
    script.arg(file);
    Ok(script)
}

/// A program from a Python package: mdBook, actionlint, cffconvert.
pub(crate) fn tool(name: &str) -> Result<PathBuf> {
    let python = environment("publishing", &root().join("xtask/requirements.txt"))?;
    Ok(python.with_file_name(name))
}
