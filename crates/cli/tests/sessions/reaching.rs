//! Shims that live and cannot be reached, or of which the system does not say whether they live. The server answers, an
//! agent that lives is never shown as gone, and whoever is cancelled ends.

use std::{
    cell::RefCell,
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use ostler_server::api::{EventView, InfoView};
use serde_json::Value;

use crate::support::{QUESTION, World, kill, state, write};

/// Stops its shim, fills the queue of its socket, and asks on the channel several times at once.
const ATTACK: &str = r#"
import os, resource, socket, subprocess, sys, time

shim, home = os.getppid(), os.environ["OSTLER_HOME"]
launch = f"{home}/sessions/{sys.argv[1]}/1"
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
os.chdir(launch)
os.kill(shim, 19)
held = []
while True:
    it = socket.socket(socket.AF_UNIX)
    it.setblocking(False)
    try:
        it.connect("ctl.sock")
    except BlockingIOError:
        break
    held.append(it)
asking = [subprocess.Popen(["ostler", "ask", "Which?"]) for _ in range(4)]
with open(f"{sys.argv[2]}/attacked", "w") as file:
    file.write(str(len(held)))
time.sleep(1000)
"#;

/// The server answers within this, on a machine that has a lot else to do.
const ANSWER_MAX: Duration = Duration::from_secs(10);

fn unreached(world: &World) -> Vec<String> {
    world.get::<InfoView>("/info").expect("an answer").unreached
}

fn is_gone(pid: u32) -> bool {
    state(pid).is_none_or(|state| state == 'Z')
}

#[test]
fn a_stopped_shim_with_a_full_queue_hangs_no_server() {
    let mut world = World::new();
    write(&world.project, "attack.py", ATTACK);
    let project = world.project.display().to_string();
    let other = world.bash("sleep 1000");
    let session = world.run(&["python3", "attack.py", "s_2", &project]);
    assert_eq!(session, "s_2");
    let attacked = world.project.join("attacked");
    world.wait_for("the attack", |_| attacked.exists().then_some(()));
    let shim = world.shim_of(&session);
    assert_eq!(state(shim), Some('T'), "it is stopped");
    for restart in [false, true] {
        if restart {
            world.restart();
        }
        for _ in 0..5 {
            let since = Instant::now();
            assert_eq!(world.session(&other).status, "active");
            assert!(since.elapsed() < ANSWER_MAX, "{:?}", since.elapsed());
        }
    }
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("its shim to end", |_| is_gone(shim).then_some(()));
    assert_eq!(world.session(&other).status, "active");
    world.verify();
}

#[test]
fn a_session_without_a_socket_is_named_by_doctor_and_can_be_cancelled() {
    let mut world = World::new();
    let script =
        "until [ -e go ]; do sleep 0.02; done; rm \"$OSTLER_HOME/sessions/s_1/1/ctl.sock\"; sleep 1000";
    let session = world.bash(script);
    let pid = world.status(&session, "active").pid;
    write(&world.project, "go", "");
    let socket = world.home.join("sessions").join(&session).join("1/ctl.sock");
    world.wait_for("the socket to go", |_| (!socket.exists()).then_some(()));
    world.restart();
    world.wait_for("it to be noticed", |world| (unreached(world) == [session.clone()]).then_some(()));
    let said = world.ostler(&["doctor"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains(&format!("session {session}: its shim is alive and cannot be reached")), "{said}");
    assert_eq!((world.session(&session).status.as_str(), world.session(&session).pid), ("active", pid));
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(world.processes(), Vec::new(), "nobody lives who is shown as gone");
    assert_eq!(unreached(&world), Vec::<String>::new());
    world.verify();
}

#[test]
fn a_session_without_a_socket_ends_at_its_time_limit() {
    let mut world = World::new();
    let script = "rm \"$OSTLER_HOME/sessions/s_1/1/ctl.sock\"; touch gone; sleep 1000";
    let mut new = world.new_run(&["bash", "-c", script]);
    new.time_s_max = Some(1);
    let gone = world.project.join("gone");
    let session = world.run_with(&new);
    world.wait_for("the socket to go", |_| gone.exists().then_some(()));
    world.kill_server();
    world.start();
    let request = world.asked(&session);
    assert_eq!(request.ask.kind, "time_over");
    world.wait_for("its processes to end", |world| world.processes().is_empty().then_some(()));
    world.answer(&request.id, "stop");
    world.status(&session, "failed");
    assert_eq!(world.count(&session, "session.launched"), 1);
    world.verify();
}

#[test]
fn a_session_whose_connections_are_taken_can_be_cancelled() {
    let mut world = World::new();
    let session = world.bash("sleep 1000");
    world.status(&session, "active");
    world.kill_server();
    let directory = world.home.join("sessions").join(&session).join("1");
    // Those are in that hear its greeting. The connection of the dead server may still count for a moment.
    let taken = RefCell::new(Vec::new());
    world.wait_for("every connection to be taken", |_| {
        let mut stream = ostler_shim::connect(&directory).ok()?;
        let is_in = stream.read(&mut [0]).is_ok_and(|read| read > 0);
        is_in.then(|| taken.borrow_mut().push(stream));
        (taken.borrow().len() == 16).then_some(())
    });
    world.start();
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn a_shim_whose_lock_was_removed_does_not_outlive_its_session() {
    let mut world = World::new();
    let session = world.bash("sleep 1000");
    world.status(&session, "active");
    world.kill_server();
    let shim = world.shim_of(&session);
    fs::remove_file(world.home.join("sessions").join(&session).join("1/lock")).expect("a lock");
    world.start();
    world.status(&session, "interrupted");
    assert!(is_gone(shim), "it was shown as gone");
    assert_eq!(world.processes(), Vec::new());
}

/// So many sessions, and a server that may open so few files.
const MANY: usize = 30;
const OPEN_FILES: u32 = 48;

#[test]
fn a_server_with_few_descriptors_shows_nobody_as_gone() {
    let mut world = World::new();
    let sessions: Vec<String> = (0..MANY).map(|_| world.bash("sleep 1000")).collect();
    let pids: Vec<_> = sessions.iter().map(|id| world.status(id, "active").pid).collect();
    world.kill_server();
    world.open_files = Some(OPEN_FILES);
    world.start();
    let shims = world.shims().len();
    assert_eq!(shims, MANY);
    // Connections that say nothing take what is left; further ones are refused first.
    let idle: Vec<_> = (0..OPEN_FILES).map(|_| connect_idle(&world)).collect();
    std::thread::sleep(Duration::from_secs(1));
    drop(idle);
    let recovered = "server.recovered";
    world.wait_for("the server to look", |world| {
        fs::read_to_string(world.home.join("log.jsonl")).ok()?.contains(recovered).then_some(())
    });
    for (id, pid) in sessions.iter().zip(&pids) {
        let session =
            world.wait_for("an answer", |world| world.get::<Value>(&format!("/sessions/{id}")).ok());
        assert_eq!(
            (session["status"].as_str(), session["pid"].as_i64()),
            (Some("active"), pid.map(i64::from))
        );
        let resumed = world.post::<Value>(&format!("/sessions/{id}/resume"), &serde_json::json!({}));
        assert!(resumed.is_err(), "it runs: {resumed:?}");
    }
    // Also one that could not be followed is ended when a person wants that.
    for id in [&sessions[0], &sessions[MANY - 1]] {
        world.wish(id, "cancel");
        world.status(id, "cancelled");
    }
    assert_eq!(world.shims().len(), MANY - 2);
    world.kill_server();
    world.open_files = None;
    world.start();
    for (id, pid) in sessions.iter().zip(&pids).skip(1).take(MANY - 2) {
        assert_eq!(world.status(id, "active").pid, *pid, "it is the same process");
        assert_eq!(world.count(id, "session.launched"), 1);
    }
    world.verify();
}

#[test]
fn a_client_that_is_not_let_in_is_told_why() {
    let mut world = World::idle();
    world.open_files = Some(OPEN_FILES);
    world.start();
    // Those who follow stay for as long as they like. Only an answer that came says that one was let in.
    let mut followers = Vec::new();
    let refusal = loop {
        let mut stream = connect_idle(&world).expect("it listens");
        let follow = b"GET /api/v1/events?follow=true HTTP/1.1\r\nhost: localhost\r\n\r\n";
        // One that is refused may be closed before it has said anything.
        stream.write_all(follow).ok();
        let mut answer = [0; 16];
        let length = stream.read(&mut answer).unwrap_or(0);
        match std::str::from_utf8(&answer[..length]) {
            Ok(text) if text.starts_with("HTTP/1.1 200") => followers.push(stream),
            refusal => break refusal.expect("text").to_owned(),
        }
    };
    assert!(refusal.is_empty() || refusal.starts_with("HTTP/1.1 503"), "{refusal}");
    assert!(followers.len() < OPEN_FILES as usize);
    let said = world.ostler(&["ps"]);
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(6), "{words}");
    assert!(words.contains("the server has no file descriptors left for another connection"), "{words}");
    assert!(words.contains("Try again in a few seconds"), "{words}");
    let answer = refused_over_tcp(&world);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 5"), "{answer}");
    drop(followers);
    world.wait_for("it to let clients in", |world| world.ostler(&["ps"]).status.success().then_some(()));
}

/// What a client of the page is told that is not let in.
fn refused_over_tcp(world: &World) -> String {
    let port = fs::read_to_string(world.home.join("page.port")).expect("a port");
    let port: u16 = port.lines().next().and_then(|line| line.parse().ok()).expect("a number");
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers, and closes");
    answer
}

/// A connection that asks for nothing.
fn connect_idle(world: &World) -> Option<std::os::unix::net::UnixStream> {
    let folder = fs::File::open(&world.home).expect("a directory");
    let short = format!("/proc/self/fd/{}/api.sock", std::os::fd::AsRawFd::as_raw_fd(&folder));
    std::os::unix::net::UnixStream::connect(short).ok()
}

#[test]
fn a_state_directory_that_cannot_be_read_for_a_moment_ends_nobody() {
    let Some(world) = World::of_another_user() else { return };
    let step = "printf '[STEP_COMPLETE]\\nstep: %s\\n[/STEP_COMPLETE]\\n' $n";
    let session = world.bash(&format!("n=0; while :; do n=$((n + 1)); {step}; sleep 0.02; done"));
    let pid = world.status(&session, "active").pid;
    let last = |world: &World| world.get::<InfoView>("/info").expect("an answer").seq;
    for _ in 0..3 {
        let before = last(&world);
        world.wait_for("it to print", |world| (last(world) > before).then_some(()));
        fs::set_permissions(&world.home, fs::Permissions::from_mode(0o000)).expect("we are root");
        std::thread::sleep(Duration::from_millis(300));
        fs::set_permissions(&world.home, fs::Permissions::from_mode(0o700)).expect("we are root");
    }
    let before = last(&world);
    world.wait_for("it to go on", |world| (last(world) > before + 2).then_some(()));
    let view = world.session(&session);
    assert_eq!((view.status.as_str(), view.pid), ("active", pid));
    let events: Vec<EventView> = world.events(&session);
    assert!(events.iter().all(|event| event.kind != "session.interrupted"), "nobody was lost");
    kill(world.shim_of(&session), "KILL");
    world.status(&session, "interrupted");
}

/// Without descriptors a server lets no client in, and every command would wait for 20 s.
#[test]
fn a_server_whose_limit_of_files_is_lowered_raises_it_again_or_ends() {
    let world = World::new();
    let asking = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&asking);
    let pid = world.session(&asking).pid;
    let server = world.server_pid();
    let limit = |limits: &str| {
        let mut command = std::process::Command::new("prlimit");
        command.arg("--pid").arg(server.to_string()).arg(format!("--nofile={limits}"));
        assert!(command.status().expect("prlimit runs").success());
    };
    let limits = || fs::read_to_string(format!("/proc/{server}/limits")).unwrap_or_default();
    let soft = |limits: &str| {
        let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
        line.split_whitespace().nth(3)?.parse::<u64>().ok()
    };
    limit("5:");
    world.wait_for("the limit", |_| soft(&limits()).filter(|it| *it > 5));
    assert_eq!(world.session(&asking).pid, pid);
    limit("5:5");
    // The command finds no server, starts another, and that has the limit of whoever starts it.
    world.wait_for("the end", |_| state(server).is_none_or(|it| it == 'Z').then_some(()));
    let said = world.ostler(&["answer", &request.id, "1"]);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    assert!(world.log().contains("lowered the limit of open files"), "{}", world.log());
    world.status(&asking, "completed");
    assert_eq!(world.output(&asking).matches("PostgreSQL\"}").count(), 1);
    assert!(world.ostler(&["serve", "--stop"]).status.success());
}
