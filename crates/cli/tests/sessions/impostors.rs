//! Processes of agents that put themselves in the place of a shim. The server believes none of them, says nothing to
//! them, and a person sees it.

use std::fs;

use ostler_server::api::{InfoView, RequestView};
use serde_json::{Value, json};

use crate::support::{QUESTION, World, kill, state, write};

/// Listens at the socket of another session, says that its agent has ended, and writes down what it hears. With `lock` it
/// takes the place of the lock as well; with `links` it puts its own shim there.
const IMPOSTOR: &str = r#"
import fcntl, json, os, socket, sys, threading
home, project, how = os.environ["OSTLER_HOME"], os.getcwd(), sys.argv[1]
mark = open(f"{home}/mark").read()
heard = open("heard", "ab", 0)
own, _, launch = os.environ["OSTLER_SESSION"].split("@")[0].partition(".")
os.chdir(f"{home}/sessions/s_1/1")
os.unlink("ctl.sock")
if how == "links":
    os.unlink("lock")
    os.link(f"{home}/sessions/{own}/{launch}/lock", "lock")
    os.link(f"{home}/sessions/{own}/{launch}/ctl.sock", "ctl.sock")
    open(f"{project}/ready", "w")
    threading.Event().wait()
if how == "lock":
    os.unlink("lock")
    lock = open("lock", "a")
    fcntl.flock(lock, fcntl.LOCK_EX)
it = socket.socket(socket.AF_UNIX)
it.bind("ctl.sock")
it.listen(64)
open(f"{project}/ready", "w")

def talk(server):
    def say(message):
        server.sendall((json.dumps(message) + "\n").encode())
    try:
        say({"shim": 2, "session": f"s_1.1@{mark}"})
        for line in server.makefile("rb"):
            heard.write(line)
            request = json.loads(line)
            say({"reply": {"id": request["id"], "done": None}})
            if request["do"] == "follow":
                ended = {"event": "ended", "code": 0, "signal": None, "clean": True, "input_bytes_left": 0}
                say({"record": {"seq": request["after_seq"] + 1, "at_ms": 1, **ended}})
    except OSError:
        pass

while True:
    threading.Thread(target=talk, args=[it.accept()[0]], daemon=True).start()
"#;

fn card(world: &World, session: &str) -> RequestView {
    world.wait_for("a card", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == "steered")
    })
}

