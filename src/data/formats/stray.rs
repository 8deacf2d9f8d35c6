//! Stray quotes: whether a record of several lines is certainly one row.
//!
//! A surplus quote opens a cell that swallows rows, up to the next quote that ends a cell. So a record is read in
//! all other ways, too. Up to [`STRAY`] of its quotes are then stray, and any of its lines belong to no row. The
//! record is refused if another reading has several rows, or a row of other numbers. A row that differs only in its
//! query is often the end of a text with commas. [`check`] returns its identifier, which reveals a row if the table
//! has such a query.

use super::cells::Cell;
use super::header::{Cells, Header};
use super::number::{is_missing, number};
use super::token::cell_id;

/// Most stray quotes of a record.
const STRAY: u8 = 2;

/// Most readings of a record at one byte. No real text has as many.
const MOST_READINGS: usize = 1000;

/// A record that may be several rows.
pub(super) struct SeveralRows;

/// The place within a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    Begin,
    Plain,
    Quoted,
    Ended,
}

/// A way to read a record up to some byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    /// Quotes read as stray.
    stray: u8,
    /// Whether a row has come before.
    has_row: bool,
    /// The number of the cell in its row.
    place: usize,
    within: Within,
    /// Where the cell begins, if that matters.
    begin: usize,
    /// Whether a number differs from the record's.
    differs: bool,
    /// The place of the query, if it differs from the record's.
    other_id: Option<(usize, usize)>,
}

impl Reading {
    /// The reading at the beginning of a line, after `stray` stray quotes.
    fn line(begin: usize, stray: u8, has_row: bool) -> Self {
        Self {
            stray,
            has_row,
            place: 0,
            within: Within::Begin,
            begin,
            differs: false,
            other_id: None,
        }
    }

    /// The readings behind `quotes` quotes in a row, of which some are stray. `ends` tells whether the next byte
    /// ends a cell.
    fn after_quotes(self, quotes: usize, ends: bool) -> impl Iterator<Item = Self> {
        let most = usize::from(STRAY - self.stray).min(quotes);
        (0..=most).filter_map(move |stray| {
            let left = quotes - stray;
            let inner = match self.within {
                // In a cell without an opening quote, quotes are text.
                Within::Plain | Within::Ended => return (stray == 0).then_some(self),
                Within::Begin if left == 0 => None,
                Within::Begin => Some(left - 1),
                Within::Quoted => Some(left),
            };
            let within = match inner {
                None => Within::Plain,
                Some(inner) if inner % 2 == 0 => Within::Quoted,
                Some(_) if ends => Within::Ended,
                Some(_) => return None,
            };
            let stray = self.stray + u8::try_from(stray).unwrap_or(STRAY);
            Some(Self {
                stray,
                within,
                ..self
            })
        })
    }
}

/// A record of several lines, and its row.
struct Record<'r> {
    bytes: &'r [u8],
    /// The cells of the record's row.
    row: &'r [Cell<'r>],
    header: Option<&'r Header>,
    may_miss: bool,
    /// The fewest stray quotes with which a row has come before.
    row_before: Option<u8>,
    other_ids: Vec<String>,
}

