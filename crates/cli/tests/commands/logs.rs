//! `ostler logs`: prompts, answers, messages and all processes in order, cut and whole, of one session and of all.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    process::Stdio,
};

use crate::support::{Place, until};

/// Asks in its first process; is started again with the answer, uses a tool, and ends.
const AGENT: &str = r#"#!/bin/bash
say() { printf '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"%s"}]}}\n' "$1"; }
printf '{"type":"system","subtype":"init","session_id":"c1"}\n'
if [[ "$*" == *--continue* ]]; then
  say thanks
  printf '{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}\n'
  printf '{"type":"user","message":{"content":[{"type":"tool_result","content":"a.txt\\nb.txt\\nc.txt"}]}}\n'
else
  say 'Let me ask.'
  say '[USER_QUESTION]\ncategory: choice\nquestion: Which database?\noptions: [PostgreSQL, MySQL]\nrequired: true\n[/USER_QUESTION]'
fi
printf '{"type":"result","subtype":"success","session_id":"c1"}\n'
"#;

/// A place with an agent that is started again with every answer.
fn place() -> Place {
    let place = Place::new();
    let script = place.project().join("agent.sh");
    fs::write(&script, AGENT).expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    place.configure(&format!(
        "[agents.mine]\ncommand = [\"{}\"]\noutput = \"claude\"\ninput.way = \"relaunch\"\nend.required = true\n\
         arguments.resume = [\"--continue={{conversation}}\"]\narguments.prompt = [\"--\", \"{{prompt}}\"]\n",
        script.display()
    ));
    place
}

fn answered(place: &Place, prompt: &str) {
    place.done(&["run", "-d", "--name", "mine", "mine", prompt]);
    place.done(&["wait", "--for", "request", "mine"]);
    place.done(&["answer", "mine", "MySQL"]);
    place.wait_for("mine", "completed");
}

/// The time is no part of what is compared.
fn without_time(line: &str) -> String {
    match line.rsplit_once(" · ") {
        Some((before, _)) if line.starts_with("── ") => format!("{before} ──"),
        _ => line.to_owned(),
    }
}

#[test]
fn prompt_answers_and_all_processes_come_in_order() {
    let place = place();
    answered(&place, "choose a database");
    let shown: Vec<String> = place.done(&["logs", "mine"]).lines().map(without_time).collect();
    let expected = [
        "▸ you: choose a database",
        "Let me ask.",
        "[USER_QUESTION]",
        "category: choice",
        "question: Which database?",
        "options: [PostgreSQL, MySQL]",
        "required: true",
        "[/USER_QUESTION]",
        "▸ q_1: Which database? → MySQL",
        "── process 2 · started again with an answer or a message ──",
        "thanks",
        "› Bash  ls",
        "  a.txt  (+2 more)",
    ];
    assert_eq!(shown, expected);
    let full = place.done(&["logs", "mine", "--full"]);
    assert!(full.ends_with("› Bash  ls\n  a.txt\n  b.txt\n  c.txt\n"), "{full}");
    let korean = place.done(&["--lang", "ko", "logs", "mine"]);
    assert!(korean.starts_with("▸ 나: choose") && korean.contains("── 프로세스 2 · 답이나"), "{korean}");
    let second = place.done(&["logs", "mine", "--launch", "2"]);
    assert!(second.starts_with("── process 2 ") && !second.contains("Let me ask"), "{second}");
    assert!(place.done(&["logs", "mine", "--raw"]).starts_with("{\"type\":\"system\""));
    // Machines see the same, in the same order.
    let pieces = place.done(&["--json", "logs", "mine"]);
    let kinds: Vec<serde_json::Value> =
        pieces.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| kinds.iter().filter(|it| it["piece"] == kind).collect::<Vec<_>>();
    assert_eq!(of("launch").iter().map(|it| &it["cause"]).collect::<Vec<_>>(), ["first", "bring"]);
    assert_eq!(of("launch")[0]["prompt"], "choose a database");
    assert_eq!(
        (&of("answer")[0]["request"], &of("answer")[0]["answer"]["text"]),
        (&"q_1".into(), &"MySQL".into())
    );
}

