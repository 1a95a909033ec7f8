//! Questions and answers: at once, later, after the agent has gone, after the server has, after the machine has.

use ostler_server::api::{NewAnswer, NewRun};

use crate::support::{QUESTION, World, kill, write};

/// The example of the first source document, with the reader that it leaves to the imagination.
const NODE: &str = r#"
const readline = require("node:readline");
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const readStdinAnswer = async () => JSON.parse((await lines.next()).value).answer;
(async () => {
  console.log(`
[USER_QUESTION]
category: business
question: What is your preferred revenue model?
options:
  - Subscription (monthly/yearly)
  - Freemium (free + paid tiers)
  - One-time purchase
default: Subscription (monthly/yearly)
required: true
[/USER_QUESTION]
`);
  const answer = await readStdinAnswer();
  console.log("answered: " + answer);
  process.exit(0);
})();
"#;

const PYTHON: &str = r#"
import json, sys
print("[USER_QUESTION]\ncategory: clarification\nquestion: Who are the users?\nrequired: true\n[/USER_QUESTION]", flush=True)
print("answered: " + json.loads(sys.stdin.readline())["answer"])
"#;

fn check(program: &str, name: &str, script: &str, question: &str, value: &str, answer: &str) {
    let world = World::new();
    write(&world.project, name, script);
    let session = world.run(&[program, name]);
    let request = world.asked(&session);
    assert_eq!(request.ask.text, question);
    let stopped = world.wait_for("the stop", |world| {
        let view = world.session(&session);
        view.launches[0].stopped_at_ms.map(|_| view)
    });
    assert_eq!((stopped.status.as_str(), &stopped.blocked_by), ("waiting_input", &vec![request.id.clone()]));
    world.answer(&request.id, value);
    let done = world.status(&session, "completed");
    assert!(!done.outcome.expect("an outcome").verified, "nobody has checked it");
    assert!(world.output(&session).ends_with(&format!("answered: {answer}\n")), "{}", world.output(&session));
    assert_eq!(world.request(&request.id).delivery, "consumed");
    assert_eq!(world.count(&session, "input.delivered"), 1);
}

#[test]
fn the_documents_example_under_node_reads_its_answer() {
    let question = "What is your preferred revenue model?";
    check("node", "agent.js", NODE, question, "2", "Freemium (free + paid tiers)");
}

#[test]
fn the_same_in_python() {
    check("python3", "agent.py", PYTHON, "Who are the users?", "Everyone, 모두", "Everyone, 모두");
}

#[test]
fn the_same_in_bash() {
    let script = format!("{QUESTION}\nread -r line\necho \"answered: $line\"\n");
    let answer = r#"{"type":"question_answer","questionId":"q_1","answer":"MySQL"}"#;
    check("bash", "agent.sh", &script, "Which database?", "mysql", answer);
}

#[test]
fn who_goes_on_works_since_then() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; sleep 600"));
    let request = world.asked(&session);
    let waits = world.session(&session).since_ms;
    assert_eq!(waits, request.opened_at_ms);
    let settled = world.answer(&request.id, "MySQL").settled.expect("it is answered");
    let works = world.status(&session, "active").since_ms;
    assert!(works >= settled.at_ms, "{works} {}", settled.at_ms);
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}

#[test]
fn an_answer_after_the_server_was_killed() {
    let mut world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session);
    let pid = world.session(&session).pid;
    world.restart();
    assert_eq!(world.session(&session).pid, pid, "the agent has not noticed");
    assert_eq!(world.inbox().len(), 1);
    world.answer(&request.id, "PostgreSQL");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("PostgreSQL"));
    assert_eq!(world.count(&session, "request.opened"), 1);
    assert_eq!(world.count(&session, "input.delivered"), 1);
    world.verify();
}

#[test]
fn an_answer_after_the_machine_was_switched_off() {
    let mut world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session);
    world.reboot();
    let view = world.status(&session, "interrupted");
    assert_eq!(view.pid, None);
    assert_eq!(world.inbox().len(), 1, "the question is still there");
    world.answer(&request.id, "MySQL");
    assert_eq!(world.session(&session).status, "interrupted", "a plain command is not begun again unasked");
    world.wish(&session, "resume");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("MySQL"), "the same question has the same answer");
    assert!(world.inbox().is_empty());
    world.verify();
}

#[test]
fn a_question_that_is_still_open_is_not_asked_twice_after_a_resume() {
    let mut world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session);
    world.reboot();
    world.status(&session, "interrupted");
    world.wish(&session, "resume");
    world.status(&session, "waiting_input");
    let inbox = world.inbox();
    assert_eq!(inbox.iter().map(|it| &it.id).collect::<Vec<_>>(), [&request.id]);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
}

