//! The mark of agents: a limit that no process can raise. Whatever an agent does to its shim, its environment and its
//! session, it stays an agent.

use std::{
    fs,
    io::Write,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::support::{World, kill, state, write};

/// Leaves its session with nothing that tells where it came from, kills its shim, and tries to be a person for as long as
/// it lives.
const ESCAPE: &str = r#"
SHIM=$PPID
setsid env -i PATH="$PATH" OSTLER_HOME="$OSTLER_HOME" SHIM=$SHIM bash -c '
    echo $$ > "$OSTLER_HOME/escaped"
    kill -9 $SHIM
    while :; do
        ostler token make evil >> "$OSTLER_HOME/tried" 2>&1
        ostler answer q_1 1 >> "$OSTLER_HOME/tried" 2>&1
        echo again >> "$OSTLER_HOME/tried"
    done' &
wait
"#;

/// Lowers the limit of another process.
const BRAND: &str = "
import ctypes, sys
limit = (ctypes.c_ulong * 2)(7, 7)
sys.exit(ctypes.CDLL(None).prlimit(int(sys.argv[1]), 10, limit, None))
";

fn brand(pid: u32) {
    let done = Command::new("python3").args(["-c", BRAND, &pid.to_string()]).status().expect("python runs");
    assert!(done.success(), "the limit of {pid} can be lowered");
}

/// The program below a shell with a lower limit.
fn as_marked(world: &World, arguments: &[&str]) -> std::process::Output {
    let line = world.command(arguments);
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -x 7; exec \"$@\"", "bash"]).arg(line.get_program()).args(line.get_args());
    command.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(&world.project).stdin(Stdio::null()).output().expect("bash runs")
}

/// A program with a lower limit below a shell of a person.
fn branded_sleep() -> Child {
    let mut shell = Command::new("bash");
    shell.args(["-c", "bash -c 'ulimit -x 7; exec sleep 1000'; true"]).stdin(Stdio::null());
    shell.spawn().expect("bash runs")
}

/// The only child of a process, once it is what it shall become.
fn child_of(world: &World, parent: u32, name: &str) -> u32 {
    world.wait_for("a child", |_| {
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
        let child = children.split_whitespace().next()?.parse().ok()?;
        let is_it = fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|it| it.trim() == name);
        is_it.then_some(child)
    })
}

fn escapes(world: &World) {
    let asking = world.bash("ostler ask 'Which?'");
    world.asked(&asking);
    let other = world.bash("while :; do sleep 0.1; done");
    world.status(&other, "active");
    let attacker = world.bash(ESCAPE);
    let pid: u32 = world.wait_for("an escape", |world| {
        fs::read_to_string(world.home.join("escaped")).ok()?.trim().parse().ok()
    });
    world.status(&attacker, "interrupted");
    world.wait_for("its end", |_| state(pid).is_none_or(|state| state == 'Z').then_some(()));
    let tried = fs::read_to_string(world.home.join("tried")).unwrap_or_default();
    assert!(world.request("q_1").settled.is_none(), "{tried}");
    let sign_ins = fs::read_to_string(world.home.join("sign-ins.json")).unwrap_or_default();
    assert!(!sign_ins.contains("evil"), "{tried}");
    assert_eq!(world.session(&other).status, "active", "no other session is touched");
    world.answer("q_1", "ours");
    world.status(&asking, "completed");
    world.wish(&other, "cancel");
    world.status(&other, "cancelled");
    fs::remove_file(world.home.join("escaped")).expect("it is there");
}

#[test]
fn who_kills_its_shim_stays_an_agent_and_is_ended() {
    escapes(&World::new());
}

#[test]
fn who_kills_its_shim_without_rights_or_a_control_group_stays_an_agent() {
    if let Some(world) = World::of_another_user() {
        escapes(&world);
    }
}

/// Nobody was there when it left; the next server finds it.
#[test]
fn what_escaped_while_no_server_ran_is_ended_by_the_next() {
    let mut world = World::new();
    write(&world.project, "escape.sh", ESCAPE);
    let session = world.bash("until test -e go; do sleep 0.05; done; PPID_OF=$PPID; exec bash escape.sh");
    world.status(&session, "active");
    world.kill_server();
    write(&world.project, "go", "");
    let pid: u32 = world.wait_for("an escape", |world| {
        fs::read_to_string(world.home.join("escaped")).ok()?.trim().parse().ok()
    });
    world.wait_for("an attempt", |world| fs::read_to_string(world.home.join("tried")).ok());
    let tried = fs::read_to_string(world.home.join("tried")).expect("it tried");
    world.start();
    world.status(&session, "interrupted");
    world.wait_for("its end", |_| state(pid).is_none_or(|state| state == 'Z').then_some(()));
    assert!(!world.home.join("sign-ins.json").exists(), "it started no server: {tried}");
}

