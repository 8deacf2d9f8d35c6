//! `rankrls inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::Model;
use rankrls::greedy::job::StepReport;
use rankrls::memory::Memory;
use rankrls::model::SelectedFeature;

use super::numbers::{counted, exact, short, sizes};
use super::report::{BIASED, path_table, settings};
use super::session::Session;
use super::sheet::Sheet;

/// Show a model: features by name, weights, and the error path
///
/// The features of a selection are shown in the order of the steps. Of a model without selection the 20 features
/// of the largest weights are shown, the largest first; --json has all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls inspect model.json
  rankrls inspect model.json --json")]
pub(crate) struct InspectArgs {
    /// Model that `select -o`, `tune -o` or `train -o` wrote; - is standard input
    model: PathBuf,
    /// Print the model as one JSON document, with the columns that are identical to each feature
    #[arg(long)]
    json: bool,
}

/// The number of features shown of a model without selection.
const LARGEST: usize = 20;

/// The features of the largest weights, the largest first.
fn largest(model: &Model) -> Vec<&SelectedFeature> {
    let mut features: Vec<_> = model.features.iter().collect();
    features.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    features.truncate(LARGEST);
    features
}

pub(crate) fn run(args: &InspectArgs, session: &Session<'_>) -> Result<ExitCode> {
    session.files.reads("MODEL", [&args.model])?;
    let stdout = session.files.prints()?;
    let model = session.read_model(&args.model, Memory::default())?;
    if args.json {
        stdout.print(|output| model.write_to(output))?;
        return Ok(session.code());
    }
    let mut text = heading(&model);
    if model.strategy.is_selection() {
        let _ = writeln!(text, "\n{}", path(&model));
        if model.settings.strategy.distils() {
            text += BIASED;
        }
    } else if let Some(expansion) = &model.expansion {
        let kernel = expansion.kernel;
        let gamma = kernel
            .gamma()
            .map_or_else(String::new, |gamma| format!(", gamma {}", exact(gamma)));
        let rows = counted(expansion.rows.len(), "row");
        let _ = writeln!(text, "kernel {}{gamma}, over {rows}", kernel.kind);
    } else {
        text += &weight_table(&model);
    }
    stdout.print_text(&text)?;
    Ok(session.code())
}

fn heading(model: &Model) -> String {
    let data = model.data;
    let mut text = format!(
        "strategy {}, lambda {}{}",
        model.strategy,
        short(model.lambda.value()),
        settings(&model.settings),
    );
    if !model.objective.is_query() {
        let _ = write!(text, ", objective {}", model.objective);
    }
    let sizes = sizes(data.rows, data.queries, data.columns, data.nonzeros);
    let first = model.index_base.first();
    let constant = counted(data.constant_columns, "column");
    let classes = counted(data.column_classes, "column class");
    let _ = writeln!(
        text,
        "\ntrained on {sizes}, columns from {first} on\n{constant} constant in every query, \
         {classes}\nBLAKE3 {}",
        data.hash
    );
    text
}

/// A table of the features of the largest weights.
fn weight_table(model: &Model) -> String {
    let (features, base) = (largest(model), model.index_base);
    let table = Sheet::of(&features)
        .number("feature", |feature| base.file_index(feature.feature))
        .words("name", |feature| feature.name.as_deref())
        .number("weight", |feature| feature.weight);
    let (table, shown, all) = (table.text(), features.len(), model.features.len());
    format!("\n{table}\n\n{shown} of {all} features, largest weights first\n")
}

fn path(model: &Model) -> String {
    let steps = model.features.iter().zip(1..);
    let rows = steps.map(|(feature, number)| StepReport {
        step: number,
        feature: model.index_base.file_index(feature.feature),
        name: feature.name.as_deref(),
        weight: feature.weight,
        lqo_error: feature.lqo_error.unwrap_or_default(),
        lqo_cindex: feature.lqo_cindex,
        identical_columns: feature.identical.len(),
        ..StepReport::default()
    });
    path_table(&rows.collect::<Vec<_>>(), "squared").text()
}
