//! Who is at the other end of a socket, by what the kernel says: a person's program, or a process of an agent.
//!
//! A shim adopts what its agent leaves behind, so everything that an agent starts stays below it, whatever sessions it
//! makes and whatever it does to its environment. Nothing that a process says of itself makes it somebody else.

use std::{
    io::Read,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_engine::SessionId;
use ostler_files::{kernel, named};
use ostler_shim::{LockLimit, peer_pidfd};
use rustix::{
    net::sockopt::socket_peercred,
    process::{Pid, PidfdFlags, getpid, getuid, pidfd_open},
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    net::UnixStream,
};

use crate::{
    descriptors, home::Home, http::no_descriptors, listening_socket::ListeningSocket,
    refused_connection::refuse,
};

/// How often a walk is begun anew because somebody on the way ended meanwhile.
const WALKS_MAX: u32 = 10;

/// The most that is read of a file in `/proc`: the words that count stand at the beginning.
const PROC_BYTES_MAX: u64 = 1 << 20;

/// Between two looks at a process that cannot be waited for.
const LOOK: Duration = Duration::from_millis(500);

/// Between two attempts to take a connection that the system refused, for want of descriptors for instance.
const AGAIN: Duration = Duration::from_millis(100);

/// Who is connected, as it was when the connection was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Its process.
    pub(crate) process: Process,
    /// To whom it belongs.
    pub(crate) belongs: Belongs,
}

/// A process, told from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// When it began, in the kernel's ticks.
    pub(crate) began: u64,
}

/// To whom a process belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// To the user alone.
    User,
    /// To what runs under a shim: of these, one is it. Anybody can call itself one.
    Shim(Vec<Shim>),
    /// To an agent, by its limit of file locks, its environment or its control group. It is not below its shim.
    Marked,
    /// To the server: one that it started itself, or below one.
    Server,
    /// That cannot be said: it is gone already, or another user's.
    Nobody,
}

/// Whose share of the connections a caller uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CallerShare {
    /// A program of the user's.
    Person,
    /// A process below the shim of this session's directory.
    Session(PathBuf),
    /// A process of an agent that has left its shim, or a process that cannot be told.
    Stray,
}

/// A process that calls itself a shim, and does not carry the mark of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shim {
    directory: PathBuf,
    pid: i32,
}

/// A socket that says of each connection who is there.
#[derive(Debug)]
pub(crate) struct Door {
    listener: ListeningSocket,
    keys: Keys,
}

/// By what processes of agents are known.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    /// Where the sessions of this state directory are.
    sessions: PathBuf,
    /// The word in the markers of this state directory.
    mark: String,
    /// The limit of file locks below which a process is an agent's.
    baseline: LockLimit,
    /// The number of this process.
    server: i32,
}

impl Door {
    /// A door to this state directory.
    pub(crate) fn new(listener: ListeningSocket, home: &Home, mark: &str, baseline: LockLimit) -> Door {
        let (sessions, server) = (home.sessions(), getpid().as_raw_nonzero().get());
        Door { listener, keys: Keys { sessions, mark: mark.to_owned(), baseline, server } }
    }
}

