//! `rankrls inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::Model;
use rankrls::model::SelectedFeature;
use rankrls_plot::{BarPlot, Figure};

use super::figures::PlotArgs;
use super::numbers::{counted, exact, short, sizes};
use super::output::{print, print_text};
use super::report::{BIASED, PathRow, path_table, settings};
use super::session::Session;
use super::sheet::Sheet;

/// Most weights that are drawn where no number is given.
const DRAWN: usize = 100;

/// Show a model: features by name, weights, and the error path
///
/// The features of a selection are shown in the order of the steps, the features of a model
/// without selection by weight, the largest first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls inspect model.json
  rankrls inspect model.json --plot weights.svg
  rankrls inspect model.json --top 100
  rankrls inspect model.json --json")]
pub(crate) struct InspectArgs {
    /// Model that `select -o` or `train -o` wrote; - is standard input
    model: PathBuf,
    #[command(flatten)]
    plot: PlotArgs,
    /// Show the first N features [default: 20 of a model without selection, else all]
    #[arg(long, value_name = "N", conflicts_with = "json")]
    top: Option<usize>,
    /// Print the model as one JSON document, with the columns that are identical to each feature
    #[arg(long)]
    json: bool,
}

/// The `most` largest weights of a model by name or number.
fn weights(model: &Model, most: usize) -> Figure {
    let (lambda, count) = (short(model.lambda.value()), model.features.len());
    let selected = model.strategy.is_selection();
    let (origin, order) = if selected {
        let by = format!("selected by {}", model.strategy);
        (by, "in order of selection")
    } else {
        ("trained without selection".to_owned(), "the largest first")
    };
    let mut kept = largest(model, most);
    if selected {
        kept.sort_unstable_by_key(|(place, _)| *place);
    }
    let part = match kept.len() {
        all if all == count => "All weights".to_owned(),
        shown => format!("The {shown} largest of {count} weights"),
    };
    let bars = kept.into_iter().map(|(_, feature)| {
        let number = model.index_base.written(feature.feature);
        let own = feature.name.clone().filter(|name| !name.is_empty());
        let name = own.unwrap_or_else(|| format!("feature {number}"));
        (name, feature.weight)
    });
    Figure::new(format!("Weights at lambda {lambda}, {origin}"))
        .note(format!("{part}, {order}."))
        .bars(BarPlot {
            x_label: "weight".to_owned(),
            bars: bars.collect(),
        })
}

/// The features of the `most` largest weights, the largest first, and their places in the model.
fn largest(model: &Model, most: usize) -> Vec<(usize, &SelectedFeature)> {
    let mut features: Vec<_> = model.features.iter().enumerate().collect();
    features.sort_by(|(_, a), (_, b)| b.weight.abs().total_cmp(&a.weight.abs()));
    features.truncate(most);
    features
}

pub(crate) fn run(args: &InspectArgs, session: &Session<'_>) -> Result<ExitCode> {
    session.files.reads("MODEL", [&args.model])?;
    let plot = args.plot.create(&session.files)?;
    let model = Model::read(&args.model)?;
    if model.expansion.is_some() && session.is_given("plot") {
        bail!("the model has no features: its kernel compares rows");
    }
    plot.write(|| weights(&model, args.top.unwrap_or(DRAWN)))?;
    if args.json {
        print(|output| model.write_to(output))?;
        return Ok(session.code());
    }
    let mut text = heading(&model);
    if model.strategy.is_selection() {
        let _ = writeln!(text, "\n{}", path(&model, args.top));
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
        text += &weight_table(&model, args.top.unwrap_or(LARGEST));
    }
    print_text(&text)?;
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

/// Features shown of a model without selection.
const LARGEST: usize = 20;

/// A table of the features of the largest weights.
fn weight_table(model: &Model, top: usize) -> String {
    let (features, base) = (largest(model, top), model.index_base);
    let table = Sheet::of(&features)
        .number("feature", |(_, feature)| base.written(feature.feature))
        .words("name", |(_, feature)| feature.name.as_deref())
        .number("weight", |(_, feature)| feature.weight);
    let (table, shown, all) = (table.text(), features.len(), model.features.len());
    format!("\n{table}\n\n{shown} of {all} features, largest weights first\n")
}

fn path(model: &Model, top: Option<usize>) -> String {
    let steps = model.features.iter().zip(1..);
    let rows = steps.map(|(feature, number)| PathRow {
        step: number,
        feature: model.index_base.written(feature.feature),
        name: feature.name.as_deref(),
        weight: feature.weight,
        lqo_error: feature.lqo_error.unwrap_or_default(),
        lqo_cindex: feature.lqo_cindex,
        identical_columns: feature.identical.len(),
        ..PathRow::default()
    });
    let shown: Vec<_> = rows.take(top.unwrap_or(usize::MAX)).collect();
    path_table(&shown, "squared").text()
}
