//! Many who look at once, one of whom takes nothing: nobody waits for anybody, and the server does not grow.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    thread,
    time::Instant,
};

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::Value;

use crate::{
    health::word,
    support::{DEADLINE, World, write},
    tcp,
};

/// Stands in the last event.
const LAST: &str = "THE-LAST-ONE";

/// More than what the sockets between two processes hold.
const EVENTS_BYTES: usize = 24 << 20;

/// How much of them is one.
const EVENT_BYTES: usize = 8_000;

fn number(name: &str, usual: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A way in over TCP.
struct Door {
    host: String,
    token: String,
}

impl Door {
    fn of(world: &World) -> Door {
        let made = world.ostler(&["token", "make", "load", "--read-only", "--json"]);
        let made: Value = serde_json::from_slice(&made.stdout).expect("a token");
        let token = made["token"].as_str().expect("a token").to_owned();
        Door { host: tcp::address(world), token }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("a door");
        let (host, token) = (&self.host, &self.token);
        let head = format!(
            "GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a time");
        stream
    }
}

/// The ids of the events that come, until the one that says that it is the last.
fn ids(stream: TcpStream) -> Vec<u64> {
    let mut ids = Vec::new();
    for line in BufReader::new(stream).lines().map(|line| line.expect("it goes on")) {
        ids.extend(line.strip_prefix("id: ").and_then(|id| id.parse::<u64>().ok()));
        if line.starts_with("data: ") && line.contains(LAST) {
            break;
        }
    }
    ids
}

/// What a line of the metrics says.
fn metric(world: &World, line: &str) -> u64 {
    let text = word(world, "/metrics").1;
    text.lines().find_map(|it| it.strip_prefix(line)?.trim().parse().ok()).expect("a metric")
}

#[test]
fn nobody_waits_for_who_takes_nothing() {
    let (followers, sessions) = (number("OSTLER_FOLLOWERS", 20), number("OSTLER_PRINTING", 4));
    let mut world = World::idle();
    world.start_with(&[("OSTLER_LOG", "error")]);
    let door = Door::of(&world);
    let before = metric(&world, "process_resident_memory_bytes");
    let stalled = door.ask("/events?follow=true");
    set_socket_recv_buffer_size(&stalled, 4096).expect("a small buffer");
    let streams: Vec<TcpStream> = (0..followers).map(|_| door.ask("/events?follow=true")).collect();
    let phases = EVENTS_BYTES / EVENT_BYTES / sessions;
    let script = format!(
        "until [ -e go ]; do sleep 0.05; done; text=$(head -c {EVENT_BYTES} /dev/zero | tr '\\0' x); \
         for i in $(seq {phases}); do printf '=== PHASE %s COMPLETE ===\\nPhase: %s\\nwords\\n' $i $text; done"
    );
    let all: Vec<String> = (0..sessions).map(|_| world.bash(&script)).collect();
    let mut output = door.ask(&format!("/sessions/{}/output?follow=true", all[0]));
    let began = Instant::now();
    let read = |stream: TcpStream| thread::spawn(move || ids(stream));
    let readers: Vec<_> = streams.into_iter().map(read).collect();
    write(&world.project, "go", "");
    for session in &all {
        world.status(session, "completed");
    }
    world.run(&["true", LAST]);
    let mut printed = Vec::new();
    output.read_to_end(&mut printed).expect("the stream of a launch ends with it");
    assert!(printed.len() > phases * EVENT_BYTES, "{} bytes", printed.len());
    let mut events = 0;
    for reader in readers {
        let ids = reader.join().expect("it read");
        events = ids.len() as u64;
        assert_eq!(ids, (1..=events).collect::<Vec<_>>(), "nothing is missing, nothing comes twice");
    }
    let grown = metric(&world, "process_resident_memory_bytes").saturating_sub(before);
    assert!(grown < 256 << 20, "{grown} bytes more");
    // It took nothing, so it was let go.
    world.wait_for("its end", |world| {
        (metric(world, "ostler_followers{stream=\"events\"}") == 0).then_some(())
    });
    println!(
        "load: {followers} followers and one that stalls, {sessions} sessions printing, {events} events in {} s, \
         {} MiB more memory",
        began.elapsed().as_secs(),
        grown >> 20
    );
    drop(stalled);
}