/// The identifiers of other queries that rows within the record of `bytes` may have; the record reads as `row`. If
/// numbers `may_miss`, words for missing values count as numbers. Before the header is known, all cells are text.
pub(super) fn check(
    bytes: &[u8],
    delimiter: u8,
    row: &[Cell<'_>],
    header: Option<&Header>,
    may_miss: bool,
) -> Result<Vec<String>, SeveralRows> {
    let mut record = Record {
        bytes,
        row,
        header,
        may_miss,
        row_before: None,
        other_ids: Vec::new(),
    };
    let mut readings = vec![Reading::line(0, 0, false)];
    let mut at = 0;
    while at <= bytes.len() {
        let next = memchr::memchr3(b'"', delimiter, b'\n', &bytes[at..]);
        let next = next.map_or(bytes.len(), |length| at + length);
        record.begin_text(&mut readings, next);
        at = next + 1;
        readings = match bytes.get(next) {
            Some(b'"') => {
                let other = bytes[next..].iter().position(|&byte| byte != b'"');
                at = other.map_or(bytes.len(), |length| next + length);
                let ends = bytes
                    .get(at)
                    .is_none_or(|&byte| byte == delimiter || byte == b'\n');
                let after = |reading: Reading| reading.after_quotes(at - next, ends);
                readings.into_iter().flat_map(after).collect()
            }
            Some(&byte) if byte == delimiter => {
                let cells = readings.into_iter();
                cells
                    .filter_map(|reading| record.end_cell(reading, next))
                    .collect()
            }
            _ => record.end_line(readings, next)?,
        };
        readings.sort_unstable();
        readings.dedup();
        if readings.len() > MOST_READINGS {
            return Err(SeveralRows);
        }
    }
    Ok(record.other_ids)
}

impl Record<'_> {
    fn is_text(&self, place: usize) -> bool {
        let cells = self.header.map(|header| header.cells(place));
        matches!(cells, None | Some(Cells::Others))
    }

    /// Cells that began before `at` have no opening quote. Readings that differ only in where a text began merge.
    fn begin_text(&self, readings: &mut [Reading], at: usize) {
        for reading in readings {
            if reading.within == Within::Begin && reading.begin < at {
                reading.within = Within::Plain;
            }
            if reading.within != Within::Begin && self.is_text(reading.place) {
                reading.begin = 0;
            }
        }
    }

    /// The reading behind the delimiter or line end `at`. `None` if its cell cannot be sound.
    fn end_cell(&mut self, mut reading: Reading, at: usize) -> Option<Reading> {
        if reading.within == Within::Quoted {
            return Some(reading);
        }
        let own = self.row.get(reading.place)?;
        let (own, cell) = (plain(&own.text), reading.begin..at);
        match self.header.map(|header| header.cells(reading.place)) {
            None | Some(Cells::Others) => {}
            Some(Cells::Query) => {
                let id = plain(&self.bytes[cell.clone()]);
                cell_id(&id, 0, "").ok()?;
                reading.other_id = (id != own).then_some((cell.start, cell.end));
            }
            Some(Cells::Label | Cells::Values(_)) => {
                let value = self.value(&plain(&self.bytes[cell]))?;
                reading.differs |= self.value(&own) != Some(value);
            }
        }
        Some(Reading {
            place: reading.place + 1,
            within: Within::Begin,
            begin: at + 1,
            ..reading
        })
    }

    /// The bits of the number in a cell, or of nan for a missing one.
    fn value(&self, cell: &[u8]) -> Option<u64> {
        let value = match (number(cell), cell) {
            // Makes -0 and 0 equal.
            (Ok(value), _) => value + 0.0,
            (Err(_), b"True" | b"true" | b"TRUE") => 1.0,
            (Err(_), b"False" | b"false" | b"FALSE") => 0.0,
            (Err(_), _) if self.may_miss && is_missing(cell) => f64::NAN,
            _ => return None,
        };
        Some(value.to_bits())
    }

    /// The readings behind the line end `at`.
    fn end_line(&mut self, readings: Vec<Reading>, at: usize) -> Result<Vec<Reading>, SeveralRows> {
        let mut next = Vec::new();
        for reading in readings {
            if reading.within == Within::Quoted {
                // A number or identifier in a swallowed row has no line break.
                next.extend(self.is_text(reading.place).then_some(reading));
                continue;
            }
            let row = self.end_cell(reading, at);
            let Some(row) = row.filter(|row| row.place == self.row.len()) else {
                continue;
            };
            if row.differs || row.has_row {
                return Err(SeveralRows);
            }
            if let Some((begin, end)) = row.other_id {
                let id = plain(&self.bytes[begin..end]);
                self.other_ids.push(String::from_utf8_lossy(&id).into());
            }
            let before = self.row_before.unwrap_or(STRAY);
            self.row_before = Some(before.min(row.stray));
        }
        next.push(Reading::line(at + 1, 0, false));
        let after_row = self.row_before;
        next.extend(after_row.map(|stray| Reading::line(at + 1, stray, true)));
        Ok(next)
    }
}

/// A cell without its quotes.
pub(super) fn plain(cell: &[u8]) -> Vec<u8> {
    let text = cell.iter().copied().filter(|&byte| byte != b'"');
    text.collect::<Vec<u8>>().trim_ascii().to_vec()
}