/// A program with a memory: told by `--resume` what it was told before.
const WITH_MEMORY: &str = r#"
[agents.memory]
about = "a program that remembers"
command = ["bash", "agent.sh"]
[[agents.memory.output.agent_session]]
when = { type = "begin" }
give = { id = "id" }
[[agents.memory.output.speech]]
when = { type = "say" }
give = { text = "text" }
[[agents.memory.output.end]]
when = { type = "end" }
give = { status = "success" }
[agents.memory.arguments]
resume = ["--resume", "{conversation}"]
prompt = ["{prompt}"]
[agents.memory.input]
way = "relaunch"
[agents.memory.end]
required = true
"#;

const MEMORY_SCRIPT: &str = r#"
echo '{"type":"begin","id":"c-1"}'
if [ "$1" = --resume ]; then
  printf '{"type":"say","text":"told: %s"}\n' "$(printf %s "$3" | tr -d '"' | tr '\n' ' ')"
  echo '{"type":"end"}'
  exit 0
fi
printf '%s\n' '{"type":"say","text":"[USER_QUESTION]\ncategory: clarification\nquestion: Which one?\nrequired: true\n[/USER_QUESTION]\n"}'
AFTER
"#;

fn memory(world: &World, after: &str) -> NewRun {
    std::fs::create_dir_all(world.home.join("config/ostler")).expect("a folder");
    write(&world.home.join("config/ostler"), "config.toml", WITH_MEMORY);
    write(&world.project, "agent.sh", &MEMORY_SCRIPT.replace("AFTER", after));
    let prompt = Some("do it".to_owned());
    NewRun { agent: Some("memory".to_owned()), command: Vec::new(), prompt, ..world.new_run(&[]) }
}

#[test]
fn an_agent_that_exits_after_asking_is_started_again_with_the_answer() {
    let world = World::new();
    let new = memory(&world, "echo '{\"type\":\"end\"}'");
    // It may be stopped before it comes to its end; then it is not waited for.
    let config = format!("[patience]\nstopped = \"1s\"\n{WITH_MEMORY}");
    write(&world.home.join("config/ostler"), "config.toml", &config);
    let session = world.run_with(&new);
    let request = world.asked(&session);
    world.wait_for("its end", |world| world.session(&session).launches[0].ended.clone());
    assert_eq!(world.session(&session).status, "waiting_input");
    world.answer(&request.id, "this one");
    let view = world.status(&session, "completed");
    assert_eq!(view.launches.len(), 2);
    assert!(world.output(&session).contains("this one"), "{}", world.output(&session));
}

#[test]
fn an_agent_that_is_stopped_while_asking_is_ended_and_started_again_with_the_answer() {
    let world = World::new();
    let session = world.run_with(&memory(&world, "sleep 1000"));
    let request = world.asked(&session);
    world.answer(&request.id, "that one");
    let view = world.status(&session, "completed");
    assert_eq!(view.launches.len(), 2);
    assert!(world.output(&session).contains("that one"));
}

#[test]
fn an_agent_that_waits_too_long_is_put_to_rest_and_comes_back_with_the_answer() {
    let world = World::new();
    let new = memory(&world, "sleep 1000");
    let config = format!("[patience]\nstopped = \"1s\"\n{WITH_MEMORY}");
    write(&world.home.join("config/ostler"), "config.toml", &config);
    let session = world.run_with(&new);
    let request = world.asked(&session);
    let view = world.wait_for("its rest", |world| {
        Some(world.session(&session)).filter(|view| view.launches[0].ended.is_some())
    });
    assert_eq!(view.status, "waiting_input", "a question is open, whatever became of the process");
    world.answer(&request.id, "at last");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("at last"));
}

#[test]
fn an_answer_to_a_program_that_is_gone_is_said_to_be_undeliverable() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line"));
    let request = world.asked(&session);
    assert!(!request.abandoned);
    let pid = world.session(&session).pid.expect("a process");
    kill(u32::try_from(pid).expect("a pid"), "KILL");
    world.wait_for("its end", |world| world.session(&session).launches[0].ended.clone());
    let card = String::from_utf8(world.ostler(&["inbox"]).stdout).expect("text");
    assert!(card.contains("an answer does not reach it any more"), "{card}");
    let answered = world.ostler(&["answer", &request.id, "MySQL"]);
    let said = String::from_utf8_lossy(&answered.stdout);
    assert!(said.contains("is settled (MySQL), but the answer cannot be delivered"), "{said}");
    assert_eq!(answered.status.code(), Some(1));
    world.status(&session, "failed");
    assert_eq!(world.request(&request.id).delivery, "undeliverable");
}

