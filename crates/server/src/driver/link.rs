//! A connection to a shim: records come in, commands go out, each with its reply.

use std::{collections::VecDeque, future::Future, io, path::Path, time::Duration};

use ostler_shim::{
    control::{Command, Greeting, Message, Reply, Request},
    spool::Record,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{sleep, timeout},
};

/// The longest line that a shim may send. An item of its output is far below.
const LINE_BYTES_MAX: usize = 16 << 20;

/// How long a shim may take to answer, on a machine and a disk that have a lot else to do.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Between two attempts at a socket whose queue is full.
const QUEUE_LOOK: Duration = Duration::from_millis(20);

/// How much is read at once. There is a connection for each session, and most are silent most of the time.
const READ_BYTES: usize = 1 << 10;

/// A connection that follows a shim's records.
#[derive(Debug)]
pub(super) struct Link {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    line: Vec<u8>,
    next_id: u64,
    /// Records that came while a reply was waited for.
    records: VecDeque<Record>,
    /// The version that the shim speaks.
    version: u32,
}

impl Link {
    /// Connects to the shim of a directory and follows it from behind a record. `TimedOut` if it does not answer.
    pub(super) async fn open(directory: &Path, after_seq: u64) -> io::Result<Link> {
        in_time(Link::greet(directory, after_seq)).await
    }

    async fn greet(directory: &Path, after_seq: u64) -> io::Result<Link> {
        let (reader, writer) = connect(directory).await?.into_split();
        let reader = BufReader::with_capacity(READ_BYTES, reader);
        let mut link =
            Link { reader, writer, line: Vec::new(), next_id: 0, records: VecDeque::new(), version: 0 };
        // Said before the greeting is read: a shim whose agent has ended by now answers it, and is gone.
        let asked = link.say(Command::Follow { after_seq }).await;
        let greeting: Greeting = serde_json::from_slice(link.read_line().await?)?;
        link.version = greeting.shim;
        link.reply_to(asked?).await?;
        Ok(link)
    }

    /// The next record. Safe to drop while it waits: half a line is kept.
    pub(super) async fn next(&mut self) -> io::Result<Record> {
        loop {
            if let Some(record) = self.records.pop_front() {
                return Ok(record);
            }
            if let Message::Record(record) = serde_json::from_slice(self.read_line().await?)? {
                return Ok(record);
            }
        }
    }

    /// A record that is there already. An error comes again with the next record that is waited for.
    pub(super) async fn ready(&mut self) -> Option<Record> {
        tokio::select! {
            biased;
            record = self.next() => record.ok(),
            () = std::future::ready(()) => None,
        }
    }

    /// The length of the line that was read last.
    pub(super) fn line_bytes(&self) -> usize {
        self.line.len()
    }

    /// Says something and waits for the reply. `TimedOut` if none comes.
    pub(super) async fn ask(&mut self, command: Command) -> io::Result<Reply> {
        if self.version != 0 && command.since() > self.version {
            return Ok(Reply::Refused(format!("the shim is of version {}", self.version)));
        }
        in_time(async {
            let id = self.say(command).await?;
            self.reply_to(id).await
        })
        .await
    }

