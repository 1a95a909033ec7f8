//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! This file reads the arguments and hands over to one module per command. Nothing here is part of the
//! product: no crate of the workspace may depend on it.

use std::process::ExitCode;

use crate::error::Error;

mod agents;
mod bench;
mod demo;
mod dist;
mod error;
mod interface;
mod page;
mod process;
mod soak;
mod test;
mod tidy;

const HELP: &str = "\
usage: cargo xtask COMMAND

  demo [--full] [--auto]  a minute with three scripted agents, or all four phases; --auto plays by itself
  test                    everything a change must pass: formatting, lints, tidy, tests, docs, licences
       --quick            only formatting, lints, tidy, unit tests, the engine and a short simulation
       --real-agents      install the four agent CLIs from npm; all of them have to work
  page                    build the page of web/ into web/dist, which the server embeds
  pictures                take the pictures of docs/pictures anew, in a browser
  tidy                    module docs, sizes, crate dependencies, links (part of `test`)
  bench [parser] [ARGS]   measure the parser; prints Markdown tables and never fails for a slow number
  bench plan              measure the reader of task files beside a search for newlines
  bench tasks             measure `resolve` and `orchestrate` beside what people use for that
  bench store             measure the journal, likewise
  bench shim              measure how soon an agent is stopped, beside readers in C and on Node
  bench server            measure the server: answers, starts, memory, cold start
  bench office            measure calls between agents beside two shells and a pipe
  bench workspace         measure a checkpoint of 100,000 files beside what git offers
  soak [properties|sim]   the long storms; writes its table into docs/results.md
  soak sessions           only a thousand sessions at once
  soak interface          only the interface: against its document, and with a hundred who look at once
  soak faults             only full and failing disks, damage, clocks, locks, deaths
  soak crashes            only a server that is killed, at every place and at random
  soak attacks            only agents that attack, in rounds with restarts, and that flood
  soak fuzz [TARGET …]    only the fuzz targets, or those that are named
       --seconds N        how long the simulator and each fuzz target run (600)
       --cases N          how many cases each property tries (200000)
       --seed N           repeat an earlier storm (default: a new seed, printed)
  dist                    one binary, as static as possible, in dist/, with its manual pages
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Usage(what)) => {
            eprintln!("error: {what}\n\n{HELP}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<(), Error> {
    match arguments {
        [] | ["help" | "-h" | "--help", ..] => {
            print!("{HELP}");
            Ok(())
        }
        ["bench", rest @ ..] => bench::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["demo", rest @ ..] => demo::run(rest),
        ["test"] => test::run(test::Options { real_agents: false, quick: false }),
        ["test", "--quick"] => test::run(test::Options { real_agents: false, quick: true }),
        ["test", "--real-agents"] => test::run(test::Options { real_agents: true, quick: false }),
        ["tidy"] => tidy::run(),
        ["page"] => page::run(),
        ["pictures"] => page::pictures(),
        ["dist"] => dist::run(),
        ["test" | "tidy" | "page" | "pictures" | "dist", extra, ..] => {
            Err(Error::Usage(format!("unexpected argument `{extra}`")))
        }
        [unknown, ..] => Err(Error::Usage(format!("unknown command `{unknown}`"))),
    }
}
