//! What a release takes: crates as they are packed, one version everywhere, workflows, recipe, paper.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::commands::{cargo, command, output, root, run, target, tool};

/// In the order of publication.
const CRATES: [&str; 3] = ["rankrls-files", "rankrls-parses", "rankrls"];
/// What the registry takes at most.
const MOST_BYTES: u64 = 10 << 20;

/// Renders the recipe for three systems, as rattler-build does before it builds.
const RECIPE: &str = "
import rattler_build as rattler
recipe = rattler.Stage0Recipe.from_file('conda/recipe.yaml')
variants = {name: ['0'] for name in ['c_compiler', 'c_stdlib', 'rust_compiler', 'python']}
for system in ['linux-64', 'osx-arm64', 'win-64']:
    platform = rattler.RenderConfig(platform=rattler.PlatformConfig(target_platform=system))
    packages = recipe.render(rattler.VariantConfig(variants), platform)
    assert [one.recipe.package.name for one in packages] == ['rankrls', 'py-rankrls'], packages";

const SECTIONS: &str = "Summary, Statement of need, State of the field, Software design, Research impact statement, \
                        AI usage disclosure, Acknowledgements, References";

/// Packs the crates and compiles them as packed.
///
/// # Errors
/// If a package is incomplete or too large, or holds a corpus that is not compiled in.
pub(crate) fn package() -> Result<()> {
    run(&mut cargo(&["fetch", "--quiet", "--locked"]))?;
    let version = rankrls()?["version"].clone();
    let version = text(&version)?;
    forget_packed(version)?;
    let package = [
        "package",
        "--quiet",
        "--locked",
        "--offline",
        "--allow-dirty",
    ];
    run(cargo(&package).args(CRATES.map(|name| format!("--package={name}"))))?;
    let compiled_in = read("src/data/sample.rs")?;
    for name in CRATES {
        let list = output(cargo(&package).args(["--list", "--package", name]))?;
        for file in list.lines().filter(|file| file.starts_with("corpora/")) {
            ensure!(
                compiled_in.contains(&format!("{file}\"")),
                "{name} packs {file}, which is not compiled in"
            );
        }
        let file = format!("package/{name}-{version}.crate");
        let bytes = fs::metadata(target().join(&file))?.len();
        ensure!(bytes <= MOST_BYTES, "{file} has {bytes} bytes");
        println!("{file}: {} files, {bytes} bytes", list.lines().count());
    }
    Ok(())
}

/// Removes what cargo unpacked and compiled when crates of this version were packed before: it
/// takes a package of a known name and version for the same.
fn forget_packed(version: &str) -> Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.map(|home| home.join("registry/src"));
    for registry in registries.map_or_else(Vec::new, |folder| entries(&folder)) {
        // A registry in a folder has no host before the hash.
        if registry
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('-'))
        {
            for name in CRATES {
                let _ = fs::remove_dir_all(registry.join(format!("{name}-{version}")));
            }
        }
    }
    let built = target().join("debug");
    for sources in entries(&built.join("deps")) {
        let name = sources.file_stem().unwrap_or_default().to_string_lossy();
        let ours = name.starts_with("rankrls_") && sources.extension() == Some("d".as_ref());
        if ours && fs::read_to_string(&sources)?.contains("/registry/src/-") {
            let (name, hash) = name.rsplit_once('-').context("a hash after the name")?;
            let name = name.replace('_', "-");
            let _ = fs::remove_dir_all(built.join(format!(".fingerprint/{name}-{hash}")));
        }
    }
    Ok(())
}

/// What a folder holds; nothing where there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten();
    found.flatten().map(|entry| entry.path()).collect()
}

/// Checks everything else, and changes nothing.
///
/// # Errors
/// If something is wrong, or a program to check it cannot be installed.
pub(crate) fn check() -> Result<()> {
    let rankrls = rankrls()?;
    versions(text(&rankrls["version"])?)?;
    paper()?;
    // Without the linters of scripts that some machines have, and some have not.
    run(&mut command(
        tool("actionlint")?,
        &["-shellcheck=", "-pyflakes="],
    ))?;
    run(&mut command(tool("dist")?, &["generate", "--check"]))?;
    archives(&rankrls["metadata"]["binstall"])?;
    run(&mut command(tool("cffconvert")?, &["--validate"]))?;
    run(&mut command(tool("python")?, &["-c", RECIPE]))?;
    println!("release: workflows, recipe and citation are valid");
    Ok(())
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(root().join(file)).with_context(|| format!("cannot read {file}"))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("expected a text")
}

