//! What a person gives an agent's CLI for one run, and per project: `run --allow`, `--permission-mode`, `-- ARGUMENTS`,
//! `--pty`.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::Place;

/// Speaks like claude: writes down its arguments and what its streams are, then says that it is done.
const AGENT: &str = r#"#!/bin/bash
printf '%s\n' "$@" >"arguments-$(ls | grep -c arguments-)"
[ -t 0 ] && echo 'Input must be provided through stdin' && exit 1
[ -t 1 ] && echo >on-terminal
read -r prompt
printf '%s\n' "$prompt" >prompt
printf '{"type":"system","subtype":"init","session_id":"11111111-1111-1111-1111-111111111111","model":"m"}\n'
printf '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Hello."}]}}\n'
printf '{"type":"result","subtype":"success","is_error":false,"result":"done"}\n'
read -r nothing
exit 0
"#;

fn place() -> Place {
    let place = Place::new();
    let program = place.project().join("fake-claude");
    fs::write(&program, AGENT).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    place.configure(&format!("[agents.claude]\ncommand = [{:?}]\n", program.display().to_string()));
    place
}

/// The arguments of a launch of the project, without those that it always has.
fn arguments(place: &Place, launch: u32) -> Vec<String> {
    let text = fs::read_to_string(place.project().join(format!("arguments-{launch}"))).expect("it began");
    let is_of_run = |line: &&str| {
        line.starts_with("--permission-mode") || line.starts_with("--add-dir") || line.contains("../lib")
    };
    let lines = text.lines().filter(|line| is_of_run(line) || line.contains("Bash(")).map(str::to_owned);
    lines.collect()
}

#[test]
fn a_run_is_given_rules_a_mode_and_arguments() {
    let place = place();
    place.done(&[
        "run",
        "--allow",
        "Bash(git *)",
        "--allow=Edit",
        "--permission-mode",
        "acceptEdits",
        "claude",
        "work",
        "--",
        "--add-dir",
        "../lib",
    ]);
    let given = ["--permission-mode=acceptEdits", "--allowedTools=Bash(git *),Edit", "--add-dir", "../lib"];
    assert_eq!(arguments(&place, 0), given);
    // They belong to the session, not to its first process; and to no other session.
    place.done(&["resume", "last", "go on"]);
    assert_eq!(arguments(&place, 1), given);
    place.done(&["run", "claude", "work"]);
    assert_eq!(arguments(&place, 2), Vec::<String>::new());
}

#[test]
fn what_cannot_be_given_is_refused() {
    let place = place();
    let said = place.run(&["run", "--allow", "Bash", "codex", "work"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("'codex' cannot be given --allow"), "{said:?}");
    let said = place.run(&["run", "--permission-mode", "plan", "opencode", "work"]);
    assert!(said.err.contains("'opencode' cannot be given --permission-mode"), "{said:?}");
    let said = place.run(&["run", "--allow", " ", "claude", "work"]);
    assert!(said.code != 0 && said.err.contains("more than blanks"), "{said:?}");
    for flags in [&["--model", "m"][..], &["--allow", "Bash"], &["--no-mcp"]] {
        let said = place.run(&[&["run"], flags, &["--", "true"]].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains(&format!("{} is for agents", flags[0])), "{said:?}");
    }
}

#[test]
fn a_project_says_the_same_once_a_person_agreed() {
    let place = place();
    fs::write(
        place.project().join("ostler.toml"),
        "[agents.claude]\ntools = ['Bash(make *)']\npermission_mode = 'plan'\nextra = ['--add-dir', '../lib']\n",
    )
    .expect("a file");
    let said = place.run(&["run", "claude", "work"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("ostler trust"), "{said:?}");
    place.done(&["trust", "--yes"]);
    place.done(&["run", "--allow", "Bash(git *)", "claude", "work"]);
    assert_eq!(
        arguments(&place, 0),
        ["--permission-mode=plan", "--allowedTools=Bash(make *),Bash(git *)", "--add-dir", "../lib"]
    );
}

#[test]
fn an_agent_that_takes_messages_runs_on_a_terminal() {
    let place = place();
    // Longer than a line of a terminal may be.
    let prompt = "hi ".repeat(3_000);
    let said = place.run(&["run", "--pty", "claude", &prompt]);
    assert_eq!((said.code, said.out.as_str()), (0, "Hello.\n"), "{said:?}");
    assert!(place.project().join("on-terminal").exists());
    let heard = fs::read_to_string(place.project().join("prompt")).expect("it was told");
    assert!(heard.contains(prompt.trim()), "{} bytes", heard.len());
}
