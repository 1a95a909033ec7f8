//! Whether the process that listens at a shim's socket is that shim.
//!
//! Every process of the user can remove the socket of a shim and bind its own there, replace the lock, or put the files
//! of one shim in the place of another's. So the server asks the kernel before it says anything, and the greeting after
//! that. No single one of these is enough:
//!
//! | what is looked at | whom it keeps out |
//! |---|---|
//! | the limit of file locks | every process of an agent, whatever lock or socket it has made |
//! | the lock of the directory | a process that only listens there |
//! | the session in the greeting | the shim of another session, whose socket and lock were moved there |

use std::{
    fmt, io,
    os::{fd::AsFd, unix::net::UnixStream},
    path::PathBuf,
};

use rustix::{net::sockopt::socket_peercred, process::geteuid};

use crate::{
    control::Greeting,
    lock_holder::{has_takers, holds_lock},
    lock_limit::LockLimit,
    socket,
};

/// The shim that is to be at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimPeer {
    /// Its directory.
    pub directory: PathBuf,
    /// The session that it was handed with its launch.
    pub session: String,
    /// The limit of file locks below which a process is an agent's.
    pub baseline: LockLimit,
}

/// Why a process that listens at a shim's socket is not that shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTheShim {
    /// It belongs to another user.
    OtherUser,
    /// It carries the mark of an agent.
    Marked,
    /// Another process holds the lock of the directory.
    NoLock,
    /// It is the shim of another session.
    OtherSession,
}

impl ShimPeer {
    /// Connects without waiting, and looks who listens. An error of the kind `PermissionDenied` with a [`NotTheShim`]
    /// says that another process does.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let stream = socket::connect(&self.directory)?;
        self.check(&stream)?;
        Ok(stream)
    }

    /// Looks at the process at the other end. One that has just ended is `NotConnected`.
    fn check(&self, stream: &impl AsFd) -> io::Result<()> {
        let credentials = socket_peercred(stream)?;
        if credentials.uid != geteuid() {
            return Err(NotTheShim::OtherUser.into());
        }
        if LockLimit::of_peer(stream)? < self.baseline {
            return Err(NotTheShim::Marked.into());
        }
        let pid = credentials.pid.as_raw_nonzero().get();
        // A kernel that names no holder of locks does not say. The other two looks count alone then.
        if !holds_lock(&self.directory, pid).unwrap_or(true) && has_takers(&self.directory).unwrap_or(false) {
            return Err(NotTheShim::NoLock.into());
        }
        Ok(())
    }

    /// Looks at what it says of itself.
    pub fn check_greeting(&self, greeting: &Greeting) -> Result<(), NotTheShim> {
        if greeting.session == self.session { Ok(()) } else { Err(NotTheShim::OtherSession) }
    }
}

impl NotTheShim {
    /// What an error of a connection says about it.
    pub fn of(error: &io::Error) -> Option<NotTheShim> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<NotTheShim> for io::Error {
    fn from(why: NotTheShim) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, why)
    }
}

impl fmt::Display for NotTheShim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotTheShim::OtherUser => "a process of another user answers in place of the shim",
            NotTheShim::Marked => "a process with the mark of an agent answers in place of the shim",
            NotTheShim::NoLock => "a process without the lock of the session answers in place of the shim",
            NotTheShim::OtherSession => "the shim of another session answers in place of the shim",
        })
    }
}

impl std::error::Error for NotTheShim {}
