//! What would stop a loop is said before it begins: all of it in one message, and nothing is started.

use std::{fs, path::PathBuf, process::Command};

use ostler_server::api::OutcomeKind;
use serde_json::Value;

use crate::{straight::THREE, support::Place};

/// What a loop that is not begun says: message and hint.
fn refused(place: &Place, arguments: &[&str]) -> String {
    let (out, err, code) = place.ostler(&[&["orchestrate"], arguments].concat());
    assert_eq!((code, out.as_str()), (7, ""), "{err}");
    let (runs, _, _) = place.ostler(&["--json", "ps", "-a"]);
    assert_eq!(runs.trim(), "[]", "nothing was started");
    assert!(!place.root.join("ran").exists(), "no agent ran");
    err
}

#[test]
fn everything_in_the_way_is_said_at_once() {
    let tasks: Vec<String> = (1..=13).map(|n| format!("- [ ] T1.{n}: a\n  - owner: nobody{n}\n")).collect();
    let tasks = format!("{}- [ ] T2.1: b\n  - owner: gone\n  - verify: test -d src\n", tasks.concat());
    let place = Place::new(&tasks);
    place.write("config/ostler/config.toml", "[agents.gone]\ncommand = [\"no-such-program\"]\n");
    place.write("project/ostler.toml", "[orchestrate]\ntest = \"touch ../tested\"\n");
    let said = refused(&place, &[]);
    assert!(said.contains("4 obstacles:"), "{said}");
    let first = "T1.1, T1.2, T1.3, T1.4, T1.5, T1.6, T1.7, T1.8, T1.9, T1.10 and 3 more";
    for line in [
        format!("no agent for {first}: "),
        "agent 'gone' is not installed: there is no program 'no-such-program'".to_owned(),
        "you have not approved orchestrate.test = touch ../tested".to_owned(),
        "you have not approved the verify command of T2.1: test -d src".to_owned(),
        "decide: ostler trust.".to_owned(),
        "--agent".to_owned(),
        "Nothing was started.".to_owned(),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
    assert!(refused(&place, &["--lang", "ko"]).contains("걸리는 것이 4가지"));
    // Programs are told the same.
    let (_, err, code) = place.ostler(&["--json", "orchestrate"]);
    let line = err.lines().last().unwrap_or_default();
    let problem: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("JSON: {err}"));
    assert_eq!((code, problem["error"]["type"].as_str()), (7, Some("no_agent")), "{problem}");
    let said = refused(&place, &["--agent", "gon"]);
    assert!(said.contains("there is no agent 'gon' (--agent); did you mean 'gone'?"), "{said}");
}

#[test]
fn a_loop_begins_when_somebody_has_agreed() {
    let mut place = Place::new("- [ ] T1.1: one\n  - verify: test -d src\n");
    place.start(None);
    let said = refused(&place, &[]);
    assert!(said.contains("you have not approved the verify command of T1.1: test -d src"), "{said}");
    let (out, err, code) = place.ostler(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    let run = place.begin(&[]);
    assert_eq!(place.end(&run).counts.completed, 1);
}

/// Commands of phases that this loop leaves alone are in nobody's way.
#[test]
fn only_the_phase_that_is_worked_on_counts() {
    let tasks = format!("{THREE}\n## Phase 9: Later\n\n- [ ] T9.1: later\n  - verify: false\n");
    let mut place = Place::new(&tasks);
    place.start(None);
    let run = place.begin(&["--phase", "0"]);
    assert_eq!(place.end(&run).outcome.expect("an outcome").outcome, OutcomeKind::Completed);
}

/// A directory outside of git, which goes with the test.
struct PlainDirectory(PathBuf);

impl PlainDirectory {
    fn new() -> PlainDirectory {
        let above = std::env::temp_dir().join(format!("ostler-plain-{}", std::process::id()));
        fs::remove_dir_all(&above).ok();
        // Sandboxes of some CLIs leave such a directory behind. It is no repository.
        fs::create_dir_all(above.join(".git")).expect("the temporary directory can be written");
        let path = above.join("plain");
        fs::create_dir_all(path.join("deeper")).expect("the temporary directory can be written");
        PlainDirectory(path)
    }
}

impl Drop for PlainDirectory {
    fn drop(&mut self) {
        let above = self.0.parent().expect("it was made below another");
        fs::remove_dir_all(above).ok();
    }
}

#[test]
fn a_plain_directory_has_agents_of_its_own_after_trust() {
    let mut place = Place::new(THREE);
    place.start(None);
    let plain = PlainDirectory::new();
    let ostler = |arguments: &[&str], below: &str| {
        let mut command: Command = place.command(arguments);
        let output = command.current_dir(plain.0.join(below)).output().expect("the binary starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
    };
    let agent =
        "default_agent = \"own\"\n[agents.own]\ncommand = [\"sh\", \"-c\", \"echo made > made.txt\"]\n";
    fs::write(plain.0.join("ostler.toml"), agent).expect("a file");
    fs::write(plain.0.join("TASKS.md"), "- [ ] T0.1: one\n  - owner: own\n  - verify: test -e made.txt\n")
        .expect("a file");
    let (out, err, code) = ostler(&["orchestrate"], "");
    assert_eq!((code, out.as_str()), (7, ""), "{err}");
    for line in ["2 obstacles", "agents.own", "the verify command of T0.1"] {
        assert!(err.contains(line), "{line}: {err}");
    }
    let (_, err, code) = ostler(&["run", "own", "work"], "deeper");
    assert_eq!(code, 7, "{err}");
    assert!(err.contains("agents.own") && err.contains("ostler trust"), "{err}");
    let (shown, err, code) = ostler(&["trust", "--yes"], "deeper");
    assert_eq!(code, 0, "{shown}{err}");
    assert!(shown.contains("agents.own (agreed") && shown.contains("default_agent (agreed"), "{shown}");
    // The task file lies in the root, and is agreed to there.
    let (shown, err, code) = ostler(&["trust", "--yes"], "");
    assert_eq!(code, 0, "{shown}{err}");
    assert!(shown.contains("test -e made.txt"), "{shown}");
    let (out, err, code) = ostler(&["orchestrate"], "");
    assert_eq!(code, 0, "{out}{err}");
    assert!(plain.0.join("made.txt").exists());
}
