//! Who calls by a tool has the result when its client was handed it: once, and as a message if it was not.

use ostler_server::api::InvocationStatus;

use super::{long::LONG, office, output_with, results, wait_for_call};
use crate::{
    mcp::client,
    support::{World, write},
};

/// What a client hears that its tool was killed for, word for word.
const MESSAGE: &str = r#"
said = [sys.stdin.readline().strip() for _ in range(2)]
say(said[0], "(300300 bytes, SHA-256 " in said[1])
"#;

/// Waits for a file that the client writes.
fn wait_for_file(world: &World, name: &str) {
    world.wait_for(name, |world| world.project.join(name).exists().then_some(()));
}

#[test]
fn a_client_that_has_read_a_result_has_it_once_though_it_leaves_while_no_server_is_there() {
    let mut world = office(&[("QA", LONG)]);
    // It closes its end right behind the answer, and nobody can be told yet that it has it.
    let script = r#"
import time
begin()
call("invoke_agent", {"agent": "QA", "task": "x"})
line = os.read(server.stdout.fileno(), 9)
open("began", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
while not line.endswith(b"\n"):
    line += os.read(server.stdout.fileno(), 1 << 16)
server.stdin.close()
open("left", "w").close()
words, is_error = text(json.loads(line))
say(server.wait(), words == open("long").read(), is_error)
say(sys.stdin.readline().strip())
"#;
    let caller = client(&world, script);
    wait_for_file(&world, "began");
    world.kill_server();
    write(&world.project, "go", "");
    wait_for_file(&world, "left");
    world.start();
    output_with(&world, &caller, "0 True False");
    assert!(results(&world)[0].delivered);
    world
        .post::<serde_json::Value>(
            &format!("/sessions/{caller}/messages"),
            &serde_json::json!({ "text": "the next thing" }),
        )
        .expect("a message");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "0 True False\nthe next thing\n");
    assert_eq!(world.count(&caller, "message.written"), 1, "nothing but what was written now");
    world.verify();
}

#[test]
fn a_tool_that_is_killed_while_it_hands_over_a_result_has_not_handed_it_over() {
    let mut world = office(&[("QA", LONG)]);
    // It has begun to write, and nobody reads on: a pipe does not hold all of it.
    let script = format!(
        r#"
import time
begin()
call("invoke_agent", {{"agent": "QA", "task": "x"}})
os.read(server.stdout.fileno(), 9)
open("began", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
server.kill()
{MESSAGE}"#
    );
    let caller = client(&world, &script);
    wait_for_file(&world, "began");
    assert!(!results(&world)[0].delivered, "nobody has all of it");
    world.restart();
    assert!(!results(&world)[0].delivered, "nobody has all of it yet");
    write(&world.project, "go", "");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "[Result from QA] True\n");
    assert_eq!(world.count(&caller, "message.written"), 1);
    assert!(results(&world)[0].delivered);
    world.verify();
}

#[test]
fn a_tool_that_is_killed_while_it_waits_has_its_result_come_as_a_message() {
    let world = office(&[("QA", &LONG.replace("yes ", "until [ -e done ]; do sleep 0.05; done; yes "))]);
    let script = format!(
        r#"
import time
begin()
call("invoke_agent", {{"agent": "QA", "task": "x"}})
while not os.path.exists("go"):
    time.sleep(0.05)
server.kill()
{MESSAGE}"#
    );
    let caller = client(&world, &script);
    wait_for_call(&world, 1, InvocationStatus::InProgress);
    world.status(&caller, "waiting_agent");
    write(&world.project, "go", "");
    world.wait_for("that it is gone", |world| (world.count(&caller, "invocation.parted") == 1).then_some(()));
    write(&world.project, "done", "");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "[Result from QA] True\n");
    assert_eq!(world.count(&caller, "message.written"), 1);
    world.verify();
}
