//! Every byte is written down, and what it says is heard in time.

use std::fs;

use ostler_shim::{
    control::{Command, Reply},
    spool::{Happening, StallReason, StopCause},
};

use crate::support::{Session, bash, command};

#[test]
fn a_lot_of_output_is_written_down_whole() {
    let mut session = Session::start(&bash("yes '한 줄의 글' | head -n 200000; echo end; echo oops >&2"));
    assert_eq!(session.wait(), Some(0));
    assert_eq!(session.output(), "한 줄의 글\n".repeat(200_000) + "end\n");
    let errors = fs::read_to_string(session.directory.join(ostler_shim::ERR)).expect("a log");
    assert_eq!(errors, "oops\n");
}

#[test]
fn errors_carry_no_signals() {
    let mut session = Session::start(&bash("echo WAIT >&2; echo ALL_DONE"));
    assert_eq!(session.wait(), Some(0));
    let heard = ostler_shim::spool::read(&session.directory).expect("a spool");
    let kinds: Vec<_> = heard
        .iter()
        .filter_map(|record| match &record.what {
            Happening::Heard { item } => item["kind"].as_str(),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["all_done"]);
}

#[test]
fn a_message_without_an_end_is_heard_after_a_silence() {
    let session = Session::start(&bash("printf '[ASK_USER]\\nWhat now? '; read -r answer; echo \"$answer\""));
    let mut control = session.control();
    let record = control.next(|what| matches!(what, Happening::Heard { .. }));
    let Happening::Heard { item } = record.what else { panic!("{record:?}") };
    assert_eq!((item["question"].as_str(), item["ended_by"].as_str()), (Some("What now?"), Some("silence")));
    control.next_stop();
    control.answer("go\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
}

#[test]
fn a_message_that_asks_nothing_stops_nobody() {
    let session =
        Session::start(&bash("printf '[STEP_COMPLETE]\\n'; read -r -t 1000 answer; echo \"$answer\""));
    let mut control = session.control();
    assert_eq!(control.next_kind(), "step_complete");
    assert!(!control.status().stopped);
    assert!(session.processes().iter().all(|(_, state)| *state != 'T'), "it was held for a moment only");
    control.answer("on\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
}

#[test]
fn a_full_log_stops_the_agent_until_somebody_sends_it_on() {
    let mut launch = bash("head -c 5000 /dev/zero | tr '\\0' x; echo; read -r _; echo end");
    launch.log_bytes_max = 1000;
    let mut session = Session::start(&launch);
    let mut control = session.control();
    // The reason comes first: a server that hears only of the stop would see nothing that it waits for.
    control.next(|what| *what == Happening::Stalled { reason: StallReason::LogFull });
    assert!(matches!(control.next_stop(), Happening::Stopped { cause: StopCause::Stall, .. }));
    assert!(control.status().stalled);
    assert_eq!(fs::metadata(session.directory.join(ostler_shim::OUT)).expect("a log").len(), 1000);
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    control.next(|what| *what == Happening::WentOn);
    control.answer("go\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert_eq!(session.wait(), Some(0));
    assert_eq!(session.output(), "x".repeat(5000) + "\nend\n");
}

#[test]
fn ten_thousand_messages_are_all_heard_in_order() {
    let mut session = Session::start(&command(&["seq", "-f", "READY:T%.0f.1", "10000"]));
    assert_eq!(session.wait(), Some(0));
    let records = ostler_shim::spool::read(&session.directory).expect("a spool");
    let ids = records.iter().filter_map(|record| match &record.what {
        Happening::Heard { item } => item["groups"][0][0].as_str(),
        _ => None,
    });
    assert!(ids.eq((1..=10_000).map(|number| format!("T{number}.1"))));
    assert!(records.iter().zip(1..).all(|(record, number)| record.seq == number));
}
