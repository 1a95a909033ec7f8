//! `cargo xtask test`: everything that a change must pass.
//!
//! Steps run in order, cheapest first, and the first failure ends the run. What cannot run on a machine prints
//! SKIPPED with the reason, there and again at the end.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    error::Error,
    process::{cargo, line, program, root, run as run_command, succeeds},
    tidy,
};

/// How a step ended well.
enum Outcome {
    Passed,
    /// It could not run here, and why.
    Skipped(&'static str),
}

type Step = (&'static str, fn() -> Result<Outcome, Error>);

const STEPS: [Step; 8] = [
    ("tools", tools),
    ("formatting", || cargo_step(&["fmt", "--all", "--check"])),
    ("clippy", || {
        cargo_step(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    }),
    ("tidy", || tidy::run().map(|()| Outcome::Passed)),
    ("tests", || cargo_step(&["test", "--workspace", "--locked"])),
    ("docs", docs),
    ("fuzz targets", fuzz_targets),
    ("cargo-deny", deny),
];

pub(crate) fn run() -> Result<(), Error> {
    let mut summary = Vec::new();
    for (name, step) in STEPS {
        println!("\n── {name}");
        let started = Instant::now();
        let outcome = step().map_err(|source| Error::Step { name, source: Box::new(source) })?;
        let took = seconds(started.elapsed());
        let result = match outcome {
            Outcome::Passed => format!("ok      {name} ({took})"),
            Outcome::Skipped(reason) => format!("SKIPPED {name}: {reason}"),
        };
        println!("{result}");
        summary.push(result);
    }
    println!("\n── all passed\n{}", summary.join("\n"));
    Ok(())
}

/// Installs the toolchain components that the other steps call, where they are missing.
fn tools() -> Result<Outcome, Error> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if succeeds(cargo().args([subcommand, "--version"])) {
            println!("{component} is installed");
            continue;
        }
        let mut install = program("rustup");
        install.args(["component", "add", component]);
        println!("{component} is missing: installing it with `{}`", line(&install));
        if run_command(&mut install).is_err() {
            return Err(Error::Missing { tool: component, install: line(&install) });
        }
    }
    Ok(Outcome::Passed)
}

fn docs() -> Result<Outcome, Error> {
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings");
    shown(&mut doc)
}

/// The fuzz crate stands outside the workspace, so nothing else notices when it stops compiling.
fn fuzz_targets() -> Result<Outcome, Error> {
    if !root().join("fuzz/Cargo.toml").exists() {
        return Ok(Outcome::Skipped("there are none yet"));
    }
    cargo_step(&["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"])?;
    if !succeeds(program("c++").arg("--version")) {
        return Ok(Outcome::Skipped("no C++ compiler, which libFuzzer needs (Debian package g++)"));
    }
    cargo_step(&["check", "--locked", "--manifest-path", "fuzz/Cargo.toml"])
}

/// Advisories are left out: they change while the code does not. Fetched first, because cargo-deny looks at the
/// dependencies of all platforms, and a build brings only those of one.
fn deny() -> Result<Outcome, Error> {
    if !succeeds(cargo().args(["deny", "--version"])) {
        return Ok(Outcome::Skipped("not installed (cargo install cargo-deny)"));
    }
    cargo_step(&["fetch", "--locked"])?;
    cargo_step(&["deny", "--locked", "--offline", "check", "licenses", "bans", "sources"])
}

fn cargo_step(arguments: &[&str]) -> Result<Outcome, Error> {
    shown(cargo().args(arguments))
}

fn shown(command: &mut Command) -> Result<Outcome, Error> {
    println!("{}", line(command));
    run_command(command).map(|()| Outcome::Passed)
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
