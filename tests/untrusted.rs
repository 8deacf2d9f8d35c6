//! Readers of untrusted bytes: the properties of `tests/fuzz`, on drawn bytes and on inputs that fuzzing found.

#[path = "fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library for the fuzz targets")]
mod properties;

#[path = "support/long.rs"]
mod long;

use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use long::long;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// One test at a time, because the memory of the whole process is measured.
static ALONE: Mutex<()> = Mutex::new(());

/// The inputs that fuzzing found for a reader, and kept.
fn kept(reader: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/kept");
    let file = std::fs::File::open(folder.join(format!("{reader}.tar.zst"))).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    let mut inputs = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let mut input = Vec::new();
            entry.read_to_end(&mut input).unwrap();
            inputs.push(input);
        }
    }
    inputs
}

#[test]
fn what_fuzzing_found_is_read_or_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    println!("| reader | inputs | refused |\n|---|---:|---:|");
    for (reader, property) in properties::ALL {
        let inputs = kept(reader);
        let refused = inputs.iter().filter(|input| !property(input)).count();
        println!("| `{reader}` | {} | {refused} |", inputs.len());
        assert!(refused >= 20, "{reader} refused {refused} inputs");
        assert!(refused < inputs.len(), "{reader} reads nothing");
    }
}

/// Damage to an input: changed bytes, and a piece that is removed, doubled or moved.
#[derive(Debug, Clone)]
enum Damage {
    Change(usize, u8),
    Cut(usize, usize),
    Double(usize, usize),
    Insert(usize, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<usize>();
    let length = 1..40_usize;
    // Bytes with a meaning in some format.
    let telling = prop::sample::select(b"\0\n\r\t #:,.-+eE0129()[]{}\"\\_\xff\x93".to_vec());
    prop_oneof![
        (place, prop_oneof![telling.clone(), any::<u8>()])
            .prop_map(|(place, byte)| Damage::Change(place, byte)),
        (place, length.clone()).prop_map(|(place, length)| Damage::Cut(place, length)),
        (place, length).prop_map(|(place, length)| Damage::Double(place, length)),
        (place, vec(telling, 1..12)).prop_map(|(place, bytes)| Damage::Insert(place, bytes)),
    ]
}

impl Damage {
    fn on(&self, input: &mut Vec<u8>) {
        let within = |place: usize, length: usize| {
            let start = place % (input.len() + 1);
            start..(start + length).min(input.len())
        };
        match self {
            Self::Change(place, byte) => {
                let place = within(*place, 1);
                input[place].fill(*byte);
            }
            Self::Cut(place, length) => drop(input.drain(within(*place, *length))),
            Self::Double(place, length) => {
                let piece = within(*place, *length);
                let copy = input[piece.clone()].to_vec();
                input.splice(piece.end..piece.end, copy);
            }
            Self::Insert(place, bytes) => {
                let place = within(*place, 0);
                input.splice(place, bytes.iter().copied());
            }
        }
    }
}

/// Checks a property on nearly valid inputs.
fn holds(reader: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let all = properties::ALL.iter();
    let (_, property) = all.clone().find(|(name, _)| *name == reader).unwrap();
    let inputs = (prop::sample::select(kept(reader)), vec(damage(), 0..4));
    let mut runner = TestRunner::new(Config {
        cases: u32::try_from(long(1000)).unwrap(),
        failure_persistence: None,
        ..Config::default()
    });
    let tested = runner.run(&inputs, |(mut input, damages)| {
        for damage in &damages {
            damage.on(&mut input);
        }
        property(&input);
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{reader}: {error}"));
}

macro_rules! readers {
    ($($reader:ident)*) => {$(
        #[test]
        fn $reader() {
            holds(stringify!($reader));
        }
    )*};
}

readers! { svmlight table names scores lists features model lines conllu linkages }
