//! What the server says of itself: whether it can be used, what it counts, and what it writes down.

use std::fs;

use ostler_server::api::NewRun;
use serde_json::{Value, json};

use crate::{
    support::{QUESTION, World},
    wire::{answer, get, send, send_beside},
};

/// What is said beside the interface.
pub(crate) fn word(world: &World, path: &str) -> (u16, String) {
    let answer = answer(send_beside(world, &format!("GET {path}"), &[], b""));
    (answer.status, String::from_utf8_lossy(&answer.body).trim().to_owned())
}

#[test]
fn it_says_whether_it_can_be_used() {
    let world = World::new();
    assert_eq!(word(&world, "/healthz"), (200, "ok".to_owned()));
    world.wait_for("its readiness", |world| (word(world, "/readyz").0 == 200).then_some(()));
    assert_eq!(word(&world, "/readyz").1, "ready");
}

/// The value of a line of the metrics.
fn value(text: &str, line: &str) -> Option<u64> {
    text.lines().find_map(|it| it.strip_prefix(line)?.trim().parse().ok())
}

#[test]
fn it_counts_what_it_does() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line"));
    world.asked(&session);
    for _ in 0..3 {
        assert_eq!(get(&world, "/sessions/s_99").status, 404);
    }
    get(&world, "/no/such/route");
    send(&world, "BREW /runs", &[], b"");
    let (status, text) = word(&world, "/metrics");
    assert_eq!(status, 200);
    let of = |line: &str| value(&text, line).unwrap_or_else(|| panic!("{line} is not in\n{text}"));
    assert_eq!(of("ostler_sessions{status=\"waiting_input\"}"), 1);
    assert_eq!(of("ostler_sessions{status=\"paused\"}"), 0);
    assert_eq!(of("ostler_requests_open{kind=\"question\"}"), 1);
    let route = "method=\"GET\",route=\"/api/v1/sessions/{id}\"";
    assert_eq!(of(&format!("ostler_http_requests_total{{{route},status=\"404\"}}")), 3);
    assert!(of(&format!("ostler_http_request_seconds_count{{{route}}}")) >= 3);
    assert!(of("ostler_events_total") > 3 && of("ostler_commit_seconds_count") > 1);
    assert!(
        of("ostler_commit_seconds_bucket{le=\"+Inf\"}") >= of("ostler_commit_seconds_bucket{le=\"0.001\"}")
    );
    assert_eq!(of("ostler_commit_failures_total"), 0);
    assert!(of("process_resident_memory_bytes") > 1_000_000 && of("process_open_fds") > 3);
    assert!(text.contains("ostler_build_info{version=\""), "{text}");
    let followers = "ostler_followers{stream=\"events\"}";
    assert_eq!(of(followers), 0);
    let follower = send(&world, "GET /events?follow=true", &[], b"");
    let count = |world: &World| value(&word(world, "/metrics").1, followers);
    world.wait_for("a follower", |world| (count(world) == Some(1)).then_some(()));
    drop(follower);
    world.run(&["true"]);
    world.wait_for("its end", |world| (count(world) == Some(0)).then_some(()));
    // Whatever is asked for, a label is one of a few.
    for number in 0..50 {
        get(&world, &format!("/nonsense/{number}"));
        get(&world, &format!("/sessions/s_{number}"));
    }
    assert!(!word(&world, "/metrics").1.contains("nonsense"));
}

#[test]
fn it_writes_down_what_was_done_and_not_what_was_said() {
    let world = World::new();
    let new = NewRun { prompt: Some("PRIVATE-PROMPT".to_owned()), ..world.new_run(&["cat"]) };
    let session = world.run_with(&new);
    let message = json!({ "text": "PRIVATE-WORDS" });
    world.post::<Value>(&format!("/sessions/{session}/messages"), &message).expect("it listens");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.refused("/runs", &json!({ "directory": "/no/such/PRIVATE-PLACE", "command": ["true"] }));
    let text = fs::read_to_string(world.home.join("log.jsonl")).expect("a log");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let what: Vec<&str> = lines.iter().filter_map(|line| line["what"].as_str()).collect();
    assert_eq!(what[0], "server.started");
    assert!(what.contains(&"server.recovered"), "{what:?}");
    let path = format!("/api/v1/sessions/{session}/cancel");
    let wish = lines.iter().find(|line| line["path"] == path.as_str()).expect("what was done");
    assert_eq!((&wish["status"], &wish["level"]), (&json!(200), &json!("info")));
    assert!(lines.iter().all(|line| line["at"].is_u64() && line["method"] != "GET"), "{text}");
    assert!(!text.contains("PRIVATE"), "{text}");
}
