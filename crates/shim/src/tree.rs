//! The agent's processes: who they are, and how all of them stop, go on or end.
//!
//! A shim is the subreaper of everything its agent starts, so that even what was forked twice stays below it. The
//! tree is read from `/proc` each time: a process may fork while it is being walked, so walking goes on until two
//! passes in a row find nothing new. Where the agent has a control group, that is frozen or killed as well, and only
//! what has left it is walked after.

use std::{
    collections::BTreeSet,
    fs, io, thread,
    time::{Duration, Instant},
};

use ostler_files::kernel;
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

use crate::cgroup::Cgroup;

/// How long a tree may take to stand still or to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at a tree that does not stand still yet.
const PAUSE: Duration = Duration::from_micros(200);

/// What a process is doing, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// On a core, or ready for one, or in the kernel on its behalf.
    Running,
    /// Waiting for something.
    Waiting,
    Stopped,
    /// Dead, and not buried.
    Dead,
}

/// One process, told from a later one with the same number by the time it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) began: u64,
    pub(crate) group: i32,
    pub(crate) doing: Doing,
}

/// What a walk over a tree has found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// Parents before their children.
    pub(crate) processes: Vec<Process>,
    /// Whether nothing escaped it: no list was refused, and nobody vanished between being listed and being looked at.
    pub(crate) complete: bool,
}

/// A tree that was stopped.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    /// Everybody who was seen, by number and beginning.
    seen: BTreeSet<(i32, u64)>,
    /// Those who got a signal to stop, parents first.
    signalled: Vec<Process>,
    /// Whether the control group is frozen, and how many only that holds.
    is_frozen: bool,
    frozen: usize,
    /// Whether everything was seen to stand still.
    pub(crate) confirmed: bool,
}

impl Stopped {
    /// How many were stopped.
    pub(crate) fn count(&self) -> usize {
        self.signalled.len() + self.frozen
    }

    /// Whether somebody could still run: what is frozen cannot even be continued by others.
    pub(crate) fn may_run(&self) -> bool {
        !self.is_frozen || !self.signalled.is_empty()
    }
}

/// Everything below a process.
pub(crate) fn below(root: Pid) -> Walk {
    let mut walk = Walk { processes: Vec::new(), complete: true };
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        let Ok(mut children) = children(parent) else {
            walk.complete = false;
            continue;
        };
        children.reverse();
        for &child in children.iter().rev() {
            match look(child) {
                Some(process) => walk.processes.push(process),
                None => walk.complete = false,
            }
        }
        next.extend(children);
    }
    walk
}

/// An agent and everything it has started: all that is below the shim.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Pid,
    cgroup: Option<Cgroup>,
}

impl Tree {
    pub(crate) fn new(leader: Pid, cgroup: Option<Cgroup>) -> Tree {
        Tree { leader, cgroup }
    }

    /// The control group of the agent, if it has one.
    pub(crate) fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// Stops the leader's group at once, then everything else until it stands still.
    ///
    /// Whoever is in the leader's group is taken to have been running: to ask first would cost the time in which it
    /// runs on. To freeze takes the kernel longer than a signal, so it comes second.
    pub(crate) fn stop(&self) -> Stopped {
        // The group is gone when its last process is; there is nothing to stop then.
        kill_process_group(self.leader, Signal::STOP).ok();
        let is_frozen = self.cgroup.as_ref().is_some_and(Cgroup::freeze);
        let mut stopped = Stopped { is_frozen, ..Stopped::default() };
        let deadline = Instant::now() + PATIENCE;
        let mut clean_passes = 0;
        while clean_passes < 2 && Instant::now() < deadline {
            if self.stop_pass(&mut stopped) {
                clean_passes += 1;
            } else {
                clean_passes = 0;
                thread::sleep(PAUSE);
            }
        }
        stopped.confirmed = clean_passes == 2;
        stopped
    }

    /// Stops whoever runs in a tree that was stopped.
    pub(crate) fn stop_again(&self, stopped: &mut Stopped) {
        self.stop_pass(stopped);
    }

    /// Stops what it finds running. Whether there was nothing new and nothing to stop.
    fn stop_pass(&self, stopped: &mut Stopped) -> bool {
        let frozen = self.cgroup.as_ref().filter(|_| stopped.is_frozen);
        let walk = below(getpid());
        let mut clean = walk.complete;
        for process in walk.processes {
            let is_new = stopped.seen.insert((process.pid.as_raw_nonzero().get(), process.began));
            // Even one that is dead already: it may have had time to fork.
            clean &= !is_new;
            if process.doing != Doing::Dead && frozen.is_some_and(|cgroup| cgroup.holds(process.pid)) {
                stopped.frozen += usize::from(is_new);
                continue;
            }
            let in_group = process.group == self.leader.as_raw_nonzero().get();
            match process.doing {
                Doing::Running | Doing::Waiting => {
                    clean = false;
                    kill_process(process.pid, Signal::STOP).ok();
                }
                // What somebody else had stopped is not ours to continue.
                Doing::Stopped if is_new && !in_group => continue,
                Doing::Stopped => {}
                Doing::Dead => continue,
            }
            if is_new {
                stopped.signalled.push(process);
            }
        }
        clean
    }

