//! `rankrls inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::model::SelectedFeature;
use rankrls::plot::{self, Figure};
use rankrls::{Model, StrategyKind};

use super::figures::PlotArgs;
use super::numbers::{counted, exact, printable, short};
use super::output::print;
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
  rankrls inspect model.json --members
  rankrls inspect model.json --plot weights.svg
  rankrls inspect model.json --top 100
  rankrls inspect model.json --json")]
pub(crate) struct InspectArgs {
    /// Model that `select -o` or `train -o` wrote; - is standard input
    model: PathBuf,
    /// List the columns that are identical to each feature (the JSON always has them)
    #[arg(long)]
    members: bool,
    #[command(flatten)]
    plot: PlotArgs,
    /// Show the first N features [default: 20 of a model without selection, else all]
    #[arg(long, value_name = "N", conflicts_with = "json")]
    top: Option<usize>,
    /// Print the model as one JSON document
    #[arg(long)]
    json: bool,
}

/// The `most` largest weights of a model by name or number.
fn weights(model: &Model, most: usize) -> Figure {
    let selected = model.strategy().is_selection();
    let origin = if selected {
        format!("selected by {}", model.strategy())
    } else {
        "trained without selection".to_owned()
    };
    let weight = |feature: &SelectedFeature| {
        let number = model.index_base().written(feature.feature);
        let name = feature.name.clone().filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("feature {number}"));
        (name, feature.weight)
    };
    let weights = model.features().iter().map(weight).collect();
    let origin = format!(
        "at lambda {}, {origin}",
        short(model.settings().lambda.value())
    );
    plot::weights(&origin, weights, selected, most)
}

pub(crate) fn run(args: &InspectArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.plot.check()?;
    let plot = args.plot.create(session)?;
    let model = Model::read(&args.model)?;
    if model.expansion().is_some() && (plot.is_some() || args.members) {
        bail!("the model has no features: its kernel compares rows");
    }
    if let Some(plot) = plot {
        plot.write(weights(&model, args.top.unwrap_or(DRAWN)))?;
    }
    if args.json {
        print(|output| model.write_to(output))?;
        return Ok(session.code());
    }
    let mut text = heading(&model);
    if model.strategy().is_selection() {
        let _ = writeln!(text, "\n{}", path(&model, args.top));
        let strategy = model.settings().strategy;
        if strategy.is_some_and(StrategyKind::distils) {
            text += BIASED;
        }
    } else if args.members {
        bail!(
            "nothing was selected for this model: each of its features has its own weight, and \
             none stands for others"
        );
    } else if let Some(expansion) = model.expansion() {
        let kernel = expansion.kernel();
        let gamma = kernel
            .gamma()
            .map_or_else(String::new, |gamma| format!(", gamma {}", exact(gamma)));
        let rows = counted(expansion.rows().len(), "row");
        let _ = writeln!(text, "kernel {}{gamma}, over {rows}", kernel.kind());
    } else {
        text += &largest(&model, args.top.unwrap_or(LARGEST));
    }
    if args.members {
        let _ = write!(text, "\n{}", members(&model));
    }
    print(|output| output.write_all(text.as_bytes()))?;
    Ok(session.code())
}

fn heading(model: &Model) -> String {
    let data = model.data();
    let mut text = format!(
        "strategy {}, lambda {}{}",
        model.strategy(),
        short(model.settings().lambda.value()),
        settings(model.settings()),
    );
    if !model.objective().is_query() {
        let _ = write!(text, ", objective {}", model.objective());
    }
    let [rows, queries, columns, nonzeros, constant, classes] = [
        (data.rows, "row"),
        (data.queries, "query"),
        (data.columns, "column"),
        (data.nonzeros, "non-zero"),
        (data.constant_columns, "column"),
        (data.column_classes, "column class"),
    ]
    .map(|(count, noun)| counted(count, noun));
    let first = model.index_base().first();
    let _ = writeln!(
        text,
        "\ntrained on {rows}, {queries}, {columns} from {first} on, {nonzeros}\n{constant} \
         constant in every query, {classes}\nBLAKE3 {}",
        data.hash
    );
    text
}

/// Features shown of a model without selection.
const LARGEST: usize = 20;

/// The features of the largest weights.
fn largest(model: &Model, top: usize) -> String {
    let mut features: Vec<_> = model.features().iter().collect();
    features.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    let (all, shown) = (features.len(), features.len().min(top));
    let base = model.index_base();
    let table = Sheet::of(&features[..shown])
        .number("feature", |feature| base.written(feature.feature))
        .words("name", |feature| feature.name.as_deref())
        .number("weight", |feature| feature.weight);
    format!(
        "\n{}\n\n{shown} of {all} features, largest weights first\n",
        table.text()
    )
}

fn path(model: &Model, top: Option<usize>) -> String {
    let rows = model.features().iter().zip(model.path()).zip(1..);
    let rows = rows.map(|((feature, step), number)| PathRow {
        step: number,
        feature: model.index_base().written(feature.feature),
        name: feature.name.as_deref(),
        weight: feature.weight,
        lqo_error: step.lqo_error,
        lqo_cindex: step.lqo_cindex,
        identical_columns: feature.identical.len(),
        ..PathRow::default()
    });
    let rows: Vec<_> = rows.take(top.unwrap_or(usize::MAX)).collect();
    path_table(&rows, "squared")
}

fn members(model: &Model) -> String {
    let base = model.index_base();
    let mut text = String::new();
    for feature in model.features() {
        let _ = write!(text, "identical to {}", base.written(feature.feature));
        if let Some(name) = &feature.name {
            let _ = write!(text, " ({})", printable(name));
        }
        text.push(':');
        for &column in &feature.identical {
            let _ = write!(text, " {}", base.written(column));
        }
        text += if feature.identical.is_empty() {
            " none\n"
        } else {
            "\n"
        };
    }
    text
}
