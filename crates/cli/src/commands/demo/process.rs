//! Processes as the kernel knows them. Nothing here takes anybody's word: what a demonstration says of processes is read
//! from `/proc`.

use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path, time::Duration};

use ostler_files::{FILE_BYTES_MAX, kernel, private};
use ostler_server::Home;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use serde::Serialize;
use tokio::time::sleep;

/// How often it is looked again for what forked away meanwhile.
const ROUNDS_MAX: u32 = 100;

/// A process that cannot be mistaken for a later one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Process {
    /// Its number.
    pub(super) pid: i32,
    /// When it was started, in ticks since the system was.
    pub(super) started_ticks: u64,
}

impl Process {
    /// The process of this number, if it is alive.
    pub(super) fn of(pid: i32) -> Option<Process> {
        let stat = kernel::read_text(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything, so the fields are counted from behind it.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let is_alive = !matches!(*fields.first()?, "Z" | "X");
        let started_ticks = fields.get(19)?.parse().ok()?;
        is_alive.then_some(Process { pid, started_ticks })
    }
}

/// Kills a process with signal 9.
pub(super) fn kill(pid: u32) -> std::io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(std::io::ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, Signal::KILL)?)
}

/// Takes notice of children that have ended, so that nothing is left of them. The only ones are servers.
pub(super) fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// The processes that belong to a state directory: its server, the shims, the agents and what those started.
pub(super) fn of_home(home: &Home) -> Vec<Pid> {
    let mark = private::read_text(home.root().join("mark"), FILE_BYTES_MAX).unwrap_or_default();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    pids.filter(|pid| *pid != getpid() && belongs(*pid, home.root(), &mark)).collect()
}

/// Kills them all. They are stopped first, so that none can fork between being seen and being ended.
pub(super) async fn kill_all(home: &Home) {
    for _ in 0..ROUNDS_MAX {
        let found = of_home(home);
        if found.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for &pid in &found {
                kill_process(pid, signal).ok();
            }
        }
        reap();
        sleep(Duration::from_millis(10)).await;
    }
}

/// Whoever only looks into the directory, with `OSTLER_HOME` set, does not belong to it.
fn belongs(pid: Pid, home: &Path, mark: &str) -> bool {
    let read = |name: &str| kernel::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let environment = read("environ");
    let variables: BTreeMap<&[u8], &[u8]> = environment
        .split(|byte| *byte == 0)
        .filter_map(|it| it.iter().position(|byte| *byte == b'=').map(|at| (&it[..at], &it[at + 1..])))
        .collect();
    let value = |name: &str| variables.get(name.as_bytes()).copied().unwrap_or_default();
    if !mark.is_empty() && value("OSTLER_SESSION").ends_with(format!("@{mark}").as_bytes()) {
        return true;
    }
    let command = read("cmdline");
    let mut arguments = command.split(|byte| *byte == 0).skip(1);
    match arguments.next() {
        Some(b"serve") => value("OSTLER_HOME") == home.as_os_str().as_encoded_bytes(),
        Some(b"__shim") => {
            arguments.next().is_some_and(|it| Path::new(OsStr::from_bytes(it)).starts_with(home))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start() {
        let own = Process::of(getpid().as_raw_nonzero().get()).expect("this one is alive");
        assert!(own.started_ticks > 0);
        assert_eq!(Process::of(i32::MAX), None);
    }

    #[test]
    fn who_only_looks_does_not_belong() {
        let home = Home::at(Path::new("/nowhere"));
        assert_eq!(of_home(&home), []);
    }
}
