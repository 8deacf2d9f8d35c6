//! The fuzzer of the reader that the variable `READER` names.
#![no_main]

use std::env;
use std::sync::LazyLock;

use rankrls_fuzz::{ALL, Property};

static PROPERTY: LazyLock<Property> = LazyLock::new(|| {
    let reader = env::var("READER").unwrap_or_default();
    let found = ALL.iter().find(|(name, _)| *name == reader);
    found
        .unwrap_or_else(|| panic!("READER={reader:?} is no reader"))
        .1
});

libfuzzer_sys::fuzz_target!(
    init: {
        // Waking another thread takes longer than its work.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        pool.use_current_thread().build_global().expect("there is no pool yet");
    },
    |bytes: &[u8]| {
        PROPERTY(bytes);
    }
);