impl Door {
    /// The next connection, and who is there.
    pub(crate) async fn accept(&mut self) -> (UnixStream, Peer) {
        loop {
            match self.listener.accept().await {
                // The reserve is for agents that run; a client can come again.
                Ok(stream) if !descriptors::can_admit() => {
                    refuse(stream, &no_descriptors(), descriptors::RETRY_AFTER_S);
                }
                Ok(stream) => {
                    let peer = self.keys.peer(&stream);
                    return (stream, peer);
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }
}

impl Keys {
    /// Looks at once, before the number of a process that ends can be another's.
    fn peer(&self, stream: &impl AsFd) -> Peer {
        let nobody = || Peer { process: Process::default(), belongs: Belongs::Nobody };
        let Ok(credentials) = socket_peercred(stream) else { return nobody() };
        if credentials.uid != getuid() && !credentials.uid.is_root() {
            return nobody();
        }
        let pid = credentials.pid;
        let Some(pidfd) = peer_pidfd(stream).or_else(|| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            return nobody();
        };
        let found = (0..WALKS_MAX).find_map(|_| self.look(pid.as_raw_nonzero().get()));
        // The process lived until after the walk, so nothing of what was seen was another's.
        if pid_of(&pidfd) == Some(pid) { found.unwrap_or_else(nobody) } else { nobody() }
    }

    /// Walks from a process to the top. Nothing, if somebody on the way has ended.
    fn look(&self, pid: i32) -> Option<Peer> {
        let (mut parent, began) = stat(pid)?;
        let mut shims: Vec<Shim> = self.shim(pid).into_iter().collect();
        let mut child = pid;
        let mut is_below_server = pid == self.server;
        while parent > 0 {
            is_below_server |= parent == self.server;
            let Some((next, _)) = stat(parent) else {
                // Either the system hides it, or it has just ended, and its child is another's now.
                if stat(child)?.0 == parent {
                    break;
                }
                return None;
            };
            shims.extend(self.shim(parent));
            (child, parent) = (parent, next);
        }
        let belongs = match shims.is_empty() {
            false => Belongs::Shim(shims),
            true if self.is_below_baseline(pid) || self.is_marked(pid) => Belongs::Marked,
            true if is_below_server => Belongs::Server,
            true => Belongs::User,
        };
        Some(Peer { process: Process { pid, began }, belongs })
    }

    /// A shim of these sessions, if a process says that it is one. A process of an agent is none, even if it has replaced
    /// the lock of a session by one that it holds.
    fn shim(&self, pid: i32) -> Option<Shim> {
        let command = read(pid, "cmdline")?;
        let mut arguments = command.split(|&byte| byte == 0).skip(1);
        (arguments.next()? == b"__shim").then_some(())?;
        let directory = Path::new(std::ffi::OsStr::from_bytes(arguments.next()?));
        let may_be = directory.starts_with(&self.sessions) && !self.is_below_baseline(pid);
        may_be.then(|| Shim { directory: directory.to_path_buf(), pid })
    }

    /// Whether a process has the limit of an agent. One whose limit cannot be read counts as one.
    fn is_below_baseline(&self, pid: i32) -> bool {
        let limit = Pid::from_raw(pid).and_then(|pid| LockLimit::of(pid).ok());
        limit.is_none_or(|limit| limit < self.baseline)
    }

    /// Whether a process carries the mark of an agent, or is in the control group of one.
    fn is_marked(&self, pid: i32) -> bool {
        let environment = read(pid, "environ").unwrap_or_default();
        let end = format!("@{}", self.mark);
        let is_mark =
            |variable: &[u8]| variable.starts_with(b"OSTLER_SESSION=") && variable.ends_with(end.as_bytes());
        let groups = read(pid, "cgroup").unwrap_or_default();
        let groups = String::from_utf8_lossy(&groups);
        // A shim names the group of its agent after the marker.
        let is_group = |name: &str| name.starts_with("ostler.") && name.contains(&format!("{}.", self.mark));
        environment.split(|&byte| byte == 0).any(is_mark) || groups.split(['/', '\n']).any(is_group)
    }
}

impl Peer {
    /// Whose share of the connections this one counts for. The outermost shim names the session: a process below it can
    /// call itself the shim of another session, and counts for its own all the same.
    pub(crate) fn caller(&self) -> CallerShare {
        match &self.belongs {
            Belongs::User => CallerShare::Person,
            Belongs::Shim(shims) => {
                let session = shims.last().and_then(|shim| shim.directory.parent());
                session.map_or(CallerShare::Stray, |session| CallerShare::Session(session.to_path_buf()))
            }
            Belongs::Marked | Belongs::Server | Belongs::Nobody => CallerShare::Stray,
        }
    }

    /// The session and the launch whose agent it belongs to.
    pub(crate) fn agent(&self) -> Option<(SessionId, u32)> {
        let Belongs::Shim(shims) = &self.belongs else { return None };
        let directory = &shims.iter().find(|shim| shim.is_it())?.directory;
        let session = directory.parent()?.file_name()?.to_str()?.parse().ok()?;
        let launch = directory.file_name()?.to_str()?.parse().ok()?;
        Some((session, launch))
    }
}

impl Shim {
    /// Whether it really is the shim of its directory: it holds the lock there. Where the kernel does not say who does, the
    /// socket tells who listens.
    fn is_it(&self) -> bool {
        let listens = || {
            let peer = ostler_shim::connect(&self.directory).and_then(|stream| Ok(socket_peercred(&stream)?));
            peer.is_ok_and(|peer| peer.pid.as_raw_nonzero().get() == self.pid)
        };
        ostler_shim::holds_lock(&self.directory, self.pid).unwrap_or_else(|_| listens())
    }
}

impl Process {
    /// Waits until it has ended.
    pub(crate) async fn ended(self) {
        if let Some(pidfd) = self.open() {
            // What cannot be waited for is looked at now and then.
            drop(pidfd.readable().await);
        }
        while self.is_there() {
            tokio::time::sleep(LOOK).await;
        }
    }

    #[expect(
        unsafe_code,
        reason = "to wait for a descriptor, the runtime has to be promised that it stays open"
    )]
    fn open(self) -> Option<AsyncFd<OwnedFd>> {
        let pidfd = pidfd_open(Pid::from_raw(self.pid)?, PidfdFlags::empty()).ok()?;
        // SAFETY: the descriptor is owned, always the same, and closed only with what it is wrapped in.
        unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }.ok().filter(|_| self.is_there())
    }

    /// Whether it has not ended. Its number may be another's by now.
    fn is_there(self) -> bool {
        stat(self.pid).is_some_and(|(_, began)| began == self.began) && !is_zombie(self.pid)
    }
}

/// Parent and beginning of a process.
pub(crate) fn stat(pid: i32) -> Option<(i32, u64)> {
    let text = read(pid, "stat")?;
    let text = String::from_utf8_lossy(&text);
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// Whether a process is there and has not ended.
pub(crate) fn is_running(pid: i32) -> bool {
    stat(pid).is_some() && !is_zombie(pid)
}

/// Whether a process has ended, and its parent does not know yet.
fn is_zombie(pid: i32) -> bool {
    let text = read(pid, "stat").unwrap_or_default();
    String::from_utf8_lossy(&text).rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

pub(crate) fn read(pid: i32, file: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = named::open(format!("/proc/{pid}/{file}")).ok()?;
    file.take(PROC_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The number of the process behind a descriptor; nothing, if it is gone.
fn pid_of(pidfd: &OwnedFd) -> Option<Pid> {
    let text = kernel::read_text(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    Pid::from_raw(line.trim().parse().ok().filter(|&pid: &i32| pid > 0)?)
}
