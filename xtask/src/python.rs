//! The Python package: its wheel, its tests and its examples.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::commands::{command, environment, root, run, target};

/// Most bytes of the wheel.
const LARGEST: u64 = 8 << 20;

/// Builds the wheel, installs it beside the current and the oldest supported scikit-learn, and runs
/// checks, tests and examples. `program` is the command of the same checkout.
pub(crate) fn check(program: &Path) -> Result<()> {
    let folder = root().join("python");
    let tests = folder.join("tests");
    let current = current()?;
    let oldest = environment("python-oldest", &tests.join("requirements-oldest.txt"))?;
    for tool in ["-m ruff check", "-m ruff format --check"] {
        run(command(&current, tool).arg(&folder))?;
    }
    run(command(&current, "-m mypy").current_dir(&folder))?;
    // What the tests have built already is used again.
    let wheel = wheel(&current, "dev")?;
    for python in [&current, &oldest] {
        install(python, &wheel)?;
    }
    // Not from the folder of the package, whose sources would be imported in place of the wheel.
    let pytest = |python: &Path, what: &str| {
        let pytest = format!("-m pytest -q -c ../pyproject.toml --rootdir . {what}");
        let mut pytest = command(python, &pytest);
        run(pytest.current_dir(&tests).env("RANKRLS_COMMAND", program))
    };
    pytest(&current, ".")?;
    pytest(&current, "--pyargs rankrls")?;
    pytest(&oldest, "test_scikit_learn.py test_data.py test_path.py")?;
    let examples = [
        "python/examples/gallery.py",
        "studies/units.py",
        "studies/transfer.py",
    ];
    let temporary = tempfile::tempdir()?;
    for example in examples {
        println!("\n{example}");
        let mut program = command(&current, "");
        run(program
            .arg(root().join(example))
            .current_dir(temporary.path()))?;
    }
    Ok(())
}

/// The Python of the environment with the current releases of all packages.
pub(crate) fn current() -> Result<PathBuf> {
    environment("python", &root().join("python/tests/requirements.txt"))
}

/// The wheel of this checkout in a profile of cargo, made by the maturin of `python`.
pub(crate) fn wheel(python: &Path, profile: &str) -> Result<PathBuf> {
    let folder = target().join("wheels");
    let _ = fs::remove_dir_all(&folder);
    let build = "-m maturin build --locked --manifest-path python/Cargo.toml --profile";
    let mut build = command(python, build);
    build.arg(profile).arg("--out").arg(&folder);
    // A venv's maturin looks for the interpreter of its own.
    run(build.arg("--interpreter").arg(python))?;
    let mut files = fs::read_dir(&folder)?;
    let wheel = files.next().context("maturin has made no wheel")??.path();
    let size = fs::metadata(&wheel)?.len();
    println!("{}: {size} bytes", wheel.display());
    ensure!(
        profile != "release" || size <= LARGEST,
        "the wheel is larger than {LARGEST} bytes"
    );
    Ok(wheel)
}

/// Installs `wheel` in place of another of the same version.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let pip = "-m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps";
    run(command(python, pip).arg(wheel))
}
