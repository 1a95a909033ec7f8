//! A control group holds what no walk could catch, and nothing of it is left.

use std::{fs, path::PathBuf};

use ostler_shim::{
    control::{Command, Reply},
    launch::CgroupPolicy,
    spool::Happening,
};

use crate::support::{Control, Session, bash, skipped, wait_for};

/// The agent's control group, or a word on why this cannot be tested here.
fn cgroup(session: &Session) -> Option<PathBuf> {
    let cgroup = session.cgroup();
    if cgroup.is_none() {
        skipped("control groups: there is none that may be written here");
    }
    cgroup
}

fn start(script: &str) -> (Session, Control, Option<PathBuf>) {
    let session = Session::start(&bash(script));
    let mut control = session.control();
    wait_for("the agent", || (control.status().output_bytes > 0).then_some(()));
    let cgroup = cgroup(&session);
    (session, control, cgroup)
}

/// A chain in which every process forks and ends, in a session of its own, and counts. It gives up after a while.
const CHAIN: &str = "import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.ftruncate(file, 8)
counter = mmap.mmap(file, 8)
end = time.monotonic() + 120
print('chain', flush=True)
os.setsid()
while time.monotonic() < end:
    counter[:] = (int.from_bytes(counter[:], 'little') + 1).to_bytes(8, 'little')
    if os.fork(): os._exit(0)
";

#[test]
fn a_chain_that_forks_and_ends_is_stopped_and_killed() {
    let mut launch = bash("python3 -c \"$0\" \"$1\" & read -r _");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.counter", launch.session));
    launch.command.extend([CHAIN.to_string(), file.to_string_lossy().into_owned()]);
    let mut session = Session::start(&launch);
    let mut control = session.control();
    wait_for("the chain", || (control.status().output_bytes > 0).then_some(()));
    let Some(cgroup) = cgroup(&session) else { return };
    let count = || fs::read(&file).ok()?.try_into().ok().map(u64::from_le_bytes);
    let moves_on = |from| wait_for("the chain to move", || count().filter(|now| *now > from + 100));
    moves_on(0);
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    let stopped = control.next_stop();
    assert!(matches!(stopped, Happening::Stopped { confirmed: true, .. }), "{stopped:?}");
    let stands = count().expect("a counter");
    for _ in 0..100 {
        control.status();
    }
    assert_eq!(count(), Some(stands));
    assert_eq!(control.ask(Command::GoOn { after: None }), Reply::Done);
    moves_on(stands);
    assert_eq!(control.ask(Command::Cancel { grace_ms: 0 }), Reply::Done);
    assert!(control.next_end().2, "nothing is left");
    assert_eq!(session.wait(), Some(0));
    assert!(!cgroup.exists(), "and not even the group");
    fs::remove_file(file).expect("the counter is there");
}

#[test]
fn who_has_left_the_group_stops_and_ends_too() {
    let loops = "echo $BASHPID >\"$group/cgroup.procs\" && echo moved; while :; do :; done";
    let (mut session, mut control, cgroup) =
        start(&format!("echo up; read -r group; ({loops}) & read -r _; echo on; read -r _"));
    let Some(cgroup) = cgroup else { return };
    let parent = cgroup.parent().expect("a group is in another");
    control.answer(&format!("{}\n", parent.display()));
    wait_for("the move", || session.output().ends_with("moved\n").then_some(()));
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    let stopped = control.next_stop();
    assert!(matches!(stopped, Happening::Stopped { processes: 2, confirmed: true, .. }), "{stopped:?}");
    assert_eq!(session.all_stand_still(), 2);
    control.answer("on\n");
    wait_for("the agent", || session.output().ends_with("on\n").then_some(()));
    assert!(session.processes().iter().all(|(_, state)| *state != 'T'));
    assert_eq!(control.ask(Command::Cancel { grace_ms: 0 }), Reply::Done);
    assert!(control.next_end().2, "nothing is left");
    assert_eq!(session.wait(), Some(0));
    assert_eq!(session.processes(), []);
    assert!(!cgroup.exists());
}

#[test]
fn what_a_killed_shim_has_left_frozen_is_swept() {
    let (mut session, mut control, cgroup) = start("setsid sleep 1000 & echo up; read -r _");
    let Some(cgroup) = cgroup else { return };
    assert_eq!(control.ask(Command::Stop), Reply::Done);
    let alive = ostler_shim::sweep(&session.directory);
    assert!(matches!(alive, Err(ostler_shim::Error::Held { .. })), "not while the shim lives: {alive:?}");
    session.shim.kill().expect("the shim lives");
    session.shim.wait().expect("a child");
    ostler_shim::sweep(&session.directory).expect("the group can be removed");
    assert_eq!(session.processes(), []);
    assert!(!cgroup.exists());
    ostler_shim::sweep(&session.directory).expect("what is swept is swept");
}

#[test]
fn a_forged_spool_sweeps_no_other_group() {
    let (mut other, mut control, others) = start("echo up; read -r _");
    let (mut session, _, own) = start("echo up; read -r _");
    let (Some(others), Some(own)) = (others, own) else { return };
    session.shim.kill().expect("the shim lives");
    session.shim.wait().expect("a child");
    let spool = session.directory.join(ostler_shim::spool::FILE);
    let text = fs::read_to_string(&spool).expect("a spool");
    fs::write(&spool, text.replace(&own.display().to_string(), &others.display().to_string()))
        .expect("it is ours");
    ostler_shim::sweep(&session.directory).expect("it is passed over");
    assert!(others.exists() && own.exists());
    control.answer("bye\n");
    assert_eq!(other.wait(), Some(0), "the other agent was not killed");
    fs::write(&spool, text).expect("it is ours");
    ostler_shim::sweep(&session.directory).expect("the group can be removed");
    assert!(!own.exists());
}

#[test]
fn groups_below_it_go_too() {
    let (mut session, mut control, cgroup) =
        start("echo up; read -r group; mkdir \"$group/own\" && echo made; read -r _");
    let Some(cgroup) = cgroup else { return };
    control.answer(&format!("{}\n", cgroup.display()));
    wait_for("the group", || session.output().ends_with("made\n").then_some(()));
    control.answer("bye\n");
    assert_eq!(session.wait(), Some(0));
    assert!(!cgroup.exists());
}

#[test]
fn who_does_not_want_a_group_gets_none() {
    let mut launch = bash("read -r _");
    launch.cgroup = CgroupPolicy::Off;
    let session = Session::start(&launch);
    session.control();
    assert_eq!(session.cgroup(), None);
}
