//! The property storm: the property tests of the parser with many more cases than `cargo test` gives them.

use std::time::Instant;

use super::{Options, Row};
use crate::{
    error::Error,
    process::{cargo, line, run as run_command, start_error},
};

/// Runs all properties. A property that does not hold has printed its smallest case, and is one finding.
pub(super) fn run(options: &Options) -> Result<Row, Error> {
    let test = ["test", "--release", "--locked", "-p", "ostler-protocol", "--test", "properties"];
    println!("\n── properties: {} cases each", options.cases);
    // Built apart, so that a compile error is not taken for a finding, nor its time for the storm's.
    run_command(cargo().args(test).arg("--no-run"))?;
    let mut command = cargo();
    command.args(test).args(["--", "--nocapture"]);
    command.env("PROPTEST_CASES", options.cases.to_string());
    command.env("PROPTEST_RNG_SEED", options.seed.to_string());
    println!("{}", line(&command));
    let started = Instant::now();
    let status = command.status().map_err(|source| start_error(&command, source))?;
    Ok(Row {
        target: "properties".to_owned(),
        seconds: started.elapsed().as_secs(),
        executions: format!("{} per property", options.cases),
        seed: options.seed,
        findings: usize::from(!status.success()),
    })
}
