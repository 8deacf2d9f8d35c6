//! The Python package: its wheel, its tests and its examples.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::commands::{command, corpora, environment, output, root, run, target};
use crate::page::fill;

/// Most bytes of the wheel.
const LARGEST: u64 = 8 << 20;

/// Builds the wheel, installs it beside the current and the oldest supported scikit-learn, and runs
/// checks, tests and examples. `program` is the command of the same checkout.
pub(crate) fn check(program: &Path) -> Result<()> {
    let (folder, program) = (root().join("python"), fs::canonicalize(program)?);
    let tests = folder.join("tests");
    let current = environment("python", &tests.join("requirements.txt"))?;
    let oldest = environment("python-oldest", &tests.join("requirements-oldest.txt"))?;
    for tool in ["ruff check", "ruff format --check"] {
        let arguments: Vec<&str> = tool.split(' ').collect();
        let mut ruff = command(&current, &["-m"]);
        run(ruff.args(arguments).arg(&folder))?;
    }
    run(command(&current, &["-m", "mypy"]).current_dir(&folder))?;
    let wheel = wheel(&current)?;
    for python in [&current, &oldest] {
        install(python, &wheel)?;
    }
    // Not from the folder of the package, whose sources would be imported in place of the wheel.
    let pytest = |python: &Path, arguments: &[&str]| {
        let settings = [
            "-m",
            "pytest",
            "-q",
            "-c",
            "../pyproject.toml",
            "--rootdir",
            ".",
        ];
        let mut pytest = command(python, &settings);
        run(pytest
            .args(arguments)
            .current_dir(&tests)
            .env("RANKRLS_COMMAND", &program))
    };
    pytest(&current, &["."])?;
    pytest(&current, &["--pyargs", "rankrls"])?;
    pytest(
        &oldest,
        &["test_scikit_learn.py", "test_data.py", "test_path.py"],
    )?;
    let examples = fs::read_dir(folder.join("examples"))?;
    let mut examples = examples
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<PathBuf>>>()?;
    examples.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    examples.sort();
    let temporary = tempfile::tempdir()?;
    for example in &examples {
        println!("\n{}", example.display());
        run(command(&current, &[])
            .arg(example)
            .current_dir(temporary.path()))?;
    }
    Ok(())
}

/// The wheel of this checkout, made by the maturin of `python`.
pub(crate) fn wheel(python: &Path) -> Result<PathBuf> {
    let folder = target().join("wheels");
    let _ = fs::remove_dir_all(&folder);
    let build = [
        "-m",
        "maturin",
        "build",
        "--release",
        "--locked",
        "--manifest-path",
    ];
    let mut build = command(python, &build);
    build
        .arg(root().join("python/Cargo.toml"))
        .arg("--out")
        .arg(&folder);
    // A venv's maturin looks for the interpreter of its own.
    run(build.arg("--interpreter").arg(python))?;
    let mut files = fs::read_dir(&folder)?;
    let wheel = files.next().context("maturin has made no wheel")??.path();
    let size = fs::metadata(&wheel)?.len();
    println!("{}: {size} bytes", wheel.display());
    ensure!(size <= LARGEST, "the wheel is larger than {LARGEST} bytes");
    Ok(wheel)
}

/// Runs `python/examples/rankers.py`. Without arguments it makes the pages of `docs/rankers` again,
/// and fills the tables of `docs/rankers.md`.
pub(crate) fn rankers(arguments: &[&str]) -> Result<()> {
    let python = environment("python", &root().join("python/tests/requirements.txt"))?;
    install(&python, &wheel(&python)?)?;
    let script = || command(&python, &["python/examples/rankers.py"]);
    if !arguments.is_empty() {
        return run(script().args(arguments));
    }
    let made = target().join("rankers");
    fs::create_dir_all(&made)?;
    let page = |name: &str, data: &str, arguments: &str, files: &[&Path]| {
        let mut rankers = script();
        rankers.args(files).args(arguments.split(' '));
        let title = format!("Rankers on selected columns of {data}");
        rankers.args(["--title", &title, "--output"]);
        let tables = output(rankers.arg(made.join(name)))?;
        let file = format!("{name}.html");
        fs::copy(made.join(&file), root().join("docs/rankers").join(file))?;
        let begin = format!("<!-- rankers {name} -->");
        fill(
            "docs/rankers.md",
            &begin,
            "<!-- end -->",
            &[tables.trim_end().to_owned()],
        )
    };
    let parses = ["link-parses.svm.zst", "link-parses-test.svm.zst"];
    let parses = parses.map(|file| root().join("corpora").join(file));
    page(
        "link-parses",
        "link-parses",
        "-k 10,20,50,100 --relevant-from 0.75 --trees 50",
        &[&parses[0], Path::new("--test"), &parses[1]],
    )?;
    let Some(folder) = corpora() else {
        eprintln!("RANKRLS_CORPORA names no folder: docs/rankers/letor.html stays as it is");
        return Ok(());
    };
    page(
        "letor",
        "MQ2008, fold 3",
        "-k 1,2,5,10,20",
        &[&folder.join("letor-mq2008-fold3")],
    )
}

/// Installs `wheel` in place of another of the same version.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let pip = "-m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps";
    let pip: Vec<&str> = pip.split(' ').collect();
    run(command(python, &pip).arg(wheel))
}
