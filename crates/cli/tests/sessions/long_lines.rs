//! Lines that are too long for a terminal reach the agent on it by a file, and what cannot be written to an agent at
//! all is not said to have been.

use std::fs;

use ostler_server::api::{EventView, RequestView};
use serde_json::{Value, json};

use crate::support::{QUESTION, World, write};

/// Reads a line on a terminal, writes it to `line$1`, and copies the file that it names, if it names one, to `copy$1`.
const TAKE: &str = r#"take() { IFS= read -r line; printf '%s' "$line" >"line$1.draft"
    file=$(grep -o '/[^ "]*/told/[0-9a-f]*' <<<"$line") && cp "$file" "copy$1"; mv "line$1.draft" "line$1"; };"#;

const ASK: &str = "printf '[ASK_USER]\\nquestion: What is it about?\\ntype: text\\n[/ASK_USER]\\n'";

const OPEN: &str = "printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: What is it about?\\nrequired: true\\n[/USER_QUESTION]\\n'";

/// A Korean text of so many bytes, with something in it that JSON has to escape.
fn korean(bytes: usize) -> String {
    let text = "\"긴\" 답\\ ".repeat(bytes);
    let text = &text[..text.floor_char_boundary(bytes)];
    format!("{text}{}", ".".repeat(bytes - text.len()))
}

/// A shell script on a terminal.
fn at_terminal(world: &World, script: &str, korean: bool) -> String {
    let mut new = world.new_run(&["bash", "-c", &format!("{TAKE} {script}")]);
    new.terminal = Some((24, 80));
    new.korean = korean;
    world.run_with(&new)
}

fn file(world: &World, name: &str) -> String {
    let path = world.project.join(name);
    world.wait_for(name, |_| path.exists().then_some(()));
    fs::read_to_string(path).expect("text")
}

/// What the agent has found in the file that a line named. It is whole when the line is there.
fn copied(world: &World, name: &str) -> String {
    file(world, &format!("line{name}"));
    file(world, &format!("copy{name}"))
}

/// The files that are kept for a session.
fn kept(world: &World, session: &str) -> usize {
    fs::read_dir(world.home.join("sessions").join(session).join("told")).into_iter().flatten().count()
}

/// How often something happened to a session.
fn count(world: &World, session: &str, kind: &str) -> usize {
    events(world, session, kind).len()
}

/// Only these: a page of all events ends early where they are long.
fn events(world: &World, session: &str, kind: &str) -> Vec<EventView> {
    world.get(&format!("/events?session={session}&kind={kind}")).expect("events")
}

fn consumed(world: &World, request: &str) -> RequestView {
    world.wait_for("the answer to be read", |world| {
        Some(world.request(request)).filter(|it| it.delivery == "consumed")
    })
}

#[test]
fn a_long_answer_to_a_question_reaches_a_terminal_by_a_file() {
    let world = World::new();
    let session = at_terminal(&world, &format!("{OPEN}; take 1; {OPEN}; take 2; {OPEN}; take 3"), false);
    for (number, bytes) in [(1, 5_000), (2, 100_000), (3, 1_000_000)] {
        let answer = korean(bytes);
        let request = world.asked(&session);
        world.answer(&request.id, &answer);
        let line = file(&world, &format!("line{number}"));
        let line: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!((&line["type"], &line["questionId"]), (&json!("question_answer"), &json!(request.id)));
        assert_eq!((line.get("answer"), &line["answerFile"]["bytes"]), (None, &json!(bytes)), "{line}");
        assert_eq!(copied(&world, &number.to_string()), answer);
    }
    world.status(&session, "completed");
    assert_eq!(kept(&world, &session), 3);
    for kind in ["input.sent", "input.delivered", "input.consumed"] {
        assert_eq!(count(&world, &session, kind), 3, "{kind}");
    }
    world.verify();
}

#[test]
fn a_long_answer_in_words_reaches_a_terminal_by_a_file() {
    for (korean_session, head) in
        [(false, "It is long and stands in a file."), (true, "내용이 길어 파일에 있습니다.")]
    {
        let world = World::new();
        let script = format!("{ASK}; take 1; {ASK}; take 2; {ASK}; take 3");
        let session = at_terminal(&world, &script, korean_session);
        // The most that a terminal passes on, and no file.
        let most = korean(4095);
        for (number, answer) in [(1, most.clone()), (2, korean(5_000)), (3, korean(100_000))] {
            let request = world.asked(&session);
            world.answer(&request.id, &answer);
            let line = file(&world, &format!("line{number}"));
            if number == 1 {
                assert_eq!(line, most);
                continue;
            }
            assert!(line.starts_with(head) && line.contains(&format!("({}", answer.len())), "{line}");
            assert_eq!(copied(&world, &number.to_string()), answer);
        }
        world.status(&session, "completed");
        assert_eq!(kept(&world, &session), 2);
        world.verify();
    }
}

#[test]
fn an_answer_of_several_lines_stands_in_one_file() {
    let world = World::new();
    let session = at_terminal(&world, &format!("{ASK}; take 1"), false);
    let request = world.asked(&session);
    world.answer(&request.id, &format!("first line\n{}\n{}", korean(4_096), korean(9_000)));
    let copy = copied(&world, "1");
    assert_eq!(copy, format!("first line\n{}\n{}", korean(4_096), korean(9_000)), "all of its lines");
    consumed(&world, &request.id);
}

