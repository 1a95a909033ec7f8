//! Keeps a process from writing anywhere but in some places, by Landlock: the kernel holds it to that, and everything
//! that it starts. Reading is not touched. A confined process also signals no process outside of its own tree: not its
//! shim, not the server, not another agent.
//!
//! The three system calls have no wrapper in the crates that are used here, and are few enough to be made directly. A
//! kernel without Landlock confines nobody; whoever asked for it looks at what was written all the same.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, open};

/// What a directory can be written by, as the first version of Landlock knows it.
const WRITE_FILE: u64 = 1 << 1;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
/// Directories, files, sockets, pipes, devices and links: each can be made.
const MAKE: u64 = 0b111_1111 << 6;
/// To move something to another directory; since the second version.
const REFER: u64 = 1 << 13;
/// To cut a file; since the third.
const TRUNCATE: u64 = 1 << 14;

/// No signal leaves the process and what it starts; since the sixth version.
const SCOPE_SIGNAL: u64 = 1 << 1;

/// The first version that keeps signals in.
const SCOPE_SINCE: i64 = 6;

/// The kind of rule that is about a path.
const PATH_BENEATH: libc::c_int = 1;

/// Asks for the version instead of making anything.
const VERSION: libc::c_ulong = 1;

/// Whether this kernel can keep a process from writing.
pub fn can_confine() -> bool {
    version().is_some()
}

/// Whether this kernel can keep a process from sending signals to others.
pub fn can_scope_signals() -> bool {
    version().is_some_and(|version| version >= SCOPE_SINCE)
}

/// What a set of rules is about.
#[repr(C)]
struct RulesetAttribute {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

/// A rule. The kernel takes it without padding.
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: RawFd,
}

/// Rules that a process can enter and never leave.
#[derive(Debug)]
pub(crate) struct Confinement {
    ruleset: OwnedFd,
}

impl Confinement {
    /// Writing only in these places, if any are named, and no signals to others, which goes with that. Nothing if the
    /// kernel can do neither. A place that is not there is left out.
    pub(crate) fn new(places: Option<&[PathBuf]>, scope_signals: bool) -> Option<Confinement> {
        let version = version().filter(|_| places.is_some() || scope_signals)?;
        let handled = if places.is_some() { writes(version) } else { 0 };
        let ruleset = create(handled, if version >= SCOPE_SINCE { SCOPE_SIGNAL } else { 0 })?;
        for place in places.unwrap_or_default() {
            allow(&ruleset, place, handled);
        }
        Some(Confinement { ruleset })
    }

    /// This process is held to the rules from here on. Makes system calls only.
    #[expect(unsafe_code, reason = "there is no safe wrapper for these system calls")]
    pub(crate) fn enter(&self) -> io::Result<()> {
        // SAFETY: both calls take numbers and change only this process.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::syscall(libc::SYS_landlock_restrict_self, self.ruleset.as_raw_fd(), 0) != 0
        };
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// The ways to write that a version knows.
fn writes(version: i64) -> u64 {
    let first = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE;
    let second = if version >= 2 { REFER } else { 0 };
    let third = if version >= 3 { TRUNCATE } else { 0 };
    first | second | third
}

/// The version that the kernel has.
#[expect(unsafe_code, reason = "there is no safe wrapper for this system call")]
fn version() -> Option<i64> {
    // SAFETY: nothing is handed over, which is how the version is asked for.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttribute>(),
            0_usize,
            VERSION,
        )
    };
    (version > 0).then_some(version)
}

#[expect(unsafe_code, reason = "there is no safe wrapper for this system call")]
fn create(handled: u64, scoped: u64) -> Option<OwnedFd> {
    // An older kernel takes the longer structure as long as the fields that it does not know are zero.
    let attribute = RulesetAttribute { handled_access_fs: handled, handled_access_net: 0, scoped };
    // SAFETY: the kernel reads as many bytes as the structure has, and gives a new descriptor that is nobody else's.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attribute,
            size_of::<RulesetAttribute>(),
            0,
        );
        RawFd::try_from(fd).ok().filter(|fd| *fd >= 0).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Allows to write in a place, if it is there. Below a file there is nothing to make.
#[expect(unsafe_code, reason = "there is no safe wrapper for this system call")]
fn allow(ruleset: &OwnedFd, place: &Path, handled: u64) {
    let Ok(parent) = open(place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return };
    let allowed_access = if place.is_dir() { handled } else { handled & (WRITE_FILE | TRUNCATE) };
    let rule = PathBeneath { allowed_access, parent_fd: parent.as_raw_fd() };
    // SAFETY: the kernel reads the rule and holds on to none of it.
    unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0);
    }
}
