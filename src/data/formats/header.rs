//! The first line of a table: its columns of labels, queries and features.

use std::collections::HashMap;

use rankrls_files::error::{Fault, quote};
use rankrls_files::text::utf8;
use rankrls_files::{Parameter, Remedy, Strings};

use super::cells::Cell;
use super::number::{number, remedy};
use super::options::ReadOptions;
use crate::data::missing::Missing;

/// Bytes of a column of the header besides its name. They cover its key, the positions of its separators, and a
/// cell of the present row.
const COLUMN: u64 = 480;

/// The kind of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cells {
    Label,
    Query,
    /// Values of the feature.
    Values(u32),
    /// Cells that nobody asks for.
    Others,
}

/// The columns that the header names.
pub(super) struct Header {
    /// The kind of each column. `None` until it is known.
    cells: Vec<Option<Cells>>,
    pub(super) titles: Vec<String>,
    /// The place of each title.
    places: HashMap<String, usize>,
    /// Names of the features, unless the options give names.
    pub(super) names: Strings,
}

impl Header {
    pub(super) fn new(record: &[Cell<'_>], options: &ReadOptions) -> Result<Self, Fault> {
        if options.names.is_some() {
            let expected = "svmlight text, whose columns have no names, for names in a file";
            return Err(Fault::mismatch(expected, "a table, which names its own"));
        }
        let names = options.columns.as_ref();
        // Names after the last column are ignored.
        let width = options.width.unwrap_or(usize::MAX);
        let is_column = |(feature, _): &(u32, &str)| (*feature as usize) < width;
        let known: Option<Vec<(u32, &str)>> =
            names.map(|names| names.named().filter(is_column).collect());
        if let Some(known) = &known
            && (known.is_empty() || known.iter().any(|(_, name)| name.is_empty()))
        {
            let expected = "names of all features, by which the columns of a table are found";
            let found = "a feature without one in the model or the training data";
            let names = Parameter::Names;
            let remedy = format!("give names by {names} where the model is trained");
            return Err(Fault::new(expected, found).remedy(remedy));
        }
        let titles = titles(record)?;
        let mut header = Self {
            cells: vec![None; titles.len()],
            places: places(&titles, record)?,
            titles,
            names: Strings::default(),
        };
        header.find_rows(options)?;
        let needed = known.as_deref().unwrap_or_default();
        header.leave_out(&options.table.ignore, needed)?;
        match known {
            Some(known) => header.find_features(&known)?,
            None => header.take_features(record)?,
        }
        Ok(header)
    }

    /// The place of the column `title`. Messages say `what` it is.
    fn place(&self, title: &str, what: &str) -> Result<usize, Fault> {
        let title = title.trim_ascii();
        self.places.get(title).copied().ok_or_else(|| {
            let expected = format!("a column {} {what}", quote(title.as_bytes()));
            let found = format!("a header of {}", quote(self.titles.join(" ").as_bytes()));
            Fault::new(expected, found)
        })
    }

    /// Finds the columns of labels and queries.
    fn find_rows(&mut self, options: &ReadOptions) -> Result<(), Fault> {
        let (label, query) = (&options.table.label, &options.table.query);
        match (label, query) {
            (Some(label), Some(query)) if label == query => {
                let found = format!("{} for both", quote(label.as_bytes()));
                return Err(Fault::new("queries in another column than labels", found));
            }
            (None, _) if !options.unlabelled => {
                let fault = Fault::new("the name of the column with the labels", "none");
                return Err(fault.remedy(Remedy::NameLabels));
            }
            _ => {}
        }
        if let Some(label) = label {
            match self.place(label, "of labels") {
                Ok(place) => self.cells[place] = Some(Cells::Label),
                Err(_) if options.unlabelled => {}
                Err(fault) => return Err(fault),
            }
        }
        if let Some(query) = query {
            let what = match options.table.missing {
                Some(Missing::Mean) => "of queries, whose means stand for missing values",
                _ => "of queries",
            };
            let place = self.place(query, what)?;
            self.cells[place] = Some(Cells::Query);
        }
        Ok(())
    }

    /// Leaves out the columns of these names, which must not be needed.
    fn leave_out(&mut self, ignored: &[String], features: &[(u32, &str)]) -> Result<(), Fault> {
        for name in ignored {
            let place = self.place(name, "to leave out")?;
            let is_row = matches!(self.cells[place], Some(Cells::Label | Cells::Query));
            if is_row || features.iter().any(|(_, needed)| needed == name) {
                let expected = "columns to leave out that are not needed";
                return Err(Fault::new(expected, quote(name.as_bytes())));
            }
            for (cells, title) in self.cells.iter_mut().zip(&self.titles) {
                if title == &self.titles[place] {
                    *cells = Some(Cells::Others);
                }
            }
        }
        Ok(())
    }

    /// Finds the columns of known features.
    fn find_features(&mut self, features: &[(u32, &str)]) -> Result<(), Fault> {
        for &(feature, name) in features {
            let place = self.place(name, "for the feature of that name")?;
            let known = match self.cells[place] {
                None => {
                    self.cells[place] = Some(Cells::Values(feature));
                    continue;
                }
                Some(Cells::Values(_)) => "for two features",
                _ => "for a feature and for labels or queries",
            };
            let expected =
                "features with names of their own, by which the columns of a table are found";
            return Err(Fault::new(
                expected,
                format!("{} {known}", quote(name.as_bytes())),
            ));
        }
        Ok(())
    }

    /// Makes features of all other columns.
    fn take_features(&mut self, record: &[Cell<'_>]) -> Result<(), Fault> {
        let columns = self.titles.iter().zip(&mut self.cells).zip(record);
        for ((title, cells), cell) in columns {
            if cells.is_some() {
                continue;
            }
            if title.is_empty() || is_unnamed(title) {
                let found = match &**title {
                    "" => "one without a name".to_owned(),
                    title => format!("{}, an index", quote(title.as_bytes())),
                };
                let fault = Fault::new("columns of features", found).at_column(cell.column);
                return Err(fault.remedy(Remedy::Ignore(title.clone())));
            }
            // No header in memory has more columns than 32 bits count.
            let feature = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            *cells = Some(Cells::Values(feature));
            self.names.push(title);
        }
        Ok(())
    }

    /// The kind of the cells of the column at a place.
    pub(super) fn cells(&self, place: usize) -> Cells {
        self.cells
            .get(place)
            .copied()
            .flatten()
            .unwrap_or(Cells::Others)
    }

    /// Bytes held, names included.
    pub(super) fn memory(&self) -> u64 {
        let names = self.titles.iter().map(|title| 4 * title.len() as u64);
        names.map(|name| name + COLUMN).sum()
    }
}

/// The titles in a header, with blanks in place of line breaks. Refuses a number: the line is a row of data.
fn titles(record: &[Cell<'_>]) -> Result<Vec<String>, Fault> {
    let mut titles = Vec::with_capacity(record.len());
    for cell in record {
        let text = utf8(&cell.text, cell.column - 1, "a name in UTF-8")?;
        let title = text.trim_ascii().replace(['\n', '\r'], " ");
        if number(title.as_bytes()).is_ok() || remedy(title.as_bytes()).is_some() {
            let fault = Fault::new("names of columns", quote(title.as_bytes()));
            let remedy = "write a header before the first row, or give the column another name";
            return Err(fault.at_column(cell.column).remedy(remedy));
        }
        titles.push(title);
    }
    Ok(titles)
}

/// The place of each title. Empty titles may repeat.
fn places(titles: &[String], record: &[Cell<'_>]) -> Result<HashMap<String, usize>, Fault> {
    let mut places = HashMap::new();
    for (place, title) in titles.iter().enumerate() {
        if places.insert(title.clone(), place).is_some() && !title.is_empty() {
            let found = format!("{} again", quote(title.as_bytes()));
            let fault = Fault::new("a header with each name once", found);
            return Err(fault.at_column(record[place].column));
        }
    }
    Ok(places)
}

/// Whether pandas made this name for a nameless column: `Unnamed: 0`, or `Unnamed: 0.1` on a second writing.
fn is_unnamed(title: &str) -> bool {
    let number = title.strip_prefix("Unnamed: ");
    number.is_some_and(|number| number.starts_with(|char: char| char.is_ascii_digit()))
}
