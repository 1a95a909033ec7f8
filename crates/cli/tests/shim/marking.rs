//! The mark of agents, and who may steer a shim.

use std::{
    fs,
    io::{Read, Write},
};

use ostler_shim::{LockLimit, can_scope_signals, launch::Launch, spool::Happening};

use crate::support::{Session, bash, skipped, wait_for};

/// A launch of a bash script whose processes are marked.
fn marked(script: &str) -> Launch {
    Launch { baseline: Some(LockLimit::own()), ..bash(script) }
}

/// Says something to a shim, and prints what it answers.
const TALK: &str = r#"
import socket, os, sys
it = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
it.connect("ctl.sock")
try:
    it.sendall((sys.argv[2] + "\n").encode())
    print("HEARD", it.recv(65536), flush=True)
except OSError as error:
    print("HEARD", b"", error, flush=True)
"#;

/// The output of a session, once it has this in it.
fn printed(session: &Session, word: &str) -> String {
    let log = session.directory.join(ostler_shim::OUT);
    wait_for(word, || fs::read_to_string(&log).ok().filter(|text| text.contains(word)))
}

#[test]
fn an_agent_cannot_raise_the_limit_that_marks_it() {
    let limit = LockLimit::own().agent_mark();
    let script = "ulimit -Hx; (ulimit -x unlimited) 2>/dev/null; setsid env -i bash -c 'ulimit -Hx'; echo end; read -r _";
    let session = Session::start(&marked(script));
    assert_eq!(printed(&session, "end\n"), format!("{limit}\n{limit}\nend\n"));
}

#[test]
fn a_launch_without_a_baseline_is_marked_all_the_same() {
    let limit = LockLimit::own().agent_mark();
    for baseline in [None, Some(LockLimit::UNLIMITED)] {
        let session = Session::start(&Launch { baseline, ..bash("ulimit -Hx; echo end; read -r _") });
        assert_eq!(printed(&session, "end\n"), format!("{limit}\nend\n"));
    }
}

/// The agent of one session tries to steer its own shim and that of another.
#[test]
fn an_agent_steers_no_shim() {
    let mut victim = Session::start(&marked("read -r line; echo \"got $line\""));
    let mut control = victim.control();
    control.next(|what| matches!(what, Happening::Started { .. }));
    let talk = victim.directory.join("talk.py");
    fs::write(&talk, TALK).expect("the target directory can be written");
    let input = r#"{"id":1,"do":"input","key":"q_1","text":"evil\n","go_on":true}"#;
    let script = |directory: &str| {
        format!("python3 '{}' {directory} '{input}'; printf 'WAIT\\n'; read -r _", talk.display())
    };
    let attacker = Session::start(&marked(&script(&format!("'{}'", victim.directory.display()))));
    let said = printed(&attacker, "HEARD");
    assert!(said.starts_with("HEARD b''"), "{said}");
    let mut own = marked("");
    let directory = victim.directory.with_file_name(&own.session);
    own.command = vec!["bash".into(), "-c".into(), script(&format!("'{}'", directory.display()))];
    let own = Session::start(&own);
    let said = printed(&own, "HEARD");
    assert!(said.starts_with("HEARD b''"), "{said}");
    control.answer("ours\n");
    control.next_end();
    assert_eq!(victim.wait(), Some(0));
    assert_eq!(victim.output(), "got ours\n");
}

/// More connections than are accepted in a turn keep the shim neither from its agent nor from its server.
#[test]
fn a_crowd_at_the_socket_holds_up_no_answer() {
    let session = Session::start(&marked("while read -r line; do echo \"got $line\"; done"));
    let mut control = session.control();
    let crowd = std::thread::scope(|scope| {
        let connecting = scope.spawn(|| {
            let connect = |_| ostler_shim::connect(&session.directory).ok();
            (0..2000).filter_map(connect).map(drop).count()
        });
        for number in 0..20 {
            control.answer(&format!("{number}\n"));
            let line = format!("got {number}\n");
            wait_for("a line", || session.output().contains(&line).then_some(()));
        }
        connecting.join().expect("it connects")
    });
    assert!(crowd > 0);
    assert!(!control.status().stopped);
}

#[test]
fn who_may_signal_its_own_tree_alone_cannot_end_its_shim() {
    if !can_scope_signals() {
        return skipped("this kernel does not keep signals in");
    }
    let script = "kill -9 $PPID || echo refused; sleep 100 & kill $! && echo own; read -r _";
    let mut session = Session::start(&Launch { scope_signals: true, ..marked(script) });
    let mut control = session.control();
    assert_eq!(printed(&session, "own\n"), "refused\nown\n");
    control.answer("bye\n");
    control.next_end();
    assert_eq!(session.wait(), Some(0));
}

/// A confined agent reaches the socket, which no rule about files forbids.
#[test]
fn a_confined_agent_steers_no_shim_either() {
    let launch = marked("");
    let target = Session::start(&marked("read -r _"));
    let mut control = target.control();
    let talk = target.directory.join("talk.py");
    fs::write(&talk, TALK).expect("the target directory can be written");
    let line = format!(
        "python3 '{}' '{}' '{{\"id\":1,\"do\":\"stop\"}}'; read -r _",
        talk.display(),
        target.directory.display()
    );
    let launch = Launch {
        command: vec!["bash".into(), "-c".into(), line],
        writes: Some(vec!["/dev".into()]),
        ..launch
    };
    let confined = Session::start(&launch);
    let said = printed(&confined, "HEARD");
    assert!(said.starts_with("HEARD b''"), "{said}");
    assert!(!control.status().stopped);
    let mut stream = ostler_shim::connect(&target.directory).expect("the shim listens");
    stream.write_all(b"{\"id\":1,\"do\":\"stop\"}\n").expect("a person's process is obeyed");
    stream.read_exact(&mut [0; 1]).expect("it is greeted");
    wait_for("a stop", || control.status().stopped.then_some(()));
}
