//! However it ends, it is known how, and nothing is left.

use ostler_shim::{
    control::{Command, Reply},
    spool::{Happening, read},
};

use crate::support::{Session, bash, both_ways, command, wait_for};

#[test]
fn exit_codes_and_signals_are_told() {
    for (script, code, signal) in [("exit 7", Some(7), None), ("kill -9 $$", None, Some(9))] {
        let mut session = Session::start(&bash(script));
        assert_eq!(session.wait(), Some(0));
        let records = read(&session.directory).expect("a spool");
        let last = records.last().map(|record| record.what.clone());
        let expected = Happening::Ended { code, signal, clean: true, input_bytes_left: 0, seal: None };
        assert_eq!(last, Some(expected), "{script}");
    }
}

#[test]
fn last_words_without_a_newline_count() {
    let mut session = Session::start(&bash("printf '[STEP_COMPLETE]\\nsummary: done'"));
    assert_eq!(session.wait(), Some(0));
    let records = read(&session.directory).expect("a spool");
    let heard = records.iter().any(|record| {
        matches!(&record.what, Happening::Heard { item } if item["summary"] == "done" && item["ended_by"] == "stream")
    });
    assert!(heard, "{records:?}");
}

#[test]
fn what_it_leaves_behind_ends_with_it() {
    for launch in both_ways("setsid sleep 1000 & (sleep 1000 &); exit 0") {
        let mut session = Session::start(&launch);
        assert_eq!(session.wait(), Some(0));
        assert_eq!(session.processes(), []);
    }
}

#[test]
fn cancel_ends_what_ignores_it_and_what_has_gone_away() {
    let script = "trap '' TERM; setsid bash -c \"trap '' TERM; while :; do sleep 1; done\" & ( (trap '' TERM; while :; do :; done) & ); echo ready; while :; do sleep 1; done";
    for launch in both_ways(script) {
        let mut session = Session::start(&launch);
        let mut control = session.control();
        wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
        assert_eq!(control.ask(Command::Cancel { grace_ms: 50 }), Reply::Done);
        assert_eq!(control.next_end(), (None, Some(9), true));
        assert_eq!(session.wait(), Some(0));
        assert_eq!(session.processes(), []);
    }
}

#[test]
fn cancel_is_heard_by_a_tree_that_was_stopped() {
    for launch in both_ways("trap 'echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.01; done") {
        let session = Session::start(&launch);
        let mut control = session.control();
        wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
        assert_eq!(control.ask(Command::Stop), Reply::Done);
        assert_eq!(control.ask(Command::Cancel { grace_ms: 60_000 }), Reply::Done);
        assert_eq!(control.next_end(), (Some(3), None, true));
        assert!(session.output().ends_with("tidied\n"));
    }
}

#[test]
fn cancel_lets_a_stopped_agent_tidy_up() {
    let script = "trap 'echo tidied; exit 3' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done";
    let session = Session::start(&bash(script));
    let mut control = session.control();
    wait_for("the agent", || session.processes().iter().any(|(_, state)| *state == 'T').then_some(()));
    assert_eq!(control.ask(Command::Cancel { grace_ms: 60_000 }), Reply::Done);
    assert_eq!(control.next_end(), (Some(3), None, true));
    assert!(session.output().ends_with("tidied\n"));
}

#[test]
fn a_shim_that_is_killed_takes_its_agent_with_it() {
    let mut session = Session::start(&command(&["sleep", "1000"]));
    session.control();
    assert_eq!(session.processes().len(), 1);
    session.shim.kill().expect("the shim lives");
    session.shim.wait().expect("a child");
    wait_for("the agent's end", || session.processes().is_empty().then_some(()));
}

#[test]
fn an_agent_that_cannot_start_is_told() {
    let mut session = Session::start(&command(&["/no/such/agent"]));
    assert_eq!(session.wait(), Some(5));
    let mut said = String::new();
    let mut stderr = session.shim.stderr.take().expect("a pipe");
    std::io::Read::read_to_string(&mut stderr, &mut said).expect("text");
    assert!(said.contains("cannot start '/no/such/agent'"), "{said}");
    let records = read(&session.directory).expect("a spool");
    assert!(
        matches!(&records[..], [record] if matches!(&record.what, Happening::NotStarted { .. })),
        "{records:?}"
    );
}

#[test]
fn a_directory_has_one_shim() {
    let launch = command(&["sleep", "1000"]);
    let first = Session::start(&launch);
    first.control();
    let mut second = Session::start(&launch);
    assert_eq!(second.wait(), Some(5));
    assert_eq!(first.processes().len(), 1, "the first goes on");
}

#[test]
fn a_directory_is_for_one_launch() {
    let launch = bash("echo first");
    let mut first = Session::start(&launch);
    assert_eq!(first.wait(), Some(0));
    let mut second = Session::start(&launch);
    assert_eq!(second.wait(), Some(5));
    assert_eq!(first.output(), "first\n", "what is there is left alone");
}

#[test]
fn a_process_whose_first_thread_has_ended_ends_too() {
    let python = "import ctypes, os, signal, threading\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                  def spin():\n  print('ready', flush=True)\n  while True: pass\n\
                  threading.Thread(target=spin).start()\nctypes.CDLL(None).pthread_exit(None)\n";
    for mut launch in both_ways("setsid python3 -c \"$0\" & read -r _") {
        launch.command.push(python.to_string());
        let mut session = Session::start(&launch);
        let mut control = session.control();
        wait_for("the thread", || (control.status().output_bytes > 0).then_some(()));
        assert_eq!(control.ask(Command::Cancel { grace_ms: 50 }), Reply::Done);
        assert!(control.next_end().2, "nothing is left");
        assert_eq!(session.wait(), Some(0));
        assert_eq!(session.processes(), []);
    }
}
