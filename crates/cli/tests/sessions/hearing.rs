//! A CLI that reads its input at once and takes it into its conversation later, as claude does: what it had only read when
//! it was killed is said again, and what its stream has proven is not.

use std::fs;

use ostler_server::api::NewRun;
use serde_json::Value;

use crate::support::{World, kill, write};

/// It speaks as claude does. A thread reads its input into a queue. What is taken from there goes into the conversation,
/// which is a file with one message per line. Files say how far it may go: `take`, then `reply`, then `end`.
const AGENT: &str = r#"
import json, os, queue, sys, threading, time

def say(event):
    print(json.dumps(event), flush=True)

def wait(name):
    while not os.path.exists(name):
        time.sleep(0.02)

def read():
    for line in sys.stdin:
        message = json.loads(line)
        say({"type": "command_lifecycle", "command_uuid": message["uuid"], "state": "queued"})
        read_ahead.put(message)
    read_ahead.put(None)

def take(message):
    with open("conversation", "a") as conversation:
        conversation.write(json.dumps(message["message"]["content"][0]["text"]) + "\n")
    say({"type": "command_lifecycle", "command_uuid": message["uuid"], "state": "started"})

def reply(text):
    say({"type": "assistant", "message": {"model": "m", "content": [{"type": "text", "text": text}]}})

read_ahead = queue.Queue()
threading.Thread(target=read, daemon=True).start()
say({"type": "system", "subtype": "init", "session_id": "c1"})
take(read_ahead.get())
reply("At work.")
wait("take")
while not read_ahead.empty():
    take(read_ahead.get())
open("taken", "w").close()
wait("reply")
reply("I see.")
wait("end")
say({"type": "result", "subtype": "success", "usage": {"output_tokens": 5}})
while read_ahead.get() is not None:
    pass
"#;

const MESSAGE: &str = "Use the \"old\" name.";

const REPEATED: &str = "(Repeated: you may have read this already.)";

fn started() -> (World, String) {
    let mut world = World::idle();
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    let table = "[agents.reader]\nextends = \"claude\"\ncommand = [\"python3\", \"reader.py\"]\nguide = \"none\"\n\
                 [agents.reader.arguments]\nguide = []\n[agents.reader.channel]\noff = true\n";
    write(&folder, "config.toml", table);
    write(&world.project, "reader.py", AGENT);
    world.start();
    let new = NewRun { agent: Some("reader".into()), prompt: Some("do it".into()), ..world.new_run(&[]) };
    let session = world.run_with(&new);
    world.wait_for("its first words", |world| world.output(&session).contains("At work.").then_some(()));
    (world, session)
}

/// A person writes to it, and its process has read that.
fn told(world: &World, session: &str) {
    let sent = world.ostler(&["send", session, MESSAGE]);
    assert!(sent.status.success(), "{sent:?}");
    world.wait_for("the reading", |world| (world.count(session, "input.consumed") == 1).then_some(()));
    assert_eq!(world.count(session, "input.heard"), 0);
}

