//! The storms with real processes: a thousand sessions at once, a hundred who look at fifty, a server that dies at every
//! place, one that is killed at any moment, and every other fault. Each is a test of the command line that is given more
//! to do, with a release build of the program; what it prints of itself becomes the row.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use super::{Options, Row, idle};
use crate::{
    error::Error,
    interface,
    process::{cargo, executable, line, run as run_command, start_error},
};

/// One of these storms.
struct Storm {
    /// As it is called in the table; it begins its summary.
    name: &'static str,
    /// The crate, and the program among its tests.
    program: [&'static str; 2],
    /// What the names of its tests begin with.
    tests: &'static [&'static str],
    /// What the test is told.
    environment: Vec<(&'static str, String)>,
}

/// So many sessions at once.
const SESSIONS: &str = "1000";

/// So many runs through phases of each sort at once; there are twelve sorts.
const PHASES: &str = "5";

/// So many follow the journal, and so many sessions print.
const LOAD: [&str; 2] = ["100", "50"];

/// So many requests of each sort go to each route.
const EXAMPLES: &str = "150";

/// So often the server dies at each place; ten times as often at a commit.
const CRASHES: &str = "3";

/// So often something is killed at random while a server works through a task file.
const LOOP_KILLS: &str = "50";

/// So many calls go among the roles of an office while its server and its agents are killed.
const OFFICE_CALLS: &str = "200";

/// So many sessions work while the server is killed at random, and so often.
const STORM: [&str; 2] = ["20", "20"];

/// So many rounds of attacks, with so many steps in a flood, and the longest that an answer may take on a machine that does
/// nothing else, in milliseconds.
const ATTACKS: [&str; 3] = ["5", "500000", "1000"];

/// How many steps an agent prints while the server's memory is watched.
const FLOOD_STEPS: &str = "2000000";

pub(super) fn sessions(options: &Options) -> Result<Vec<Row>, Error> {
    let environment = vec![("OSTLER_SESSIONS", SESSIONS.to_owned())];
    let tests = &["many::many_sessions_at_once_lose_nothing_and_leave_nothing"];
    let sessions = Storm { name: "sessions", program: SESSION_TESTS, tests, environment };
    let phases = Storm {
        name: "phases",
        program: SESSION_TESTS,
        tests: &["phases::each_lack_is_found_and_named_in_many_runs_at_once"],
        environment: vec![("OSTLER_PHASES", PHASES.to_owned())],
    };
    run(options, vec![sessions, phases])
}

/// The interface against its own document, and with many who look at once.
pub(super) fn interface(options: &Options) -> Result<Vec<Row>, Error> {
    let [followers, printing] = LOAD.map(str::to_owned);
    let load = Storm {
        name: "load",
        program: SESSION_TESTS,
        tests: &["load::"],
        environment: vec![("OSTLER_FOLLOWERS", followers), ("OSTLER_PRINTING", printing)],
    };
    let mut storms = vec![load];
    if interface::installed()?.is_some() || interface::install()? {
        let program = interface::installed()?.unwrap_or_default().display().to_string();
        storms.push(Storm {
            name: "interface",
            program: SESSION_TESTS,
            tests: &["schemathesis::"],
            environment: vec![
                ("OSTLER_SCHEMATHESIS", program),
                ("OSTLER_EXAMPLES", EXAMPLES.to_owned()),
                ("OSTLER_SEED", options.seed.to_string()),
            ],
        });
    } else {
        println!("SKIPPED schemathesis: it cannot be installed here (Python's venv and PyPI)");
    }
    run(options, storms)
}

pub(super) fn crashes(options: &Options) -> Result<Vec<Row>, Error> {
    let [sessions, kills] = STORM.map(str::to_owned);
    run(
        options,
        vec![
            Storm {
                name: "crashes",
                program: SESSION_TESTS,
                tests: &["crashing::the_server_may_die_anywhere"],
                environment: vec![("OSTLER_CRASHES", CRASHES.to_owned())],
            },
            Storm {
                name: "storm",
                program: SESSION_TESTS,
                tests: &["storm::a_server_that_is_killed_again_and_again_loses_and_doubles_nothing"],
                environment: vec![
                    ("OSTLER_STORM_SESSIONS", sessions.clone()),
                    ("OSTLER_KILLS", kills.clone()),
                    ("OSTLER_SEED", options.seed.to_string()),
                ],
            },
            Storm {
                name: "shortages",
                program: SESSION_TESTS,
                tests: &["storm::a_storm_of_shortages_loses_and_doubles_nothing"],
                environment: vec![
                    ("OSTLER_STORM_SESSIONS", sessions),
                    ("OSTLER_KILLS", kills),
                    ("OSTLER_SEED", options.seed.to_string()),
                ],
            },
            Storm {
                name: "office",
                program: SESSION_TESTS,
                tests: &["office::storm::"],
                environment: vec![
                    ("OSTLER_OFFICE_CALLS", OFFICE_CALLS.to_owned()),
                    ("OSTLER_SEED", options.seed.to_string()),
                ],
            },
            Storm {
                name: "loop",
                program: ["ostler", "orchestrate"],
                tests: &["crashing::", "forty::"],
                environment: vec![
                    ("OSTLER_LOOP_KILLS", LOOP_KILLS.to_owned()),
                    ("OSTLER_SEED", options.seed.to_string()),
                ],
            },
        ],
    )
}

/// An agent that attacks, in rounds with a restart between them, without and with a control group: on a machine that does
/// nothing else, the server answers within a second throughout. Then agents that connect, ask and print without end: the
/// server's memory stays bounded.
pub(super) fn attacks(options: &Options) -> Result<Vec<Row>, Error> {
    let [rounds, steps, answer_ms] = ATTACKS.map(str::to_owned);
    let environment = vec![("OSTLER_ATTACK_ROUNDS", rounds), ("ATTACK_STEPS", steps)];
    let attacker =
        |name, tests| Storm { name, program: SESSION_TESTS, tests, environment: environment.clone() };
    let alone = attacker("attacker", &["attacker::an_attacker_gains_nothing"]);
    let in_group =
        attacker("attacker in a group", &["attacker::an_attacker_in_a_control_group_gains_nothing"]);
    let floods = Storm {
        name: "floods",
        program: SESSION_TESTS,
        tests: &["floods::"],
        environment: vec![("OSTLER_FLOOD_STEPS", FLOOD_STEPS.to_owned())],
    };
    let program = build(&[&alone, &in_group, &floods])?;
    let mut rows = Vec::new();
    for mut storm in [alone, in_group] {
        // Looked at anew before each, because others may have begun to build something.
        if idle::is_idle()? {
            storm.environment.push(("OSTLER_ATTACK_ANSWER_MS", answer_ms.clone()));
        } else {
            println!(
                "{}: the machine has other work, so answers may take longer than {answer_ms} ms",
                storm.name
            );
        }
        rows.push(storm.run(&program, options)?);
    }
    rows.push(floods.run(&program, options)?);
    Ok(rows)
}

/// Every fault of `docs/reliability.md` that is not a storm of its own.
pub(super) fn faults(options: &Options) -> Result<Vec<Row>, Error> {
    let storm = |name, program, tests, rounds: &str| Storm {
        name,
        program,
        tests,
        environment: vec![("OSTLER_ROUNDS", rounds.to_owned()), ("OSTLER_SEED", options.seed.to_string())],
    };
    run(
        options,
        vec![
            storm("faults sessions", SESSION_TESTS, SESSION_FAULTS, FAULT_ROUNDS),
            storm("faults disk", ["ostler-store", "store"], STORE_FAULTS, DISKS),
            storm("faults shim", ["ostler", "shim"], SHIM_FAULTS, FAULT_ROUNDS),
            storm("faults git", ["ostler-workspace", "workspace"], GIT_FAULTS, FAULT_ROUNDS),
            storm("faults vault", ["ostler-vault", "vault"], &["keeping::"], FAULT_ROUNDS),
        ],
    )
}

/// So often something is killed that has to be noticed in time.
const FAULT_ROUNDS: &str = "20";

/// So many disks forget what they could not sync.
const DISKS: &str = "50";

const SESSION_TESTS: [&str; 2] = ["ostler", "sessions"];

const SESSION_FAULTS: &[&str] =
    &["bounds::", "disk::", "damage::", "clock::", "locks::", "losing::", "ending::", "worktrees::"];

const STORE_FAULTS: &[&str] = &["forgetful::", "faults::", "damage::", "killed::"];

const SHIM_FAULTS: &[&str] = &["disk::", "ending::", "cgroup::", "output::"];

const GIT_FAULTS: &[&str] = &["make::", "merge::", "remove::", "restore::"];

fn run(options: &Options, storms: Vec<Storm>) -> Result<Vec<Row>, Error> {
    let program = build(&storms.iter().collect::<Vec<_>>())?;
    storms.into_iter().map(|storm| storm.run(&program, options)).collect()
}

/// The program, and the tests of some storms. They are built apart, so that a compile error is not taken for a finding,
/// nor its time for the storm's.
fn build(storms: &[&Storm]) -> Result<PathBuf, Error> {
    let program = executable(cargo().args(["build", "--release", "--locked", "-p", "ostler"]), "ostler")?;
    for storm in storms {
        run_command(storm.command().arg("--no-run"))?;
    }
    Ok(program)
}

impl Storm {
    fn command(&self) -> Command {
        let [package, test] = self.program;
        let mut command = cargo();
        command.args(["test", "--locked", "-p", package, "--test", test]);
        command
    }

