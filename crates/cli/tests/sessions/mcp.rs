//! An agent whose CLI asks by tools: a client of the Model Context Protocol that is scripted line by line.

use crate::support::{World, write};

/// Starts the server as a CLI does, with an environment of its own making, and says what it hears.
pub(crate) const CLIENT: &str = r#"
import json, os, subprocess, sys

server = subprocess.Popen(
    [os.environ["OSTLER_HOME"] + "/bin/ostler", "mcp", "--channel", os.environ["OSTLER_CHANNEL"]],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]})

def send(message):
    server.stdin.write((message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})) + "\n")
    server.stdin.flush()

def hear():
    message = json.loads(server.stdout.readline())
    assert message["jsonrpc"] == "2.0", message
    return message

def ask(method, params, id=1):
    send({"id": id, "method": method, "params": params})
    return hear()

def call(tool, arguments, id=1, token=None):
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    send({"id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments, **meta}})

def begin():
    result = ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "test", "version": "1"}})["result"]
    assert result["protocolVersion"] == "2025-06-18" and "tools" in result["capabilities"], result
    send({"method": "notifications/initialized"})

def text(message):
    return message["result"]["content"][0]["text"], message["result"]["isError"]

def say(*words):
    print(*words, flush=True)
"#;

pub(crate) fn client(world: &World, script: &str) -> String {
    write(&world.project, "client.py", &format!("{CLIENT}\n{script}"));
    world.run(&["python3", "client.py"])
}

#[test]
fn a_tool_asks_and_its_client_is_told_that_somebody_is_waited_for() {
    let world = World::new();
    let session = client(
        &world,
        r#"
begin()
tools = {tool["name"]: tool for tool in ask("tools/list", {})["result"]["tools"]}
say(sorted(tools), ask("ping", {})["result"])
call("ask_human", {"question": "Which?", "options": ["a", "b"]}, id="one", token=7)
first, second = hear(), hear()
for message in (first, second):
    assert message["method"] == "notifications/progress" and message["params"]["progressToken"] == 7, message
assert second["params"]["progress"] > first["params"]["progress"]
open("told", "w").close()
while "id" not in (message := hear()):
    pass
say(message["id"], text(message))
server.stdin.close()
say(server.wait())
"#,
    );
    let request = world.asked(&session);
    assert_eq!((request.trust.as_str(), request.ask.text.as_str()), ("channel", "Which?"));
    assert_eq!(world.status(&session, "waiting_input").blocked_by, [request.id.as_str()]);
    world.wait_for("progress", |world| world.project.join("told").exists().then_some(()));
    world.answer(&request.id, "b");
    world.status(&session, "completed");
    let expected = "['ask_human', 'deliver_result', 'invoke_agent', 'need', 'report_error', 'search_memory'] {}\none ('b', False)\n0\n";
    assert_eq!(world.output(&session), expected);
    assert_eq!(world.request(&request.id).delivery, "consumed");
}

#[test]
fn a_call_that_is_cancelled_leaves_its_card_and_others_go_on() {
    let mut world = World::new();
    let session = client(
        &world,
        r#"
begin()
call("ask_human", {"question": "First?"}, id=1)
call("need", {"name": "drop the table", "type": "permission"}, id=2)
sys.stdin.readline()
send({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "time out"}})
message = hear()
say(message["id"], text(message))
say(sys.stdin.readline().strip())
"#,
    );
    world.wait_for("both", |world| (world.inbox().len() == 2).then_some(()));
    // A server that dies meanwhile is waited for, and nothing is asked twice.
    world.restart();
    world
        .post::<serde_json::Value>(
            &format!("/sessions/{session}/messages"),
            &serde_json::json!({ "text": "go" }),
        )
        .expect("a message");
    world.wait_for("the cancellation", |world| (world.count(&session, "request.parted") == 1).then_some(()));
    let [first, second] = &world.inbox()[..] else { panic!("both cards are there") };
    let (first, second) =
        if first.ask.kind == "question" { (&first.id, &second.id) } else { (&second.id, &first.id) };
    world.answer(second, "approve");
    world.answer(first, "late");
    world.status(&session, "completed");
    let answer = format!(r#"{{"type":"question_answer","questionId":"{first}","answer":"late"}}"#);
    assert_eq!(world.output(&session), format!("2 ('approved', False)\n{answer}\n"));
    assert_eq!(world.count(&session, "request.opened"), 2);
}

#[test]
fn both_generations_of_the_protocol_are_spoken() {
    let world = World::new();
    let session = client(
        &world,
        r#"
meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {}}}
found = ask("server/discover", meta)["result"]
assert found["supportedVersions"][0] == "2026-07-28" and found["resultType"] == "complete", found
listed = ask("tools/list", meta)["result"]
assert listed["resultType"] == "complete" and listed["ttlMs"] > 0 and listed["cacheScope"] == "private", listed
refused = ask("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}})["error"]
say(refused["code"], refused["data"])
assert "resultType" not in ask("tools/list", {})["result"]
say(ask("initialize", {"protocolVersion": "1999-01-01"})["result"]["protocolVersion"])
say(ask("no/such", {})["error"]["code"])
send("{")
say(hear()["error"]["code"])
send({"id": 5, "method": "tools/call", "params": {"name": "cake", "arguments": {}}})
say(hear()["error"]["code"])
call("ask_human", {"question": "Which?", "zzz": 1})
say(text(hear())[1])
call("need", {"name": "x", "type": "cake"})
say(text(hear())[1])
call("ask_human", {"question": "  "})
say(text(hear()))
"#,
    );
    world.status(&session, "completed");
    let expected = "-32022 {'requested': '2030-01-01', 'supported': ['2026-07-28']}\n2025-11-25\n-32601\n-32700\n\
                    -32602\nTrue\nTrue\n('the question is empty', True)\n";
    assert_eq!(world.output(&session), expected);
    assert_eq!(world.inbox().len(), 0);
}

#[test]
fn a_tool_searches_the_memory_of_the_project() {
    let world = World::new();
    let memory = world.project.join(".claude/memory");
    std::fs::create_dir_all(&memory).unwrap();
    write(&memory, "tokens.md", "# 결정\nTokens live for an hour.\n");
    let session = client(
        &world,
        r#"
begin()
call("search_memory", {"words": ["결정", "token"]})
say(text(hear()))
call("search_memory", {"words": ["nowhere"], "layer": 1})
say(text(hear())[1])
call("search_memory", {"words": ["x"], "in": "../.."})
say(text(hear())[1])
call("search_memory", {"words": 7})
say(text(hear())[1])
"#,
    );
    world.status(&session, "completed");
    let output = world.output(&session);
    assert!(output.contains("tokens.md") && output.contains("Tokens live for an hour."), "{output}");
    assert!(output.ends_with("False)\nFalse\nTrue\nTrue\n"), "{output}");
}
