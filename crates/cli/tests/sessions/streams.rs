//! What flows over the interface: events, output, lists page by page, files.

use std::{fs, io::Write, os::unix::net::UnixStream};

use ostler_server::api::{NewRun, RequestView};
use serde_json::{Value, json};

use crate::{
    support::{QUESTION, World, write},
    tcp,
    wire::{Answer, answer, get, lines, send},
};

#[test]
fn who_has_no_environment_gets_that_of_the_server() {
    let mut world = World::idle();
    world.start_with(&[("OF_SERVER", "here"), ("OSTLER_TEST_SECRET", "no"), ("PWD", "/nowhere")]);
    let script = "echo [$OF_SERVER] [$OSTLER_TEST_SECRET] [$PWD]";
    let new = NewRun { environment: None, ..world.new_run(&["bash", "-c", script]) };
    let session = world.run_with(&new);
    world.status(&session, "completed");
    assert_eq!(world.output(&session), format!("[here] [] [{}]\n", world.project.display()));
    // Who has an empty one wants none.
    let new =
        NewRun { environment: Some([].into()), ..world.new_run(&["/bin/sh", "-c", "echo [$OF_SERVER]"]) };
    let session = world.run_with(&new);
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "[]\n");
}

/// What an agent says that needs a file.
fn needs_file(name: &str) -> String {
    format!(
        "printf '[DEPENDENCY_REQUEST]\\ntype: file\\nname: {name}\\ndescription: x\\nrequired: true\\n\
         [/DEPENDENCY_REQUEST]\\n'; read -r line; echo got $line"
    )
}

/// What is in `uploads`, without what keeps it out of git.
fn uploads(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.project.join("uploads")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".gitignore").collect();
    names.sort();
    names
}

const BYTES: (&str, &str) = ("Content-Type", "application/octet-stream");

#[test]
fn a_file_is_given_over_the_interface_once() {
    let world = World::new();
    let session = world.bash(&needs_file("../../logo.png"));
    let request = world.asked(&session).id;
    let path = format!("POST /requests/{request}/file?name=..%2F..%2Fetc%2Fpasswd");
    let head = [BYTES, ("Content-Length", "7"), ("Idempotency-Key", "k1")];
    let given = answer(send(&world, &path, &head, b"picture"));
    assert_eq!(given.status, 200, "{}", given.json());
    assert_eq!(given.json()["settled"]["answer"]["path"], "uploads/logo.png");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("uploads/logo.png"), "{}", world.output(&session));
    assert_eq!(fs::read(world.project.join("uploads/logo.png")).expect("a file"), b"picture");
    // Whoever did not hear that asks again, and it is the same; anybody else comes too late.
    let again = answer(send(&world, &path, &head, b"picture"));
    assert_eq!((again.status, again.json()["settled"].clone()), (200, given.json()["settled"].clone()));
    let late = answer(send(&world, &path, &[BYTES, ("Content-Length", "5")], b"other"));
    assert_eq!((late.status, late.kind().as_str()), (409, "settled"));
    assert_eq!(uploads(&world), ["logo.png"]);
    world.verify();
}

