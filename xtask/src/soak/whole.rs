//! The storms with real processes: a thousand sessions at once, a server that dies at every place, and one that is
//! killed at any moment. Each is a test of the command line that is given more to do, with a release build of the
//! program; what it prints of itself becomes the row.

use std::{path::Path, process::Stdio, time::Instant};

use super::{Options, Row};
use crate::{
    error::Error,
    process::{cargo, executable, line, run as run_command, start_error},
};

/// One of these storms.
struct Storm {
    /// As it is called in the table; it begins its summary.
    name: &'static str,
    test: &'static str,
    /// What the test is told.
    environment: Vec<(&'static str, String)>,
}

/// So many sessions at once.
const SESSIONS: &str = "1000";

/// So often the server dies at each place; ten times as often at a commit.
const CRASHES: &str = "3";

/// So many sessions work while the server is killed at random, and so often.
const STORM: [&str; 2] = ["20", "20"];

pub(super) fn sessions(options: &Options) -> Result<Vec<Row>, Error> {
    let environment = vec![("OSTLER_SESSIONS", SESSIONS.to_owned())];
    let test = "many::many_sessions_at_once_lose_nothing_and_leave_nothing";
    run(options, vec![Storm { name: "sessions", test, environment }])
}

pub(super) fn crashes(options: &Options) -> Result<Vec<Row>, Error> {
    let [sessions, kills] = STORM.map(str::to_owned);
    run(
        options,
        vec![
            Storm {
                name: "crashes",
                test: "crashing::the_server_may_die_anywhere",
                environment: vec![("OSTLER_CRASHES", CRASHES.to_owned())],
            },
            Storm {
                name: "storm",
                test: "storm::a_server_that_is_killed_again_and_again_loses_and_doubles_nothing",
                environment: vec![
                    ("OSTLER_STORM_SESSIONS", sessions),
                    ("OSTLER_KILLS", kills),
                    ("OSTLER_SEED", options.seed.to_string()),
                ],
            },
        ],
    )
}

fn run(options: &Options, storms: Vec<Storm>) -> Result<Vec<Row>, Error> {
    let program = executable(cargo().args(["build", "--release", "--locked", "-p", "ostler"]), "ostler")?;
    // Built apart, so that a compile error is not taken for a finding, nor its time for the storm's.
    run_command(cargo().args(TEST).arg("--no-run"))?;
    storms.into_iter().map(|storm| storm.run(&program, options)).collect()
}

const TEST: [&str; 6] = ["test", "--locked", "-p", "ostler", "--test", "sessions"];

impl Storm {
    fn run(self, program: &Path, options: &Options) -> Result<Row, Error> {
        println!("\n── {}", self.name);
        let mut command = cargo();
        command.args(TEST).args(["--", "--exact", self.test, "--nocapture"]);
        command.envs(self.environment).env("OSTLER_TEST_PROGRAM", program);
        println!("{}", line(&command));
        let started = Instant::now();
        let output =
            command.stderr(Stdio::inherit()).output().map_err(|source| start_error(&command, source))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        print!("{printed}");
        Ok(Row {
            target: self.name.to_owned(),
            seconds: started.elapsed().as_secs(),
            executions: summary(&printed, self.name).unwrap_or("none whole").to_owned(),
            seed: options.seed,
            findings: usize::from(!output.status.success()),
        })
    }
}

/// What a storm says of itself at its end.
fn summary<'a>(output: &'a str, name: &str) -> Option<&'a str> {
    let own = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    output.lines().rev().find_map(own)
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn finds_what_a_storm_says_of_itself() {
        let output = "running 1 test\nstorm: seed 1\nstorm: 5 servers killed\ntest … ok\n";
        assert_eq!(summary(output, "storm"), Some("5 servers killed"));
        assert_eq!(summary(output, "sessions"), None);
    }
}