#[test]
fn two_questions_at_once_are_answered_in_the_order_in_which_they_were_asked() {
    let world = World::new();
    // In one piece, or the agent would be stopped between the two.
    let ask = "printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: %s?\\nrequired: true\\n[/USER_QUESTION]\\n'";
    let session = world.bash(&format!(
        "both=$({ask} one two); cat <<<\"$both\"; read -r a; read -r b; echo \"$a\"; echo \"$b\""
    ));
    let both = world.wait_for("both", |world| Some(world.inbox()).filter(|inbox| inbox.len() == 2));
    world.answer(&both[1].id, "second");
    assert_eq!(world.session(&session).status, "waiting_input");
    world.answer(&both[0].id, "first");
    world.status(&session, "completed");
    let output = world.output(&session);
    let place = |word: &str| output.find(&format!("\"answer\":\"{word}\"")).expect("an answer");
    assert!(place("first") < place("second"), "{output}");
}

/// A question with these fields, and the one line that its program reads.
fn asks(fields: &str) -> String {
    let block =
        format!("[USER_QUESTION]\\ncategory: clarification\\nquestion: Who?\\n{fields}\\n[/USER_QUESTION]");
    format!("printf '{block}\\n'; read -r line; echo \"got $line\"")
}

#[test]
fn a_person_declines_a_question() {
    let world = World::new();
    for (fields, told, shown) in [
        ("required: false", "null", "q_1 is answered: skipped"),
        ("default: everybody\\nrequired: false", "\"everybody\"", "q_2 is answered: everybody"),
        ("default: everybody\\nrequired: true", "\"everybody\"", "q_3 is answered: everybody"),
    ] {
        let session = world.bash(&asks(fields));
        let request = world.asked(&session);
        assert!(request.ask.skippable, "{fields}");
        let inbox = String::from_utf8(world.ostler(&["inbox"]).stdout).expect("text");
        let is_required = fields.ends_with("true");
        assert_eq!(inbox.contains(" · optional"), !is_required, "{inbox}");
        let how =
            if fields.starts_with("default") { "--skip for the default" } else { "--skip to go on without" };
        assert!(inbox.contains(&format!("ostler answer {} \"…\", or {how}\n", request.id)), "{inbox}");
        let output = world.ostler(&["answer", &request.id, "--skip"]);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).expect("text");
        assert!(said.starts_with(shown), "{said}");
        world.status(&session, "completed");
        let line =
            format!(r#"got {{"type":"question_answer","questionId":"{}","answer":{told}}}"#, request.id);
        assert!(world.output(&session).ends_with(&format!("{line}\n")), "{}", world.output(&session));
    }
    let session = world.bash(&asks("required: true"));
    let request = world.asked(&session);
    let output = world.ostler(&["answer", &request.id, "--skip"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let why = String::from_utf8(output.stderr).expect("text");
    assert!(why.contains("cannot be skipped: the agent requires it and names no default"), "{why}");
    let skip = NewAnswer { skip: true, ..NewAnswer::default() };
    assert_eq!(world.refused(&format!("/requests/{}/answer", request.id), &skip).kind, "required");
    world.answer(&request.id, "me");
    world.status(&session, "completed");
}

#[test]
fn who_asks_at_the_socket_learns_that_a_person_declined() {
    let world = World::new();
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let session = world.bash(&format!("'{ostler}' ask 'Who?' --optional; echo \"ended $?\""));
    let request = world.asked(&session);
    assert!(world.ostler(&["answer", "--skip"]).status.success());
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "ended 13\n", "{}", request.id);
}

#[test]
fn bad_answers_change_nothing() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line"));
    let request = world.asked(&session);
    let path = format!("/requests/{}/answer", request.id);
    let said = |value: &str| NewAnswer { value: Some(value.to_owned()), ..NewAnswer::default() };
    let problem = world.refused(&path, &said("postgre"));
    assert_eq!((problem.kind.as_str(), problem.status), ("not_an_option", 400));
    assert!(problem.hint.expect("a hint").contains("PostgreSQL"));
    assert_eq!(world.refused("/requests/q_99/answer", &said("1")).kind, "no_request");
    assert_eq!(world.refused("/requests/nonsense/answer", &said("1")).kind, "no_request");
    assert_eq!(world.refused(&path, &NewAnswer::default()).kind, "empty_answer");
    assert_eq!(world.refused(&path, &serde_json::json!({"valeu": "1"})).kind, "bad_body");
    assert_eq!(world.count(&session, "request.settled"), 0);
    world.answer(&request.id, "1");
    let problem = world.refused(&path, &said("2"));
    assert_eq!((problem.kind.as_str(), problem.status), ("settled", 409));
    world.status(&session, "completed");
}

