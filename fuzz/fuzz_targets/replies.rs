//! Arbitrary bytes against `laws::replies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ostler_fuzz::laws::replies(data));