    /// Sends the stopped on, children first: a shell whose job is still stopped when it goes on would report it so.
    pub(crate) fn go_on(&self, stopped: &Stopped) {
        for process in stopped.signalled.iter().rev() {
            if look(process.pid).is_some_and(|now| now.began == process.began) {
                kill_process(process.pid, Signal::CONT).ok();
            }
        }
        // Whoever was stopped with the group and could not be seen must not be left standing.
        kill_process_group(self.leader, Signal::CONT).ok();
        self.thaw();
    }

    /// Asks everything to end.
    pub(crate) fn ask_to_end(&self) {
        for process in below(getpid()).processes {
            kill_process(process.pid, Signal::TERM).ok();
            // Who is stopped cannot hear it.
            kill_process(process.pid, Signal::CONT).ok();
        }
        self.thaw();
    }

    fn thaw(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.thaw();
        }
    }

    /// Ends everything: stops it first, so that nothing can fork away, and kills what stands there. Whether all are
    /// seen to be gone, buried or not.
    pub(crate) fn kill(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            // Who has moved to another group is only found below.
            let emptied = self.cgroup.as_ref().is_none_or(Cgroup::kill);
            let walk = below(getpid());
            let living = walk.processes.iter().any(|process| process.doing != Doing::Dead);
            if emptied && !living && walk.complete {
                return true;
            }
            self.stop();
            for process in below(getpid()).processes {
                kill_process(process.pid, Signal::KILL).ok();
            }
            thread::sleep(PAUSE);
        }
        false
    }
}

/// Whether anything below the shim is on a core or wants to be.
pub(crate) fn is_busy() -> bool {
    below(getpid()).processes.iter().any(|process| process.doing == Doing::Running)
}

/// The children of all threads of a process; none if it is gone.
pub(crate) fn children(pid: Pid) -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    for task in gone_is_empty(fs::read_dir(format!("/proc/{pid}/task")))?.into_iter().flatten() {
        let list = gone_is_empty(kernel::read_text(task?.path().join("children")))?.unwrap_or_default();
        let pids = list.split_whitespace().filter_map(|word| word.parse().ok());
        found.extend(pids.filter_map(Pid::from_raw));
    }
    Ok(found)
}

/// What `/proc` says of a process; nothing if it is gone or cannot be seen.
pub(crate) fn look(pid: Pid) -> Option<Process> {
    let stat = kernel::read_text(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = fields(&stat)?.collect();
    let (group, began) = (fields.get(2)?.parse().ok()?, fields.get(19)?.parse().ok()?);
    Some(Process { pid, began, group, doing: what_threads_do(pid)? })
}

/// A process stands still when all its threads do, and is dead when all are: the first may have ended alone.
fn what_threads_do(pid: Pid) -> Option<Doing> {
    let mut doing = Doing::Dead;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let Ok(stat) = kernel::read_text(task.ok()?.path().join("stat")) else { continue };
        let thread = match fields(&stat)?.next()? {
            "T" | "t" => Doing::Stopped,
            "Z" | "X" => Doing::Dead,
            // A parent between vfork and exec of its child cannot even be stopped: the signal waits.
            "D" if has_stop_pending(pid) => Doing::Stopped,
            "R" | "D" => Doing::Running,
            _ => Doing::Waiting,
        };
        doing = match (doing, thread) {
            (Doing::Running, _) | (_, Doing::Running) => Doing::Running,
            (Doing::Waiting, _) | (_, Doing::Waiting) => Doing::Waiting,
            (Doing::Stopped, _) | (_, Doing::Stopped) => Doing::Stopped,
            (Doing::Dead, Doing::Dead) => Doing::Dead,
        };
    }
    Some(doing)
}

fn has_stop_pending(pid: Pid) -> bool {
    const STOP_BIT: u64 = 1 << (libc::SIGSTOP - 1);
    let status = kernel::read_text(format!("/proc/{pid}/status")).unwrap_or_default();
    let masks =
        status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:")));
    masks.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).any(|mask| mask & STOP_BIT != 0)
}

/// The fields behind the name, which stands in brackets and may hold anything, brackets too.
pub(crate) fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(") ")?.1.split(' '))
}

/// A process that is gone has no children; what cannot be read is another matter.
fn gone_is_empty<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) if source.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(source) => Err(source),
    }
}