    /// Has the shim end its agent. A shim that does not answer is ended itself.
    pub(super) async fn end(&mut self, directory: &Path, grace_ms: u64) {
        let asked = self.ask(Command::Cancel { grace_ms }).await;
        if asked.is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            // Where nobody can tell who holds the lock, the command is asked again when the connection breaks.
            end_holder(directory).await.ok();
        }
    }

    /// Says something; what the reply is known by.
    async fn say(&mut self, command: Command) -> io::Result<u64> {
        self.next_id += 1;
        let id = self.next_id;
        let mut line = serde_json::to_vec(&Request { id, command })?;
        line.push(b'\n');
        self.writer.write_all(&line).await?;
        Ok(id)
    }

    async fn reply_to(&mut self, id: u64) -> io::Result<Reply> {
        loop {
            match serde_json::from_slice(self.read_line().await?)? {
                Message::Reply { id: of, reply } if of == id => return Ok(reply),
                Message::Reply { .. } => {}
                Message::Record(record) => self.records.push_back(record),
            }
        }
    }

    async fn read_line(&mut self) -> io::Result<&[u8]> {
        if self.line.ends_with(b"\n") {
            self.line.clear();
        }
        while !self.line.ends_with(b"\n") {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let length = piece.iter().position(|&byte| byte == b'\n').map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..length]);
            self.reader.consume(length);
            if self.line.len() > LINE_BYTES_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a shim's line is too long"));
            }
        }
        Ok(&self.line)
    }
}

/// Ends the process that holds the lock of a directory, and with it the agent. Only for a shim that does not answer.
///
/// Says how many were ended; an error if nobody can tell who holds the lock.
pub(super) async fn end_holder(directory: &Path) -> io::Result<usize> {
    let directory = directory.to_path_buf();
    let ended = tokio::task::spawn_blocking(move || ostler_shim::end_lock_holder(&directory)).await;
    ended.map_err(io::Error::other)?
}

/// Connects to a shim, and waits where its queue is full.
async fn connect(directory: &Path) -> io::Result<UnixStream> {
    loop {
        match ostler_shim::connect(directory) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(QUEUE_LOOK).await,
            Err(error) => return Err(error),
            Ok(stream) => {
                stream.set_nonblocking(true)?;
                return UnixStream::from_std(stream);
            }
        }
    }
}

/// Bounds what a shim is asked: one that is stopped never answers.
async fn in_time<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(ANSWER_MAX, work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
#[path = "../../../shim/tests/replay/mod.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ostler_shim::{
        control::VERSION,
        spool::{self, Happening},
    };

    use super::{replay::Replay, *};

    /// A shim that was started by an older Ostler is still there when a newer one starts.
    #[tokio::test]
    async fn recorded_shims_of_every_version_are_followed_and_steered() {
        for version in 1..=VERSION {
            follow_and_steer(version).await;
        }
    }

    async fn follow_and_steer(version: u32) {
        let recordings = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shim/tests/recorded");
        let recording = recordings.join(format!("shim-v{version}"));
        let program = std::env::current_exe().expect("a program");
        let target = program.ancestors().nth(3).expect("a target directory");
        let shim = Replay::start(&recording, &target.join(format!("tmp/server-shim-v{version}")));
        let mut link = Link::open(&shim.directory, 0).await.expect("it greets");
        let mut heard = Vec::new();
        while heard.len() < 4 {
            heard.push(link.next().await.expect("a record"));
        }
        assert!(matches!(heard[3].what, Happening::Stopped { .. }));
        let input =
            Command::Input { key: "q_1".to_owned(), text: "x\n".to_owned(), go_on: false, asked: None };
        assert_eq!(link.ask(input).await.expect("an answer"), Reply::Done);
        assert_eq!(link.ask(Command::Stop).await.expect("an answer"), Reply::Done);
        assert_eq!(link.ask(Command::GoOn { after: Some(4) }).await.expect("an answer"), Reply::Done);
        let close = link.ask(Command::CloseInput { key: "close".to_owned() }).await.expect("an answer");
        let is_refused = matches!(close, Reply::Refused(_));
        assert_eq!(is_refused, version < 2, "only a shim that knows it is asked: {close:?}");
        assert_eq!(link.ask(Command::Cancel { grace_ms: 0 }).await.expect("an answer"), Reply::Done);
        while !matches!(heard.last().map(|record| &record.what), Some(Happening::Ended { .. })) {
            heard.push(link.next().await.expect("a record"));
        }
        assert_eq!(heard, spool::read(&recording).expect("a spool"), "each record came once");
        drop(link);
        shim.join();
    }
}
