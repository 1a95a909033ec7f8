//! `cargo xtask bench`: how fast the parser, the reader of task files, the loop over them, the journal, masking,
//! the search of memory, the server, the office and a checkpoint are, and how soon the shim stops an agent.
//!
//! Times come from the benchmarks themselves; instruction counts from callgrind, which gives the same number on a
//! busy machine. Nothing here judges a number.

mod office;
mod server;
mod shim;
mod tasks;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    process::{cargo, executable, line, output, program, run as run_command, succeeds},
};

/// Input sizes of the two runs whose difference is counted, so that start-up costs cancel out.
const BYTES: [u64; 2] = [1 << 20, 3 << 20];

pub(crate) fn run(arguments: &[&str]) -> Result<(), Error> {
    match arguments {
        ["parser", rest @ ..] => parser(rest),
        ["plan"] => run_command(cargo().args(["bench", "-p", "ostler-engine", "--bench", "plan"])),
        ["graph"] => run_command(cargo().args(["bench", "-p", "ostler-engine", "--bench", "graph"])),
        ["world"] => run_command(cargo().args(["bench", "-p", "ostler-engine", "--bench", "world"])),
        ["store"] => run_command(cargo().args(["bench", "-p", "ostler-store", "--bench", "store"])),
        ["workspace"] => {
            run_command(cargo().args(["bench", "-p", "ostler-workspace", "--bench", "checkpoint"]))
        }
        ["mask"] => run_command(cargo().args(["bench", "-p", "ostler-vault", "--bench", "mask"])),
        ["memory"] => run_command(cargo().args(["bench", "-p", "ostler-memory", "--bench", "search"])),
        ["shim"] => shim::run(),
        ["server"] => server::run(),
        ["office"] => office::run(),
        ["tasks"] => tasks::run(),
        [
            "mask" | "memory" | "office" | "plan" | "tasks" | "server" | "store" | "shim" | "workspace"
            | "world",
            extra,
            ..,
        ] => Err(Error::Usage(format!("unexpected argument `{extra}`"))),
        [name, ..] if !name.starts_with('-') => Err(Error::Usage(format!(
            "unknown benchmark `{name}`; there are `graph`, `parser`, `plan`, `tasks`, `server`, `office`, `store`, `mask`, `memory`, `shim`, `workspace` and `world`"
        ))),
        rest => parser(rest),
    }
}

fn parser(arguments: &[&str]) -> Result<(), Error> {
    let rest = arguments.strip_prefix(&["--"]).unwrap_or(arguments);
    run_command(cargo().args(["bench", "-p", "ostler-protocol", "--bench", "parser", "--"]).args(rest))?;
    println!();
    if !succeeds(program("valgrind").arg("--version")) {
        println!("SKIPPED instruction counts: valgrind is not installed");
        return Ok(());
    }
    let bench = executable(
        cargo().args(["bench", "--quiet", "--no-run", "-p", "ostler-protocol", "--bench", "parser"]),
        "parser",
    )?;
    instructions(&bench)
}

/// Prints one row per case that the benchmark lists.
fn instructions(bench: &Path) -> Result<(), Error> {
    println!("| case | instructions per byte |\n|---|---:|");
    for case in output(program(bench).arg("--cases"))?.lines() {
        let [fewer, more] = BYTES.map(|bytes| count(bench, case, bytes));
        println!("| {case} | {} |", quotient(more?.saturating_sub(fewer?), BYTES[1] - BYTES[0]));
    }
    Ok(())
}

/// Instructions that the benchmark executes when it pushes so many bytes of a case through the parser once.
fn count(bench: &Path, case: &str, bytes: u64) -> Result<u64, Error> {
    let counts = temporary();
    let mut valgrind = program("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind.arg(bench).args(["--instructions", case, &bytes.to_string()]);
    output(&mut valgrind)?;
    let text = fs::read_to_string(&counts).map_err(|source| Error::Read { path: counts.clone(), source })?;
    fs::remove_file(&counts).map_err(|source| Error::Write { path: counts, source })?;
    total(&text).ok_or_else(|| Error::Output { command: line(&valgrind), lacks: "total".into() })
}

fn temporary() -> PathBuf {
    env::temp_dir().join(format!("ostler-bench-{}.callgrind", std::process::id()))
}

/// The total in callgrind's output file.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `part / whole` with two decimals.
fn quotient(part: u64, whole: u64) -> String {
    let hundredths = (part * 100 + whole / 2) / whole;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::{quotient, total};

    #[test]
    fn reads_callgrind_totals() {
        assert_eq!(total("version: 1\nsummary: 12\n1 2\ntotals: 4711\n"), Some(4711));
        assert_eq!(total("version: 1\n"), None);
    }

    #[test]
    fn quotients_are_rounded() {
        assert_eq!(quotient(5, 2), "2.50");
        assert_eq!(quotient(1, 3), "0.33");
        assert_eq!(quotient(2, 3), "0.67");
    }
}
