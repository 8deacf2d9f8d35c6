#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    rankrls_fuzz::lines(bytes);
});
