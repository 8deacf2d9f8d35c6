//! The report as a page that needs nothing but a browser.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use rankrls::compare::{self, Comparison};
use rankrls::plot::{Figure, escaped};

use super::summary::{answers, failure};
use super::tables::{Rows, costs, findings, measures};
use crate::cli::output::{counted, format_exact};

const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#ffffff;--ink:#1b1f24;--soft:#57606a;--line:#d5dae0;\
--card:#f4f6f8;--mark:#1f6fb4}
@media (prefers-color-scheme:dark){:root{--paper:#14161a;--ink:#e8eaed;--soft:#a4acb6;\
--line:#353b43;--card:#1d2127;--mark:#6db3f2}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.25rem 1rem 3rem;max-width:72rem;background:var(--paper);\
color:var(--ink);line-height:1.5;\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2.25rem 0 .5rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:.92rem}
.answers{display:grid;gap:.75rem;margin:1.25rem 0 0;\
grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
.answers>div{background:var(--card);border-left:4px solid var(--mark);border-radius:.4rem;\
padding:.7rem .9rem;overflow-wrap:anywhere}
dt{font-weight:650}
dd{margin:.15rem 0 0}
.scroll{overflow-x:auto;max-width:100%;margin:0 0 1.25rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.35rem .8rem .35rem 0;text-align:right;white-space:nowrap;\
border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
th:first-child,td:first-child{text-align:left}
tr.exact td:first-child{font-weight:650}
.names th,.names td{text-align:left}
code{overflow-wrap:anywhere}
.failed{color:var(--soft)}
";

/// The whole page.
pub(super) fn page(comparison: &Comparison) -> String {
    let title = format!("Strategies on {}", comparison.task.file);
    let title = escaped(&title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n"
    );
    html += &what(comparison);
    html += &at_a_glance(comparison);
    html += &diagrams(comparison);
    html += &features(comparison);
    html += &tables(comparison);
    let _ = writeln!(html, "{}</main>\n</body>\n</html>", origin());
    html
}

/// The program, the command, the day and the machine.
fn origin() -> String {
    let arguments = std::env::args().skip(1).map(|argument| {
        let plain = |char: char| char.is_alphanumeric() || "-_./,:=@+%".contains(char);
        if !argument.is_empty() && argument.chars().all(plain) {
            argument
        } else {
            format!("'{}'", argument.replace('\'', "'\\''"))
        }
    });
    let command = arguments.collect::<Vec<_>>().join(" ");
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = seconds.map_or(0, |since| since.as_secs() / 86_400);
    let [year, month, day] = date(days);
    let threads = counted(rayon::current_num_threads(), "thread");
    let machine = [processor().unwrap_or_default(), threads].join(", ");
    format!(
        "<p class=\"soft\">Made by rankrls {} on {year}-{month:02}-{day:02} with</p>\n\
         <p class=\"soft\"><code>rankrls {}</code></p>\n<p class=\"soft\">{}</p>\n",
        env!("CARGO_PKG_VERSION"),
        escaped(&command),
        escaped(machine.trim_start_matches(", "))
    )
}

/// Year, month and day that are so many days after the first of January 1970.
fn date(days: u64) -> [u64; 3] {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut days, mut year) = (days, 1970);
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    [year, month, days + 1]
}

/// The name of the processor, where the system tells.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The features by name, in order of selection: of each contestant its first run.
fn features(comparison: &Comparison) -> String {
    let named = compare::named(comparison);
    let runs: Vec<_> = named
        .iter()
        .filter_map(|(name, entry)| Some((name, entry.runs.first()?)))
        .collect();
    let mut html = "<section>\n<h2>Selected features</h2>\n".to_owned();
    if runs.iter().any(|(_, run)| run.seed.is_some()) {
        html += "<p class=\"soft\">Of several seeds the first.</p>\n";
    }
    html += "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"names\">\n<thead><tr>\
             <th scope=\"col\">step</th>";
    for (name, _) in &runs {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    let most = runs
        .iter()
        .map(|(_, run)| run.steps.len())
        .max()
        .unwrap_or(0);
    for step in 0..most {
        let _ = write!(html, "<tr><td>{}</td>", step + 1);
        for (_, run) in &runs {
            let name = run.steps.get(step).map(|step| {
                let index = step.feature.to_string();
                step.name
                    .clone()
                    .filter(|name| !name.is_empty())
                    .unwrap_or(index)
            });
            let _ = write!(html, "<td>{}</td>", escaped(&name.unwrap_or_default()));
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n</section>\n"
}

/// What was compared.
fn what(comparison: &Comparison) -> String {
    let task = &comparison.task;
    let mut html = String::new();
    if let Some(data) = comparison.data {
        let _ = writeln!(
            html,
            "<p class=\"soft\">{} rows, {} queries, {} columns in {} classes, {} non-zeros; \
             {} features, lambda {}.</p>",
            data.rows,
            data.queries,
            data.columns,
            data.column_classes,
            data.nonzeros,
            task.k,
            format_exact(task.lambda)
        );
    }
    if let (Some(file), Some(test)) = (&task.test_file, &comparison.test) {
        let _ = writeln!(
            html,
            "<p class=\"soft\">Test data {}: {} rows, {} queries; convention {}.</p>",
            escaped(file),
            test.rows,
            test.queries,
            escaped(&test.convention)
        );
    }
    html
}

fn at_a_glance(comparison: &Comparison) -> String {
    let mut html = "<dl class=\"answers\">\n".to_owned();
    for (question, answer) in answers(comparison) {
        let (question, answer) = (escaped(question), escaped(&answer));
        let _ = writeln!(html, "<div><dt>{question}</dt><dd>{answer}</dd></div>");
    }
    html += "</dl>\n";
    for entry in comparison.strategies.iter().filter(|entry| !entry.ran()) {
        let _ = writeln!(
            html,
            "<p class=\"failed\">{}.</p>",
            escaped(&failure(entry))
        );
    }
    html
}

fn diagrams(comparison: &Comparison) -> String {
    let mut html = section("Time and memory", &compare::costs(comparison));
    html += &section(
        "Error against the number of features",
        &compare::errors(comparison),
    );
    if let Some(figure) = compare::test_measures(comparison) {
        html += &section("Measures of the test data", &figure);
    }
    if let Some(figure) = compare::overlaps(comparison) {
        html += &section("Overlap with the exact selection", &figure);
    }
    html
}

/// The diagrams of the page in one.
pub(super) fn figure(comparison: &Comparison) -> Figure {
    let mut all = Figure::new(format!("Strategies on {}", comparison.task.file));
    let always = [compare::costs(comparison), compare::errors(comparison)];
    let others = [
        compare::test_measures(comparison),
        compare::overlaps(comparison),
    ];
    for figure in always.into_iter().chain(others.into_iter().flatten()) {
        all.panels.extend(figure.panels);
    }
    all
}

fn section(title: &str, figure: &Figure) -> String {
    // Within a page the name space goes without saying.
    let fragment = figure.to_html_fragment();
    let fragment = fragment.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
    format!("<section>\n<h2>{title}</h2>\n{fragment}</section>\n")
}

fn tables(comparison: &Comparison) -> String {
    let mut html = "<section>\n<h2>All figures</h2>\n".to_owned();
    if comparison
        .strategies
        .iter()
        .any(|entry| entry.runs.len() > 1)
    {
        html += "<p class=\"soft\">Means of several runs, ± their standard deviation.</p>\n";
    }
    html += &table(&costs(comparison), comparison);
    html += &table(&findings(comparison), comparison);
    if let Some(measures) = measures(comparison) {
        html += &table(&measures, comparison);
    }
    html + "</section>\n"
}

fn table(rows: &Rows, comparison: &Comparison) -> String {
    let mut html = "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr>".to_owned();
    for title in &rows.titles {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(title));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (row, entry) in rows.rows.iter().zip(&comparison.strategies) {
        html += match (entry.ran(), entry.exact) {
            (false, _) => "<tr class=\"failed\">",
            (true, true) => "<tr class=\"exact\">",
            (true, false) => "<tr>",
        };
        for cell in row {
            let _ = write!(html, "<td>{}</td>", escaped(cell));
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_have_dates() {
        for (days, expected) in [
            (0, [1970, 1, 1]),
            (58, [1970, 2, 28]),
            (59, [1970, 3, 1]),
            (11_016, [2000, 2, 29]),
            (11_017, [2000, 3, 1]),
            (20_453, [2025, 12, 31]),
            (20_454, [2026, 1, 1]),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
