//! Arbitrary bytes, as a stream of gemini and as text in its events, against `laws::stream`.
#![no_main]

use ostler_protocol::stream::Cli;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ostler_fuzz::laws::stream(Cli::Gemini, data));
