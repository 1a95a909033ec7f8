//! When the disk does not take what the agent says, the agent waits, and nothing of it is lost.

use std::{
    fs::{self, File},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::Command as Process,
};

use ostler_shim::{
    control::{Command, Reply},
    spool::{Happening, StallReason, StopCause, read},
};

use crate::support::{Control, Session, bash, skipped, wait_for};

/// Prints 200,000 bytes and a word: more than the small disk and the pipe hold together.
const MUCH: &str = "head -c 200000 /dev/zero | tr '\\0' x; echo end";

fn next_disk_stall(control: &mut Control) -> String {
    let message = match control.next(|what| matches!(what, Happening::Stalled { .. })).what {
        Happening::Stalled { reason: StallReason::Disk { message } } => message,
        what => panic!("{what:?}"),
    };
    let stopped = control.next_stop();
    assert!(matches!(stopped, Happening::Stopped { cause: StopCause::Stall, .. }), "{stopped:?}");
    message
}

#[test]
fn a_log_that_may_not_grow_stops_the_agent() {
    let limit = ["bash", "-c", "ulimit -S -f 64; exec \"$@\"", "bash"];
    let mut session = Session::start_through(&limit, &bash(MUCH));
    let mut control = session.control();
    let message = next_disk_stall(&mut control);
    assert!(message.contains("File too large"), "{message}");
    session.all_stand_still();
    assert_eq!(session.output().len(), 64 << 10, "what fits is there");
    let refused = control.ask(Command::GoOn { after: None });
    assert_eq!(refused, Reply::Refused("its output still has nowhere to go".into()));
    assert!(control.status().stopped && control.status().stalled);
    let pid = session.shim.id().to_string();
    let raised = Process::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status();
    assert!(raised.expect("prlimit is part of every Linux").success());
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    assert!(matches!(control.next_end(), (Some(0), None, true)));
    assert_eq!(session.wait(), Some(0));
    assert_eq!(session.output(), "x".repeat(200_000) + "end\n");
}

/// A shim whose directory is a disk of a quarter of a mebibyte, which nobody else sees, with a file that fills most
/// of it. The disk goes with the shim, but not while the open directory is held.
fn on_a_small_disk(script: &str) -> Option<(Session, File)> {
    let private = ["unshare", "--mount", "--map-root-user"];
    if !Process::new(private[0]).args(&private[1..]).arg("true").status().is_ok_and(|it| it.success()) {
        skipped("a full disk: no mount of its own may be made here");
        return None;
    }
    let mount = "for directory; do :; done
        mount -t tmpfs -o size=256k none \"$directory\" && cd \"$directory\" || exit
        head -c 150000 /dev/zero >filler; exec \"$@\"";
    let mut session =
        Session::start_through(&[&private[..], &["bash", "-c", mount, "bash"]].concat(), &bash(script));
    let inside = format!("/proc/{}/root{}", session.shim.id(), session.directory.display());
    wait_for("the disk", || Path::new(&inside).join("filler").exists().then_some(()));
    let disk = File::open(inside).expect("a directory");
    session.directory = PathBuf::from(format!("/proc/self/fd/{}", disk.as_raw_fd()));
    Some((session, disk))
}

#[test]
fn a_full_disk_stops_the_agent_until_there_is_room() {
    let Some((mut session, _disk)) = on_a_small_disk(MUCH) else { return };
    let mut control = session.control();
    wait_for("the stall", || control.status().stalled.then_some(()));
    assert!(control.status().stopped);
    // A short record could still fit behind the others.
    let input = Command::Input { key: "q".repeat(10_000), text: "x\n".into(), go_on: false, asked: None };
    assert!(matches!(control.ask(input), Reply::Refused(_)), "nothing happens that cannot be written down");
    fs::remove_file(session.directory.join("filler")).expect("the filler is there");
    let message = next_disk_stall(&mut control);
    assert!(message.contains("No space left"), "{message}");
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    control.next(|what| matches!(what, Happening::Ended { .. }));
    assert_eq!(session.wait(), Some(0));
    let output = session.output();
    assert_eq!(output, "x".repeat(200_000) + "end\n");
    let records = read(&session.directory).expect("a spool");
    assert!(records.iter().zip(1..).all(|(record, number)| record.seq == number), "{records:?}");
    let took = records.iter().any(|record| matches!(record.what, Happening::TookInput { .. }));
    assert!(!took, "what was refused is not on record");
}

#[test]
fn an_end_on_a_full_disk_is_told_when_there_is_room() {
    let Some((mut session, _disk)) = on_a_small_disk(MUCH) else { return };
    let mut control = session.control();
    wait_for("the stall", || control.status().stalled.then_some(()));
    assert_eq!(control.ask(Command::Cancel { grace_ms: 0 }), Reply::Done);
    wait_for("the agent's end", || session.processes().is_empty().then_some(()));
    fs::remove_file(session.directory.join("filler")).expect("the filler is there");
    assert_eq!(session.wait(), Some(0));
    let last = read(&session.directory).expect("a spool").pop().map(|record| record.what);
    assert!(matches!(last, Some(Happening::Ended { clean: true, .. })), "{last:?}");
}

#[test]
fn a_log_that_cannot_be_synced_stops_the_agent() {
    // The first sync is that of the first record; the next is that of the log.
    let fault = ["strace", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=2"];
    if !Process::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|it| it.success()) {
        return skipped("a failing sync: there is no strace here, or it may not trace");
    }
    let mut session = Session::start_through(&fault, &bash("echo WAIT; read -r _; echo end"));
    let mut control = session.control();
    let message = next_disk_stall(&mut control);
    assert!(message.contains("Input/output error"), "{message}");
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    control.answer("go\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert_eq!(session.wait(), Some(0));
    assert_eq!(session.output(), "WAIT\nend\n");
}
