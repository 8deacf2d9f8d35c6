//! svmlight / LETOR files.

use std::io::Read;
use std::path::Path;

use crate::dataset::IndexBase;

use super::error::ReadError;
use super::input::Source;
use super::piece::Lines;
use super::text::Text;
use super::{Loaded, ReadOptions};

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    read_source(Source::open(path, options.max_memory)?, options)
}

pub(super) fn read_from(
    reader: impl Read + Send,
    name: &str,
    options: &ReadOptions,
) -> Result<Loaded, ReadError> {
    read_source(Source::new(reader, name, options.max_memory)?, options)
}

fn read_source(source: Source<'_>, options: &ReadOptions) -> Result<Loaded, ReadError> {
    let base = if options.zero_based {
        IndexBase::Zero
    } else {
        IndexBase::One
    };
    let text = Text::read(source, options.plan(Lines::Svmlight, base, 0))?;
    options.build(text, base)
}
