//! Feeds a git that runs and reads what it says, all at once and for a bounded time, and ends it when that is up.
//!
//! `git.rs` says what is run and for how long. Nothing here may wait without an end: whatever git started may hold
//! its pipes open, or not hear that it is to end.

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    process::{Child, ExitStatus},
    sync::{Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::ioctl_fionbio,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// How much of what git says about a failure is kept.
const STDERR_BYTES_MAX: u64 = 16 * 1024;

/// How much is read at once.
const PIECE_BYTES: usize = 16 * 1024;

/// How long git may take to put away its locks when it is told to end.
const END_MAX: Duration = Duration::from_secs(5);

/// Between two looks whether it has ended: at first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(20)];

/// Every group of processes that runs for us.
static RUNNING: Mutex<Running> = Mutex::new(Running { groups: BTreeSet::new(), ends: false });

struct Running {
    groups: BTreeSet<i32>,
    /// No other is started any more.
    ends: bool,
}

impl Running {
    fn tell(&self, signal: Signal) {
        for group in self.groups.iter().filter_map(|group| Pid::from_raw(*group)) {
            kill_process_group(group, signal).ok();
        }
    }
}

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().expect("nobody panics while holding it")
}

/// What came of it.
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// There was more than was wanted, and the rest was not read.
    pub(crate) truncated: bool,
}

/// Ends every git that runs, for a process that is about to end itself: nobody would end those that hang, and they
/// would hold the lock of their repository. None is started any more.
pub fn end_all() {
    let mut all = running();
    all.ends = true;
    all.tell(Signal::TERM);
    drop(all);
    let deadline = Instant::now() + END_MAX;
    while !running().groups.is_empty() && Instant::now() < deadline {
        thread::sleep(PAUSES[1]);
    }
    running().tell(Signal::KILL);
}

/// Starts a child that leads a group of its own.
pub(crate) fn start(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let mut all = running();
    if all.ends {
        return Err(io::Error::other("Ostler is about to end"));
    }
    let child = spawn()?;
    all.groups.insert(Pid::from_child(&child).as_raw_nonzero().get());
    Ok(child)
}

/// Everything that a child says until it has ended; none if it was ended because it took longer than it may.
pub(crate) fn talk(
    mut child: Child,
    input: &[u8],
    stdout_bytes_max: u64,
    time_max: Duration,
) -> io::Result<Option<Said>> {
    let leader = Pid::from_child(&child);
    let heard = hear(&mut child, input, stdout_bytes_max, Instant::now() + time_max);
    if !matches!(heard, Ok(Some(_))) {
        end(leader);
    }
    // From here on the number may be another's.
    running().groups.remove(&leader.as_raw_nonzero().get());
    let status = child.wait()?;
    let Some(Heard { stdout, stderr, truncated }) = heard? else { return Ok(None) };
    Ok(Some(Said { status, stdout, stderr, truncated }))
}

struct Heard {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    truncated: bool,
}

/// A full pipe on one side must not hold up the others, so all of them are looked at together.
fn hear(
    child: &mut Child,
    mut input: &[u8],
    stdout_bytes_max: u64,
    deadline: Instant,
) -> io::Result<Option<Heard>> {
    let (mut stdin, mut stdout, mut stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    stdin.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
    stdout.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
    stderr.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
    let mut heard = Heard { stdout: Vec::new(), stderr: Vec::new(), truncated: false };
    while stdout.is_some() || stderr.is_some() {
        if input.is_empty() {
            stdin = None;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let mut pipes: Vec<PollFd<'_>> = Vec::new();
        pipes.extend(stdin.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        pipes.extend(stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        pipes.extend(stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        match poll(&mut pipes, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(pipes);
        if !feed(&mut stdin, &mut input)? {
            stdin = None;
        }
        if !take(&mut stdout, &mut heard.stdout, stdout_bytes_max, &mut heard.truncated)? || heard.truncated {
            // To close the pipe tells git that nobody wants the rest.
            stdout = None;
        }
        // What is too much of this is read all the same: the reason of a failure stands at its beginning.
        if !take(&mut stderr, &mut heard.stderr, STDERR_BYTES_MAX, &mut false)? {
            stderr = None;
        }
    }
    drop(stdin);
    Ok(has_ended_by(Pid::from_child(child), deadline)?.then_some(heard))
}

/// Writes what there is room for; false if nobody reads it any more.
fn feed(pipe: &mut Option<impl Write>, input: &mut &[u8]) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    match pipe.write(input) {
        Ok(count) => *input = &input[count..],
        Err(error) if is_for_later(&error) => {}
        // Git may end before it has read everything; why, it says by itself.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
        Err(error) => return Err(error),
    }
    Ok(true)
}

/// Reads what is there and keeps as much as is wanted; false at the end.
fn take(
    pipe: &mut Option<impl Read>,
    kept: &mut Vec<u8>,
    bytes_max: u64,
    is_more: &mut bool,
) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let mut piece = [0; PIECE_BYTES];
    match pipe.read(&mut piece) {
        Ok(0) => return Ok(false),
        Ok(count) => {
            let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(kept.len());
            kept.extend_from_slice(&piece[..count.min(room)]);
            *is_more |= count > room;
        }
        Err(error) if is_for_later(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(true)
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Whether it ends before it is too late. It is not taken note of, so that its number stays its own.
fn has_ended_by(child: Pid, deadline: Instant) -> io::Result<bool> {
    let [mut pause, pause_max] = PAUSES;
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(child), how)?.is_none() {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(pause_max);
    }
    Ok(true)
}

/// Ends a group. Git puts away its locks when it is asked to; whoever does not hear is killed.
fn end(leader: Pid) {
    kill_process_group(leader, Signal::TERM).ok();
    has_ended_by(leader, Instant::now() + END_MAX).ok();
    kill_process_group(leader, Signal::KILL).ok();
}
