//! The simulator storm: episodes of the whole system, with a server that dies wherever it can, as many as the time
//! allows. That a place was never hit is a finding too.

use std::{process::Stdio, time::Instant};

use super::{Options, Row};
use crate::{
    error::Error,
    process::{cargo, line, run as run_command, start_error},
};

/// Runs episodes from the seed on. The first that fails has printed its own seed, which repeats it alone.
pub(super) fn run(options: &Options) -> Result<Row, Error> {
    let test = ["test", "--release", "--locked", "-p", "ostler-engine", "--test", "simulator"];
    println!("\n── simulator: {} s", options.seconds);
    // Built apart, so that a compile error is not taken for a finding, nor its time for the storm's.
    run_command(cargo().args(test).arg("--no-run"))?;
    let mut command = cargo();
    command.args(test).args(["--", "--nocapture"]);
    command.env("OSTLER_SIM_SECONDS", options.seconds.to_string());
    command.env("OSTLER_SIM_SEED", options.seed.to_string());
    println!("{}", line(&command));
    let started = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().map_err(|source| start_error(&command, source))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    Ok(Row {
        target: "sim".to_owned(),
        seconds: started.elapsed().as_secs(),
        executions: summary(&printed).unwrap_or("none whole").to_owned(),
        seed: options.seed,
        findings: usize::from(!output.status.success()),
    })
}

/// What the storm says of itself at its end.
fn summary(output: &str) -> Option<&str> {
    output.lines().find_map(|line| line.strip_prefix("sim: ")).filter(|line| line.contains("episodes"))
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn finds_the_summary_of_a_storm() {
        let line = "12 episodes, 34 crashes, 51 of 51 sites";
        assert_eq!(summary(&format!("running 1 test\nsim: {line}\ntest … ok\n")), Some(line));
        assert_eq!(summary("sim: the episode that fails is --seed 7\n"), None);
    }
}
