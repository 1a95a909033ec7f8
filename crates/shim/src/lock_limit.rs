//! The mark of every process that Ostler starts: a hard limit of file locks (`RLIMIT_LOCKS`) below that of a person's
//! processes.
//!
//! Linux enforces no limit of file locks, so any value does. A process inherits the limit through fork, exec, `setsid`
//! and an empty environment, and only root can raise it again. Every process of the user can *lower* it for another, so
//! a low limit says "not a person", and never which session. Programs that the server starts itself have a limit between
//! both: no agent can raise its own to that one, so a sweep after an agent leaves those programs alone.

use std::{
    fmt, io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
    str::FromStr,
};

use ostler_files::kernel;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::sockopt::socket_peercred,
    process::{Pid, PidfdFlags, Resource, Rlimit, getrlimit, pidfd_open, setrlimit},
};
use serde::{Deserialize, Serialize};

/// The word for [`LockLimit::UNLIMITED`], as `ulimit` and `/proc` write it.
const UNLIMITED_WORD: &str = "unlimited";

/// A hard limit of file locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LockLimit(u64);

impl LockLimit {
    /// No limit, which is the default of Linux.
    pub const UNLIMITED: LockLimit = LockLimit(u64::MAX);

    /// The limit of this process.
    pub fn own() -> LockLimit {
        getrlimit(Resource::Locks).maximum.map_or(LockLimit::UNLIMITED, LockLimit)
    }

    /// The limit of another process. The system call is refused for a process with another group; `/proc` is not.
    pub fn of(pid: Pid) -> io::Result<LockLimit> {
        match read_limit(pid) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => read_proc(pid),
            limit => limit,
        }
    }

    /// The limit of the process that made a connection, read while that process was alive.
    pub fn of_peer(stream: &impl AsFd) -> io::Result<LockLimit> {
        let pid = socket_peercred(stream)?.pid;
        let pidfd = peer_pidfd(stream).map_or_else(|| pidfd_open(pid, PidfdFlags::empty()), Ok)?;
        let limit = LockLimit::of(pid)?;
        // The process has not ended yet, so its number was its own when the limit was read.
        if has_ended(&pidfd)? { Err(io::ErrorKind::NotConnected.into()) } else { Ok(limit) }
    }

    /// The limit that marks a program of the server's own where this is a person's. Nothing is lower than zero.
    #[must_use]
    pub fn helper_mark(self) -> LockLimit {
        LockLimit(self.0.saturating_sub(1))
    }

    /// The limit that marks the processes of an agent where this is a person's. Nothing is lower than zero.
    #[must_use]
    pub fn agent_mark(self) -> LockLimit {
        LockLimit(self.0.saturating_sub(2))
    }

    /// Lowers the limit of this process; whoever has a lower one keeps it. Makes system calls only.
    pub fn enter(self) -> io::Result<()> {
        let limit = Some(self.min(LockLimit::own()).0).filter(|limit| *limit != u64::MAX);
        Ok(setrlimit(Resource::Locks, Rlimit { current: limit, maximum: limit })?)
    }
}

impl fmt::Display for LockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == LockLimit::UNLIMITED { f.write_str(UNLIMITED_WORD) } else { write!(f, "{}", self.0) }
    }
}

impl FromStr for LockLimit {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<LockLimit, Self::Err> {
        if text == UNLIMITED_WORD { Ok(LockLimit::UNLIMITED) } else { text.parse().map(LockLimit) }
    }
}

/// Starts a command with a limit of file locks. On a kernel that does not keep the limit, the command starts without it.
#[expect(unsafe_code, reason = "only between fork and exec can it be set, and std calls that unsafe")]
pub fn limit_locks(command: &mut Command, limit: LockLimit) {
    let before_exec = move || {
        limit.enter().ok();
        Ok(())
    };
    // SAFETY: the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}

/// The process that made a connection, whatever has become of its number. Kernels before 6.5 do not tell.
#[expect(unsafe_code, reason = "there is no safe call for this option yet")]
pub fn peer_pidfd(stream: &impl AsFd) -> Option<OwnedFd> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut fd: libc::c_int = -1;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).expect("an int is small");
    let socket = stream.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to `fd`, which is that long.
    let result = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, SO_PEERPIDFD, (&raw mut fd).cast(), &raw mut length)
    };
    // SAFETY: the descriptor is new and nobody else's.
    (result == 0 && fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether the process of a descriptor has ended.
fn has_ended(pidfd: &OwnedFd) -> io::Result<bool> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&at_once))? > 0)
}

#[expect(unsafe_code, reason = "the safe call always sets a limit, and this one only reads it")]
fn read_limit(pid: Pid) -> io::Result<LockLimit> {
    let mut limit = MaybeUninit::<libc::rlimit64>::uninit();
    let pid = pid.as_raw_nonzero().get();
    // SAFETY: nothing is set, and the kernel writes one structure of that type.
    let result = unsafe { libc::prlimit64(pid, libc::RLIMIT_LOCKS, std::ptr::null(), limit.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel has written it.
    Ok(LockLimit(unsafe { limit.assume_init() }.rlim_max))
}

fn read_proc(pid: Pid) -> io::Result<LockLimit> {
    let text = kernel::read_text(format!("/proc/{}/limits", pid.as_raw_nonzero()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"));
    let hard = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    hard.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no limit of file locks"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use rustix::process::getpid;

    use super::*;

    #[test]
    fn both_ways_of_reading_a_limit_agree() {
        let own = LockLimit::own();
        assert_eq!(read_limit(getpid()).expect("it is ours"), own);
        assert_eq!(read_proc(getpid()).expect("it is ours"), own);
        let (one, _other) = UnixStream::pair().expect("a pair of sockets");
        assert_eq!(LockLimit::of_peer(&one).expect("this process lives"), own);
    }

    #[test]
    fn a_limit_is_written_and_read_again() {
        for limit in [LockLimit::UNLIMITED, LockLimit::UNLIMITED.agent_mark(), LockLimit(0)] {
            assert_eq!(limit.to_string().parse(), Ok(limit));
            let json = serde_json::to_string(&limit).expect("a number");
            assert_eq!(serde_json::from_str::<LockLimit>(&json).expect("a number"), limit);
        }
        assert!(LockLimit::UNLIMITED.agent_mark() < LockLimit::UNLIMITED.helper_mark());
        assert!(LockLimit::UNLIMITED.helper_mark() < LockLimit::UNLIMITED);
        assert!("many".parse::<LockLimit>().is_err());
    }
}