#[test]
fn a_long_message_reaches_a_terminal_by_a_file_and_many_lines_as_they_are() {
    let world = World::new();
    let lines = vec![korean(4_095); 12].join("\n");
    let session = at_terminal(
        &world,
        "for n in {1..12}; do take $n; done; take long; until [ -e go ]; do sleep 0.05; done",
        false,
    );
    world.status(&session, "active");
    let output = world.ostler(&["send", &session, &lines]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for number in 1..=12 {
        assert_eq!(file(&world, &format!("line{number}")), korean(4_095), "line {number}");
    }
    let long = "x".repeat(6_000);
    let output = world.ostler(&["send", &session, &long]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(copied(&world, "long"), long);
    write(&world.project, "go", "");
    world.status(&session, "completed");
    assert_eq!(
        (count(&world, &session, "input.delivered"), count(&world, &session, "input.refused")),
        (2, 0)
    );
    world.verify();
}

/// An agent of the configuration on a terminal, which is told everything on its input.
fn teller(world: &World, script: &str) {
    write(&world.project, "agent.sh", &format!("{TAKE} {script}"));
    let path = world.project.join("agent.sh").display().to_string();
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    let config = format!(
        "language = \"ko\"\n[agents.teller]\nterminal = \"pty\"\ncommand = [\"bash\", {path:?}]\n\
         [office.roles.PO]\nagent = \"teller\"\n"
    );
    write(&folder, "config.toml", &config);
}

#[test]
fn a_person_says_something_long_to_a_role_on_a_terminal() {
    let world = World::new();
    teller(&world, "take 1; sleep 600");
    // Somebody has worked here.
    let first = world.bash("true");
    world.status(&first, "completed");
    let words = korean(7_000);
    let output = world.ostler(&["office", "send", "PO", &words]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(copied(&world, "1"), words);
    assert!(file(&world, "line1").starts_with("내용이 길어 파일에 있습니다."));
}

#[test]
fn a_long_prompt_reaches_a_terminal_by_a_file() {
    let world = World::new();
    teller(&world, "take 1");
    let mut new = world.new_run(&[]);
    new.agent = Some("teller".to_owned());
    new.prompt = Some(korean(20_000));
    let session = world.run_with(&new);
    assert_eq!(copied(&world, "1"), korean(20_000));
    world.status(&session, "completed");
}

#[test]
fn a_server_that_dies_around_the_delivery_tells_it_once_and_keeps_one_file() {
    for site in ["before deliver", "after deliver", "before done"] {
        let mut world = World::new();
        let session = at_terminal(&world, &format!("{OPEN}; take 1; take 2"), false);
        let request = world.asked(&session);
        world.kill_server();
        world.start_with(&[("OSTLER_CRASH_AT", &format!("{site}:1"))]);
        let answer = korean(100_000);
        let path = format!("/requests/{}/answer", request.id);
        // It may die before it has replied.
        world.post::<Value>(&path, &json!({ "value": answer })).ok();
        world.wait_for("the server to die", |world| world.get::<Value>("/info").err());
        world.restart();
        assert_eq!(copied(&world, "1"), answer, "{site}");
        // Nothing was written between the answer and what comes next.
        world
            .post::<Value>(&format!("/sessions/{session}/messages"), &json!({ "text": "next" }))
            .expect("sent");
        assert_eq!(file(&world, "line2"), "next", "{site}");
        world.status(&session, "completed");
        assert_eq!((kept(&world, &session), count(&world, &session, "input.delivered")), (1, 2), "{site}");
        world.restart();
        assert_eq!(kept(&world, &session), 1, "nobody removes it");
        world.verify();
    }
}

#[test]
fn what_an_agent_has_no_room_for_is_returned_and_not_said_to_be_delivered() {
    let world = World::new();
    let session = world.bash("echo up; until [ -e go ]; do sleep 0.05; done; exec cat >/dev/null");
    world.wait_for("its process", |world| world.output(&session).contains("up").then_some(()));
    let path = format!("/sessions/{session}/messages");
    for _ in 0..17 {
        world.post::<Value>(&path, &json!({ "text": "x".repeat(1_000_000) })).expect("a message");
    }
    let refused = world.wait_for("a refusal", |world| events(world, &session, "input.refused").pop());
    let said = serde_json::to_value(&refused).expect("JSON").to_string();
    assert!(said.contains("too much input waits") && said.contains("m_17"), "{said}");
    assert_eq!(
        (count(&world, &session, "input.returned"), count(&world, &session, "input.delivered")),
        (1, 16)
    );
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.verify();
}

#[test]
fn what_is_written_to_a_closed_input_is_refused_until_the_end_and_then_returned() {
    let world = World::new();
    let session = world.bash(&format!("exec <&-; {QUESTION}; until [ -e go ]; do sleep 0.05; done"));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.wait_for("what was taken", |world| (count(world, &session, "input.delivered") == 1).then_some(()));
    let path = format!("/sessions/{session}/messages");
    world.post::<Value>(&path, &json!({ "text": "more" })).expect("a message");
    world.wait_for("the refusal", |world| (count(world, &session, "input.refused") == 1).then_some(()));
    assert_eq!(count(&world, &session, "input.returned"), 0, "another process could read it");
    write(&world.project, "go", "");
    world.status(&session, "completed");
    assert_eq!(
        (count(&world, &session, "input.returned"), count(&world, &session, "input.consumed")),
        (2, 0)
    );
    assert_eq!(world.request(&request.id).delivery, "undeliverable");
    world.verify();
}
