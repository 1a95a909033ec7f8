//! A tree that asks stands still, all of it, until it is sent on.

use ostler_shim::{
    control::{Command, Reply},
    spool::{Happening, StopCause, read},
};

use crate::support::{Session, bash, both_ways, wait_for};

const QUESTION: &str =
    "printf '[USER_QUESTION]\\ncategory: business\\nquestion: Which?\\nrequired: true\\n[/USER_QUESTION]\\n'";

#[test]
fn a_question_stops_the_agent_and_an_answer_sends_it_on() {
    for launch in both_ways(&format!("{QUESTION}; read -r answer; echo \"got: $answer\"")) {
        let mut session = Session::start(&launch);
        let mut control = session.control();
        assert_eq!(control.next_kind(), "user_question");
        let stopped = control.next_stop();
        assert_eq!(stopped, Happening::Stopped { cause: StopCause::Signal, processes: 1, confirmed: true });
        assert_eq!(session.all_stand_still(), 1);
        assert!(control.status().stopped);
        control.answer("{\"answer\":\"this\"}\n");
        assert_eq!(control.next_end(), (Some(0), None, true));
        assert_eq!(session.wait(), Some(0));
        assert!(session.output().ends_with("[/USER_QUESTION]\ngot: {\"answer\":\"this\"}\n"));
    }
}

#[test]
fn a_tool_in_a_session_of_its_own_stops_too() {
    let script = format!("setsid bash -c 'echo up; while :; do :; done' & {QUESTION}; wait");
    for launch in both_ways(&script) {
        let session = Session::start(&launch);
        let mut control = session.control();
        control.next_stop();
        assert_eq!(session.all_stand_still(), 2);
    }
}

#[test]
fn a_child_that_was_forked_twice_stops_too() {
    // The one in the middle ends, and its child comes to the shim.
    for launch in both_ways(&format!("( (while :; do :; done) & ); {QUESTION}; read -r _")) {
        let session = Session::start(&launch);
        let mut control = session.control();
        control.next_stop();
        assert_eq!(session.all_stand_still(), 2);
    }
}

#[test]
fn children_that_are_forked_while_it_is_stopped_stop_too() {
    let script = format!("(while :; do (:) & done) 2>/dev/null & {QUESTION}; read -r _");
    for launch in both_ways(&script) {
        let session = Session::start(&launch);
        let mut control = session.control();
        let stopped = control.next_stop();
        assert!(matches!(stopped, Happening::Stopped { confirmed: true, .. }), "{stopped:?}");
        assert!(session.all_stand_still() >= 2);
    }
}

#[test]
fn what_was_stopped_before_stays_so() {
    let look = "look() { read -r _ _ state _ </proc/$1/stat; }";
    let stopped = "sleep 1000 & kill -STOP $!; until look $!; [[ $state == T ]]; do :; done";
    let script =
        format!("{look}; {stopped}; {QUESTION}; read -r _; look $!; echo \"still $state\"; kill -KILL $!");
    for launch in both_ways(&format!("set -m; {script}")) {
        let session = Session::start(&launch);
        let mut control = session.control();
        control.next_stop();
        control.answer("go\n");
        control.next_end();
        assert!(session.output().contains("still T"), "{}", session.output());
    }
}

#[test]
fn a_shell_does_not_notice_that_its_job_was_stopped() {
    let script = format!("set -m; {QUESTION} & wait; sleep 0.01; echo \"$(jobs)\"; read -r _");
    for launch in both_ways(&script) {
        let session = Session::start(&launch);
        let mut control = session.control();
        control.next_stop();
        control.answer("go\n");
        control.next_end();
        assert!(!session.output().contains("Stopped"), "{}", session.output());
    }
}

#[test]
fn a_server_can_stop_it_and_send_it_on() {
    for launch in both_ways("while :; do echo tick; read -r -t 0.01 _; done") {
        let session = Session::start(&launch);
        let mut control = session.control();
        wait_for("output", || (control.status().output_bytes > 0).then_some(()));
        assert_eq!(control.ask(Command::Stop), Reply::Done);
        assert!(matches!(control.next_stop(), Happening::Stopped { cause: StopCause::Command, .. }));
        session.all_stand_still();
        assert_eq!(control.ask(Command::Stop), Reply::Done, "stopping twice is stopping");
        let printed = control.status().output_bytes;
        assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
        control.next(|what| *what == Happening::WentOn);
        wait_for("more output", || (control.status().output_bytes > printed).then_some(()));
    }
}

#[test]
fn several_at_once_are_all_heard() {
    let mut session = Session::start(&bash(&format!("{QUESTION}; {QUESTION}; read -r _; read -r _")));
    let mut control = session.control();
    // The second was printed before the stop took effect, or is printed afterwards: either way it is heard.
    control.next_stop();
    control.answer("a\n");
    wait_for("both", || (heard(&session) == ["user_question", "user_question"]).then_some(()));
    control.answer("b\n");
    assert_eq!(session.wait(), Some(0));
}

#[test]
fn a_question_that_is_read_while_it_stands_still_is_a_stop_of_its_own() {
    // One write that is read in two pieces: the second question is read when the first has stopped the tree.
    let twice = format!("{{ {QUESTION}; head -c 20000 /dev/zero | tr '\\0' x; echo; {QUESTION}; }}");
    let script = format!("{twice} | dd bs=64k iflag=fullblock status=none; read -r _; read -r _");
    let mut session = Session::start(&bash(&script));
    let mut control = session.control();
    let is_stop = |what: &Happening| matches!(what, Happening::Stopped { .. });
    let first = control.next(is_stop).seq;
    assert_eq!(control.next_kind(), "user_question");
    let second = control.next(is_stop).seq;
    // Who answers the first and does not know of the second must not send it on.
    assert!(matches!(control.ask(Command::GoOn { after: Some(first) }), Reply::Refused(_)));
    assert!(control.status().stopped);
    assert_eq!(control.ask(Command::GoOn { after: Some(second) }), Reply::Done);
    control.answer("a\n");
    control.answer("b\n");
    assert_eq!(session.wait(), Some(0));
}

/// The kinds of all that was heard so far.
fn heard(session: &Session) -> Vec<String> {
    let records = read(&session.directory).expect("a spool");
    let kinds = records.into_iter().filter_map(|record| match record.what {
        Happening::Heard { item } => item["kind"].as_str().map(ToString::to_string),
        _ => None,
    });
    kinds.collect()
}
