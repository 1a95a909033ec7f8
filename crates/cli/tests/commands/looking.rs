//! What can be looked at: `ostler`, `ps`, `show`, `logs`, `doctor`, `export`, `verify`, completions.

use crate::support::{ASK, Place};

#[test]
fn nothing_needs_you() {
    let place = Place::new();
    let said = place.done(&[]);
    assert!(said.starts_with("Nothing needs you.\n"), "{said}");
    let said = place.done(&["--lang", "ko"]);
    assert!(said.starts_with("지금 필요한 답이 없습니다.\n"), "{said}");
    assert_eq!(place.json(&[])["needs_you"], serde_json::json!([]));
    assert!(place.done(&["ps"]).starts_with("No agent is at work."));
    assert!(place.done(&["ps", "-a"]).starts_with("There are no sessions yet."));
    assert!(place.done(&["inbox"]).starts_with("Nothing needs you."));
    assert_eq!(place.json(&["ps", "-a"]), serde_json::json!([]));
}

#[test]
fn what_needs_you_stands_first() {
    let place = Place::new();
    let session = place.start(ASK);
    place.wait_for(&session, "waiting_input");
    let said = place.done(&[]);
    assert!(said.starts_with("1 thing needs you:\n\n◆ q_1  bash · s_1 · project · "), "{said}");
    assert!(
        said.contains(
            "    1  PostgreSQL  (default)\n    2  MySQL\n  Answer: ostler answer q_1 1, or --skip "
        ),
        "{said}"
    );
    assert!(said.contains("1 agent at work:\ns_1  ◆ waiting for you  "), "{said}");
    let ps = place.done(&["ps"]);
    assert!(ps.starts_with("ID   STATUS"), "{ps}");
    assert!(ps.contains(" q_1 "), "{ps}");
    assert_eq!(place.json(&["ps"])[0]["blocked_by"][0], "q_1");
}

#[test]
fn everything_about_a_session_can_be_seen() {
    let place = Place::new();
    let session = place.start("echo hello; echo oops >&2; exit 3");
    place.wait_for(&session, "failed");
    let shown = place.done(&["show", &session]);
    assert!(shown.starts_with("s_1  ✗ failed  bash -c echo hello"), "{shown}");
    assert!(shown.contains("s_1 has failed: its exit code was 3"), "{shown}");
    assert!(shown.contains("session.finished"), "{shown}");
    assert!(place.done(&["--lang", "ko", "show", "last"]).contains("s_1 실패: 종료 코드가 3입니다"));
    assert!(place.done(&["show", "r_1"]).starts_with("r_1  bash -c echo hello"));
    let value = place.json(&["show", "r_1"]);
    assert_eq!(value["run"]["outcome"]["reason"]["key"], "exit_code");
    assert_eq!(place.done(&["logs", "last"]), "hello\n");
    assert_eq!(place.done(&["logs", "r_1", "--err"]), "oops\n");
    let pieces = place.done(&["--json", "logs", "s_1"]);
    assert!(pieces.starts_with("{\"piece\":\"launch\",\"launch\":1,\"cause\":\"first\","), "{pieces}");
    assert!(pieces.ends_with("}\n{\"piece\":\"line\",\"text\":\"hello\"}\n"), "{pieces}");
    assert!(place.done(&["ps", "-a", "-n", "1"]).contains("✗ failed"));
}

#[test]
fn escapes_of_an_agent_reach_nobody() {
    let place = Place::new();
    let session = place.start(r"printf 'a\033]52;c;eA==\007b\033[31mred\033[0m\n'");
    place.wait_for(&session, "completed");
    assert_eq!(place.done(&["logs", &session]), "abred\n");
    assert_eq!(place.done(&["logs", &session, "--raw"]), "a\u{1b}]52;c;eA==\u{7}b\u{1b}[31mred\u{1b}[0m\n");
}