#[test]
fn a_message_comes_behind_what_was_printed_before_it() {
    let place = Place::new();
    let id = place.start("echo one; echo two; read -r x; echo \"got $x\"; read -r y; echo over");
    let shown = |text: &str| {
        let logs = place.done(&["logs", &id]);
        logs.lines().any(|line| line.starts_with(text)).then_some(logs)
    };
    until("both lines are in the log", || shown("two"));
    let mut command = place.command(&["logs", "-f", &id]);
    let follows = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
    place.done(&["send", &id, "first"]);
    until("the first message is read", || shown("got "));
    place.done(&["send", &id, "second"]);
    let logs = until("the second one is read", || shown("over"));
    let places = ["one", "two", "▸ you: first", "got ", "▸ you: second", "over"];
    let found = |text: &str| places.map(|it| text.find(it).unwrap_or_else(|| panic!("{it} in {text}")));
    assert!(found(&logs).is_sorted(), "{logs}");
    let output = follows.wait_with_output().expect("it ends with the session");
    let followed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(found(&followed).is_sorted(), "{followed}");
}

#[test]
fn what_is_long_is_cut_with_a_word_about_it() {
    let place = place();
    let prompt = format!("begin {} end", "x".repeat(1_200));
    answered(&place, &prompt);
    let cut = place.done(&["logs", "mine"]);
    assert!(cut.contains("… 210 more characters: --full\n") && !cut.contains("x end"), "{cut}");
    assert!(place.done(&["logs", "mine", "--full"]).contains("x end"));
    assert_eq!(place.run(&["logs"]).code, 2);
    assert_eq!(place.run(&["logs", "mine", "--launch", "9"]).code, 8);
}

#[test]
fn a_session_is_followed_over_its_processes_until_it_has_ended() {
    let place = place();
    place.done(&["run", "-d", "--name", "mine", "mine", "choose"]);
    place.done(&["wait", "--for", "request", "mine"]);
    let mut command = place.command(&["logs", "-f", "mine"]);
    let follows = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
    place.done(&["answer", "mine", "MySQL"]);
    let output = follows.wait_with_output().expect("it ends with the session");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let places = ["▸ you: choose", "Let me ask.", "[/USER_QUESTION]", "── process 2", "thanks", "a.txt"]
        .map(|text| shown.find(text).unwrap_or_else(|| panic!("{text} in {shown}")));
    assert!(places.is_sorted(), "{shown}");
    assert!(shown.contains("▸ q_1: Which database? → MySQL"), "{shown}");
}

#[test]
fn all_sessions_are_followed_with_their_names() {
    let place = place();
    place.start("while :; do echo tick; sleep 0.05; done");
    let mut command = place.command(&["logs", "-f"]);
    let mut follows = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(follows.stdout.take().expect("a pipe")).lines();
    // Now it listens.
    assert_eq!(lines.next().expect("a line").expect("text"), "s_1 │ tick");
    answered(&place, "choose");
    let mut shown = Vec::new();
    for line in lines.by_ref() {
        let line = line.expect("text");
        let is_last = line.contains(" mine │ ") && line.contains("is done");
        shown.push(line);
        if is_last {
            break;
        }
    }
    follows.kill().expect("it runs");
    follows.wait().expect("it ends");
    let text = shown.join("\n");
    let places =
        ["mine │ ▸ you: choose", "mine │ Let me ask.", "mine │ ── process 2", "mine │ thanks", "is done"]
            .map(|it| text.find(it).unwrap_or_else(|| panic!("{it} in {text}")));
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("mine │ ▸ q_1: Which database? → MySQL"), "{text}");
    assert!(!text.contains('\u{1b}'), "a pipe sees plain text: {text:?}");
}