/// A session that waits for an answer, and another one that takes the place of its shim while the server is restarted.
fn displaced(how: &str) -> (World, RequestView, String) {
    let mut world = World::new();
    write(&world.project, "impostor.py", IMPOSTOR);
    let victim = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    assert_eq!(victim, "s_1");
    let question = world.asked(&victim);
    let attacker = world.run(&["python3", "impostor.py", how]);
    world.wait_for("the impostor", |world| world.project.join("ready").exists().then_some(()));
    world.restart();
    let card = card(&world, &victim);
    assert_eq!(card.ask.text, "another process answered in place of this session's shim");
    let said = world.ostler(&["inbox"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("answered in place of this session's shim"), "{said}");
    let view = world.session(&victim);
    assert_eq!((view.status.as_str(), view.outcome.is_none()), ("waiting_input", true));
    assert!(world.request(&question.id).settled.is_none());
    assert_eq!(world.get::<InfoView>("/info").expect("an answer").unreached, std::slice::from_ref(&victim));
    assert_eq!(
        fs::read_to_string(world.project.join("heard")).expect("a file"),
        "",
        "nothing was said to it"
    );
    assert_eq!(world.count(&attacker, "session.noted"), 0);
    world.answer(&card.id, "continue");
    (world, question, attacker)
}

/// The answer waits for the session, whoever listens in its place.
#[test]
fn a_process_at_the_socket_of_another_session_is_told_nothing_and_seen() {
    let (world, question, _) = displaced("socket");
    world.answer(&question.id, "PostgreSQL");
    // Its shim cannot be reached again. The answer holds for the next process of the session.
    kill(world.shim_of("s_1"), "KILL");
    world.status("s_1", "interrupted");
    world.wish("s_1", "resume");
    world.status("s_1", "completed");
    let output = world.output("s_1");
    assert!(output.contains("got ") && output.contains("PostgreSQL"), "{output}");
    assert_eq!(fs::read_to_string(world.project.join("heard")).expect("a file"), "");
    world.verify();
}

#[test]
fn a_process_with_a_lock_of_its_own_in_place_of_the_shim_is_refused() {
    let (world, _, _) = displaced("lock");
    let agent = world.session("s_1").pid.expect("it lives").cast_unsigned();
    world.wish("s_1", "cancel");
    world.status("s_1", "cancelled");
    assert!(state(agent).is_none_or(|state| state == 'Z'), "it is shown as gone");
    world.verify();
}

#[test]
fn the_shim_of_another_session_in_place_of_the_shim_is_refused() {
    let (world, _, attacker) = displaced("links");
    assert_eq!(world.session(&attacker).status, "active", "its own session goes on");
    world.verify();
}

/// Writes over the last record of its own spool that its agent has ended.
const FORGE: &str = r#"
import json, os
path = os.environ["OSTLER_HOME"] + "/sessions/s_1/1/spool.ndjson"
lines = open(path, "rb").read().splitlines(keepends=True)
seq = json.loads(lines[-1])["seq"]
ended = {"seq": seq, "at_ms": 1, "event": "ended", "code": 0, "signal": None, "clean": True, "input_bytes_left": 0}
text = json.dumps(ended).encode()
with open(path, "r+b") as spool:
    spool.seek(sum(map(len, lines[:-1])))
    spool.write(text.ljust(len(lines[-1]) - 1))
open("forged", "w")
"#;

fn wait_for_forgery(world: &World) {
    world.wait_for("the forgery to be noticed", |world| {
        let log = fs::read_to_string(world.home.join("log.jsonl")).ok()?;
        log.contains("shim.forged_end").then_some(())
    });
}

/// Writes the end of another session behind the records of this one, as the next of them.
fn forge_end(world: &World, session: &str, other: &str) {
    let spool = |id: &str| world.home.join("sessions").join(id).join("1/spool.ndjson");
    let own = fs::read_to_string(spool(session)).expect("a spool");
    let records = fs::read_to_string(spool(other)).expect("a spool");
    let mut end: Value = serde_json::from_str(records.lines().last().expect("a record")).expect("a record");
    assert!(end.to_string().contains("seal"), "{end}");
    end["seq"] = json!(own.lines().count() + 1);
    fs::write(spool(session), format!("{own}{end}\n")).expect("a spool");
}

/// The lock of the session is replaced, or its shim killed, while no server runs.
#[test]
fn an_end_that_another_process_writes_makes_no_session_done() {
    for kills_shim in [false, true] {
        let mut world = World::new();
        let done = world.bash("echo done");
        world.status(&done, "completed");
        let session = world.bash("echo begun; sleep 1000");
        world.status(&session, "active");
        world.wait_for("its words", |world| world.output(&session).contains("begun").then_some(()));
        world.kill_server();
        if kills_shim {
            world.shims().into_iter().for_each(|pid| kill(pid, "KILL"));
        } else {
            let lock = world.home.join("sessions").join(&session).join("1/lock");
            fs::rename(&lock, lock.with_extension("old")).expect("it is there");
            fs::write(&lock, "").expect("a file");
        }
        forge_end(&world, &session, &done);
        world.start();
        wait_for_forgery(&world);
        world.status(&session, "interrupted");
        assert_eq!(world.processes(), Vec::new(), "nobody lives who is shown as gone");
        world.verify();
    }
}

#[test]
fn an_agent_that_lives_is_not_shown_as_ended() {
    let mut world = World::new();
    write(&world.project, "forge.py", FORGE);
    let step = "printf '[STEP_COMPLETE]\\nstep: forged\\nsummary: forged by the agent, and long enough\\n[/STEP_COMPLETE]\\n'";
    let spool = "\"$OSTLER_HOME\"/sessions/s_1/1/spool.ndjson";
    let script = format!(
        "until [ -e go ]; do sleep 0.02; done; {step}; until grep -q forged {spool}; do sleep 0.02; done; \
         python3 forge.py; sleep 1000"
    );
    let session = world.bash(&script);
    let pid = world.status(&session, "active").pid.expect("it runs");
    world.kill_server();
    write(&world.project, "go", "");
    world.wait_for("the forgery", |world| world.project.join("forged").exists().then_some(()));
    world.start();
    wait_for_forgery(&world);
    assert_eq!((world.session(&session).status.as_str(), world.session(&session).pid), ("active", Some(pid)));
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(world.processes(), Vec::new(), "nobody lives who is shown as gone");
}

/// Puts a command and a variable where the next session is started, again and again.
const EXCHANGE: &str = r#"
import json, os
home, project = os.environ["OSTLER_HOME"], os.getcwd()
directory = f"{home}/sessions/s_2"
os.makedirs(directory + "/1", 0o700)
launch = {
    "session": "s_2.1@" + open(f"{home}/mark").read(), "command": ["sh", "-c", "echo theirs"], "directory": project,
    "environment": {"PATH": os.environ["PATH"]}, "terminal": "none", "input": "open", "format": "text", "nonce": None,
    "thin_role": False, "stop": True, "log_bytes_max": 1 << 30,
}
open("ready", "w")
while not os.path.exists("go"):
    for name, text in [("1/launch.json", json.dumps(launch)), ("values", "PLANTED=theirs\0")]:
        with open(f"{directory}/evil", "w") as file:
            file.write(text)
        os.replace(f"{directory}/evil", f"{directory}/{name}")
"#;

#[test]
fn what_a_session_is_started_with_cannot_be_exchanged() {
    let world = World::new();
    write(&world.project, "exchange.py", EXCHANGE);
    let attacker = world.run(&["python3", "exchange.py"]);
    world.wait_for("the attack", |world| world.project.join("ready").exists().then_some(()));
    // Not with bash, which reads the file of values itself.
    let session = world.run(&["sh", "-c", "echo \"${PLANTED-ours}\""]);
    assert_eq!(session, "s_2");
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "ours\n");
    write(&world.project, "go", "");
    world.status(&attacker, "completed");
    world.verify();
}
