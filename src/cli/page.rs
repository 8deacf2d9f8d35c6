//! What pages share: the style sheet, tables, and where a page comes from.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use rankrls::plot::escaped;

use super::output::counted;

pub(crate) const STYLE: &str = "\
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

/// Rows under titles.
pub(crate) struct Rows {
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The program, the command, the day and the machine.
pub(crate) fn origin() -> String {
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

/// Year, month and day that are so many days after the first of January 1970: years begin in
/// March, so that a leap day is their last one, and 400 of them are 146,097 days.
fn date(days: u64) -> [u64; 3] {
    let (era, day) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let after_december = u64::from(month > 9);
    let month = month + 3 - 12 * after_december;
    [400 * era + year + after_december, month, day]
}

/// The name of the processor, where the system tells.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// A table with these attributes, and this tag for each of its rows.
pub(crate) fn table(attributes: &str, rows: &Rows, tag: impl Fn(usize) -> &'static str) -> String {
    let mut html =
        format!("<div class=\"scroll\" tabindex=\"0\">\n<table{attributes}>\n<thead><tr>");
    for title in &rows.titles {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(title));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (number, row) in rows.rows.iter().enumerate() {
        html += tag(number);
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
