//! `rankrls inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::greedy::{ExpectedDivergence, FeatureDivergence, GradeDensity};
use rankrls::model::{FeatureChoice, SelectedFeature};
use rankrls::plot::{self, Figure, LinePlot, Series};
use rankrls::{Dataset, Model};
use serde::Serialize;

use super::args::usage;
use super::console::Console;
use super::data::{DataArgs, check_one_stdin};
use super::output::{
    PlotArgs, counted, format_exact, measure, number, or_dash, print, print_report, printable,
    table,
};
use super::report::{FLATTERS, PathRow, path_table, settings};

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
  rankrls inspect model.json --densities 3 --data train.svm --plot 3.svg
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
    /// Show how the values of a feature, by its number or name, lie apart from grade to grade in
    /// --data, as the strategy fs-ed judges it; --plot draws the densities
    #[arg(long, value_name = "FEATURE", requires = "path")]
    #[arg(conflicts_with_all = ["members", "top"])]
    densities: Option<String>,
    /// Data with the columns of the model
    #[arg(long = "data", value_name = "DATA", requires = "densities")]
    path: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the model, or the densities, as one JSON document
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
    let origin = format!("at lambda {}, {origin}", model.lambda());
    plot::weights(&origin, weights, selected, most)
}

pub(crate) fn run(args: &InspectArgs, console: Console) -> Result<()> {
    check_one_stdin(&[Some(&args.model), args.path.as_ref()])?;
    args.plot.check(None)?;
    let plot = args.plot.create()?;
    let model = Model::read(&args.model)?;
    if let (Some(feature), Some(path)) = (&args.densities, &args.path) {
        let loaded = args.data.read_for(&model, path, false, console)?;
        let feature = column(&model, &loaded.dataset, feature)?;
        let filter = ExpectedDivergence::new(&loaded.dataset);
        let filter = filter.with_context(|| path.display().to_string())?;
        let report = Densities::new(&model, &loaded.dataset, &filter, feature)?;
        if let Some(plot) = plot {
            plot.write(report.figure())?;
        }
        return print_report(args.json, &report, || report.text());
    }
    if model.expansion().is_some() && (plot.is_some() || args.members) {
        bail!("the model has no features: its kernel compares rows");
    }
    if let Some(plot) = plot {
        plot.write(weights(&model, args.top.unwrap_or(DRAWN)))?;
    }
    if args.json {
        return print(|output| model.write_to(output));
    }
    let mut text = heading(&model);
    if model.strategy().is_selection() {
        let _ = writeln!(text, "\n{}", path(&model, args.top));
        if matches!(model.strategy(), FeatureChoice::Strategy(kind) if kind.distils()) {
            text += FLATTERS;
        }
    } else if args.members {
        bail!(
            "nothing was selected for this model: each of its features has its own weight, and \
             none stands for others"
        );
    } else if let Some(expansion) = model.expansion() {
        let kernel = expansion.kernel();
        let gamma = kernel.gamma().map_or_else(String::new, |gamma| {
            format!(", gamma {}", format_exact(gamma))
        });
        let rows = counted(expansion.rows().len(), "row");
        let _ = writeln!(text, "kernel {}{gamma}, over {rows}", kernel.kind());
    } else {
        text += &largest(&model, args.top.unwrap_or(LARGEST));
    }
    if args.members {
        let _ = write!(text, "\n{}", members(&model));
    }
    print(|output| output.write_all(text.as_bytes()))
}

