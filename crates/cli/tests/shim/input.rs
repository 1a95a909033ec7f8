//! What is written to an agent arrives, over a pipe and over a terminal.

use ostler_shim::{
    control::{Command, Reply},
    launch::{Input, Terminal},
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
    let input = Command::Input { key: "q_1".into(), text: "one\n".into(), go_on: false };
    assert_eq!(control.ask(input.clone()), Reply::Done);
    assert_eq!(control.ask(input), Reply::Done, "what was taken is not taken again");
    assert_eq!(control.status().input_bytes, 4);
    assert_eq!(control.ask(Command::GoOn), Reply::Done);
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
    let reply = control.ask(Command::Input { key: "q_1".into(), text: "x".into(), go_on: true });
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
    let reply = control.ask(Command::Input { key: "q_1".into(), text: "x".into(), go_on: true });
    assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
}

#[test]
fn what_is_written_to_a_terminal_is_text() {
    let mut launch = bash("echo ready; read -r line; echo \"got $line\"");
    launch.terminal = Terminal::Pty { rows: 24, columns: 80 };
    let session = Session::start(&launch);
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes > 0).then_some(()));
    let long = Command::Input { key: "q_1".into(), text: "x".repeat(5000) + "\n", go_on: true };
    assert!(matches!(control.ask(long), Reply::Refused(_)), "a terminal would cut it");
    control.answer("a\x03b\x04c\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert!(session.output().contains("got abc"), "{}", session.output());
}
