//! Ends the processes that a lost shim has left behind. The kernel ends the agent with its shim, but not what the agent
//! had started. Those processes are found by the control group, by the variable in their environment, and, whatever
//! they did to both, by the limit that marks agents.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ostler_engine::SessionId;
use ostler_files::kernel;
use ostler_shim::{
    LockLimit,
    spool::{self, Happening},
};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Driver;
use crate::{peer::stat, strays};

/// How often it is looked again for what forked away meanwhile.
const ROUNDS_MAX: u32 = 50;

/// What is known of the processes of a lost shim.
#[derive(Debug)]
pub(super) struct OrphanSweep {
    /// The value of the variable that they began with.
    pub(super) marker: String,
    /// The directory of the shim.
    pub(super) directory: PathBuf,
    /// The limit below which a process is an agent's.
    pub(super) baseline: Option<LockLimit>,
    /// When the first process of the session began, in the kernel's ticks. Older processes are not the session's, even if
    /// they are marked: every process of the user can brand another.
    pub(super) since: Option<u64>,
}

impl Driver {
    /// The sweep after a shim of a session that was lost.
    pub(super) fn orphan_sweep(&self, session: SessionId, marker: &str, directory: &Path) -> OrphanSweep {
        let world = self.journal.world();
        let launches = world.sessions.get(&session).into_iter().flat_map(|it| &it.launches);
        let since = launches.filter_map(|launch| Some(launch.process?.began)).min();
        let (marker, directory) = (marker.to_owned(), directory.to_path_buf());
        OrphanSweep { marker, directory, baseline: Some(self.baseline), since }
    }
}

impl OrphanSweep {
    /// Ends them, and says how many were left over.
    pub(super) fn run(mut self) -> usize {
        // Without a control group, or where it cannot be ended, the other two ways find them.
        ostler_shim::sweep(&self.directory).ok();
        self.since = self.since.or_else(|| began(&self.directory));
        for _ in 0..ROUNDS_MAX {
            let found = self.find();
            if found.is_empty() {
                return 0;
            }
            // Stopped first, so that none can fork between being seen and being ended.
            for signal in [Signal::STOP, Signal::KILL] {
                for process in &found {
                    process.send(signal);
                }
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.find().len()
    }

    fn find(&self) -> Vec<FoundProcess> {
        let wanted = format!("OSTLER_SESSION={}", self.marker);
        let marked = self.baseline.map(|baseline| strays::orphans(baseline, self.since.unwrap_or(0)));
        let mut pids = with_variable(&wanted);
        pids.extend(marked.into_iter().flatten());
        pids.sort_unstable();
        pids.dedup();
        pids.into_iter().filter_map(FoundProcess::of).collect()
    }
}

/// A process, told from a later one with its number.
struct FoundProcess {
    pid: i32,
    began: u64,
}

impl FoundProcess {
    fn of(pid: i32) -> Option<FoundProcess> {
        stat(pid).map(|(_, began)| FoundProcess { pid, began })
    }

    fn send(&self, signal: Signal) {
        let pidfd = Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let is_it = stat(self.pid).is_some_and(|(_, began)| began == self.began);
        if let Some(pidfd) = pidfd.filter(|_| is_it) {
            // It may have ended meanwhile; then there is nothing to do.
            pidfd_send_signal(pidfd, signal).ok();
        }
    }
}

/// When the agent of a shim began, as the shim noted it.
fn began(directory: &Path) -> Option<u64> {
    spool::read(directory).ok()?.into_iter().find_map(|record| match record.what {
        Happening::Started { began, .. } => Some(began),
        _ => None,
    })
}

fn with_variable(wanted: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_it = |pid: &i32| {
        let environment = kernel::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    pids.filter(has_it).collect()
}
