//! Agents that ask, connect and print without end: the server's memory, its descriptors and its lists stay bounded, and
//! people and other agents are served.

use std::fs;

use ostler_server::api::RequestView;

use crate::support::{World, write};

/// Opens connections to a socket and keeps them. Each begins with the words on the command line.
const CONNECT: &str = r#"
import socket, sys
path, count, words = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape").encode()
kept = []
for _ in range(count):
    it = socket.socket(socket.AF_UNIX)
    it.connect(path)
    try:
        it.sendall(words)
    except OSError:
        pass
    kept.append(it)
print("opened", len(kept), flush=True)
import time
time.sleep(1000)
"#;

/// Asks over the channel, again and again, and says what came of each. Each question has this many bytes.
const ASK: &str = r#"
import http.client, json, os, socket, sys
count, size = int(sys.argv[1]), int(sys.argv[2])
for number in range(count):
    it = http.client.HTTPConnection("localhost")
    it.sock = socket.socket(socket.AF_UNIX)
    it.sock.connect(os.environ["OSTLER_CHANNEL"])
    body = json.dumps({"kind": "question", "question": f"{number} " + "x" * size, "options": [], "required": True})
    it.request("POST", "/channel/v1/calls", body, {"Content-Type": "application/json", "Idempotency-Key": f"k{number}"})
    answer = it.getresponse()
    print(answer.status, json.loads(answer.read()).get("type", ""), flush=True)
    it.close()
print("through", flush=True)
import time
time.sleep(1000)
"#;

/// The open descriptors of the server.
fn descriptors(world: &World) -> usize {
    fs::read_dir(format!("/proc/{}/fd", world.server_pid())).map_or(0, Iterator::count)
}

fn has_printed(world: &World, session: &str, line: &str) {
    world.wait_for(line, |world| world.output(session).contains(line).then_some(()));
}

#[test]
fn connections_of_agents_leave_room_for_people_and_other_agents() {
    let world = World::new();
    write(&world.project, "connect.py", CONNECT);
    let before = descriptors(&world);
    let people = world.home.join("api.sock");
    let channel = world.home.join("channel.sock");
    let (people, channel) = (people.display(), channel.display());
    let follow = "GET /api/v1/events?follow=true HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n";
    let floods = [
        world.bash(&format!("exec python3 connect.py {people} 500 ''")),
        world.bash(&format!("exec python3 connect.py {people} 500 '{follow}'")),
        world.bash(&format!("exec python3 connect.py {channel} 500 ''")),
    ];
    for session in &floods {
        has_printed(&world, session, "opened 500");
    }
    // A session has 64 at a socket; its shim and its files are some more.
    let most = before + 3 * (64 + 16);
    world.wait_for("what is refused is closed", |world| (descriptors(world) <= most).then_some(()));
    let other = world.bash("echo \"got $(ostler ask Now? --option yes --option no)\"");
    let request = world.asked(&other);
    world.answer(&request.id, "yes");
    world.status(&other, "completed");
    assert_eq!(world.output(&other), "got yes\n");
    for session in &floods {
        world.wish(session, "cancel");
        world.status(session, "cancelled");
    }
    world.wait_for("all are closed", |world| (descriptors(world) <= before + 16).then_some(()));
}

#[test]
fn a_session_has_a_bounded_number_of_open_requests_and_bytes_of_them() {
    let world = World::new();
    write(&world.project, "ask.py", ASK);
    let said = |session: &str| {
        has_printed(&world, session, "through");
        let output = world.output(session);
        let count = |line: &str| output.lines().filter(|it| *it == line).count();
        (count("200 "), count("429 over_limit"))
    };
    let many = world.bash("exec python3 ask.py 70 100");
    assert_eq!(said(&many), (64, 6));
    let long = world.bash("exec python3 ask.py 8 250000");
    assert_eq!(said(&long), (4, 4));
    let inbox: Vec<RequestView> = world.inbox();
    assert_eq!(inbox.len(), 68);
    // What a person settles makes room.
    let first = inbox.iter().find(|it| it.session == many).expect("a request");
    world.answer(&first.id, "done");
    let refused = world.bash("ostler step one && echo told");
    world.status(&refused, "completed");
    assert_eq!(world.output(&refused), "told\n", "another session is not concerned");
    for session in [&many, &long] {
        world.wish(session, "cancel");
        world.status(session, "cancelled");
    }
    world.verify();
}

/// Asks over the channel in Korean, with this much of it, and with options that only their ends tell apart.
const ASK_LONG: &str = r#"
import http.client, json, os, socket, sys
def ask(key, what):
    it = http.client.HTTPConnection("localhost")
    it.sock = socket.socket(socket.AF_UNIX)
    it.sock.connect(os.environ["OSTLER_CHANNEL"])
    body = json.dumps({"kind": "question", "required": True, **what})
    it.request("POST", "/channel/v1/calls", body, {"Content-Type": "application/json", "Idempotency-Key": key})
    print(it.getresponse().status, flush=True)
