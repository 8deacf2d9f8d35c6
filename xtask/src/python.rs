//! The Python package: its wheel, its tests and its examples.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::commands::{PROGRAM, command, environment, root, run, target};

/// Most bytes of the wheel.
const LARGEST: u64 = 8 << 20;
/// The command's features of the library. With them, the wheel shares the command's build. They add nothing to
/// Python.
const AS_COMMAND: &str = "--features rankrls/clap,rankrls/sample";

/// Builds the wheel, installs it beside the current and the oldest supported scikit-learn, and runs
/// checks, tests and the example. `program` is the command of the same checkout.
pub(crate) fn check(program: &Path) -> Result<()> {
    let folder = root().join("python");
    let tests = folder.join("tests");
    let current = current()?;
    let oldest = environment("python-oldest", &tests.join("requirements-oldest.txt"))?;
    for tool in ["-m ruff check", "-m ruff format --check"] {
        run(command(&current, tool).arg(&folder))?;
    }
    run(command(&current, "-m mypy").current_dir(&folder))?;
    let wheel = wheel(&current, AS_COMMAND)?;
    for python in [&current, &oldest] {
        install(python, &wheel)?;
    }
    // Not in the package's folder: its sources would be imported in place of the wheel.
    let pytest = |python: &Path, what: &str| {
        let pytest = format!("-m pytest -q -c ../pyproject.toml --rootdir . {what}");
        let mut pytest = command(python, &pytest);
        run(pytest.current_dir(&tests).env(PROGRAM, program))
    };
    pytest(&current, ".")?;
    pytest(&current, "--pyargs rankrls")?;
    pytest(&oldest, "test_scikit_learn.py test_data.py test_path.py")?;
    let temporary = tempfile::tempdir()?;
    let mut example = command(&current, "");
    example.arg(root().join("python/examples/gallery.py"));
    run(example.current_dir(temporary.path()))
}

/// The Python of the environment with the current releases of all packages.
pub(crate) fn current() -> Result<PathBuf> {
    environment("python", &root().join("python/tests/requirements.txt"))
}

/// Builds the release wheel of this checkout by the maturin of `python`, with `features` if there are any.
pub(crate) fn wheel(python: &Path, features: &str) -> Result<PathBuf> {
    let folder = target().join("wheels");
    let _ = fs::remove_dir_all(&folder);
    let build = "-m maturin build --locked --release --manifest-path python/Cargo.toml";
    let mut build = command(python, &format!("{build} {features} --out"));
    build.arg(&folder);
    // A maturin in a venv looks for its own interpreter.
    run(build.arg("--interpreter").arg(python))?;
    let mut files = fs::read_dir(&folder)?;
    let wheel = files.next().context("maturin has made no wheel")??.path();
    let size = fs::metadata(&wheel)?.len();
    println!("{}: {size} bytes", wheel.display());
    ensure!(size <= LARGEST, "the wheel is larger than {LARGEST} bytes");
    Ok(wheel)
}

/// Installs `wheel` in place of another of the same version.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let pip = "-m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps";
    run(command(python, pip).arg(wheel))
}
