//! Arbitrary bytes against `laws::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ostler_fuzz::laws::text(data));
