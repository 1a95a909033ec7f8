//! A shim that has nothing to do does nothing, and yet misses nothing.

use std::{
    fs,
    process::Command as Process,
    time::{Duration, Instant},
};

use ostler_shim::{
    control::{Command, Reply},
    launch::{CgroupPolicy, Terminal},
};

use crate::support::{Session, bash, state, wait_for};

/// How often a process has gone to sleep.
fn sleeps(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).expect("a number")
}

#[test]
fn an_idle_shim_is_not_woken() {
    let session = Session::start(&bash("echo up; read -r _"));
    let mut control = session.control();
    wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
    drop(control);
    let shim = session.shim.id();
    // It has gone to sleep when it has slept for longer than it takes to see that the connection is gone.
    let mut quiet = (sleeps(shim), Instant::now());
    wait_for("three seconds without a wake-up", || {
        if sleeps(shim) != quiet.0 {
            quiet = (sleeps(shim), Instant::now());
        }
        (quiet.1.elapsed() > Duration::from_secs(3)).then_some(())
    });
}

#[test]
fn orphans_that_have_ended_are_buried() {
    let session = Session::start(&bash("for i in {1..20}; do ( (exit 0) & ); done; echo up; read -r _"));
    let mut control = session.control();
    wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
    let shim = session.shim.id();
    let children =
        || fs::read_to_string(format!("/proc/{shim}/task/{shim}/children")).expect("the shim lives");
    wait_for("a shim with one child", || (children().split_whitespace().count() == 1).then_some(()));
}

#[test]
fn what_somebody_else_continues_is_stopped_again() {
    let mut launch = bash("setsid bash -c 'while :; do :; done' & echo up; wait");
    launch.cgroup = CgroupPolicy::Off;
    let session = Session::start(&launch);
    let mut control = session.control();
    wait_for("both", || (session.processes().len() == 2).then_some(()));
    wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    assert_eq!(session.all_stand_still(), 2);
    for (pid, _) in session.processes() {
        let status = Process::new("kill").args(["-CONT", &pid.to_string()]).status();
        assert!(status.expect("kill runs").success());
        wait_for("the second stop", || (state(pid) == Some('T')).then_some(()));
    }
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    let all_run = || session.processes().iter().all(|(_, state)| *state != 'T');
    wait_for("all to go on", || all_run().then_some(()));
}

#[test]
fn an_agent_has_the_limits_it_was_given() {
    let mut launch = bash("ulimit -n; ulimit -Hn; read -r _");
    launch.open_files_max = Some(77);
    let raised = ["bash", "-c", "ulimit -S -n 200; exec \"$@\"", "bash"];
    let session = Session::start_through(&raised, &launch);
    let mut control = session.control();
    wait_for("both limits", || (session.output().lines().count() == 2).then_some(()));
    let output = session.output();
    assert!(output.starts_with("77\n"), "{output}");
    assert!(!output.ends_with("\n77\n"), "it may raise it again: {output}");
    control.answer("\n");
    control.next_end();
}

#[test]
fn who_comes_back_to_the_terminal_is_heard() {
    let mut launch = bash(
        "terminal=$(tty); echo leaving; exec <&- >&- 2>&-; sleep 0.2; exec <$terminal >$terminal; echo back; read -r line; echo $line",
    );
    launch.terminal = Terminal::Pty { rows: 24, columns: 80 };
    let session = Session::start(&launch);
    let mut control = session.control();
    wait_for("the agent to come back", || session.output().ends_with("back\r\n").then_some(()));
    control.answer("heard\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert_eq!(session.output(), "leaving\r\nback\r\nheard\r\n");
}

#[test]
fn requests_that_came_together_are_all_answered() {
    let session = Session::start(&bash("head -c 300000 /dev/zero | tr '\\0' x; read -r _"));
    let mut control = session.control();
    wait_for("output", || (control.status().output_bytes == 300_000).then_some(()));
    // More than may wait for a client that does not read, so that some are answered only when it has.
    let count = 20;
    control.send(&vec![Command::Tail { offset: 0, bytes_max: 200_000 }; count]);
    for _ in 0..count {
        assert_eq!(control.next_reply(), Reply::Bytes(200_000));
        assert_eq!(control.bytes(200_000).len(), 200_000);
    }
}
