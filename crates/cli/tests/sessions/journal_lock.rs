//! Another process that locks the journal's database: an agent's is ended, a person's is named and left alone.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use crate::support::{QUESTION, World, state, write};

/// Locks the byte that a writer of SQLite locks: by a process, by an open file, and by children that take it one after
/// the other.
const HOLDER: &str = r#"
import fcntl, os, struct, sys, threading
home = os.environ["OSTLER_HOME"]
file = os.open(home + "/journal.sqlite-shm", os.O_RDWR)
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 120, 1, 0)
wait, kind = (38, "open file") if sys.argv[1] == "file" else (fcntl.F_SETLKW, "process")
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        file = os.open(home + "/journal.sqlite-shm", os.O_RDWR)
        fcntl.fcntl(file, wait, lock)
        open("holds", "w").write(kind)
        threading.Event().wait()
open("children", "w")
threading.Event().wait()
"#;

fn hold(world: &World, kind: &str, children: u32) -> String {
    write(&world.project, "hold.py", HOLDER);
    let session = world.run(&["python3", "hold.py", kind, &children.to_string()]);
    world.wait_for("the lock", |world| {
        let said = std::fs::read_to_string(world.project.join("holds")).ok()?;
        (!said.is_empty() && world.project.join("children").exists()).then_some(())
    });
    session
}

/// Asks for the lock in each way that an agent has, and answers meanwhile.
#[test]
fn an_agent_that_locks_the_journal_is_ended_and_everything_is_written() {
    let mut world = World::new();
    for (kind, children) in [("process", 1), ("file", 1), ("process", 8)] {
        for name in ["holds", "children"] {
            std::fs::remove_file(world.project.join(name)).ok();
        }
        let asking = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
        let request = world.asked(&asking);
        let attacker = hold(&world, kind, children);
        let said = world.ostler(&["answer", &request.id, "1"]);
        assert_eq!(said.status.code(), Some(0), "{kind} {children}: {said:?}");
        world.status(&asking, "completed");
        world.wish(&attacker, "cancel");
        world.status(&attacker, "cancelled");
    }
    let log = std::fs::read_to_string(world.home.join("log.jsonl")).expect("a log");
    assert!(log.contains("journal.locked") && log.contains(r#""ended":true"#), "{log}");
    // The next server starts in spite of such a lock, too.
    for name in ["holds", "children"] {
        std::fs::remove_file(world.project.join(name)).ok();
    }
    let attacker = hold(&world, "process", 2);
    world.restart();
    world.wish(&attacker, "cancel");
    world.status(&attacker, "cancelled");
    world.verify();
}

/// A person's own `sqlite3`, with a transaction that is open for long.
fn writer_of_a_person(world: &World) -> Child {
    let script = "import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('BEGIN IMMEDIATE')
print('ready', flush=True)
sys.stdin.read()";
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(world.home.join("journal.sqlite"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn a_person_who_locks_the_journal_is_named_and_left_alone() {
    let world = World::new();
    let asking = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&asking);
    let mut person = writer_of_a_person(&world);
    let said = world.ostler(&["answer", &request.id, "1"]);
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(4), "{words}");
    assert!(words.contains(&format!("{} (python3", person.id())), "{words}");
    assert!(words.contains("End that process") && !words.contains("disk"), "{words}");
    let said = world.ostler(&["doctor"]);
    let words = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(words.contains(&format!("kill {}", person.id())), "{words}");
    assert_eq!(said.status.code(), Some(1), "{words}");
    assert!(state(person.id()).is_some_and(|it| it != 'Z'), "it is a person's");
    assert!(world.request(&request.id).settled.is_none(), "nothing has changed");
    drop(person.stdin.take());
    person.wait().expect("a child");
    world.answer(&request.id, "1");
    world.status(&asking, "completed");
    assert_eq!(world.count(&asking, "request.settled"), 1);
    world.verify();
}
