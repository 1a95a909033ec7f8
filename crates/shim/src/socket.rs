//! The control socket: who may talk, lines in, lines out, and no client that can hold the shim up.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd},
        unix::{
            fs::{FileExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::Path,
};

use rustix::{
    event::{PollFd, PollFlags},
    fs::{Mode, OFlags, open},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with, sockopt::socket_peercred},
    process::getuid,
};
use serde::Serialize;

use crate::{
    control::{Greeting, Request, SOCKET},
    error::Error,
    lock_limit::LockLimit,
    spool::Record,
};

/// The longest request; input is the only long one.
const REQUEST_BYTES_MAX: usize = 17 << 20;

/// What may wait for a client that does not read; what comes on top of it waits in the spool.
const OUTBOX_BYTES_MAX: usize = 1 << 20;

/// How many may be connected: a server, a few people who look, and nobody who wants to use up descriptors.
const CLIENTS_MAX: usize = 16;

/// How many connections are accepted before the agent is looked after again.
const ACCEPTS_PER_TURN: usize = 32;

/// The socket and who is connected.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    pub(crate) clients: Vec<Client>,
    greeting: Greeting,
    /// The limit of file locks below which a process is an agent's.
    person_limit: LockLimit,
}

/// Somebody who is connected.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    follows: Option<Follower>,
    /// Whether it says nothing more. What it has said still counts, and it may still listen.
    ended: bool,
    /// Whether it takes nothing more. What it said before still counts.
    deaf: bool,
    gone: bool,
}

/// How far somebody has read the spool.
#[derive(Debug)]
struct Follower {
    after_seq: u64,
    /// Where the next record begins in the file.
    offset: u64,
}

impl Socket {
    pub(crate) fn bind(
        directory: &Path,
        greeting: Greeting,
        person_limit: LockLimit,
    ) -> Result<Socket, Error> {
        let listener =
            bind(directory).map_err(|source| Error::System { what: "open the control socket", source })?;
        Ok(Socket { listener, clients: Vec::new(), greeting, person_limit })
    }

    /// Accepts connections of the same user's processes that are not an agent's, while there is room. Only so many per
    /// turn: a process that connects without end must not keep the shim from everything else.
    pub(crate) fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Ok((stream, _)) = self.listener.accept() else { break };
            let has_room = self.clients.len() < CLIENTS_MAX;
            if has_room && self.may_steer(&stream) && stream.set_nonblocking(true).is_ok() {
                let mut client = Client::new(stream);
                client.send(&self.greeting);
                self.clients.push(client);
            }
        }
    }

    /// Whether a process may steer the agent: one of the same user, and without the mark that agents carry.
    fn may_steer(&self, stream: &UnixStream) -> bool {
        let same_user = socket_peercred(stream).is_ok_and(|peer| peer.uid == getuid());
        same_user && LockLimit::of_peer(stream).is_ok_and(|limit| limit >= self.person_limit)
    }

    /// Brings everybody who follows up to date and writes what can be written. Who is gone is forgotten.
    pub(crate) fn flush(&mut self, spool: &File, length: u64) {
        for client in &mut self.clients {
            client.flush();
            while client.has_room() && client.read_spool(spool, length) {
                client.flush();
            }
        }
        self.clients.retain(|client| !client.is_done());
    }
}

impl Client {
    fn new(stream: UnixStream) -> Self {
        Client {
            stream,
            inbox: Vec::new(),
            outbox: Vec::new(),
            follows: None,
            ended: false,
            deaf: false,
            gone: false,
        }
    }

