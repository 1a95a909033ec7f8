//! What the processes of an agent are seen to do, by somebody else than their shim. It is read from `/proc`, as far as
//! that says it: a process that waits for a network cannot be told from one that waits for its next task.

use std::time::Duration;

use ostler_files::kernel;
use rustix::process::Pid;

use crate::tree::{Doing, below, fields, look};

/// What begins so soon, and before the agent was told anything, belongs to the agent itself: a wrapper starts the program,
/// and that its helpers. What begins later was begun for a task.
const BEGINNING_TICKS: u64 = 5 * TICKS_PER_SECOND;

/// What the kernel counts in, where it tells people.
pub const TICKS_PER_SECOND: u64 = 100;

/// What all processes of an agent are seen to do at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Whether one of them is on a core or wants to be, or was begun later than the agent and has not ended.
    pub is_seen: bool,
    /// How long they have been on a core, all of them and those that have ended, in ticks.
    pub ticks: u64,
}

/// Looks at the agent with this number that began then and was first told something so long ago, and at all that its shim
/// looks after; nothing if it is gone.
pub fn work_of(pid: i32, began: u64, told: Option<Duration>) -> Option<Work> {
    let agent = Pid::from_raw(pid)?;
    look(agent).filter(|process| process.began == began)?;
    let shim = Pid::from_raw(number(agent, PARENT)?.try_into().ok()?)?;
    let told = told.and_then(|ago| uptime()?.checked_sub(ago)).map(ticks);
    let later = began.saturating_add(BEGINNING_TICKS);
    let later = told.map_or(later, |told| later.min(told.max(began)));
    let processes = below(shim).processes;
    let is_work = |doing: Doing, began: u64| match doing {
        Doing::Running => true,
        Doing::Waiting => began > later,
        Doing::Stopped | Doing::Dead => false,
    };
    let is_seen = processes.iter().any(|process| is_work(process.doing, process.began));
    let ticks_of = |pid: Pid| TIMES.into_iter().filter_map(|field| number(pid, field)).sum::<u64>();
    Some(Work { is_seen, ticks: processes.iter().map(|process| ticks_of(process.pid)).sum() })
}

/// The places in `/proc/PID/stat`, counted from the one behind the name.
const PARENT: usize = 1;

/// The time on a core of a process itself and of the children that it has buried, in user mode and in the kernel.
const TIMES: [usize; 4] = [11, 12, 13, 14];

fn number(pid: Pid, field: usize) -> Option<u64> {
    let stat = kernel::read_text(format!("/proc/{pid}/stat")).ok()?;
    fields(&stat)?.nth(field)?.parse().ok()
}

/// For how long the kernel has run: that is what it counts the beginning of processes from.
fn uptime() -> Option<Duration> {
    let text = kernel::read_text("/proc/uptime").ok()?;
    Duration::try_from_secs_f64(text.split_whitespace().next()?.parse().ok()?).ok()
}

fn ticks(time: Duration) -> u64 {
    let ticks = time.as_millis() * u128::from(TICKS_PER_SECOND) / 1000;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}
