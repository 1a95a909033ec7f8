//! What is written to an agent arrives, over a pipe and over a terminal.

use ostler_shim::{
    control::{Command, Reply},
    launch::{Input, Terminal},
    spool::{Happening, read},
};

use crate::support::{Session, bash, wait_for};

#[test]
fn a_megabyte_of_input_arrives_at_a_stopped_agent() {
    let script = "printf '[ASK_USER]\\nHow much?\\n[/ASK_USER]\\n'; head -c 1000000 | wc -c";
    let session = Session::start(&bash(script));
    let mut control = session.control();
    control.next_stop();
    control.answer(&"x".repeat(1_000_000));
    control.next_end();
    assert!(session.output().ends_with("1000000\n"), "{}", session.output());
}

#[test]
fn input_is_consumed_when_it_was_read() {
    let session = Session::start(&bash("read -r _; echo read; read -r _; exit 0"));
    let mut control = session.control();
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    let input = Command::Input { key: "q_1".into(), text: "one\n".into(), go_on: false, asked: None };
    assert_eq!(control.ask(input.clone()), Reply::Done);
    assert_eq!(control.ask(input), Reply::Done, "what was taken is not taken again");
    assert_eq!(control.status().input_bytes, 4);
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    wait_for("the agent to read", || (control.status().input_bytes == 0).then_some(()));
    control.answer("two\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
}

#[test]
fn an_agent_without_input_reads_the_end() {
    let mut launch = bash("read -r _ || echo nothing; sleep 1000");
    launch.input = Input::Empty;
    let session = Session::start(&launch);
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes > 0).then_some(()));
    let reply = control.ask(Command::Input { key: "q_1".into(), text: "x".into(), go_on: true, asked: None });
    assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
    assert_eq!(session.output(), "nothing\n");
}

#[test]
fn a_terminal_is_one() {
    let mut launch = bash(
        "stty size; tty >/dev/null && echo tty; printf '[ASK_USER]\\nName?\\n[/ASK_USER]\\n'; read -r name; echo \"hello $name\"; stty size",
    );
    launch.terminal = Terminal::Pty { rows: 30, columns: 100 };
    let session = Session::start(&launch);
    let mut control = session.control();
    assert_eq!(control.next_kind(), "ask_user");
    control.next_stop();
    assert_eq!(control.ask(Command::Resize { rows: 40, columns: 120 }), Reply::Done);
    control.answer("Ada\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    let lines: Vec<_> = session.output().lines().map(str::to_string).collect();
    assert_eq!(lines[..2], ["30 100", "tty"]);
    assert_eq!(lines[lines.len() - 2..], ["hello Ada", "40 120"], "and what was written did not come back");
}

#[test]
fn only_a_terminal_has_a_size() {
    let session = Session::start(&bash("read -r _"));
    let reply = session.control().ask(Command::Resize { rows: 1, columns: 1 });
    assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
}

#[test]
fn a_closed_input_takes_nothing() {
    let session = Session::start(&bash("exec <&-; echo closed; sleep 1000"));
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes > 0).then_some(()));
    let reply = control.ask(Command::Input { key: "q_1".into(), text: "x".into(), go_on: true, asked: None });
    assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
}

#[test]
fn what_is_written_to_a_terminal_is_text() {
    let mut launch = bash("echo ready; read -r line; echo \"got $line\"");
    launch.terminal = Terminal::Pty { rows: 24, columns: 80 };
    let session = Session::start(&launch);
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes > 0).then_some(()));
    let long = Command::Input { key: "q_1".into(), text: "x".repeat(5000) + "\n", go_on: true, asked: None };
    assert!(matches!(control.ask(long), Reply::Refused(_)), "a terminal would cut it");
    control.answer("a\x03b\x04c\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert!(session.output().contains("got abc"), "{}", session.output());
}

