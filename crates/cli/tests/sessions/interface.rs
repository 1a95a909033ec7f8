//! The interface as other programs see it: events in one form, and a problem for whatever cannot be read.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
};

use ostler_server::api::{NewDemo, PhasesView, RunView};
use serde_json::Value;

use crate::support::{DEADLINE, World, write};

#[test]
fn events_have_one_form_everywhere() {
    let world = World::new();
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    let listed: Vec<Value> = world.get("/events").expect("events");
    let exported = world.ostler(&["export"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    let exported: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(listed, exported);
    let launched = listed.iter().find(|event| event["kind"] == "session.launched").expect("it was launched");
    let place = ["project", "run", "session"].map(|name| launched[name].as_str().unwrap_or_default());
    assert_eq!(place, ["p_1", "r_1", session.as_str()]);
    assert_eq!((&launched["v"], &launched["launch"]), (&1.into(), &1.into()));
    assert!(launched["seq"].is_u64() && launched["at"].is_u64(), "{launched}");
    let registered = &listed[0];
    assert_eq!((registered["kind"].as_str(), &registered["run"]), (Some("project.registered"), &Value::Null));
}

/// What the server says to a request, as it stands: status, type and body.
fn ask(world: &World, method: &str, path: &str, body: Option<(&str, &str)>) -> (u16, String, Value) {
    let mut stream = UnixStream::connect(world.home.join("api.sock")).expect("a server");
    let (kind, body) = body.unwrap_or_default();
    let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
    let length = body.len();
    let request = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: k\r\n\
         {kind}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let kind =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-type: ").map(str::to_owned));
    (status, kind.unwrap_or_default(), serde_json::from_str(body).unwrap_or_default())
}

/// The kind of a problem, which is whole.
fn problem(world: &World, method: &str, path: &str, body: Option<(&str, &str)>) -> String {
    let (status, kind, problem) = ask(world, method, path, body);
    assert!((400..500).contains(&status), "{method} {path}: {status} {problem}");
    assert_eq!(kind, "application/problem+json", "{method} {path}: {status}");
    assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()), "{method} {path}: {problem}");
    assert_eq!(problem["status"], status, "{method} {path}");
    problem["type"].as_str().expect("a type").to_owned()
}

#[test]
fn what_cannot_be_read_is_a_problem_at_every_route() {
    let world = World::new();
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    let document: Value = world.get("/openapi.json").expect("a document");
    let routes = document["paths"].as_object().expect("paths");
    for (route, methods) in routes.iter().filter(|(_, methods)| methods["servers"].is_null()) {
        let fill = |id: &str| {
            let path = route.replace("{id}", id).replace("{name}", id);
            path.replace("{task}", id).replace("{phase}", "1")
        };
        assert_eq!(problem(&world, "BREW", &fill("s_1"), None), "no_method", "{route}");
        for (method, about) in methods.as_object().expect("methods") {
            let method = method.to_uppercase();
            if *route != fill("x") {
                assert_eq!(
                    problem(&world, &method, &fill("%FF"), Some(("application/json", "{}"))),
                    "bad_path",
                    "{route}"
                );
                problem(&world, &method, &fill("no-such-thing"), Some(("application/json", "{}")));
            }
            let id = if route.contains("/requests/") { "q_1" } else { &session };
            for parameter in about["parameters"].as_array().into_iter().flatten() {
                let is_text = parameter["schema"]["type"].to_string().contains("string");
                if parameter["in"] == "query" && !is_text {
                    let name = parameter["name"].as_str().expect("a name");
                    let is_signed = parameter["schema"]["minimum"].as_i64().is_some_and(|least| least < 0);
                    let bad = ["x", "", "1.5", "%FF", "99999999999999999999999"];
                    for value in bad.into_iter().chain((!is_signed).then_some("-1")) {
                        let path = format!("{}?{name}={value}", fill(id));
                        assert_eq!(problem(&world, &method, &path, None), "bad_query", "{path}");
                    }
                }
            }
            // Nobody signs in at the socket, whatever the body.
            if *route == "/sign-in" {
                assert_eq!(problem(&world, &method, route, None), "not_over_tcp");
            } else if about["requestBody"]["content"]["application/json"].is_object() {
                for (kind, body, expected) in [
                    ("", "{}", "not_json"),
                    ("text/plain", "{}", "not_json"),
                    ("application/json", "nonsense", "bad_body"),
                    ("application/json", "[7]", "bad_body"),
                    ("application/json", "", "bad_body"),
                ] {
                    let found = problem(&world, &method, &fill(id), Some((kind, body)));
                    assert_eq!(found, expected, "{method} {route} {kind} {body}");
                }
            }
        }
    }
    assert_eq!(problem(&world, "GET", "/no/such/route", None), "no_route");
    let (status, _, found) = ask(&world, "GET", "/runs?limit=-1", None);
    assert_eq!(status, 400);
    let title = found["title"].as_str().unwrap_or_default();
    assert!(title.contains("limit=-1") && title.contains("limit: invalid digit"), "{title}");
}