fn conversation(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.project.join("conversation")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Starts it again and lets it do everything. What it was told by then.
fn resumed(world: &World, session: &str) -> Vec<String> {
    for name in ["take", "reply", "end"] {
        write(&world.project, name, "");
    }
    let resumed = world.ostler(&["resume", "-d", session]);
    assert!(resumed.status.success(), "{resumed:?}");
    world.status(session, "completed");
    world.verify();
    conversation(world)
}

#[test]
fn what_a_killed_cli_had_only_read_is_said_again_and_marked() {
    let (world, session) = started();
    told(&world, &session);
    kill(world.shim_of(&session), "KILL");
    world.status(&session, "interrupted");
    assert_eq!(conversation(&world), ["do it"], "its queue is gone with it");
    let said = resumed(&world, &session);
    assert_eq!(said, ["do it".to_owned(), format!("You were interrupted.\n\n{REPEATED}\n{MESSAGE}")]);
    assert_eq!(world.count(&session, "input.heard"), 1, "the reply to the prompt proves it");
}

/// The shim lives, and says that its agent was killed.
#[test]
fn what_a_cli_had_only_read_that_was_killed_alone_is_said_after_a_resume() {
    let (world, session) = started();
    told(&world, &session);
    let pid = u32::try_from(world.session(&session).pid.expect("a process")).expect("a pid");
    kill(pid, "KILL");
    world.status(&session, "failed");
    let said = resumed(&world, &session);
    assert_eq!(said, ["do it".to_owned(), format!("{REPEATED}\n{MESSAGE}")]);
}

/// It has taken the message, and was killed before anything proved that. Once too often is better than never.
#[test]
fn what_was_taken_without_a_proof_is_said_again_and_marked() {
    let (world, session) = started();
    told(&world, &session);
    write(&world.project, "take", "");
    world.wait_for("the taking", |world| world.project.join("taken").exists().then_some(()));
    kill(world.shim_of(&session), "KILL");
    world.status(&session, "interrupted");
    let said = resumed(&world, &session);
    let again = format!("You were interrupted.\n\n{REPEATED}\n{MESSAGE}");
    assert_eq!(said, ["do it".to_owned(), MESSAGE.to_owned(), again]);
}

#[test]
fn what_a_cli_has_proven_is_not_said_again() {
    let (world, session) = started();
    told(&world, &session);
    write(&world.project, "take", "");
    write(&world.project, "reply", "");
    world.wait_for("the proof", |world| (world.count(&session, "input.heard") == 1).then_some(()));
    kill(world.shim_of(&session), "KILL");
    world.status(&session, "interrupted");
    let said = resumed(&world, &session);
    assert_eq!(said, ["do it", MESSAGE, "You were interrupted.\n\nGo on where you were."]);
    assert_eq!(world.count(&session, "input.heard"), 1);
}

/// The proof is in what the CLI printed, and is found there when everything else was killed.
#[test]
fn a_proof_that_nobody_was_there_to_hear_is_found_in_the_log() {
    let (mut world, session) = started();
    told(&world, &session);
    world.kill_server();
    write(&world.project, "take", "");
    write(&world.project, "reply", "");
    let log = world.home.join("sessions").join(&session).join("1/out.log");
    world.wait_for("the reply", |_| fs::read_to_string(&log).ok()?.contains("I see.").then_some(()));
    kill(world.shim_of(&session), "KILL");
    world.wait_for("nothing left", |world| world.shims().is_empty().then_some(()));
    world.start();
    world.status(&session, "interrupted");
    let said = resumed(&world, &session);
    assert_eq!(said, ["do it", MESSAGE, "You were interrupted.\n\nGo on where you were."]);
}

#[test]
fn an_answer_is_shown_as_heard_when_the_stream_proves_it() {
    let (world, session) = started();
    let ask = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"[USER_QUESTION]\ncategory: clarification\nquestion: Which?\nrequired: true\n[/USER_QUESTION]"}]}}"#;
    let script = AGENT.replace("reply(\"At work.\")", &format!("print({ask:?}, flush=True)"));
    write(&world.project, "reader.py", &script);
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    let new = NewRun { agent: Some("reader".into()), prompt: Some("ask".into()), ..world.new_run(&[]) };
    let session = world.run_with(&new);
    let request = world.asked(&session);
    world.answer(&request.id, "this");
    let delivery = |world: &World| world.request(&request.id).delivery;
    world.wait_for("the reading", |world| (delivery(world) == "consumed").then_some(()));
    write(&world.project, "take", "");
    write(&world.project, "reply", "");
    world.wait_for("the proof", |world| (delivery(world) == "heard").then_some(()));
    let page = world.ostler(&["show", &request.id]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("heard: its conversation holds it"), "{page}");
    let page = world.ostler(&["--json", "show", &request.id]);
    let page: Value = serde_json::from_slice(&page.stdout).expect("JSON");
    assert_eq!(page["delivery"], "heard");
    write(&world.project, "end", "");
    world.status(&session, "completed");
}