ask("one", {"question": "Begin " + "길" * 66_000 + " end", "options": ["yes", "no"]})
long = "o" * 3_000
ask("two", {"question": "Which?", "options": [long, long + "1", long + "2"], "default": long + "2"})
print("through", flush=True)
import time
time.sleep(1000)
"#;

#[test]
fn lists_carry_the_beginning_of_long_texts_and_one_request_all_of_it() {
    let world = World::new();
    write(&world.project, "ask.py", ASK_LONG);
    let session = world.bash("exec python3 ask.py");
    has_printed(&world, &session, "through");
    let inbox: Vec<RequestView> = world.inbox();
    let [long, options] = inbox.as_slice() else { panic!("two requests: {}", inbox.len()) };
    assert_eq!(long.ask.text, format!("Begin {}", "길".repeat(1_994)), "2,000 characters, none of them cut");
    assert_eq!(long.ask.options, ["yes", "no"]);
    let cut = long.cut.iter().find(|it| it.field == "/ask/text").expect("it says that it is cut");
    assert_eq!(cut.chars, 66_010);
    // The beginning of an option would be another one.
    assert!(options.ask.options.is_empty() && options.ask.default.is_none());
    assert!(options.cut.iter().any(|it| it.field == "/ask/options"));
    for path in ["/inbox", "/requests", "/status"] {
        let list: serde_json::Value = world.get(path).expect("a list");
        assert!(list.to_string().len() < 64 << 10, "{path} is {} long", list.to_string().len());
    }
    let whole = world.request(&long.id);
    assert!(whole.cut.is_empty() && whole.ask.text.ends_with("길 end"));
    assert_eq!(whole.ask.text.chars().count(), 66_010);
    assert_eq!(world.request(&options.id).ask.options[2], "o".repeat(3_000) + "2");
    // On the command line the list says what it leaves out, and one request leaves out nothing.
    let said = |arguments: &[&str]| String::from_utf8(world.ostler(arguments).stdout).expect("text");
    let shown = said(&["inbox"]);
    assert!(shown.len() < 64 << 10, "{}", shown.len());
    let all = format!("of 66,010 characters. All of it: ostler show {}", long.id);
    assert!(shown.contains(&all), "{shown}");
    assert!(shown.contains(&format!("ostler answer {} 1", options.id)), "{shown}");
    assert!(said(&["show", &long.id]).contains("길 end"));
    world.answer(&options.id, "2");
    let settled = world.request(&options.id).settled.expect("an answer");
    assert_eq!(settled.answer["text"], "o".repeat(3_000) + "1", "a number means the same option");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.verify();
}

/// A figure of the server's memory, in KiB.
fn memory(world: &World, figure: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", world.server_pid())).expect("a server");
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).expect("a figure");
    line.trim_end_matches("kB").trim().parse().expect("a number")
}

/// How many steps the agent prints; more in a storm.
fn steps() -> u64 {
    std::env::var("OSTLER_FLOOD_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(60_000)
}

#[test]
fn memory_is_bounded_however_much_an_agent_prints() {
    const GROWTH_KIB_MAX: u64 = 64 << 10;
    const RECORDS_MAX: u64 = 20_000;
    let mut world = World::new();
    let steps = steps();
    let script = format!(
        "yes \"$(printf '[STEP_COMPLETE]\\nstep: again\\n[/STEP_COMPLETE]')\" | head -n {}; \
         printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: Heard all?\\nrequired: true\\n[/USER_QUESTION]\\n'; \
         read -r line",
        steps * 3
    );
    let before = memory(&world, "VmRSS:");
    let session = world.bash(&script);
    world.wait_for("a first step", |world| (world.count(&session, "session.heard") > 0).then_some(()));
    // The next server finds a spool that is far ahead of the journal.
    assert!(memory(&world, "VmHWM:") < before + GROWTH_KIB_MAX);
    world.kill_server();
    world.start();
    let request = world.asked(&session);
    assert_eq!(request.ask.text, "Heard all?", "what asks is heard behind everything that is only counted");
    let unrecorded = world.session(&session).launches[0].unrecorded;
    let expected = steps - RECORDS_MAX;
    assert!((expected..expected + 2).contains(&unrecorded), "each step is recorded or counted: {unrecorded}");
    let spool = world.home.join("sessions").join(&session).join("1/spool.ndjson");
    let records = fs::read_to_string(&spool).expect("a spool").lines().count() as u64;
    // One record stands for all that was counted within a second.
    let counted = steps / 100;
    assert!((RECORDS_MAX..RECORDS_MAX + counted).contains(&records), "{records} records in the spool");
    assert!(memory(&world, "VmHWM:") < before + GROWTH_KIB_MAX, "{} KiB", memory(&world, "VmHWM:"));
    let shown = world.ostler(&["show", &session, "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(shown["events"].as_array().map(Vec::len), Some(200));
    assert_eq!(shown["events_cut"], true);
    world.answer(&request.id, "yes");
    world.status(&session, "completed");
    world.restart();
    let most = memory(&world, "VmHWM:");
    assert!(most < before + GROWTH_KIB_MAX, "the next start is no larger");
    world.verify();
    println!("floods: {steps} steps printed, the next server {} KiB larger", most.saturating_sub(before));
}
