//! `cargo xtask test`: everything that a change must pass.
//!
//! Steps run in order, cheapest first, and the first failure ends the run. What cannot run on a machine prints
//! SKIPPED with the reason, there and again at the end.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    agents,
    error::Error,
    interface, page,
    process::{cargo, line, program, root, run as run_command, succeeds},
    tidy,
};

/// How a step ended well.
enum Outcome {
    Passed,
    /// It could not run here, and why.
    Skipped(&'static str),
}

/// What the one who runs it has asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// The real agent CLIs are installed, and all of them have to work.
    pub(crate) real_agents: bool,
    /// Only what a commit needs: no processes, no browser, nothing to install.
    pub(crate) quick: bool,
}

type Step = (&'static str, fn(Options) -> Result<Outcome, Error>);

const STEPS: [Step; 12] = [
    ("tools", tools),
    ("formatting", formatting),
    ("clippy", clippy),
    ("tidy", tidy_step),
    ("cargo-deny", deny),
    ("docs", docs),
    ("fuzz targets", fuzz_targets),
    ("page", page),
    ("real agents", real_agents),
    ("schemathesis", schemathesis),
    ("tests", tests),
    ("page in a browser", browser),
];

/// The steps of `--quick`.
const QUICK_STEPS: [Step; 4] =
    [("formatting", formatting), ("clippy", clippy), ("tidy", tidy_step), ("quick tests", quick_tests)];

pub(crate) fn run(options: Options) -> Result<(), Error> {
    let mut summary = Vec::new();
    let steps: &[Step] = if options.quick { &QUICK_STEPS } else { &STEPS };
    for &(name, step) in steps {
        println!("\n── {name}");
        let started = Instant::now();
        let outcome = step(options).map_err(|source| Error::Step { name, source: Box::new(source) })?;
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

/// Programs that tests run, and the Debian package that brings each.
const PROGRAMS: [(&str, &str); 6] = [
    ("git", "git"),
    ("cc", "gcc"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3"),
    ("chromium", "chromium"),
];

/// Installs what the other steps call, where it is missing, and says so.
fn tools(_: Options) -> Result<Outcome, Error> {
    for (tool, package) in PROGRAMS {
        if succeeds(program(tool).arg("--version")) {
            println!("{tool} is installed");
            continue;
        }
        install(tool, package)?;
    }
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

/// Installs a Debian package. A new machine has no list of them, or an old one: it is fetched first.
fn install(tool: &'static str, package: &str) -> Result<(), Error> {
    let is_root = succeeds(program("sh").args(["-c", "test $(id -u) = 0"]));
    let apt = |arguments: &[&str]| {
        let mut command = program(if is_root { "apt-get" } else { "sudo" });
        command.args(if is_root { &[][..] } else { &["apt-get"] }).args(arguments);
        command
    };
    let mut install = apt(&["install", "--yes", package]);
    println!("{tool} is missing: installing it with `{}`", line(&install));
    if run_command(&mut apt(&["update"])).is_err() {
        println!("the list of packages could not be fetched: trying with the one that is there");
    }
    if run_command(&mut install).is_err() {
        return Err(Error::Missing { tool, install: line(&install) });
    }
    Ok(())
}

/// Before the tests: the binary that they run embeds it.
fn page(_: Options) -> Result<Outcome, Error> {
    match page::missing() {
        Some(reason) => Ok(Outcome::Skipped(reason)),
        None => page::build().map(|()| Outcome::Passed),
    }
}

/// The tests use what is installed, and say how many of the four CLIs work.
fn real_agents(options: Options) -> Result<Outcome, Error> {
    match (agents::installed()?, options.real_agents) {
        (Some(_), _) => println!("the agent CLIs are installed"),
        (None, true) => agents::install()?,
        (None, false) => return Ok(Outcome::Skipped("not installed (cargo xtask test --real-agents)")),
    }
    Ok(Outcome::Passed)
}

/// Asks the server everything that its document allows, and more; the tests run it.
fn schemathesis(_: Options) -> Result<Outcome, Error> {
    if interface::installed()?.is_some() {
        println!("schemathesis is installed");
    } else if !interface::install()? {
        return Ok(Outcome::Skipped("it cannot be installed here (Python's venv and PyPI)"));
    }
    Ok(Outcome::Passed)
}

fn formatting(_: Options) -> Result<Outcome, Error> {
    cargo_step(&["fmt", "--all", "--check"])
}

fn clippy(_: Options) -> Result<Outcome, Error> {
    cargo_step(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn tidy_step(_: Options) -> Result<Outcome, Error> {
    tidy::run().map(|()| Outcome::Passed)
}

/// A command that runs tests: nextest where it is installed, which ends a test that hangs and lists the slow ones
/// (`.config/nextest.toml`), else `cargo test`.
fn test_runner() -> Command {
    let mut test = cargo();
    if has_nextest() {
        test.args(["nextest", "run"]);
    } else {
        println!("cargo-nextest is not installed: no time limits, no list of slow tests");
        test.args(["test", "--no-fail-fast"]);
    }
    test.args(["--workspace", "--locked"]);
    test
}

fn has_nextest() -> bool {
    succeeds(cargo().args(["nextest", "--version"]))
}

/// Units, the engine and a short simulation: what needs no process of the product.
fn quick_tests(_: Options) -> Result<Outcome, Error> {
    let mut test = test_runner();
    test.args(["--lib", "--bins", "--test", "engine", "--test", "plan", "--test", "simulator"]);
    shown(&mut test)
}

fn tests(options: Options) -> Result<Outcome, Error> {
    let mut test = test_runner();
    if let Some(directory) = agents::installed()? {
        test.env("OSTLER_REAL_AGENTS", directory);
    }
    if options.real_agents {
        test.env("OSTLER_REAL_AGENTS_ALL", "1");
    }
    if let Some(program) = interface::installed()? {
        test.env("OSTLER_SCHEMATHESIS", program);
    }
    let outcome = shown(&mut test)?;
    // nextest leaves out the examples in the documentation.
    if has_nextest() { cargo_step(&["test", "--workspace", "--locked", "--doc"]) } else { Ok(outcome) }
}

fn browser(_: Options) -> Result<Outcome, Error> {
    match page::missing() {
        Some(reason) => Ok(Outcome::Skipped(reason)),
        None => page::test().map(|()| Outcome::Passed),
    }
}

fn docs(_: Options) -> Result<Outcome, Error> {
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings");
    shown(&mut doc)
}

/// The fuzz crate stands outside the workspace, so nothing else notices when it stops compiling.
fn fuzz_targets(_: Options) -> Result<Outcome, Error> {
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
fn deny(_: Options) -> Result<Outcome, Error> {
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