#[test]
fn a_malformed_question_does_not_leave_the_agent_waiting_for_ever() {
    let world = World::new();
    let session = world.bash(
        "printf '[USER_QUESTION]\\ncategory: choice\\n[/USER_QUESTION]\\n'; read -r line; echo \"got $line\"",
    );
    let request = world.asked(&session);
    assert_eq!(request.ask.kind, "fault");
    assert_eq!(request.ask.text, "Invalid protocol format: USER_QUESTION missing required field 'question'");
    let raw = "[USER_QUESTION]\ncategory: choice\n[/USER_QUESTION]";
    let report = serde_json::json!({ "type": "fatal", "message": "Invalid protocol format",
        "details": "USER_QUESTION missing required field 'question'", "recovery": "notify_user", "raw": raw });
    assert_eq!(request.ask.fields, report);
    let mut asked = report;
    asked["kind"] = "fault".into();
    let opened = world.events(&session).into_iter().find(|event| event.kind == "request.opened");
    assert_eq!(opened.expect("it was opened").body["ask"], asked);
    let card = String::from_utf8(world.ostler(&["inbox"]).stdout).expect("text");
    assert!(
        card.contains(" · fatal · notify_user\n  Invalid protocol format: USER_QUESTION missing"),
        "{card}"
    );
    world.answer(&request.id, "ask again with a question please");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("got ask again with a question please"));
}

#[test]
fn an_office_question_expires_and_a_late_answer_still_arrives() {
    let world = World::new();
    std::fs::create_dir_all(world.home.join("config/ostler")).expect("a folder");
    write(&world.home.join("config/ostler"), "config.toml", "[patience]\nask_user = \"1s\"\n");
    let script = "printf '[ASK_USER]\\nquestion: Red or blue?\\n[/ASK_USER]\\n'; read -r a; echo \"first: $a\"; read -r b; echo \"then: $b\"";
    let session = world.bash(script);
    world.wait_for("the expiry", |world| {
        world.output(&session).contains("first: Nobody answered").then_some(())
    });
    let request = world.inbox().remove(0);
    assert!(request.expired);
    world.answer(&request.id, "blue");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("then: Late answer to \"Red or blue?\": blue"));
    assert!(world.request(&request.id).settled.expect("settled").late);
}

/// What a plain command reads and what it is told, in its second launch.
fn second_launch(world: &World, session: &str) -> (String, String) {
    let request = world.asked(session);
    world.answer(&request.id, "1");
    world.status(session, "completed");
    let read = |name: &str| std::fs::read_to_string(world.project.join(name)).expect("it was written");
    (read("got"), read("told"))
}

/// Does nothing the first time. The second time it asks, and keeps what it reads then.
fn asks_the_second_time() -> String {
    format!(
        "if [ -e second ]; then {QUESTION}; printf %s \"$OSTLER_PROMPT\" >told; read -r line; \
         printf %s \"$line\" >got; fi; touch second"
    )
}

#[test]
fn a_plain_command_that_is_sent_back_reads_its_answer_and_nothing_else() {
    let world = World::new();
    let check = Some("echo nothing was got; test -s got".to_owned());
    let new = world.new_run(&["bash", "-c", &asks_the_second_time()]);
    let session = world.run_with(&NewRun { check, attempts_max: Some(3), ..new });
    let (got, told) = second_launch(&world, &session);
    assert!(got.contains("\"answer\":\"PostgreSQL\""), "{got}");
    assert!(told.starts_with("The work is not done") && told.contains("nothing was got"), "{told}");
}

#[test]
fn a_plain_command_that_is_resumed_with_words_reads_its_answer_and_nothing_else() {
    let world = World::new();
    let session = world.bash(&asks_the_second_time());
    world.status(&session, "completed");
    let resumed = world.ostler(&["resume", "-d", &session, "look again"]);
    assert!(resumed.status.success(), "{resumed:?}");
    let (got, told) = second_launch(&world, &session);
    assert!(got.contains("\"answer\":\"PostgreSQL\""), "{got}");
    assert_eq!(told, "look again");
}

#[test]
fn words_that_a_plain_command_could_not_be_told_are_refused() {
    let world = World::new();
    let session = world.bash("true");
    world.status(&session, "completed");
    let long = "x".repeat(70_000);
    let resumed = world.ostler(&["resume", "-d", &session, &long]);
    assert!(resumed.status.success(), "{resumed:?}");
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    let message = reason["message"].as_str().expect("words");
    assert!(message.contains("70000 bytes") && message.contains("put the text into a file"), "{message}");
}
