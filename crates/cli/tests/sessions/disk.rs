//! A disk that is full or fails under the state directory: what cannot be written is refused and said, nobody loses
//! anything, and everything goes on when there is room, without a new server.

use std::{
    fs::{self, File},
    io::Write,
};

use ostler_server::client::ClientError;
use serde_json::{Value, json};

use crate::{
    health::word,
    preload::Preload,
    support::{QUESTION, World},
};

const FILLER: &str = "filler";

/// Fills the disk to the last byte.
fn fill(world: &World) {
    let filler = File::options().create(true).append(true).open(world.home.join(FILLER));
    let mut filler = filler.expect("the name is there, or takes no room");
    for piece in [64 << 10, 4 << 10, 1] {
        while filler.write_all(&vec![0; piece]).is_ok() {}
    }
}

fn make_room(world: &World) {
    fs::remove_file(world.home.join(FILLER)).expect("the filler is there");
}

fn bytes(world: &World, name: &str) -> u64 {
    fs::metadata(world.home.join(name)).map_or(0, |file| file.len())
}

/// Has something written, and fills the disk again each time the server gives some of its own room back, until there
/// is nothing left: not in its reserve, and not in the files that it has already.
fn use_up(world: &World, talked_to: &str, steered: &str) {
    let was_written = |path: String, body: Value| {
        fill(world);
        match world.post::<Value>(&path, &body) {
            Ok(_) => true,
            Err(ClientError::Refused(problem)) if problem.kind == "not_written" => false,
            Err(error) => panic!("{error:?}"),
        }
    };
    let message = json!({ "text": "x".repeat(100_000) });
    while was_written(format!("/sessions/{talked_to}/messages"), message.clone()) {}
    // What is small may still fit where that did not, or was refused only together with something larger.
    let mut refused = 0;
    while refused < 5 {
        refused = if was_written(format!("/sessions/{steered}/pause"), json!({})) { 0 } else { refused + 1 };
    }
    assert_eq!(bytes(world, "reserve"), 0, "nothing is refused before everything is used");
    fill(world);
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let Some(mut world) = World::on_a_small_disk(16) else { return };
    world.start();
    let asking = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&asking);
    let working =
        world.bash("until [ -e go ]; do sleep 0.02; done; while read -r -t 5 line; do :; done; echo end");
    let [unwanted, idle] = [(); 2].map(|()| world.bash("sleep 1000"));
    let pid = world.status(&asking, "waiting_input").pid;
    world.status(&working, "active");
    world.status(&unwanted, "active");
    world.status(&idle, "active");

    // Who fills the disk can still be ended: there is room for that.
    fill(&world);
    world.wish(&unwanted, "cancel");
    world.status(&unwanted, "cancelled");
    use_up(&world, &working, &idle);

    let events = world.events(&asking).len();
    for arguments in
        [vec!["answer", &request.id, "1"], vec!["run", "-d", "--", "true"], vec!["cancel", &idle]]
    {
        let said = world.ostler(&arguments);
        let words = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(4), "{arguments:?}: {words}");
        assert!(words.contains("no room") || words.contains("No space"), "{arguments:?}: {words}");
        assert!(words.contains("Nothing has changed"), "{arguments:?}: {words}");
    }
    let secret = world.ostler(&["secret", "set", "KEY", "--from", "env:KEY"]);
    assert_eq!(secret.status.code(), Some(4), "{secret:?}");
    // Whoever only looks can do so.
    for arguments in [vec!["ps"], vec!["inbox"], vec!["show", &asking], vec!["logs", &asking]] {
        let said = world.ostler(&arguments);
        assert_eq!(said.status.code(), Some(0), "{arguments:?}: {said:?}");
    }
    assert_eq!(word(&world, "/readyz"), (503, "unwritable".to_owned()));
    assert_eq!(word(&world, "/healthz"), (200, "ok".to_owned()));
    assert_eq!(world.events(&asking).len(), events, "nothing has happened");
    assert_eq!(world.session(&asking).pid, pid);
    assert!(world.request(&request.id).settled.is_none());

    // A server that is killed now comes back, for all that can be looked at.
    world.restart();
    assert!(!world.has_died(), "{}", world.log());
    assert_eq!(world.session(&asking).pid, pid);
    assert_eq!(world.events(&asking).len(), events);

    make_room(&world);
    world.answer(&request.id, "1");
    assert_eq!(word(&world, "/readyz"), (200, "ready".to_owned()));
    world.status(&asking, "completed");
    assert_eq!(world.output(&asking).matches("PostgreSQL\"}").count(), 1, "{}", world.output(&asking));
    crate::support::write(&world.project, "go", "");
    world.status(&working, "completed");
    world.wish(&idle, "cancel");
    world.status(&idle, "cancelled");
    assert_eq!(world.count(&asking, "request.settled"), 1);
    world.wait_for("the reserve", |world| {
        world.bash("true");
        (bytes(world, "reserve") == 4 << 20).then_some(())
    });
    world.verify();
}

#[test]
fn what_the_disk_does_not_keep_is_not_believed() {
    let Some(preload) = Preload::new() else { return };
    let mut world = World::idle();
    world.start_with(&preload.environment());
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session);
    let pid = world.status(&session, "waiting_input").pid;
    let answer = vec!["answer", &request.id, "1"];
    for fault in ["sync", "write"] {
        preload.set(fault, "5");
        let said = world.ostler(&answer);
        let words = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(4), "{words}");
        assert!(words.contains("disk failed") && words.contains("Nothing has changed"), "{words}");
        assert!(world.request(&request.id).settled.is_none(), "nobody acts on it");
        assert_eq!(world.status(&session, "waiting_input").pid, pid, "it still waits");
        preload.clear(fault);
    }
    // The same again, and nobody is left to write it once more: then it has happened as a whole, or not at all.
    preload.set("sync", "5");
    assert_eq!(world.ostler(&answer).status.code(), Some(4));
    world.kill_server();
    preload.clear("sync");
    world.start_with(&preload.environment());
    if world.request(&request.id).settled.is_none() {
        world.answer(&request.id, "1");
    }
    world.status(&session, "completed");
    assert_eq!(world.output(&session).matches("PostgreSQL\"}").count(), 1, "{}", world.output(&session));
    assert_eq!(world.count(&session, "request.settled"), 1);
    world.verify();
}