#[test]
fn logs_follow_until_the_process_ends() {
    let place = Place::new();
    let session = place.start("echo one; until [ -e go ]; do sleep 0.02; done; echo two");
    let mut command = place.command(&["logs", "-f", &session]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().expect("the binary starts");
    std::fs::write(place.project().join("go"), "").expect("a file");
    let output = child.wait_with_output().expect("it ends with the process");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\n");
}

#[test]
fn structured_output_is_shown_as_speech() {
    let place = Place::new();
    place.configure(
        r#"[agents.mine]
command = ["printf", '%s\n', '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Hello."},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}', '{"type":"result","subtype":"success"}']
output = "claude"
"#,
    );
    let said = place.run(&["run", "mine", "say hello"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Hello.\n› Bash  ls\n"), "{said:?}");
    assert!(place.done(&["logs", "last", "--raw"]).starts_with("{\"type\":\"assistant\""));
    let logs = place.done(&["--json", "logs", "last"]);
    let first: serde_json::Value = serde_json::from_str(logs.lines().nth(1).expect("a line")).expect("JSON");
    assert_eq!((&first["piece"], &first["fragment"]), (&"speech".into(), &false.into()), "{first}");
}

#[test]
fn the_doctor_looks_at_everything() {
    let place = Place::new();
    place.done(&[]);
    let said = place.done(&["doctor"]);
    for check in ["configuration", "state directory", "server: version", "database", "disk", "git", "systemd"]
    {
        assert!(said.contains(check), "{check}: {said}");
    }
    assert!(!said.contains("bad "), "{said}");
    place.configure("langauge = 'ko'\n");
    let said = place.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("did you mean `language`?"), "{said:?}");
}

#[test]
fn the_journal_is_exported_and_verified() {
    let place = Place::new();
    assert_eq!(place.run(&["export"]).code, 8, "there is no journal yet");
    let session = place.start("true");
    place.wait_for(&session, "completed");
    let lines = place.done(&["export"]);
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{lines}");
    let file = place.project().join("journal.ndjson");
    place.done(&["export", file.to_str().expect("text")]);
    assert_eq!(std::fs::read_to_string(file).expect("it was written"), lines);
    assert!(place.done(&["verify"]).starts_with("the journal and what was made of it agree: "));
    assert_eq!(place.json(&["verify"])["differences"], serde_json::json!([]));
}

#[test]
fn a_shell_can_complete() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.done(&["completions", shell]).contains("ostler"), "{shell}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_out_is_a_disk_that_is_full() {
    let place = Place::new();
    for _ in 0..12 {
        let session = place.start("true");
        place.wait_for(&session, "completed");
    }
    assert!(place.done(&["export"]).len() > 10_000, "more than is held back before it is written");
    let said = place.run(&["export", "/dev/full"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("cannot write '/dev/full'"), "{said:?}");
}

/// What is true of a project is said once, and nobody's word is claimed of a command.
#[test]
fn a_command_outside_of_git_is_told_once_and_gives_no_word() {
    let place = Place::new();
    let plain = std::env::temp_dir().join(format!("ostler-once-{}", std::process::id()));
    std::fs::create_dir_all(&plain).expect("the temporary directory can be written");
    let run = |arguments: &[&str]| {
        let output = place.command(arguments).current_dir(&plain).output().expect("the binary starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    place.configure("[agents.own]\ncommand = [\"true\"]\n");
    let [first, second, agent] =
        [["run", "--", "true"], ["run", "--", "true"], ["run", "own", "work"]].map(|it| run(&it));
    std::fs::remove_dir_all(&plain).ok();
    assert!(first.contains("not a git repository"), "{first}");
    assert!(!second.contains("not a git repository"), "{second}");
    assert!(second.contains("s_2 is done, unverified: nothing checked it"), "{second}");
    assert!(agent.contains("s_3 is done, unverified: it is the agent's word"), "{agent}");
}

/// An agent can write such a table into the configuration.
#[test]
fn a_program_that_is_asked_for_its_version_is_no_person() {
    let place = Place::with_commit();
    place.done(&["ps"]);
    let ostler = env!("CARGO_BIN_EXE_ostler");
    place.configure(&format!(
        "[agents.helper]\ncommand = [\"true\"]\n\
         version = [\"bash\", \"-c\", \"setsid '{ostler}' token make evil >&2; echo 1.0\"]\n"
    ));
    place.run(&["agents", "check", "helper"]);
    let tokens = place.json(&["token", "list"]);
    assert!(!tokens.to_string().contains("evil"), "{tokens}");
}

/// Words that people know from other programs do what they expect.
#[test]
fn known_words_stand_for_commands_and_a_missing_agent_fails_the_check() {
    let place = Place::with_commit();
    place.configure(
        "[agents.there]\ncommand = [\"true\"]\nversion = [\"echo\", \"1.0\"]\n\
                     [agents.gone]\ncommand = [\"no-such-program\"]\nversion = [\"no-such-program\"]\n",
    );
    assert_eq!(place.run(&["agents", "check", "there"]).code, 0);
    assert_eq!(place.run(&["agents", "check"]).code, 1, "one is missing");
    let list = place.json(&["agents", "list"]);
    let installed = |name: &str| {
        let found = list.as_array().and_then(|all| all.iter().find(|it| it["name"] == name));
        found.expect("it is listed")["installed"].as_bool()
    };
    assert_eq!((installed("there"), installed("gone")), (Some(true), Some(false)));
    let session = place.start("sleep 600");
    assert!(place.done(&["list"]).contains(&session));
    assert!(place.done(&["status"]).contains(&session), "as ostler alone shows it");
    place.done(&["kill", &session]);
    place.wait_for(&session, "cancelled");
    assert_eq!(place.run(&["rm", "--yes", &session]).code, 7, "it has no worktree");
}
