//! Holds every seed of the fuzz corpus to the laws of its target, so that what a fuzzer found once stays found.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

use ostler_protocol::stream::Cli;

/// The laws, shared with the fuzz targets.
pub mod support;

/// Runs the seeds of one target in the order of their names.
fn check(target: &str, law: impl Fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut seeds: Vec<_> = fs::read_dir(&directory)
        .expect("the seeds are part of the repository")
        .map(|entry| entry.expect("a directory that can be read").path())
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no seeds in {}", directory.display());
    for seed in seeds {
        let data = fs::read(&seed).expect("a seed that can be read");
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| law(&data))) {
            eprintln!("broken by {}", seed.display());
            resume_unwind(panic);
        }
    }
}

#[test]
fn text() {
    check("text", support::text);
}

#[test]
fn claude() {
    check("claude", |data| support::stream(Cli::Claude, data));
}

#[test]
fn codex() {
    check("codex", |data| support::stream(Cli::Codex, data));
}

#[test]
fn gemini() {
    check("gemini", |data| support::stream(Cli::Gemini, data));
}

#[test]
fn opencode() {
    check("opencode", |data| support::stream(Cli::Opencode, data));
}

#[test]
fn replies() {
    check("replies", support::replies);
}
