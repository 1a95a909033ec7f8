//! The process that holds the lock of a shim's directory, by what the kernel says.
//!
//! A shim that is stopped, or whose socket was removed, can only be ended by its pid. A pid that stands in a file proves
//! nothing, since an agent can write files. `/proc/locks` names the process that took a lock, and `fdinfo` shows every
//! process that still has the locked file open. Both come from the kernel.

use std::{
    ffi::OsStr,
    fs, io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use ostler_files::kernel;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, fstat, major, minor, open},
    process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal},
};

use crate::{files::LOCK, lock_limit::LockLimit};

/// How long a killed process may take to end.
const END_SECONDS_MAX: i64 = 2;

/// A locked file as the kernel names it in `/proc/locks`: `major:minor:inode`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LockName(String);

/// Whether a process holds the lock of a directory.
///
/// An error means that the kernel does not say, for instance because `/proc/locks` is hidden.
pub fn holds_lock(directory: &Path, pid: i32) -> io::Result<bool> {
    let Some(name) = LockName::of(directory)? else { return Ok(false) };
    // The kernel hands out the list of all locks in pieces, and leaves some out while others change. What it says of the
    // process itself is whole.
    match locks_of(pid) {
        Ok(locks) => Ok(locks.iter().any(|line| name.taker_in(line) == Some(pid))),
        Err(_) => Ok(name.takers()?.contains(&pid)),
    }
}

/// Whether the kernel names another process as holder of the lock of a directory.
pub(crate) fn has_takers(directory: &Path) -> io::Result<bool> {
    let own = getpid().as_raw_nonzero().get();
    let Some(name) = LockName::of(directory)? else { return Ok(false) };
    Ok(name.takers()?.into_iter().any(|pid| pid != own))
}

/// Kills every process that holds the lock of a directory, and says how many were killed.
///
/// Only a process of an agent, or one that calls itself the shim of that directory, is killed: an agent can link the lock
/// of another shim there. An error means that the holder is unknown; nothing was killed then.
pub fn end_lock_holder(directory: &Path) -> io::Result<usize> {
    let Some(name) = LockName::of(directory)? else { return Ok(0) };
    let mut ended = 0;
    for pid in name.holders()? {
        // The pidfd comes first, then the second look: from here on the number cannot pass to another process.
        let Some(number) = Pid::from_raw(pid).filter(|&it| it != getpid()) else { continue };
        let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { continue };
        let still_holds = match name.is_open_in(pid) {
            Ok(is_open) => is_open,
            Err(_) => name.takers()?.contains(&pid),
        };
        let may_end = still_holds && (is_marked(number) || is_named_after(pid, directory));
        if may_end && pidfd_send_signal(process, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    Ok(ended)
}

/// Kills every shim of a directory whose lock was removed or replaced, waits for their end, and says how many there were.
///
/// Such a shim calls itself the shim of that directory and holds a lock on some file.
pub fn end_displaced_shims(directory: &Path) -> io::Result<usize> {
    let mut ended = 0;
    for pid in all_pids()? {
        let Some(number) = Pid::from_raw(pid).filter(|_| is_shim_of(pid, directory)) else { continue };
        let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { continue };
        let holds_any = locks_of(pid).is_ok_and(|locks| locks.iter().any(|line| line.contains("FLOCK")));
        if is_shim_of(pid, directory) && holds_any && pidfd_send_signal(&process, Signal::KILL).is_ok() {
            let timeout = Timespec { tv_sec: END_SECONDS_MAX, tv_nsec: 0 };
            poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout))?;
            ended += 1;
        }
    }
    Ok(ended)
}