#[test]
fn a_closed_input_ends_behind_what_was_taken() {
    let script = "printf '[ASK_USER]\\nHow much?\\n[/ASK_USER]\\n'; wc -c";
    let session = Session::start(&bash(script));
    let mut control = session.control();
    control.next_stop();
    let input = Command::Input { key: "q_1".into(), text: "x".repeat(300_000), go_on: false, asked: None };
    assert_eq!(control.ask(input.clone()), Reply::Done);
    for key in ["end", "end", "another end"] {
        assert_eq!(control.ask(Command::CloseInput { key: key.into() }), Reply::Done, "once or more");
    }
    let late = Command::Input { key: "q_2".into(), text: "x".into(), go_on: false, asked: None };
    assert_eq!(control.ask(late), Reply::Refused("the input is closed".into()));
    assert_eq!(control.status().input_bytes, 300_000);
    assert_eq!(control.ask(input), Reply::Done, "what was taken is taken");
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert!(session.output().ends_with("300000\n"), "{}", session.output());
    let told: Vec<_> = read(&session.directory).expect("a spool").into_iter().map(|it| it.what).collect();
    let place = |what: &Happening| told.iter().position(|it| it == what).expect("a record");
    let took = place(&Happening::TookInput { key: "q_1".into() });
    let closed = place(&Happening::ClosedInput { key: "end".into() });
    assert!(took < closed && closed < place(&Happening::Consumed { key: "q_1".into() }), "{told:?}");
    assert_eq!(told.iter().filter(|it| matches!(it, Happening::ClosedInput { .. })).count(), 1);
}

#[test]
fn what_was_read_is_told_by_its_name() {
    let session = Session::start(&bash("read -r _; echo read; read -r _"));
    let mut control = session.control();
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    for (key, text) in [("q_1", "one\n"), ("q_2", "two\n"), ("q_3", "three\n")] {
        let input = Command::Input { key: key.into(), text: text.into(), go_on: false, asked: None };
        assert_eq!(control.ask(input), Reply::Done);
    }
    assert_eq!(control.status().input_unread, Some(14));
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    let mut consumed = || match control.next(|what| matches!(what, Happening::Consumed { .. })).what {
        Happening::Consumed { key } => key,
        what => panic!("{what:?}"),
    };
    assert_eq!((consumed(), consumed()), ("q_1".into(), "q_2".into()));
    let end = control.next(|what| matches!(what, Happening::Consumed { .. } | Happening::Ended { .. })).what;
    assert!(matches!(end, Happening::Ended { input_bytes_left: 6, .. }), "{end:?}");
}

#[test]
fn input_that_nobody_can_read_any_more_is_counted() {
    let session = Session::start(&bash("echo up; read -r _; exec <&-; echo closed; sleep 1000"));
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes > 0).then_some(()));
    control.answer("one\ntwo\n");
    wait_for("the refusal", || {
        let more = Command::Input { key: "q_2".into(), text: String::new(), go_on: false, asked: None };
        matches!(control.ask(more), Reply::Refused(_)).then_some(())
    });
    assert_eq!(control.ask(Command::Cancel { grace_ms: 0 }), Reply::Done);
    let end = control.next(|what| matches!(what, Happening::Consumed { .. } | Happening::Ended { .. })).what;
    assert!(matches!(end, Happening::Ended { input_bytes_left: 4, .. }), "{end:?}");
}

#[test]
fn a_terminal_is_told_that_its_input_ends() {
    for text in ["a\nb\n", "a\nb", ""] {
        let mut launch = bash("echo ready; cat; echo end; sleep 1000");
        launch.terminal = Terminal::Pty { rows: 24, columns: 80 };
        let session = Session::start(&launch);
        let mut control = session.control();
        wait_for("output", || (control.status().output_bytes > 0).then_some(()));
        control.answer(text);
        assert_eq!(control.status().input_unread, None);
        assert_eq!(control.ask(Command::CloseInput { key: "end".into() }), Reply::Done);
        wait_for("the end of the input", || session.output().ends_with("end\r\n").then_some(()));
        let expected = format!("ready\r\n{}end\r\n", text.replace('\n', "\r\n"));
        assert_eq!(session.output(), expected);
    }
}

#[test]
fn an_agent_without_input_has_none_to_close() {
    let mut launch = bash("sleep 1000");
    launch.input = Input::Empty;
    let session = Session::start(&launch);
    let reply = session.control().ask(Command::CloseInput { key: "end".into() });
    assert_eq!(reply, Reply::Refused("the agent reads no input".into()));
}
