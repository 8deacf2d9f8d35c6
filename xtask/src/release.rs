//! What a release takes: crates as they are packed, workflows, recipe and citation.

use std::fs;

use anyhow::{Result, ensure};

use crate::commands::{cargo, command, output, root, run, target, tool};
use crate::python;

/// In the order of publication.
const CRATES: [&str; 5] = [
    "rankrls-files",
    "rankrls-parses",
    "rankrls-plot",
    "rankrls",
    "rankrls-cli",
];
/// All crates of the workspace have the same, and this program, too.
const VERSION: &str = env!("CARGO_PKG_VERSION");
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

/// Packs the crates. A package that is too large, or holds a corpus that is not compiled in, is an
/// error. Jobs of every week, and of a release, compile them as packed.
pub(crate) fn package() -> Result<()> {
    run(&mut cargo("fetch --quiet --locked"))?;
    let package = "package --quiet --locked --offline --allow-dirty --no-verify";
    run(cargo(package).args(CRATES.map(|name| format!("--package={name}"))))?;
    let compiled_in = fs::read_to_string(root().join("src/data/sample.rs"))?;
    for name in CRATES {
        let list = output(cargo(package).args(["--list", "--package", name]))?;
        for file in list.lines().filter(|file| file.starts_with("corpora/")) {
            ensure!(
                compiled_in.contains(&format!("{file}\"")),
                "{name} packs {file}, which is not compiled in"
            );
        }
        let file = format!("package/{name}-{VERSION}.crate");
        let bytes = fs::metadata(target().join(&file))?.len();
        ensure!(bytes <= MOST_BYTES, "{file} has {bytes} bytes");
        println!("{file}: {} files, {bytes} bytes", list.lines().count());
    }
    Ok(())
}

/// Checks workflows, recipe and citation, and changes nothing.
pub(crate) fn check() -> Result<()> {
    // Without the linters of scripts that some machines have, and some have not.
    run(&mut command(tool("actionlint")?, "-shellcheck= -pyflakes="))?;
    run(&mut command(tool("dist")?, "generate --check"))?;
    run(&mut command(tool("cffconvert")?, "--validate"))?;
    run(command(tool("python")?, "-c").arg(RECIPE))?;
    println!("release: workflows, recipe and citation are valid");
    Ok(())
}

/// Does all that a release does on this system, and says what it would publish where.
pub(crate) fn rehearse() -> Result<()> {
    for file in ["CHANGELOG.md", "CITATION.cff", "conda/recipe.yaml"] {
        let names = fs::read_to_string(root().join(file))?.contains(VERSION);
        ensure!(names, "{file} does not name version {VERSION}");
    }
    check()?;
    package()?;
    let wheel = python::wheel(&python::current()?, "release")?;
    let wheel = wheel.file_name().unwrap_or_default().to_string_lossy();
    println!("\nrelease.yml would put on GitHub, once the tag v{VERSION} is pushed:");
    run(&mut command(tool("dist")?, "plan"))?;
    println!(
        "\npublish.yml would put, after a review,\n  into the registry of Python packages: {wheel}, \
         wheels of other systems, and the sources\n  into the registry of crates, in this order: {}\n\
         Nothing was published.",
        CRATES.join(", ")
    );
    Ok(())
}