/// What cargo knows of the package `rankrls`.
fn rankrls() -> Result<Value> {
    let metadata = output(&mut cargo(&[
        "metadata",
        "--locked",
        "--no-deps",
        "--format-version=1",
    ]))?;
    let mut metadata: Value = serde_json::from_str(&metadata)?;
    let mut packages = metadata["packages"].as_array_mut().into_iter().flatten();
    let rankrls = packages.find(|package| package["name"] == "rankrls");
    Ok(rankrls.context("expected the package rankrls")?.take())
}

/// Every file that names the version names the same.
fn versions(version: &str) -> Result<()> {
    let workspace = read("Cargo.toml")?;
    for name in &CRATES[..2] {
        let named = format!("{name} = {{ version = \"{version}\"");
        ensure!(
            workspace.contains(&named),
            "Cargo.toml takes {name} of another version"
        );
    }
    let (changelog, recipe) = (read("CHANGELOG.md")?, read("conda/recipe.yaml")?);
    // After those that are not released.
    let newest = changelog
        .lines()
        .filter(|line| line.starts_with("## ["))
        .nth(1);
    let day = newest.and_then(|line| line.strip_prefix(&format!("## [{version}] - ")));
    let day =
        day.with_context(|| format!("the newest release of CHANGELOG.md is not {version}"))?;
    let dated = format!("\nversion: {version}\ndate-released: {day}\n");
    ensure!(
        read("CITATION.cff")?.contains(&dated),
        "CITATION.cff is not of {version}, {day}"
    );
    ensure!(
        recipe.contains(&format!("  version: \"{version}\"\n")),
        "conda/recipe.yaml is not of {version}"
    );
    // The Python package takes its version from Cargo.toml, and needs the same by conda as by pip.
    if let Ok(project) = read("python/pyproject.toml") {
        let line = |start| project.lines().find_map(|line| line.strip_prefix(start));
        ensure!(
            line("version =").is_none(),
            "python/pyproject.toml has a version of its own"
        );
        let needs = line("dependencies = [").context("expected dependencies on a line")?;
        for need in needs.split('"').skip(1).step_by(2) {
            let need = need.replacen(">=", " >=", 1);
            ensure!(
                recipe.contains(&format!("- {need}\n")),
                "conda/recipe.yaml does not need {need}"
            );
        }
    }
    println!("release: {version} of {day}");
    Ok(())
}

/// `cargo binstall` looks for the archives that cargo-dist makes.
fn archives(binstall: &Value) -> Result<()> {
    let plan = output(&mut command(
        tool("dist")?,
        &["plan", "--output-format=json"],
    ))?;
    let plan: Value = serde_json::from_str(&plan)?;
    for (name, artifact) in plan["artifacts"]
        .as_object()
        .context("expected artifacts")?
    {
        if artifact["kind"] == "executable-zip" {
            let system = text(&artifact["target_triples"][0])?;
            let url = binstall["overrides"][system]["pkg-url"].as_str();
            let url = url.map_or_else(|| text(&binstall["pkg-url"]), Ok)?;
            let url = url
                .replace("{ name }", "rankrls")
                .replace("{ target }", system);
            ensure!(
                url.ends_with(&format!("/v{{ version }}/{name}")),
                "no {name}, but {url}"
            );
        }
    }
    Ok(())
}

/// The paper has the sections, the length and the references that its journal asks for.
fn paper() -> Result<()> {
    let (paper, bibliography) = (read("paper/paper.md")?, read("paper/paper.bib")?);
    let text = paper
        .splitn(3, "---\n")
        .nth(2)
        .context("expected front matter")?;
    for section in SECTIONS.split(", ") {
        ensure!(
            text.contains(&format!("\n# {section}\n")),
            "paper.md has no section {section:?}"
        );
    }
    let words = text.split_whitespace().count();
    ensure!((750..=1750).contains(&words), "paper.md has {words} words");
    let cited: BTreeSet<_> = text
        .split('@')
        .skip(1)
        .map(|text| text.split([';', ']']).next())
        .collect();
    let entries = bibliography
        .lines()
        .filter_map(|line| line.strip_prefix('@')?.split_once('{'));
    let entries: BTreeSet<_> = entries.map(|(_, key)| key.strip_suffix(',')).collect();
    ensure!(
        cited == entries,
        "paper.md cites {cited:?}, paper.bib has {entries:?}"
    );
    println!("paper: {words} words, {} references", entries.len());
    Ok(())
}