    fn run(self, program: &Path, options: &Options) -> Result<Row, Error> {
        println!("\n── {}", self.name);
        let mut command = self.command();
        command.arg("--").args(self.tests).arg("--nocapture");
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
            executions: executions(&printed, self.name),
            seed: options.seed,
            findings: usize::from(!output.status.success()),
        })
    }
}

/// How much was done: in the storm's own words, and how many tests that were.
fn executions(output: &str, name: &str) -> String {
    let passed = output.lines().find_map(|line| {
        let rest = line.strip_prefix("test result: ")?;
        rest.split_whitespace().find_map(|word| word.parse::<u32>().ok())
    });
    match (summary(output, name), passed.unwrap_or(0)) {
        (Some(said), 0 | 1) => said.to_owned(),
        (Some(said), passed) => format!("{passed} tests; {said}"),
        (None, 0) => "none whole".to_owned(),
        (None, passed) => format!("{passed} tests"),
    }
}

/// What a storm says of itself at its end.
fn summary<'a>(output: &'a str, name: &str) -> Option<&'a str> {
    let own = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    output.lines().rev().find_map(own)
}

#[cfg(test)]
mod tests {
    use super::{executions, summary};

    #[test]
    fn finds_what_a_storm_says_of_itself() {
        let output = "running 1 test\nstorm: seed 1\nstorm: 5 servers killed\ntest … ok\n";
        assert_eq!(summary(output, "storm"), Some("5 servers killed"));
        assert_eq!(summary(output, "sessions"), None);
        let several = "faults disk: 2 disks\ntest result: ok. 12 passed; 0 failed; 1 ignored\n";
        assert_eq!(executions(several, "faults disk"), "12 tests; 2 disks");
        assert_eq!(executions(several, "faults git"), "12 tests");
        assert_eq!(executions("error", "faults git"), "none whole");
    }
}