#[test]
fn a_process_with_the_limit_of_an_agent_is_refused_wherever_it_is() {
    let mut world = World::new();
    let session = world.bash("ostler ask 'Which?'");
    world.asked(&session);
    let refused = as_marked(&world, &["answer", "q_1", "mine"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(7), "{said}");
    assert!(said.contains("only a person can") && said.contains("ostler doctor"), "{said}");
    let doctor = as_marked(&world, &["doctor", "--json"]);
    let checks: Value = serde_json::from_slice(&doctor.stdout).expect("a list");
    let mark = checks.as_array().into_iter().flatten().find(|it| it["check"] == "mark").expect("it looks");
    assert_eq!(mark["grade"], "bad", "{mark}");
    world.kill_server();
    for command in [&["serve"][..], &["ps"]] {
        let refused = as_marked(&world, command);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(6), "{said}");
        assert!(said.contains("carries the mark of an agent") && said.contains("login shell"), "{said}");
    }
    world.start();
    world.answer("q_1", "ours");
    world.status(&session, "completed");
}

/// Any process of the user can brand another. That ends no process of a person's.
#[test]
fn a_shell_that_was_branded_is_named_and_not_ended() {
    let mut world = World::new();
    let session = world.bash("sleep 1000");
    world.status(&session, "active");
    let mut shell = branded_sleep();
    let branded = child_of(&world, shell.id(), "sleep");
    let shim = world.shims()[0];
    kill(shim, "KILL");
    world.status(&session, "interrupted");
    assert!(state(branded).is_some_and(|state| state != 'Z'), "a terminal's process is not the session's");
    let doctor = world.ostler(&["doctor", "--json"]);
    let checks: Value = serde_json::from_slice(&doctor.stdout).expect("a list");
    let says = format!("process {branded} (sleep)");
    let named =
        |it: &Value| it["grade"] == "warn" && it["says"].as_str().is_some_and(|it| it.contains(&says));
    assert!(checks.as_array().into_iter().flatten().any(named), "{checks:#}");
    kill(branded, "KILL");
    shell.wait().expect("a child");
    // A server that was branded could steer no shim: it ends, and the next one is as before.
    let session = world.bash("ostler ask 'Which?'");
    world.asked(&session);
    brand(world.server_pid());
    let deadline = std::time::Instant::now() + crate::support::DEADLINE;
    while !world.has_died() {
        assert!(std::time::Instant::now() < deadline, "it does not end");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(world.log().contains("carries the mark of an agent"), "{}", world.log());
    world.start();
    let request = world.asked(&session);
    world.answer(&request.id, "ours");
    world.status(&session, "completed");
}

/// Gives a shim a command, and prints what it answers.
const STEER: &str = r#"
import os, socket, sys
it = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
it.connect("ctl.sock")
try:
    it.sendall((sys.argv[2] + "\n").encode())
    print("HEARD", it.recv(65536), flush=True)
except OSError:
    print("HEARD", b"", flush=True)
"#;

const ASK: &str = "printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: Which?\\nrequired: true\\n[/USER_QUESTION]\\n'; read -r answer; echo \"got $answer\"";

/// One agent tries to answer another; the board stays right. What an older shim obeys is seen: here a process of the
/// person does it.
#[test]
fn no_agent_steers_another_and_a_process_that_does_is_seen() {
    let world = World::new();
    write(&world.project, "steer.py", STEER);
    let victim = world.bash(ASK);
    let question = world.asked(&victim).id;
    let directory = world.home.join("sessions").join(&victim).join("1");
    let input = format!(r#"{{"id":1,"do":"input","key":"{question}","text":"evil\n","go_on":true}}"#);
    let script = format!("python3 steer.py '{}' '{input}'", directory.display());
    let attacker = world.bash(&script);
    world.status(&attacker, "completed");
    assert_eq!(world.output(&attacker), "HEARD b''\n");
    assert_eq!(world.session(&victim).status, "waiting_input");
    let mut stream = ostler_shim::connect(&directory).expect("the shim listens");
    stream.write_all(b"{\"id\":1,\"do\":\"go_on\"}\n").expect("the shim reads");
    let steered = world
        .wait_for("a card", |world| world.inbox().into_iter().find(|request| request.ask.kind == "steered"));
    assert_eq!(steered.session, victim);
    world.wait_for("another stop", |world| (world.count(&victim, "session.stopped") == 2).then_some(()));
    let shown = world.ostler(&["inbox"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("another process"), "{shown:?}");
    world.answer(&steered.id, "continue");
    world.answer(&question, "ours");
    world.status(&victim, "completed");
    let said = world.output(&victim);
    assert!(said.contains("got ") && said.contains("ours") && !said.contains("evil"), "{said}");
    world.verify();
}