#[test]
fn a_file_that_cannot_be_taken_leaves_nothing() {
    let world = World::new();
    let session = world.bash(&needs_file("logo.png"));
    let request = world.asked(&session).id;
    let path = format!("POST /requests/{request}/file?name=a.png");
    let seq = |world: &World| world.get::<Value>("/info").expect("a server")["seq"].clone();
    let before = seq(&world);
    let refused = |line: &str, head: &[(&str, &str)], body: &[u8]| {
        let answer = answer(send(&world, line, head, body));
        let problem = answer.json();
        assert!(problem["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{problem}");
        (answer.status, answer.kind())
    };
    let check = |line: &str, head: &[(&str, &str)], body: &[u8], status: u16, kind: &str| {
        assert_eq!(refused(line, head, body), (status, kind.to_owned()), "{line} {head:?}");
    };
    check(&path, &[BYTES, ("Content-Length", "5000000000")], b"", 413, "too_large");
    check(&path, &[("Content-Type", "text/plain"), ("Content-Length", "1")], b"x", 415, "not_json");
    check("POST /requests/q_99/file", &[BYTES, ("Content-Length", "1")], b"x", 404, "no_request");
    check("POST /requests/nonsense/file", &[BYTES, ("Content-Length", "1")], b"x", 404, "no_request");
    let long = format!("POST /requests/{request}/file?name={}", "x".repeat(300));
    check(&long, &[BYTES, ("Content-Length", "1")], b"x", 400, "bad_name");
    let zero = format!("POST /requests/{request}/file?name=a%00b");
    check(&zero, &[BYTES, ("Content-Length", "1")], b"x", 400, "bad_name");
    let question = world.bash(&format!("{QUESTION}; read -r line"));
    let other = format!("POST /requests/{}/file", world.asked(&question).id);
    check(&other, &[BYTES, ("Content-Length", "1")], b"x", 400, "not_asked");
    let cancel = format!("POST /sessions/{question}/cancel");
    let known = ("Idempotency-Key", "k9");
    let head = [known, ("Content-Type", "application/json"), ("Content-Length", "2")];
    assert_eq!(answer(send(&world, &cancel, &head, b"{}")).status, 200);
    world.status(&question, "cancelled");
    check(&path, &[known, BYTES, ("Content-Length", "1")], b"x", 422, "key_reused");
    assert!(uploads(&world).is_empty());
    // One that goes away in the middle, whichever way it sends.
    let before = if seq(&world) == before { before } else { seq(&world) };
    drop(send(&world, &path, &[BYTES, ("Content-Length", "1000")], b"half"));
    drop(send(&world, &path, &[BYTES, ("Transfer-Encoding", "chunked")], b"4\r\nhalf\r\n"));
    let whole = answer(send(&world, &path, &[BYTES, ("Transfer-Encoding", "chunked")], b"zz\r\n"));
    assert_eq!(whole.status, 400);
    world.wait_for("an empty directory", |world| uploads(world).is_empty().then_some(()));
    assert_eq!(seq(&world), before, "nothing has happened");
    assert_eq!(world.request(&request).settled, None);
    let given = answer(send(&world, &path, &[BYTES, ("Content-Length", "0")], b""));
    assert_eq!(given.status, 200, "an empty file is one: {}", given.json());
    assert_eq!(uploads(&world), ["logo.png"]);
    world.status(&session, "completed");
}

#[test]
fn who_sends_slowly_keeps_nobody_from_deciding() {
    let world = World::new();
    let session = world.bash(&needs_file("logo.png"));
    let request = world.asked(&session).id;
    let head = [BYTES, ("Content-Length", "8")];
    let mut slow = send(&world, &format!("POST /requests/{request}/file"), &head, b"pict");
    let denied: RequestView = world
        .post(&format!("/requests/{request}/answer"), &json!({ "decision": false }))
        .expect("nobody waits for the file");
    assert!(denied.settled.is_some());
    slow.write_all(b"ures").expect("it still listens");
    let late = answer(slow);
    assert_eq!((late.status, late.kind().as_str()), (409, "settled"));
    assert_eq!(uploads(&world), Vec::<String>::new());
}

/// Whoever has begun to send something, and sends no more, is told so; nothing has come of it.
#[test]
fn who_stops_sending_is_told_so() {
    let mut world = World::idle();
    world.start_with(&[("OSTLER_PATIENCE_MS", "300")]);
    let session = world.bash(&needs_file("logo.png"));
    let request = world.asked(&session).id;
    let length = ("Content-Length", "1000");
    let words = [("Content-Type", "application/json"), length];
    let late = answer(send(&world, "POST /runs", &words, b"{\"directory\":"));
    assert_eq!((late.status, late.kind().as_str()), (408, "too_slow"), "{}", late.json());
    let path = format!("POST /requests/{request}/file");
    let late = answer(send(&world, &path, &[BYTES, length], b"half"));
    assert_eq!((late.status, late.kind().as_str()), (408, "too_slow"), "{}", late.json());
    assert_eq!(uploads(&world), Vec::<String>::new());
    assert_eq!(world.request(&request).settled, None);
    // Over TCP too, for whoever has signed in.
    let browser = tcp::sign_in(&world);
    let mut headers = browser.headers();
    headers.extend([("Content-Type", "application/json".to_owned()), ("Content-Length", "1000".to_owned())]);
    let late = tcp::send(&browser.address, "POST /api/v1/runs", &tcp::borrowed(&headers), "{");
    assert_eq!((late.status, late.kind().as_str()), (408, "too_slow"), "{late:?}");
    assert_eq!(world.get::<Vec<Value>>("/runs").expect("runs").len(), 1);
}

/// Everything in a list, page by page.
fn all(world: &World, path: &str, limit: usize) -> Vec<Value> {
    let mut next = Some(format!("{path}{}limit={limit}", if path.contains('?') { "&" } else { "?" }));
    let mut found = Vec::new();
    while let Some(path) = next {
        let page = get(world, &path);
        assert_eq!(page.status, 200, "{path}: {}", page.json());
        let items = page.json().as_array().expect("a list").clone();
        assert!(items.len() <= limit, "{path}");
        found.extend(items);
        next = page.next();
    }
    found
}

fn ids(found: &[Value]) -> Vec<&str> {
    found.iter().map(|it| it["id"].as_str().expect("an id")).collect()
}

#[test]
fn every_list_comes_page_by_page() {
    let world = World::new();
    let over: Vec<String> = (0..5).map(|_| world.run(&["true"])).collect();
    for session in &over {
        world.status(session, "completed");
    }
    let ask = |_| {
        let session = world.bash(&format!("{QUESTION}; read -r line"));
        let request = world.asked(&session).id;
        (session, request)
    };
    let (asking, requests): (Vec<String>, Vec<String>) = (0..3).map(ask).unzip();
    let newest_first = ["s_8", "s_7", "s_6", "s_5", "s_4", "s_3", "s_2", "s_1"];
    for limit in [1, 3, 8, 100] {
        assert_eq!(ids(&all(&world, "/sessions?all=true", limit)), newest_first);
        assert_eq!(ids(&all(&world, "/sessions", limit)), newest_first[..3]);
        assert_eq!(ids(&all(&world, "/sessions?status=completed,failed", limit)), newest_first[3..]);
        assert_eq!(ids(&all(&world, "/sessions?all=true&status=waiting_input", limit)), newest_first[..3]);
        assert_eq!(ids(&all(&world, "/sessions?status=active", limit)), Vec::<&str>::new());
        assert_eq!(all(&world, "/runs?project=p_1", limit).len(), 8);
        assert_eq!(ids(&all(&world, "/inbox", limit)), requests);
        assert_eq!(ids(&all(&world, "/projects", limit)), ["p_1"]);
    }
    world.answer(&requests[1], "MySQL");
    for limit in [1, 100] {
        assert_eq!(ids(&all(&world, "/requests?state=settled", limit)), [&requests[1]]);
        assert_eq!(
            ids(&all(&world, "/requests?state=open&project=p_1", limit)),
            [&requests[2], &requests[0]]
        );
        assert_eq!(ids(&all(&world, &format!("/requests?session={}", asking[0]), limit)), [&requests[0]]);
        assert_eq!(ids(&all(&world, "/requests", limit)), [&requests[2], &requests[1], &requests[0]]);
    }
    let numbers: Vec<u64> = all(&world, "/events", 7).iter().filter_map(|it| it["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "without a gap");
    let project = &all(&world, "/projects", 10)[0];
    let counts = ["waiting", "requests"].map(|name| project[name].as_u64());
    assert_eq!(counts, [Some(2), Some(2)], "{project}");
    assert!(project["active_at_ms"].as_u64().is_some_and(|at_ms| at_ms > 0), "{project}");
    assert_eq!(get(&world, "/projects/p_1").json()["name"], project["name"]);
    for (path, status, kind) in [
        ("/runs?limit=0", 400, "bad_query"),
        ("/runs?limit=1001", 400, "bad_query"),
        ("/runs?project=x", 400, "bad_query"),
        ("/runs?porject=p_1", 400, "bad_query"),
        ("/runs?project=p_9", 404, "no_project"),
        ("/projects/p_9", 404, "no_project"),
        ("/requests?session=s_99", 404, "no_session"),
        ("/requests?state=closed", 400, "bad_query"),
        ("/sessions?status=busy", 400, "bad_query"),
        ("/inbox?after=s_1", 400, "bad_query"),
    ] {
        let refused = get(&world, path);
        assert_eq!((refused.status, refused.kind().as_str()), (status, kind), "{path}");
    }
}

/// The data of the events that come over a stream, with their kinds, until one is the last.
fn until(stream: UnixStream, last: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
    let (mut heard, mut kind) = (Vec::new(), String::new());
    for line in lines(stream) {
        if let Some(it) = line.strip_prefix("event: ") {
            it.clone_into(&mut kind);
        } else if let Some(data) = line.strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data).expect("JSON");
            let is_last = last(&kind, &data);
            heard.push((kind.clone(), data));
            if is_last {
                break;
            }
        }
    }
    heard
}

#[test]
fn events_are_filtered_and_say_where_they_stand() {
    let world = World::new();
    let first = world.run(&["true"]);
    world.status(&first, "completed");
    let second = world.bash(&format!("{QUESTION}; read -r line"));
    let request = world.asked(&second).id;
    let seq = world.get::<Value>("/info").expect("a server")["seq"].as_u64().expect("a number");
    let path = format!("GET /events?follow=true&session={second}&kind=request.,session.created");
    let stream = send(&world, &path, &[], b"");
    world.answer(&request, "MySQL");
    let heard = until(stream, |kind, _| kind == "request.settled");
    assert_eq!(heard[0].0, "hello");
    assert_eq!((&heard[0].1["seq"], &heard[0].1["after"]), (&json!(seq), &json!(0)));
    let kinds: Vec<&str> = heard[1..].iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("session.created", "request.settled"));
    assert!(kinds[1..].iter().all(|kind| kind.starts_with("request.")), "{kinds:?}");
    assert!(heard[1..].iter().all(|(_, event)| event["session"] == second.as_str()), "{heard:?}");
    // The same as a page.
    let page: Vec<Value> =
        world.get(&format!("/events?session={second}&kind=request.,session.created")).expect("events");
    assert_eq!(
        page[..heard.len() - 1],
        heard[1..].iter().map(|(_, event)| event.clone()).collect::<Vec<_>>()
    );
    // Who comes from a journal that was longer hears what happens from now on.
    let stream = send(&world, "GET /events?follow=true&project=p_1&after=1000000", &[], b"");
    let mut beyond = lines(stream);
    let hello = beyond.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).expect("a greeting");
    let hello: Value = serde_json::from_str(&hello).expect("JSON");
    assert_eq!(hello["after"], hello["seq"]);
    world.run(&["true"]);
    assert!(beyond.any(|line| line == "event: run.created"));
    for (path, status, kind) in [
        ("/events?kind=nonsense", 400, "bad_query"),
        ("/events?kind=", 400, "bad_query"),
        ("/events?kind=request.opened,,x", 400, "bad_query"),
        ("/events?follow=true&session=r_1", 400, "bad_query"),
        ("/events?follow=true&session=s_99", 404, "no_session"),
        ("/events?run=r_99", 404, "no_run"),
        ("/events?project=p_99", 404, "no_project"),
    ] {
        let refused = get(&world, path);
        assert_eq!((refused.status, refused.kind().as_str()), (status, kind), "{path}");
    }
    let refused = answer(send(&world, "GET /events?follow=true", &[("Last-Event-ID", "x")], b""));
    assert_eq!((refused.status, refused.kind().as_str()), (400, "bad_query"));
}

