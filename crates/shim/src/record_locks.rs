//! Processes whose record locks (`fcntl`) keep others from writing a file, by what the kernel says.
//!
//! SQLite locks bytes of its files this way. A process that holds such a lock, or waits for one, stands in `/proc/locks`;
//! a lock that belongs to an open file and to no process is found in `fdinfo` of whoever has that file open.
//!
//! The file itself is never opened here: closing it would release every record lock that this process has on it.

use std::{io, path::Path};

use ostler_files::kernel;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal},
};

use crate::lock_holder::{LockName, all_pids, is_marked, locks_of};

/// How long a killed process may take to end.
const END_SECONDS_MAX: i64 = 2;

/// The longest name of a process that is shown.
const NAME_LETTERS_MAX: usize = 32;

/// A process that holds a record lock of a file, or waits for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLockHolder {
    /// Its number.
    pub pid: i32,
    /// What it calls itself.
    pub name: String,
    /// Whether it carries the mark of an agent.
    pub is_marked: bool,
    /// Whether it only waits for the lock.
    pub waits: bool,
}

/// Finds the other processes that lock some byte of a file for writing, or this byte in any way.
pub fn record_lock_holders(file: &Path, byte: u64) -> io::Result<Vec<RecordLockHolder>> {
    let Some(name) = LockName::of_path(file)? else { return Ok(Vec::new()) };
    let own = getpid().as_raw_nonzero().get();
    let locks = kernel::read_text("/proc/locks")?;
    let mut found: Vec<(i32, bool)> = Vec::new();
    let mut belongs_to_file = false;
    for lock in locks.lines().filter_map(|line| RecordLock::parse(line, name.as_str())) {
        match lock.pid {
            _ if !lock.is_in_the_way(byte) => {}
            Some(pid) if pid != own => found.push((pid, lock.waits)),
            Some(_) => {}
            None => belongs_to_file = true,
        }
    }
    if belongs_to_file {
        let has_it_open = |pid: &i32| {
            let locks = locks_of(*pid).unwrap_or_default();
            let mut locks = locks.iter().filter_map(|line| RecordLock::parse(line, name.as_str()));
            locks.any(|lock| lock.pid.is_none() && lock.is_in_the_way(byte))
        };
        found.extend(
            all_pids()?.into_iter().filter(|pid| *pid != own).filter(has_it_open).map(|pid| (pid, false)),
        );
    }
    found.sort_unstable();
    found.dedup_by_key(|(pid, _)| *pid);
    Ok(found.into_iter().filter_map(|(pid, waits)| RecordLockHolder::of(pid, waits)).collect())
}

/// Kills a process that was found, if it still is in the way and carries the mark of an agent, and waits for its end.
pub fn end_record_lock_holder(holder: &RecordLockHolder, file: &Path, byte: u64) -> io::Result<bool> {
    let Some(number) = Pid::from_raw(holder.pid).filter(|&it| it != getpid()) else { return Ok(false) };
    let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { return Ok(false) };
    // From here on the number cannot pass to another process.
    let is_still = record_lock_holders(file, byte)?.iter().any(|it| it.pid == holder.pid && it.is_marked);
    if !is_still || pidfd_send_signal(&process, Signal::KILL).is_err() {
        return Ok(false);
    }
    poll(
        &mut [PollFd::new(&process, PollFlags::IN)],
        Some(&Timespec { tv_sec: END_SECONDS_MAX, tv_nsec: 0 }),
    )?;
    Ok(true)
}

impl RecordLockHolder {
    fn of(pid: i32, waits: bool) -> Option<RecordLockHolder> {
        let name = kernel::read(format!("/proc/{pid}/comm")).ok()?;
        let name = String::from_utf8_lossy(&name);
        let name =
            name.trim_end().chars().filter(|letter| !letter.is_control()).take(NAME_LETTERS_MAX).collect();
        Some(RecordLockHolder { pid, name, is_marked: is_marked(Pid::from_raw(pid)?), waits })
    }
}

/// A line of `/proc/locks` about a record lock: `1: POSIX  ADVISORY  WRITE 4711 fe:00:57 120 120`.
#[derive(Debug, PartialEq, Eq)]
struct RecordLock {
    /// None, if the lock belongs to an open file.
    pid: Option<i32>,
    is_exclusive: bool,
    /// A line with an arrow is about a process that waits.
    waits: bool,
    first: u64,
    last: u64,
}

impl RecordLock {
    fn parse(line: &str, name: &str) -> Option<RecordLock> {
        let mut words = line.split_whitespace().skip(1).peekable();
        let waits = words.next_if_eq(&"->").is_some();
        let class = words.next()?;
        let is_exclusive = (words.next()?, words.next()?).1 == "WRITE";
        let pid = words.next()?.parse().ok()?;
        if words.next()? != name {
            return None;
        }
        let first = words.next()?.parse().ok()?;
        let last =
            words.next().filter(|word| *word != "EOF").map_or(Some(u64::MAX), |word| word.parse().ok())?;
        let pid = match class {
            // A pid of 0 belongs to another pid namespace.
            "POSIX" if pid > 0 => Some(pid),
            "OFDLCK" => None,
            _ => return None,
        };
        Some(RecordLock { pid, is_exclusive, waits, first, last })
    }

    fn is_in_the_way(&self, byte: u64) -> bool {
        self.is_exclusive || (self.first..=self.last).contains(&byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_record_locks_are_read() {
        let lock = |pid, is_exclusive, waits, first, last| {
            Some(RecordLock { pid, is_exclusive, waits, first, last })
        };
        for (line, expected) in [
            ("1: POSIX  ADVISORY  WRITE 4711 fe:00:57 120 120", lock(Some(4711), true, false, 120, 120)),
            ("1: POSIX  ADVISORY  READ 4711 fe:00:57 123 EOF", lock(Some(4711), false, false, 123, u64::MAX)),
            ("2: -> POSIX  ADVISORY  WRITE 9 fe:00:57 0 EOF", lock(Some(9), true, true, 0, u64::MAX)),
            ("1: OFDLCK ADVISORY  WRITE -1 fe:00:57 120 120", lock(None, true, false, 120, 120)),
            ("1: POSIX  ADVISORY  WRITE 4711 fe:00:570 120 120", None),
            ("1: POSIX  ADVISORY  WRITE 0 fe:00:57 120 120", None),
            ("1: FLOCK  ADVISORY  WRITE 4711 fe:00:57 0 EOF", None),
            ("1: POSIX", None),
        ] {
            assert_eq!(RecordLock::parse(line, "fe:00:57"), expected, "{line}");
        }
        let reads = RecordLock { pid: None, is_exclusive: false, waits: false, first: 120, last: 121 };
        assert!(reads.is_in_the_way(120) && !reads.is_in_the_way(122));
    }
}