/// Somebody who wants to hear of everything from an event on.
fn follower(world: &World, after: u64) -> UnixStream {
    let mut stream = UnixStream::connect(world.home.join("api.sock")).expect("a server");
    let request =
        format!("GET /api/v1/events?follow=true HTTP/1.1\r\nHost: x\r\nLast-Event-ID: {after}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    stream.set_read_timeout(Some(DEADLINE)).expect("a time");
    stream
}

/// The numbers of the events that come, up to the last.
fn numbers(stream: UnixStream, last: u64) -> Vec<u64> {
    let lines = BufReader::new(stream).lines().map(|line| line.expect("it goes on"));
    let mut numbers = Vec::new();
    for number in lines.filter_map(|line| line.strip_prefix("id: ")?.parse().ok()) {
        numbers.push(number);
        if number >= last {
            break;
        }
    }
    numbers
}

#[test]
fn who_does_not_read_or_vanishes_holds_nobody_up() {
    let world = World::new();
    let mut silent: Vec<UnixStream> = (0..40).map(|_| follower(&world, 0)).collect();
    let reader = follower(&world, 0);
    // Far more than the sockets and queues of those who do not read hold.
    let script = format!(
        "for i in $(seq 1500); do printf '=== PHASE %s COMPLETE ===\\nPhase: {}\\nwords\\n' $i; done",
        "x".repeat(600)
    );
    let session = world.bash(&script);
    silent.truncate(20);
    let answered = world.bash("echo fine");
    world.status(&answered, "completed");
    world.status(&session, "completed");
    let heard = world.get::<Value>("/status").expect("a status")["seq"].as_u64();
    assert!(heard.is_some_and(|seq| seq > 1500), "{heard:?}");
    let last = world.get::<Value>("/status").expect("a status")["seq"].as_u64().expect("a number");
    assert_eq!(
        numbers(reader, last),
        (1..=last).collect::<Vec<_>>(),
        "nothing is missing, nothing comes twice"
    );
    // Who comes back goes on behind the last one that it has heard.
    assert_eq!(numbers(follower(&world, last - 5), last), (last - 4..=last).collect::<Vec<_>>());
    assert_eq!(numbers(silent.remove(0), last), (1..=last).collect::<Vec<_>>(), "late is not lost");
}

#[test]
fn a_journal_that_grows_meanwhile_agrees_with_what_is_kept() {
    let world = World::new();
    let session = world.bash("while [ ! -e go ]; do echo READY:T1.3; sleep 0.002; done");
    world.wait_for("what it says", |world| (world.count(&session, "session.heard") > 20).then_some(()));
    for _ in 0..30 {
        world.verify();
    }
    write(&world.project, "go", "");
    world.status(&session, "completed");
}

/// The demonstration that a new user starts on the page: its answer lets all three come to an end.
#[test]
fn the_demonstration_plays_once_at_a_time_and_to_its_end() {
    let world = World::new();
    let korean = NewDemo { korean: true, ..NewDemo::default() };
    let runs: Vec<RunView> = world.post("/demo", &korean).expect("three runs");
    let sessions: Vec<&str> = runs.iter().map(|run| run.sessions[0].id.as_str()).collect();
    assert_eq!(sessions, ["s_1", "s_2", "s_3"]);
    let asked = world.asked(sessions[0]);
    assert_eq!(asked.ask.text, "가게에서 어떤 데이터베이스를 쓸까요?");
    assert_eq!(problem(&world, "POST", "/demo", Some(("application/json", "{}"))), "demo_plays");
    world.answer(&asked.id, "2");
    for session in sessions {
        world.status(session, "completed");
    }
    assert_eq!(world.session("s_2").attempts, 2, "it was sent back once");
    let again: Vec<RunView> = world.post("/demo", &NewDemo::default()).expect("another one");
    assert_ne!(again[0].project.id, runs[0].project.id);
}

/// The same for the full one: it begins, and its first question waits for whoever looks at the page.
#[test]
fn the_full_demonstration_begins_on_the_page() {
    let world = World::new();
    let korean = NewDemo { korean: true, full: true };
    let runs: Vec<RunView> = world.post("/demo", &korean).expect("a run");
    assert_eq!(runs.len(), 1);
    let asked = world.asked("s_1");
    assert_eq!(asked.ask.text, "영수증에 찍힐 가게 이름은 무엇인가요?");
    assert_eq!(problem(&world, "POST", "/demo", Some(("application/json", "{}"))), "demo_plays");
    let view: PhasesView = world.get(&format!("/phases/{}", runs[0].id)).expect("a run");
    assert_eq!(view.phases.len(), 4);
    assert_eq!(view.blocked_by, [asked.id]);
    world.wish("s_1", "cancel");
    world.status("s_1", "cancelled");
    world.verify();
}