pub(crate) fn all_pids() -> io::Result<Vec<i32>> {
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Whether a process calls itself the shim of a directory.
fn is_shim_of(pid: i32, directory: &Path) -> bool {
    claimed_directory(pid).is_some_and(|claimed| claimed == directory)
}

/// The same by session and launch alone: the path of a state directory can be written in several ways.
fn is_named_after(pid: i32, directory: &Path) -> bool {
    let names = |path: &Path| path.iter().rev().take(2).map(ToOwned::to_owned).collect::<Vec<_>>();
    claimed_directory(pid).is_some_and(|claimed| names(&claimed) == names(directory))
}

/// The directory whose shim a process calls itself.
fn claimed_directory(pid: i32) -> Option<PathBuf> {
    let command = kernel::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = command.split(|&byte| byte == 0).skip(1);
    (arguments.next()? == b"__shim").then_some(())?;
    Some(PathBuf::from(OsStr::from_bytes(arguments.next()?)))
}

/// Whether a process has a lower limit of file locks than this one. No shim has.
pub(crate) fn is_marked(pid: Pid) -> bool {
    LockLimit::of(pid).is_ok_and(|limit| limit < LockLimit::own())
}

/// The lines about locks of the files that a process has open.
pub(crate) fn locks_of(pid: i32) -> io::Result<Vec<String>> {
    let mut locks = Vec::new();
    for descriptor in fs::read_dir(format!("/proc/{pid}/fdinfo"))? {
        // A descriptor may be closed between the list and the look.
        let info = kernel::read_text(descriptor?.path()).unwrap_or_default();
        locks.extend(info.lines().filter_map(|line| line.strip_prefix("lock:")).map(str::to_owned));
    }
    Ok(locks)
}

impl LockName {
    /// The name of a directory's lock; nothing, if there is no such file.
    fn of(directory: &Path) -> io::Result<Option<LockName>> {
        LockName::of_path(&directory.join(LOCK))
    }

    /// The name of a file; nothing, if there is none. The file is looked up and not opened.
    pub(crate) fn of_path(file: &Path) -> io::Result<Option<LockName>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match open(file, flags, Mode::empty()) {
            Ok(file) => LockName::of_file(&file).map(Some),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// `stat` names another device than the kernel's list does on btrfs and overlayfs, so the mount is asked for it.
    fn of_file(file: &OwnedFd) -> io::Result<LockName> {
        let about = fstat(file)?;
        let info = kernel::read_text(format!("/proc/self/fdinfo/{}", file.as_fd().as_raw_fd()))?;
        let field =
            |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(|it| it.trim().to_owned());
        let inode = field("ino:").and_then(|it| it.parse().ok()).unwrap_or(about.st_ino);
        let mounts = kernel::read_text("/proc/self/mountinfo")?;
        let device = field("mnt_id:").and_then(|id| device_of_mount(&mounts, &id));
        let (major, minor) = device.unwrap_or((major(about.st_dev), minor(about.st_dev)));
        Ok(LockName(format!("{major:02x}:{minor:02x}:{inode}")))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The processes that took the lock, as `/proc/locks` names them.
    fn takers(&self) -> io::Result<Vec<i32>> {
        let locks = kernel::read_text("/proc/locks")?;
        Ok(locks.lines().filter_map(|line| self.taker_in(line)).collect())
    }

    /// The processes that hold the lock now. The one that took it may be gone and a child of it hold on.
    fn holders(&self) -> io::Result<Vec<i32>> {
        let takers = self.takers()?;
        let holds = |pid: &i32| self.is_open_in(*pid).unwrap_or(true);
        let is_there = |pid: &i32| Path::new(&format!("/proc/{pid}")).exists();
        let found: Vec<i32> = takers.iter().copied().filter(is_there).filter(holds).collect();
        if !found.is_empty() || takers.is_empty() {
            return Ok(found);
        }
        Ok(all_pids()?.into_iter().filter(|&pid| self.is_open_in(pid).unwrap_or(false)).collect())
    }

    /// Whether a process has the locked file open, with the lock on it.
    fn is_open_in(&self, pid: i32) -> io::Result<bool> {
        Ok(locks_of(pid)?.iter().any(|line| self.taker_in(line).is_some()))
    }

    /// The process that took this lock, if a line is about it: `1: FLOCK  ADVISORY  WRITE 4711 fe:00:5670099 0 EOF`.
    ///
    /// A line with an arrow is about a process that waits. A pid of 0 belongs to another pid namespace.
    fn taker_in(&self, line: &str) -> Option<i32> {
        let mut words = line.split_whitespace().skip(1);
        let is_lock = words.next()? == "FLOCK" && words.next().is_some() && words.next()? == "WRITE";
        let pid = words.next()?.parse().ok().filter(|&pid| pid > 0);
        pid.filter(|_| is_lock && words.next() == Some(&self.0))
    }
}

/// The device of a mount, from the lines of `mountinfo`: `36 35 98:0 /mnt1 /mnt2 …`.
fn device_of_mount(mounts: &str, id: &str) -> Option<(u32, u32)> {
    let line = mounts.lines().find(|line| line.split(' ').next() == Some(id))?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        process::{Child, Command, Stdio},
    };

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let program = std::env::current_exe().expect("a program");
        let target = program.ancestors().nth(3).expect("a target directory");
        let directory = target.join("tmp").join(format!("lock-holder-{name}-{}", std::process::id()));
        fs::remove_dir_all(&directory).ok();
        fs::create_dir_all(&directory).expect("a directory");
        directory
    }

    /// A process that runs a script and has said that it is ready.
    #[expect(clippy::disallowed_methods, reason = "a test starts what holds a lock")]
    fn start(script: &str, directory: &Path) -> Child {
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh"])
            .arg(directory.join(LOCK))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let mut said = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut said).expect("a line");
        assert_eq!(said, "ready\n");
        child
    }

    fn pid_of(child: &Child) -> i32 {
        i32::try_from(child.id()).expect("a pid")
    }

    #[test]
    fn the_holder_is_found_and_ended_and_no_other_process() {
        let directory = directory("ends");
        assert_eq!(end_lock_holder(&directory).expect("no lock"), 0);
        // It took the lock itself: `flock` of util-linux locks in the process that goes on.
        let mut holder = start(
            "prlimit --pid $$ --locks=7; exec flock --no-fork \"$1\" sh -c 'echo ready; exec sleep 1000'",
            &directory,
        );
        let mut waiter = start("exec 9>>\"$1\"; echo ready; exec sleep 1000", &directory);
        assert!(holds_lock(&directory, pid_of(&holder)).expect("the kernel says"));
        assert!(!holds_lock(&directory, pid_of(&waiter)).expect("the kernel says"), "only open");
        // A stopped process is ended as well.
        let stopped = Pid::from_child(&holder);
        rustix::process::kill_process(stopped, Signal::STOP).expect("it is ours");
        assert_eq!(end_lock_holder(&directory).expect("the kernel says"), 1);
        holder.wait().expect("a child");
        assert!(waiter.try_wait().expect("a child").is_none(), "it held nothing");
        assert_eq!(end_lock_holder(&directory).expect("the kernel says"), 0);
        waiter.kill().and_then(|()| waiter.wait()).expect("a child");
    }

    /// The number in `/proc/locks` is that of a process that is gone. Its number may belong to another one by now.
    #[test]
    fn a_child_that_inherited_the_lock_is_ended_in_place_of_its_parent() {
        let directory = directory("inherits");
        let script =
            "prlimit --pid $$ --locks=7; exec 9>>\"$1\"; sh -c 'flock 9'; echo ready; exec sleep 1000";
        let mut heir = start(script, &directory);
        let name = LockName::of(&directory).expect("it can be opened").expect("a lock");
        assert!(!name.takers().expect("the kernel says").contains(&pid_of(&heir)));
        assert_eq!(name.holders().expect("the kernel says"), [pid_of(&heir)]);
        assert_eq!(end_lock_holder(&directory).expect("the kernel says"), 1);
        heir.wait().expect("a child");
    }

    #[test]
    fn a_shim_whose_lock_was_removed_is_ended_by_its_own_name_and_a_lock() {
        let directory = directory("displaced");
        // A shell that runs a script of that name has the command line of a shim.
        let pretends = |lock: &str| {
            let script = format!(
                "cd \"${{1%/lock}}\"; printf 'echo ready; read -r line' >__shim; {lock} exec sh __shim \"$PWD\""
            );
            start(&script, &directory)
        };
        let mut unlocked = pretends("");
        let mut locked = pretends("exec 9>>lock; flock 9; rm lock;");
        assert_eq!(end_lock_holder(&directory).expect("no lock"), 0);
        assert_eq!(end_displaced_shims(&directory).expect("the kernel says"), 1);
        assert!(locked.try_wait().expect("a child").is_some());
        assert!(unlocked.try_wait().expect("a child").is_none(), "it holds no lock");
        unlocked.kill().and_then(|()| unlocked.wait()).expect("a child");
    }

    /// An agent has linked the lock of another shim into its own directory.
    #[test]
    fn the_holder_of_a_linked_lock_is_ended_only_by_its_own_name() {
        let (own, other) = (directory("links-own"), directory("links-other"));
        let script = "cd \"${1%/lock}\"; printf 'echo ready; read -r line' >__shim
            exec 9>>lock; flock 9; exec sh __shim \"$PWD\"";
        let mut shim = start(script, &other);
        fs::remove_file(own.join(LOCK)).ok();
        fs::hard_link(other.join(LOCK), own.join(LOCK)).expect("the same disk");
        assert_eq!(end_lock_holder(&own).expect("the kernel says"), 0);
        assert!(shim.try_wait().expect("a child").is_none());
        assert_eq!(end_lock_holder(&other).expect("the kernel says"), 1);
        shim.wait().expect("a child");
    }

    #[test]
    fn lines_about_other_locks_name_nobody() {
        let name = LockName("fe:00:57".to_owned());
        for (line, taker) in [
            ("1: FLOCK  ADVISORY  WRITE 4711 fe:00:57 0 EOF", Some(4711)),
            ("1: FLOCK  ADVISORY  WRITE 4711 fe:00:570 0 EOF", None),
            ("1: FLOCK  ADVISORY  READ 4711 fe:00:57 0 EOF", None),
            ("1: POSIX  ADVISORY  WRITE 4711 fe:00:57 0 EOF", None),
            ("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:57 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE 0 fe:00:57 0 EOF", None),
            ("1: FLOCK", None),
            ("", None),
        ] {
            assert_eq!(name.taker_in(line), taker, "{line}");
        }
        assert_eq!(device_of_mount("36 35 98:1 / /mnt rw\n37 35 0:42 / /x rw", "37"), Some((0, 42)));
        assert_eq!(device_of_mount("36 35 98:1 / /mnt rw", "3"), None);
    }
}