    /// What to wait for: that it says something, or takes what waits for it.
    pub(crate) fn event(&self) -> PollFd<'_> {
        let words = if self.ended { PollFlags::empty() } else { PollFlags::IN };
        let mail = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        PollFd::new(&self.stream, words | mail)
    }

    /// Whether nothing more can come of it.
    fn is_done(&self) -> bool {
        self.gone || (self.ended && self.outbox.is_empty() && !self.inbox.contains(&b'\n'))
    }

    /// Whether more can be sent to it now.
    pub(crate) fn has_room(&self) -> bool {
        !self.gone && self.outbox.len() < OUTBOX_BYTES_MAX
    }

    /// Whether it has asked for something that can be done now.
    pub(crate) fn has_request(&self) -> bool {
        self.has_room() && self.inbox.contains(&b'\n')
    }

    /// Sends every record behind this one from now on.
    pub(crate) fn follow(&mut self, after_seq: u64) {
        self.follows = Some(Follower { after_seq, offset: 0 });
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) {
        serde_json::to_writer(&mut self.outbox, message).expect("a message has only text and numbers");
        self.outbox.push(b'\n');
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    /// The next request that has come in whole; an unreadable one ends the connection.
    pub(crate) fn next_request(&mut self) -> Option<Request> {
        let end = self.inbox.iter().position(|&byte| byte == b'\n')?;
        let request = serde_json::from_slice(&self.inbox[..end]).ok();
        self.inbox.drain(..=end);
        self.gone |= request.is_none();
        request
    }

    /// Takes what has come in.
    pub(crate) fn read(&mut self) {
        let mut buffer = [0; 16 << 10];
        while !self.ended && self.inbox.len() <= REQUEST_BYTES_MAX {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(read) => self.inbox.extend_from_slice(&buffer[..read]),
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) if source.kind() == io::ErrorKind::WouldBlock => return,
                // It has gone without having read everything.
                Err(_) => {
                    self.ended = true;
                    self.stop_sending();
                }
            }
        }
        self.gone |= !self.ended && !self.inbox.contains(&b'\n');
    }

    /// Takes the next records from the spool. Whether there were any.
    fn read_spool(&mut self, spool: &File, length: u64) -> bool {
        let Some(follower) = &mut self.follows else { return false };
        let mut bytes =
            vec![0; usize::try_from(length - follower.offset).unwrap_or(usize::MAX).min(SPOOL_PIECE)];
        let read = spool.read_exact_at(&mut bytes, follower.offset);
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if read.is_err() || (whole == 0 && !bytes.is_empty()) {
            self.gone = true;
        }
        if self.gone || whole == 0 {
            return false;
        }
        for line in bytes[..whole].split_inclusive(|&byte| byte == b'\n') {
            let is_new =
                serde_json::from_slice(line).is_ok_and(|record: Record| record.seq > follower.after_seq);
            if is_new {
                self.outbox.extend_from_slice(b"{\"record\":");
                self.outbox.extend_from_slice(line.trim_ascii_end());
                self.outbox.extend_from_slice(b"}\n");
            }
        }
        follower.offset += whole as u64;
        true
    }

    fn stop_sending(&mut self) {
        self.deaf = true;
        self.follows = None;
        self.outbox = Vec::new();
    }

    fn flush(&mut self) {
        if self.deaf {
            self.outbox.clear();
        }
        while !self.outbox.is_empty() {
            match self.stream.write(&self.outbox) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) if source.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stop_sending(),
            }
        }
    }
}

/// How much of the spool is read at once; a record is far shorter.
const SPOOL_PIECE: usize = 2 << 20;

/// A socket's path may have only 108 bytes; through the directory's descriptor it is always short.
fn bind(directory: &Path) -> io::Result<UnixListener> {
    let path = directory.join(SOCKET);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(source),
        _ => {}
    }
    let directory = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let listener = UnixListener::bind(through(&directory))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Connects to the shim of a directory without waiting: if its queue is full, this is `WouldBlock`.
///
/// A shim that is stopped takes no connection out of its queue, and an agent can fill the queue. A connect that waits
/// would wait for ever then.
pub fn connect(directory: &Path) -> io::Result<UnixStream> {
    let directory = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let address = SocketAddrUnix::new(through(&directory))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &address)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn through(directory: &impl AsFd) -> String {
    format!("/proc/self/fd/{}/{SOCKET}", directory.as_fd().as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_accepts_a_bounded_number_of_connections() {
        let program = std::env::current_exe().expect("a test is a program");
        let directory = program.with_extension(format!("crowd-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the target directory can be written");
        let greeting = Greeting { shim: 2, session: "s_1".to_owned() };
        let mut socket = Socket::bind(&directory, greeting, LockLimit::own()).expect("a socket");
        let crowd: Vec<UnixStream> =
            (0..2 * ACCEPTS_PER_TURN).map(|_| connect(&directory).expect("it listens")).collect();
        socket.accept();
        let spool = ostler_files::private::create(directory.join("spool")).expect("a file");
        socket.flush(&spool, 0);
        let is_answered = |mut stream: &UnixStream| {
            stream.set_nonblocking(true).expect("an open connection");
            // Greeted, or turned away because the room is full.
            stream.read(&mut [0; 1]).is_ok()
        };
        assert_eq!(crowd.iter().filter(|stream| is_answered(stream)).count(), ACCEPTS_PER_TURN);
        assert_eq!(socket.clients.len(), CLIENTS_MAX);
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
