//! Processes that carry the mark of an agent and have no shim above them.
//!
//! The mark is inherited, so the parents of an agent's process are marked up to the shim, which is not. If the shim is
//! gone, the system hands the topmost marked process to the nearest process above the shim that adopts orphans: to the
//! first process of the system, or to one that is also above the server. Every other unmarked parent, such as a terminal
//! or another shim, shows a process that was only branded, or that another shim looks after.

use std::{fs, os::unix::fs::MetadataExt, thread, time::Duration};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_shim::LockLimit;
use rustix::process::{Pid, geteuid};

use crate::{
    baseline,
    home::Home,
    peer::{read, stat},
};

/// The first process of the system, which adopts orphans where nobody else does.
const FIRST: i32 = 1;

/// How often a walk is begun anew because a process on the way ended meanwhile.
const WALKS_MAX: u32 = 25;

/// Between two walks: the kernel hands the children of a process that ends to another one in less time.
const WALK_AGAIN: Duration = Duration::from_millis(2);

/// A marked process.
#[derive(Debug, Clone, Copy)]
struct MarkedProcess {
    pid: i32,
    /// When it began, in the kernel's ticks.
    began: u64,
    /// The nearest process above it that is not marked.
    unmarked: i32,
}

/// Marked processes without a shim, as `ostler doctor` shows them.
#[derive(Debug, Default)]
pub struct BrandedProcesses {
    /// Whether the process that asks is one of them.
    pub own: bool,
    /// The others: number and command.
    pub others: Vec<(i32, String)>,
}

/// Finds marked processes of this state directory's user that neither a shim nor the server looks after.
pub fn branded(home: &Home) -> BrandedProcesses {
    let Some(baseline) = baseline::find(home) else { return BrandedProcesses::default() };
    let above: Vec<i32> = ancestors(own_pid()).collect();
    let server = server_pid(home);
    let is_alone = |it: &MarkedProcess| !is_shim(it.unmarked) && Some(it.unmarked) != server;
    let is_own = |it: &MarkedProcess| it.pid == own_pid() || above.contains(&it.pid);
    let (own, others): (Vec<_>, Vec<_>) =
        marked(baseline, baseline.helper_mark()).filter(is_alone).partition(is_own);
    let others = others.iter().map(|it| (it.pid, command(it.pid))).collect();
    BrandedProcesses { own: !own.is_empty(), others }
}

/// The processes that a lost shim has left: marked as an agent's, begun since the session's first process, and orphaned.
/// A program that a server has left, such as a git that is still at work, has a higher limit and is not among them.
pub(crate) fn orphans(baseline: LockLimit, since: u64) -> Vec<i32> {
    let above: Vec<i32> = ancestors(own_pid()).collect();
    let is_adopted = |pid: i32| pid == FIRST || above.contains(&pid);
    let marked = marked(baseline, baseline.agent_mark());
    let left = marked.filter(|it| it.began >= since && is_adopted(it.unmarked));
    left.map(|it| it.pid).collect()
}

/// Every process of this user with this limit or a lower one.
fn marked(baseline: LockLimit, most: LockLimit) -> impl Iterator<Item = MarkedProcess> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.metadata().is_ok_and(|it| it.uid() == geteuid().as_raw()));
    let pids = ours.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(move |pid| {
        let (_, began) = stat(pid).filter(|_| is_at_most(pid, most) && !is_ending(pid))?;
        let unmarked = settled_above(pid, baseline)?;
        Some(MarkedProcess { pid, began, unmarked })
    })
}

/// The nearest unmarked process above one, once nobody on the way is ending: a process that is about to be handed to its
/// shim must not be taken for an orphan, nor an orphan for the child of a shim that is about to be gone.
fn settled_above(pid: i32, baseline: LockLimit) -> Option<i32> {
    for _ in 0..WALKS_MAX {
        if let Some(above) = unmarked_above(pid, baseline) {
            return Some(above);
        }
        stat(pid)?;
        thread::sleep(WALK_AGAIN);
    }
    None
}

/// The same by one walk; nothing if a process on the way has ended.
fn unmarked_above(pid: i32, baseline: LockLimit) -> Option<i32> {
    let (mut above, _) = stat(pid)?;
    while above > FIRST {
        if LockLimit::of(Pid::from_raw(above)?).ok()? >= baseline {
            return (!is_ending(above)).then_some(above);
        }
        above = stat(above).filter(|_| !is_ending(above))?.0;
    }
    Some(FIRST)
}

fn is_at_most(pid: i32, most: LockLimit) -> bool {
    Pid::from_raw(pid).and_then(|pid| LockLimit::of(pid).ok()).is_some_and(|limit| limit <= most)
}

/// The server of a state directory, as its lock says.
pub(crate) fn server_pid(home: &Home) -> Option<i32> {
    private::read_text(home.lock(), FILE_BYTES_MAX).ok()?.trim().parse().ok()
}

/// The parents of a process, nearest first.
fn ancestors(pid: i32) -> impl Iterator<Item = i32> {
    let parent = |pid: &i32| stat(*pid).map(|(parent, _)| parent).filter(|&parent| parent > 0);
    std::iter::successors(parent(&pid), parent)
}

/// Whether a process has ended, or is about to: its memory is gone, and its children become somebody else's.
fn is_ending(pid: i32) -> bool {
    pid != FIRST && read(pid, "cmdline").is_none_or(|command| command.is_empty())
}

fn is_shim(pid: i32) -> bool {
    let command = read(pid, "cmdline").unwrap_or_default();
    command.split(|&byte| byte == 0).nth(1) == Some(b"__shim")
}

fn command(pid: i32) -> String {
    let name = read(pid, "comm").unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}
