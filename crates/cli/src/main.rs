//! The one binary. Reads the command line, runs the command, and turns its error into a message and an exit code.

mod error;
mod guide;
mod parse;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Looks after AI coding agents.
#[derive(Parser)]
#[command(name = "ostler", version, about, long_about = None, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 2 the command line is wrong, 3 the input cannot be read, \
                        4 the output cannot be written.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Parse(parse::Arguments),
    Guide(guide::Arguments),
}

fn main() -> ExitCode {
    if let Some(directory) = shim_directory() {
        return run_shim(&directory);
    }
    let outcome = match Cli::parse().command {
        Command::Parse(arguments) => parse::run(&arguments),
        Command::Guide(arguments) => guide::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough: that is no failure.
        Err(Error::Output(source)) if source.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Where not even this can be written, the exit code still says it.
            writeln!(io::stderr(), "ostler: {error}\n  {}", error.hint()).ok();
            error.exit_code()
        }
    }
}

/// The argument of the hidden command that a server starts for each agent. It is looked for before anything else: a
/// shim lives as long as its agent, and should be no larger than it must.
fn shim_directory() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == "__shim").then(|| arguments.next().map(PathBuf::from))?
}

fn run_shim(directory: &Path) -> ExitCode {
    match ostler_shim::run(directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(io::stderr(), "ostler: {error}").ok();
            ExitCode::from(5)
        }
    }
}
