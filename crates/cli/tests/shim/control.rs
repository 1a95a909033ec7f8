//! The socket: who may talk, what is said to whom, and what nonsense does.

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
};

use ostler_shim::{
    control::{Command, Reply, SOCKET, VERSION},
    spool::Happening,
};

use crate::support::{Session, bash, wait_for};

#[test]
fn the_shim_greets_with_its_version_and_session() {
    let session = Session::start(&bash("read -r _"));
    let control = session.control();
    assert_eq!((control.greeting.shim, &control.greeting.session), (VERSION, &session.name));
    let mode = fs::metadata(session.directory.join(SOCKET)).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn whoever_comes_later_hears_everything_once() {
    let session =
        Session::start(&bash("printf 'WAIT\\nWAIT\\n'; read -r _; printf 'ALL_DONE\\n'; read -r _"));
    let mut first = session.control();
    assert_eq!((first.next_kind(), first.next_kind()), ("wait".into(), "wait".into()));
    let mut second = session.control();
    first.answer("on\n");
    assert_eq!(first.next_kind(), "all_done");
    let kinds: Vec<_> = (0..3).map(|_| second.next_kind()).collect();
    assert_eq!(kinds, ["wait", "wait", "all_done"]);
}

#[test]
fn the_log_can_be_read_from_any_place() {
    let session = Session::start(&bash("echo hello world; read -r _"));
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes == 12).then_some(()));
    assert_eq!(control.ask(Command::Tail { offset: 6, bytes_max: 5 }), Reply::Bytes(5));
    assert_eq!(control.bytes(5), b"world");
    assert_eq!(control.ask(Command::Tail { offset: 100, bytes_max: 5 }), Reply::Bytes(0));
}

#[test]
fn nonsense_ends_the_connection_and_nothing_else() {
    let session = Session::start(&bash("read -r _"));
    let mut control = session.control();
    for nonsense in [&b"nonsense\n"[..], b"{}\n", b"{\"id\":1,\"do\":\"dance\"}\n", &[0xff; 100]] {
        let mut stream = ostler_shim::connect(&session.directory).expect("the shim listens");
        stream.write_all(nonsense).expect("the shim reads");
        stream.shutdown(std::net::Shutdown::Write).expect("an open connection");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("the shim hangs up");
    }
    control.answer("bye\n");
    control.next_end();
}

#[test]
fn a_client_that_does_not_read_holds_nobody_up() {
    let session = Session::start(&bash(
        "for i in {1..30000}; do echo \"CUSTOM:x:$i some text to fill the line with, and some more of it\"; done; read -r _",
    ));
    let mut idle = ostler_shim::connect(&session.directory).ok();
    let mut control = session.control();
    idle = idle.or_else(|| ostler_shim::connect(&session.directory).ok());
    let mut idle = idle.expect("the shim listens");
    idle.write_all(b"{\"id\":1,\"do\":\"follow\",\"after_seq\":0}\n").expect("the shim reads");
    let last = control.next(|what| matches!(what, Happening::Heard { item } if item["payload"].as_str().is_some_and(|text| text.starts_with("30000 "))));
    assert!(last.seq > 30_000);
}

#[test]
fn what_was_said_before_hanging_up_counts() {
    // Whether the greeting was sent by then is a matter of luck, so it is tried more than once.
    for _ in 0..20 {
        let mut session = Session::start(&bash("sleep 1000"));
        let mut stream = wait_for("the socket", || ostler_shim::connect(&session.directory).ok());
        stream.write_all(b"{\"id\":1,\"do\":\"cancel\",\"grace_ms\":0}\n").expect("the shim reads");
        drop(stream);
        assert_eq!(session.wait(), Some(0));
    }
}

#[test]
fn who_says_nothing_more_may_still_listen() {
    let session = Session::start(&bash("read -r _"));
    session.control();
    let mut stream = ostler_shim::connect(&session.directory).expect("the shim listens");
    stream.write_all(b"{\"id\":1,\"do\":\"stop\"}\n{\"id\":2,\"do\":\"go_on\"}\n").expect("the shim reads");
    stream.shutdown(std::net::Shutdown::Write).expect("an open connection");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the shim answers and hangs up");
    assert!(rest.ends_with("{\"reply\":{\"id\":2,\"done\":null}}\n"), "{rest}");
}
