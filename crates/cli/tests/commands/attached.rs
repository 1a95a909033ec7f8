//! `run` and `attach` without a terminal: output, outcomes and exit codes.

use crate::support::{ASK, Place, Said, signal, until, wait_until_caught};

#[test]
fn output_goes_where_it_belongs() {
    let place = Place::new();
    let said = place.run(&["run", "--", "bash", "-c", "echo hello; echo oops >&2; printf bye"]);
    assert_eq!((said.code, said.out.as_str()), (0, "hello\nbye\n"), "{said:?}");
    assert!(said.err.contains("oops\n"), "{said:?}");
    assert!(said.err.contains("ostler: s_1 is done, unverified"), "{said:?}");
}

#[test]
fn the_exit_code_says_how_it_ended() {
    let place = Place::new();
    assert_eq!(place.run(&["run", "--", "true"]).code, 0);
    assert_eq!(place.run(&["run", "--", "false"]).code, 1);
    let said = place.run(&["run", "--", "no-such-program-anywhere"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("could not be started"), "{said:?}");
    let said = place.run(&["run", "--check", "test -e done", "--", "touch", "done"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("is done, verified"), "{said:?}");
}

/// Git waits at a pipe in place of HEAD, and the server for git; nobody else has to.
#[test]
fn a_signal_ends_it_before_the_server_has_answered() {
    let place = Place::new();
    place.done(&["ps"]);
    let head = place.project().join(".git/HEAD");
    std::fs::remove_file(&head).expect("git has made it");
    let made = place.program("mkfifo", &[".git/HEAD"]).status().expect("mkfifo starts");
    assert!(made.success());
    for (signal, arguments) in [
        ("TERM", ["run", "-d", "--", "true"].as_slice()),
        ("INT", ["run", "-d", "--", "true"].as_slice()),
        ("TERM", ["run", "--", "true"].as_slice()),
    ] {
        let before = gits_in(&place);
        let mut command = place.command(arguments);
        let child = command.stderr(std::process::Stdio::piped()).spawn().expect("the binary starts");
        until("git hangs", || (gits_in(&place) > before).then_some(()));
        let pid = child.id().to_string();
        assert!(place.program("kill", &["-s", signal, &pid]).status().expect("kill starts").success());
        let said: Said = child.wait_with_output().expect("it ends").into();
        assert_eq!(said.code, 12, "{signal} {arguments:?}: {said:?}");
        assert!(said.err.contains("ostler ps"), "{said:?}");
    }
    // Who opens a pipe for both lets everybody go on who waits at it.
    until("no git hangs", || {
        std::fs::File::options().read(true).write(true).open(&head).expect("a pipe");
        (gits_in(&place) == 0).then_some(())
    });
}

/// It takes connections, and answers none.
#[test]
fn a_signal_ends_it_where_the_server_stands_still() {
    let place = Place::new();
    let session = place.start("sleep 60");
    let halted = place.halt_server();
    for (number, name, arguments) in [
        (15, "TERM", ["run", "-d", "--", "true"].as_slice()),
        (1, "HUP", ["attach", &session].as_slice()),
        (15, "TERM", ["resume", &session].as_slice()),
    ] {
        let mut command = place.command(arguments);
        let child = command.stderr(std::process::Stdio::piped()).spawn().expect("the binary starts");
        wait_until_caught(child.id(), number);
        signal(&child.id().to_string(), name);
        let said: Said = child.wait_with_output().expect("it ends").into();
        assert_eq!(said.code, 12, "{name} {arguments:?}: {said:?}");
        assert!(said.err.contains("ostler ps"), "{said:?}");
    }
    drop(halted);
}

/// How many processes of git are at work in the project.
fn gits_in(place: &Place) -> usize {
    let processes = std::fs::read_dir("/proc").expect("processes are listed").flatten();
    let is_here = |process: &std::fs::DirEntry| {
        let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        let cwd = std::fs::read_link(process.path().join("cwd"));
        name == "git\n" && cwd.is_ok_and(|cwd| cwd == place.project())
    };
    processes.filter(is_here).count()
}

#[test]
fn a_failing_check_sends_it_back() {
    let place = Place::new();
    let script = "echo x >> tries; [ $(wc -l < tries) -lt 3 ] || touch done";
    let said =
        place.run(&["run", "--check", "test -e done", "--until", "--max", "5", "--", "bash", "-c", script]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("the check failed with exit code 1 (attempt 1)"), "{said:?}");
    assert!(said.err.contains("the check passed"), "{said:?}");
    let said = place.run(&["run", "--check", "echo wrong here; exit 9", "--", "true"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err.contains("ostler: the check failed with exit code 9 (attempt 1)\n  wrong here\n"),
        "{said:?}"
    );
    let shown = place.done(&["show", "last"]);
    assert!(shown.contains("\nwhat the check said\n  wrong here\n"), "{shown}");
}

#[test]
fn without_a_terminal_it_says_how_to_answer_elsewhere() {
    let place = Place::new();
    let mut command = place.command(&["run", "--", "bash", "-c", ASK]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    let request = place.wait_for_request();
    place.done(&["answer", &request, "2"]);
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out} {err}");
    assert!(out.starts_with("thinking\n"), "{out}");
    assert!(out.contains("got {"), "{out}");
}

#[test]
fn a_machine_gets_the_outcome() {
    let place = Place::new();
    let said = place.run(&["--json", "run", "--", "bash", "-c", "echo hello; exit 4"]);
    assert_eq!(said.code, 1, "{said:?}");
    let session: serde_json::Value = serde_json::from_str(&said.out).expect("one document");
    assert_eq!(session["outcome"]["reason"]["code"], 4);
    assert_eq!(said.err, "");
}

#[test]
fn what_is_over_can_be_attached_to() {
    let place = Place::new();
    let session = place.start("echo hello");
    place.wait_for(&session, "completed");
    let said = place.run(&["attach", &session]);
    assert_eq!((said.code, said.out.as_str()), (0, "hello\n"), "{said:?}");
    let said = place.run(&["attach", "q_1"]);
    assert_eq!(said.code, 8, "{said:?}");
}

#[test]
fn an_interrupt_without_a_terminal_leaves_it_working() {
    let place = Place::new();
    let mut command = place.command(&["run", "--", "bash", "-c", "echo begun; sleep 60"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut begun = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut begun).expect("output");
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(12), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("ostler attach s_1"), "{output:?}");
    place.wait_for("s_1", "active");
}

/// A command that has printed its first line, `one`, and goes on when `go` is there.
fn halfway(place: &Place) -> std::process::Child {
    let script = "echo one; until [ -e go ]; do sleep 0.02; done; echo two";
    let mut command = place.command(&["run", "--", "bash", "-c", script]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut one = [0; 4];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut one).expect("output");
    child
}

#[test]
fn a_server_that_is_killed_is_started_again() {
    let place = Place::new();
    let child = halfway(&place);
    place.kill_server();
    std::fs::write(place.project().join("go"), "").expect("a file");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "two\n");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("another one is being started"), "{err}");
    assert!(err.contains("the server is back"), "{err}");
}

#[test]
fn a_server_that_is_stopped_is_waited_for() {
    let place = Place::new();
    let mut child = halfway(&place);
    place.done(&["serve", "--stop"]);
    let mut errors = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    let mut err = String::new();
    while !err.contains("Waiting for it") {
        assert_ne!(std::io::BufRead::read_line(&mut errors, &mut err).expect("a line"), 0, "{err}");
    }
    crate::support::wait_for_unlock(&place.state().join("server.lock"));
    std::fs::write(place.project().join("go"), "").expect("a file");
    // Any command starts another.
    place.done(&["ps"]);
    std::io::Read::read_to_string(&mut errors, &mut err).expect("text");
    assert!(child.wait().expect("it ends").success(), "{err}");
    assert!(err.contains("the server is back"), "{err}");
    assert!(!err.contains("another one is being started"), "{err}");
}

#[test]
fn a_reader_that_goes_away_leaves_it_working() {
    let place = Place::new();
    let script = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 60";
    let mut command = place.command(&["run", "--", "bash", "-c", script]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    std::io::Read::read_exact(&mut stdout, &mut [0; 4]).expect("output");
    drop(stdout);
    std::fs::write(place.project().join("go"), "").expect("a file");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(12), "{output:?}");
    place.wait_for("s_1", "active");
}
