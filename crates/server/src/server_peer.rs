//! Whether the process that listens at a socket of the server may be the server.
//!
//! Every process of the user can remove `api.sock` or `channel.sock` and bind its own there. So nothing is sent before
//! the kernel was asked who listens: a process of an agent carries a lower limit of file locks, and cannot raise it.

use std::{fmt, io, os::fd::AsFd};

use ostler_shim::LockLimit;
use rustix::net::sockopt::socket_peercred;

/// Who asks a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Whoever runs `ostler`: the server has at least the limit of this process.
    Anybody,
    /// A process of an agent: the server has a higher limit than this process, unless this one has none at all, as under
    /// a shim from before there were marks.
    Agent,
}

/// A process that carries the mark of an agent listens in place of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotTheServer {
    pub(crate) pid: i32,
}

/// Looks at the process at the other end of a connection, before anything is sent.
pub(crate) fn check(stream: &impl AsFd, asker: Asker) -> io::Result<()> {
    let pid = socket_peercred(stream)?.pid.as_raw_nonzero().get();
    let (server, own) = (LockLimit::of_peer(stream)?, LockLimit::own());
    let is_server = match asker {
        Asker::Anybody => server >= own,
        Asker::Agent => server > own || server == LockLimit::UNLIMITED,
    };
    if is_server { Ok(()) } else { Err(NotTheServer { pid }.into()) }
}

impl NotTheServer {
    /// What an error of a connection says about it.
    pub(crate) fn of(error: &io::Error) -> Option<NotTheServer> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<NotTheServer> for io::Error {
    fn from(why: NotTheServer) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, why)
    }
}

impl fmt::Display for NotTheServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}, which carries the mark of an agent, listens in place of the server", self.pid)
    }
}

impl std::error::Error for NotTheServer {}