fn heading(model: &Model) -> String {
    let data = model.data();
    let sampler = model.sampler().map(|sampler| (sampler.size, sampler.seed));
    let mut text = format!(
        "strategy {}, lambda {}{}",
        model.strategy(),
        format_exact(model.lambda().value()),
        settings(model.scale(), sampler, &model.target()),
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
    let named = features.iter().any(|feature| feature.name.is_some());
    let header: &[&str] = if named {
        &["feature", "name", "weight"]
    } else {
        &["feature", "weight"]
    };
    let mut table = table(header);
    for feature in features.iter().take(top) {
        let mut cells = vec![model.index_base().written(feature.feature).to_string()];
        if named {
            cells.push(printable(feature.name.as_deref().unwrap_or_default()));
        }
        cells.push(number(feature.weight));
        table.add_row(cells);
    }
    let (all, shown) = (features.len(), features.len().min(top));
    format!(
        "\n{}\n\n{shown} of {all} features, largest weights first\n",
        table.trim_fmt()
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

/// Values at which densities are drawn.
const POINTS: usize = 300;

/// The 0-based column with a number or a name.
fn column(model: &Model, data: &Dataset<'_>, feature: &str) -> Result<u32> {
    let known = model.features().iter();
    let mut known = known.filter(|known| known.name.as_deref() == Some(feature));
    if let Some(known) = known.next() {
        return Ok(known.feature);
    }
    let mut names = data
        .names()
        .into_iter()
        .flat_map(rankrls::FeatureNames::iter);
    if let Some(column) = names.position(|name| name == feature) {
        return Ok(u32::try_from(column)?);
    }
    let (first, columns) = (
        u64::from(model.index_base().first()),
        model.data().columns as u64,
    );
    let number = feature
        .parse()
        .ok()
        .and_then(|number: u64| number.checked_sub(first));
    match number.filter(|column| *column < columns) {
        Some(column) => Ok(u32::try_from(column)?),
        None => Err(usage(format_args!(
            "--densities: expected a number from {first} to {} or the name of a feature, found \
             {feature:?}",
            columns - 1 + first
        ))),
    }
}

/// How a feature lies apart from grade to grade, in the schema `rankrls.densities/1`.
#[derive(Debug, Serialize)]
struct Densities {
    schema: &'static str,
    feature: u64,
    name: Option<String>,
    ndcg: f64,
    /// Whether smaller values are better.
    ascending: bool,
    divergence: f64,
    psi: f64,
    /// Whether zeros are an atom beside the densities.
    sparse: bool,
    grades: Vec<Density>,
    pairs: Vec<Pair>,
    #[serde(skip)]
    curves: Vec<GradeDensity>,
}

#[derive(Debug, Serialize)]
struct Density {
    grade: f64,
    rows: usize,
    zeros: Option<f64>,
    bandwidth: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Pair {
    lower: f64,
    upper: f64,
    divergence: f64,
}

impl Densities {
    fn new(
        model: &Model,
        data: &Dataset<'_>,
        filter: &ExpectedDivergence<'_>,
        column: u32,
    ) -> Result<Self> {
        let feature = model.index_base().written(column);
        let found = filter.feature(column).zip(filter.densities(column, POINTS));
        let Some((found, curves)) = found else {
            bail!("feature {feature} is constant in the data: there are no densities to compare");
        };
        let mut known = model.features().iter();
        let known = known.find(|known| known.feature == column);
        let name = known.and_then(|known| known.name.clone());
        let name = name.or_else(|| data.name_of(column).map(str::to_owned));
        let FeatureDivergence {
            ndcg,
            divergence,
            psi,
            sparse,
            ..
        } = found;
        let grades = curves.iter().zip(&found.bandwidths);
        let grade = |(curve, &bandwidth): (&GradeDensity, &Option<f64>)| Density {
            grade: curve.grade,
            rows: curve.rows,
            zeros: curve.zeros,
            bandwidth,
        };
        let values = filter.grades();
        let pair = |&(lower, upper, divergence): &(usize, usize, f64)| Pair {
            lower: values[lower],
            upper: values[upper],
            divergence,
        };
        Ok(Self {
            schema: "rankrls.densities/1",
            feature,
            name: name.filter(|name| !name.is_empty()),
            ndcg,
            ascending: found.ascending > found.descending,
            divergence,
            psi,
            sparse,
            grades: grades.map(grade).collect(),
            pairs: found.pairs.iter().map(pair).collect(),
            curves,
        })
    }

    fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("feature {} ({})", self.feature, printable(name)),
            None => format!("feature {}", self.feature),
        }
    }

    /// What the strategy makes of the feature.
    fn judgement(&self) -> String {
        let direction = if self.ascending { "rising" } else { "falling" };
        let (ndcg, divergence, psi) = (self.ndcg, self.divergence, self.psi);
        format!(
            "NDCG@10 {ndcg:.4} by {direction} values, expected divergence {divergence:.4}, psi \
             {psi:.4}"
        )
    }

    fn text(&self) -> String {
        let mut grades = table(&["grade", "rows", "zeros", "bandwidth"]);
        for grade in &self.grades {
            grades.add_row([
                format_exact(grade.grade),
                grade.rows.to_string(),
                measure(grade.zeros),
                or_dash(grade.bandwidth, number),
            ]);
        }
        let mut pairs = table(&["grade", "and", "divergence"]);
        for pair in &self.pairs {
            let [lower, upper] = [pair.lower, pair.upper].map(format_exact);
            pairs.add_row([lower, upper, measure(Some(pair.divergence))]);
        }
        let (grades, pairs) = (grades.trim_fmt(), pairs.trim_fmt());
        format!(
            "{}: {}\n\n{grades}\n\n{pairs}\n",
            self.title(),
            self.judgement()
        )
    }

    fn figure(&self) -> Figure {
        let mut plot = LinePlot::new(self.title(), "density");
        plot.parameter = Some("grade".to_owned());
        let mut note = self.judgement();
        for curve in &self.curves {
            let points = curve.curve.iter().map(|&(x, y)| (x, Some(y)));
            plot = plot.series(Series::new(format_exact(curve.grade), points));
            if let Some(zeros) = curve.zeros {
                let grade = format_exact(curve.grade);
                let _ = write!(note, "; {:.2}% of grade {grade} are zeros", 100.0 * zeros);
            }
        }
        Figure::new(format!("Densities of {} by grade", self.title()))
            .note(note)
            .lines(plot)
    }
}
