//! The laws that the fuzz targets try to break. They live beside the tests of the parser and of task files, which hold
//! every committed seed to them on a stable compiler.
//!
//! ```sh
//! cargo +nightly fuzz run text fuzz/corpus-grown/text fuzz/corpus/text -- -dict=fuzz/dictionary.txt
//! ```

/// What must hold for any input.
#[path = "../../crates/protocol/tests/support/mod.rs"]
pub mod laws;

/// The same for task files.
#[path = "../../crates/engine/tests/plan/laws.rs"]
pub mod plans;
