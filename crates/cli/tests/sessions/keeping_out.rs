//! What an agent must not do by itself: answer its own question, steer, start more, or end the server. It may look.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
};

use serde_json::{Value, json};

use crate::{
    support::{World, write},
    tcp, wire,
};

/// Tries something at the socket for people, as a process that has done everything to be somebody else, and prints the
/// status of the answer. Behind the kind of process comes what is tried.
const TRY: &str = r#"
import os, socket, sys, time

kind, method, path, body = sys.argv[1:5]
home = os.environ["OSTLER_HOME"]

def connect():
    it = socket.socket(socket.AF_UNIX)
    os.chdir(home)
    it.connect("api.sock")
    return it

def ask(it):
    request = f"{method} /api/v1{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}"
    it.sendall(request.encode())
    text = b""
    while piece := it.recv(65536):
        text += piece
    return text.decode()

def report(text):
    draft = f"{home}/{kind}.draft"
    with open(draft, "w") as file:
        file.write(text)
    os.rename(draft, f"{home}/{kind}.said")

if kind == "plain":
    report(ask(connect()))
elif kind == "bare":
    # No environment at all, after an exec.
    if os.environ.get("OSTLER_SESSION"):
        os.execve(sys.executable, [sys.executable] + sys.argv, {"OSTLER_HOME": home})
    report(ask(connect()))
elif kind == "daemon":
    # Forked twice, with a session of its own and its parents gone.
    if os.fork() == 0:
        os.setsid()
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                time.sleep(0.001)
            os.execve(sys.executable, [sys.executable, sys.argv[0], "daemonized"] + sys.argv[2:], {"OSTLER_HOME": home})
        os._exit(0)
    os.wait()
elif kind == "daemonized":
    report(ask(connect()))
elif kind == "heir":
    # Who connected is gone when something is asked over the connection.
    it = connect()
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(0.001)
        report(ask(it))
    os._exit(0)
"#;

/// What a process said in the end.
fn said(world: &World, kind: &str) -> String {
    let path = world.home.join(format!("{kind}.said"));
    world.wait_for(kind, |_| fs::read_to_string(&path).ok())
}

#[test]
fn no_process_of_an_agent_answers_for_a_person() {
    let world = World::new();
    write(&world.project, "try.py", TRY);
    let session = world.bash(
        "ostler ask 'Which?' &
        for kind in plain bare daemon heir; do
            python3 try.py $kind POST /requests/q_1/answer '{\"value\":\"mine\"}'
        done; wait",
    );
    world.asked(&session);
    for kind in ["plain", "bare", "daemonized", "heir"] {
        let said = said(&world, kind);
        assert!(said.starts_with("HTTP/1.1 403"), "{kind}: {said}");
        assert!(said.contains("application/problem+json"), "{said}");
        // Who is gone before it can be looked at is refused for that.
        assert!(said.contains("only a person can") || said.contains("unknown_peer"), "{said}");
    }
    assert!(world.request("q_1").settled.is_none());
    world.answer("q_1", "ours");
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "ours\n");
}

/// The line with an event of a stream.
fn event(mut lines: impl Iterator<Item = String>) -> String {
    assert!(lines.any(|line| line == "event: secret.stored"), "the stream ends");
    lines.next().expect("what happened")
}

/// That a secret was kept is in the journal, which agents and tokens that look may read. Its name is not for them.
#[test]
fn who_may_not_see_secrets_is_told_no_name_of_one() {
    let world = World::new();
    write(&world.project, "try.py", TRY);
    let directory = world.project.display().to_string();
    let new = json!({ "directory": directory, "name": "HUSH_KEY", "value": "0123456789" });
    world.post::<Value>("/secrets", &new).expect("it is kept");
    let follow = "/events?kind=secret.&follow=true";
    let seen = event(wire::lines(wire::send(&world, &format!("GET {follow}"), &[], b"")));
    assert!(seen.contains("\"secret\":\"HUSH_KEY\""), "a person sees it: {seen}");
    let address = tcp::address(&world);
    let ask = |path: &str, token: &str| {
        let mut stream = tcp::connect(&address);
        let head = format!("GET /api/v1{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        stream
            .write_all(format!("{head}Authorization: Bearer {token}\r\n\r\n").as_bytes())
            .expect("it listens");
        BufReader::new(stream).lines().map(|line| line.expect("it goes on"))
    };
    let (looks, does) = (tcp::token(&world, "looks", true), tcp::token(&world, "does", false));
    let withheld = event(ask(follow, &looks));
    assert!(withheld.contains("\"secret\":null") && withheld.contains("\"what\":\"stored\""), "{withheld}");
    assert!(event(ask(follow, &does)).contains("HUSH_KEY"), "who may see the list sees it here too");
    let page = ask("/events", &looks).collect::<String>();
    assert!(page.contains("secret.stored") && !page.contains("HUSH_KEY"), "{page}");
    let session = world.bash("python3 try.py plain GET '/events?kind=secret.' ''");
    let said = said(&world, "plain");
    assert!(said.contains("\"secret\":null") && !said.contains("HUSH_KEY"), "{said}");
    world.status(&session, "completed");
}

#[test]
fn the_command_line_says_why_it_refuses_an_agent() {
    let world = World::new();
    let commands = [
        "answer q_1 mine",
        "answer q_1 --yes",
        "send s_1 hello",
        "pause s_1",
        "cancel s_1",
        "run -d -- true",
        "serve --stop",
    ];
    let tries = commands.map(|command| format!("ostler {command}; echo \"$? {command}\"")).join("\n");
    let script = format!(
        "ostler ask 'Which?' & until ostler inbox --json | grep q_1 >/dev/null; do sleep 0.05; done\n{tries}\nostler ps --json >seen; echo \"$? ps\"; wait"
    );
    let session = world.bash(&script);
    world.asked(&session);
    world.wait_for("all tries", |world| world.output(&session).contains(" ps\n").then_some(()));
    world.answer("q_1", "ours");
    world.status(&session, "completed");
    let refused = commands.map(|command| format!("7 {command}")).join("\n");
    assert_eq!(world.output(&session), format!("{refused}\n0 ps\nours\n"));
    let seen = fs::read_to_string(world.project.join("seen")).expect("what it saw");
    assert!(seen.contains("\"s_1\""), "it may look: {seen}");
    let errors = world.home.join("sessions").join(&session).join("1/err.log");
    let errors = fs::read_to_string(errors).expect("what it said");
    assert_eq!(errors.matches("only a person can").count(), commands.len(), "{errors}");
}

/// A check runs what the agent has written.
#[test]
fn neither_does_a_check() {
    let world = World::new();
    write(&world.project, "try.py", TRY);
    let check = format!(
        "OSTLER_HOME='{}' python3 try.py bare POST /stop '{{}}'; OSTLER_CHANNEL='{}' '{}' ask 'Am I an agent?'; \
         test $? = 7",
        world.home.display(),
        world.home.join("channel.sock").display(),
        world.home.join("bin/ostler").display(),
    );
    let mut new = world.new_run(&["true"]);
    new.check = Some(check);
    let session = world.run_with(&new);
    let done = world.status(&session, "completed");
    assert!(done.outcome.expect("an outcome").verified);
    assert!(said(&world, "bare").starts_with("HTTP/1.1 403"));
    assert_eq!(world.inbox().len(), 0);
}