#[test]
fn output_begins_where_somebody_was() {
    let world = World::new();
    let session = world.bash("seq 1000; while [ ! -e go ]; do sleep 0.01; done; echo end");
    let whole: String = (1..=1000).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect();
    world.wait_for("its output", |world| (world.output(&session) == whole).then_some(()));
    let length = whole.len();
    let path = |query: &str| format!("/sessions/{session}/output?{query}");
    let part = get(&world, &path("tail=9"));
    let heads = |it: &Answer| {
        ["ostler-launch", "ostler-offset", "ostler-length"].map(|name| it.header(name).map(str::to_owned))
    };
    let expected =
        |offset: usize| ["1", &offset.to_string(), &length.to_string()].map(|it| Some(it.to_owned()));
    assert_eq!((part.body.as_slice(), heads(&part)), (b"999\n1000\n".as_slice(), expected(length - 9)));
    let part = get(&world, &path("offset=4&limit=4"));
    assert_eq!((part.body.as_slice(), heads(&part)), (b"3\n4\n".as_slice(), expected(4)));
    assert_eq!(get(&world, &path("tail=1000000")).body, whole.as_bytes());
    assert_eq!(get(&world, &path("tail=0")).body, b"");
    assert_eq!(get(&world, &path(&format!("offset={length}"))).body, b"");
    for (query, status, kind) in [
        ("offset=1000000", 416, "bad_offset"),
        ("offset=1&tail=1", 400, "bad_query"),
        ("tail=99999999999", 400, "bad_query"),
        ("limit=0", 400, "bad_query"),
        ("stream=both", 400, "bad_query"),
        ("launch=7", 404, "no_launch"),
    ] {
        let refused = get(&world, &path(query));
        assert_eq!((refused.status, refused.kind().as_str()), (status, kind), "{query}");
    }
    // Who follows hears the rest, and the end of it.
    let stream = send(&world, &format!("GET {}", path(&format!("offset={length}&follow=true"))), &[], b"");
    write(&world.project, "go", "");
    assert_eq!(answer(stream).body, b"end\n");
    let err = get(&world, &path("stream=err"));
    assert_eq!((err.status, err.body.len()), (200, 0));
}
