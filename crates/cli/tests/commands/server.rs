//! The server as the command line sees it: started when needed, one per state directory, ended without its agents.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::net::UnixListener,
    path::Path,
    process::{Child, Stdio},
};

use crate::support::{Place, until, wait_for_unlock};

#[test]
fn a_second_server_is_refused() {
    let place = Place::new();
    place.done(&["ps"]);
    let said = place.run(&["serve"]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains("another server uses"), "{said:?}");
    assert!(!said.err.contains("the server runs"), "{said:?}");
    place.done(&["ps"]);
}

#[test]
fn a_stale_socket_is_replaced() {
    let place = Place::new();
    drop(UnixListener::bind(place.state().join("api.sock")).expect("a socket that nobody listens on"));
    let said = place.run(&["doctor"]);
    assert!(said.out.contains("nobody listens at"), "{said:?}");
    place.done(&["ps"]);
}

#[test]
fn agents_go_on_without_it() {
    let place = Place::new();
    let session = place.start("until [ -e go ]; do sleep 0.02; done; echo done");
    let pid = place.wait_for(&session, "active")["pid"].clone();
    assert_eq!(place.done(&["serve", "--stop"]), "the server ends; agents go on\n");
    wait_for_unlock(&place.state().join("server.lock"));
    assert_eq!(place.done(&["serve", "--stop"]), "no server is running\n");
    assert_eq!(place.session(&session)["pid"], pid, "it is the same process");
    fs::write(place.project().join("go"), "").expect("a file");
    place.wait_for(&session, "completed");
    assert_eq!(place.done(&["logs", &session]), "done\n");
}

/// Whoever asks while it ends is answered by another one.
#[test]
fn commands_right_after_its_end_are_answered() {
    let place = Place::new();
    for _ in 0..10 {
        for command in [["secret", "list"].as_slice(), &["ps"], &["inbox"], &["usage"]] {
            place.done(&["ps"]);
            place.done(&["serve", "--stop"]);
            place.done(command);
        }
    }
}

/// Of those that several commands start at once one stays; none of the others waits for its place.
#[test]
fn one_that_was_not_needed_does_not_come_when_the_other_ends() {
    let place = Place::new();
    let start = || place.command(&["ps"]).stdout(Stdio::null()).spawn().expect("the binary starts");
    let commands: Vec<Child> = (0..6).map(|_| start()).collect();
    for mut command in commands {
        assert!(command.wait().expect("it ends").success());
    }
    assert_eq!(servers(&place.state()), 1);
    place.done(&["serve", "--stop"]);
    until("nobody serves it", || (servers(&place.state()) == 0).then_some(()));
}

/// How many processes serve this directory, or wait to.
fn servers(state: &Path) -> usize {
    let variable = format!("OSTLER_HOME={}\0", state.display());
    let serves = |process: &Path| {
        let has = |file: &str, wanted: &[u8]| {
            let text = fs::read(process.join(file)).unwrap_or_default();
            text.windows(wanted.len()).any(|window| window == wanted)
        };
        has("cmdline", b"\0serve\0") && has("environ", variable.as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("a list of processes");
    processes.flatten().filter(|process| serves(&process.path())).count()
}

#[test]
fn it_can_run_in_the_foreground() {
    let place = Place::new();
    let mut child = place.command(&["serve"]).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("ostler: the server runs (process "), "{line}");
    place.done(&["ps"]);
    place.done(&["serve", "--stop"]);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn without_its_state_directory_it_ends() {
    let place = Place::new();
    place.done(&["ps"]);
    assert_eq!(servers(&place.state()), 1);
    // Away first, then removed: under its own name the server may still write into it meanwhile.
    let away = place.state().with_extension("away");
    fs::rename(place.state(), &away).expect("nothing holds it");
    fs::remove_dir_all(&away).expect("nobody writes into it");
    until("nobody serves it", || (servers(&place.state()) == 0).then_some(()));
    // The next command begins anew.
    place.done(&["ps"]);
}

/// Whatever is written to a journal that has no name is lost: the server ends, and another one does not begin anew
/// beside sessions that it does not know.
#[test]
fn without_its_journal_it_ends() {
    for name in ["journal.sqlite", "journal.sqlite-wal"] {
        let place = Place::new();
        place.done(&["run", "--", "true"]);
        let (file, away) = (place.state().join(name), place.state().join("away"));
        fs::rename(&file, &away).expect("nothing holds it");
        until("nobody serves it", || (servers(&place.state()) == 0).then_some(()));
        let log = fs::read_to_string(place.state().join("server.log")).expect("a log");
        assert!(log.contains(&format!("{name}' was removed or replaced under the server")), "{log}");
        if name == "journal.sqlite" {
            let said = place.run(&["ps"]);
            assert_eq!(said.code, 6, "{said:?}");
            assert!(said.err.contains("put the journal back from a copy"), "{said:?}");
            let said = place.run(&["doctor"]);
            assert_eq!(said.code, 1, "{said:?}");
            assert!(said.out.contains("put the journal back from a copy"), "{said:?}");
            fs::rename(&away, &file).expect("nothing holds it");
            assert!(place.done(&["ps", "-a"]).contains("s_1"));
        }
    }
}

#[test]
fn one_that_is_stopped_is_not_waited_for_without_end() {
    let place = Place::new();
    place.done(&["ps"]);
    let pid = fs::read_to_string(place.state().join("server.lock")).expect("a lock").trim().to_owned();
    let signal = |name: &str| {
        let status = std::process::Command::new("kill").args([name, &pid]).status();
        assert!(status.expect("kill runs").success());
    };
    signal("-STOP");
    let said = place.run(&["serve", "--stop"]);
    assert_eq!(said.code, 6, "{said:?}");
    let advice = format!("kill -CONT {pid}");
    assert!(
        said.err.starts_with(&format!("ostler: the server (process {pid}) did not answer within 20 s")),
        "{said:?}"
    );
    assert!(said.err.contains(&advice), "{said:?}");
    let said = place.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("did not answer within 20 s") && said.out.contains(&advice), "{said:?}");
    signal("-CONT");
    assert_eq!(place.done(&["serve", "--stop"]), "the server ends; agents go on\n");
}

#[test]
fn systemd_gets_a_unit() {
    let place = Place::new();
    let unit = place.done(&["serve", "--systemd"]);
    assert!(unit.contains("\nKillMode=process\n") && unit.contains(" serve\n"), "{unit}");
}
