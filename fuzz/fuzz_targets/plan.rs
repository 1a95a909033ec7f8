//! Arbitrary bytes against `plans::any_bytes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ostler_fuzz::plans::any_bytes(data));
