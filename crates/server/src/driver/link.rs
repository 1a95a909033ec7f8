//! A connection to a shim: records come in, commands go out, each with its reply.

use std::{collections::VecDeque, future::Future, io, path::Path, time::Duration};

use ostler_shim::{
    LOCK, ShimPeer,
    control::{Command, Greeting, Message, Reply, Request},
    end_displaced_shims, end_lock_holder,
    spool::Record,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::peer::is_running;

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
    shim: ShimPeer,
    /// When an agent that was told to end has to have ended.
    ends_by: Option<Instant>,
}

impl Link {
    /// Connects to a shim and follows it from behind a record. `TimedOut` if it does not answer; an error with a
    /// `NotTheShim` if another process answers in its place.
    pub(super) async fn open(shim: &ShimPeer, after_seq: u64) -> io::Result<Link> {
        in_time(Link::greet(shim, after_seq)).await
    }

    async fn greet(shim: &ShimPeer, after_seq: u64) -> io::Result<Link> {
        let (reader, writer) = connect(shim).await?.into_split();
        let reader = BufReader::with_capacity(READ_BYTES, reader);
        let mut link = Link {
            reader,
            writer,
            line: Vec::new(),
            next_id: 0,
            records: VecDeque::new(),
            version: 0,
            shim: shim.clone(),
            ends_by: None,
        };
        // Said before the greeting is read: a shim whose agent has ended by now answers it, and is gone.
        let asked = link.say(Command::Follow { after_seq }).await;
        let greeting: Greeting = serde_json::from_slice(link.read_line().await?)?;
        shim.check_greeting(&greeting)?;
        link.version = greeting.shim;
        link.reply_to(asked?).await?;
        Ok(link)
    }

    /// The next record. Safe to drop while it waits: half a line is kept.
    ///
    /// `TimedOut` if the agent was told to end and lives on, whatever its shim has answered. The shim is ended then.
    pub(super) async fn next(&mut self) -> io::Result<Record> {
        loop {
            if let Some(record) = self.records.pop_front() {
                return Ok(record);
            }
            let ends_by = self.ends_by;
            let line = tokio::select! {
                biased;
                line = self.read_line() => Some(line?),
                () = reached(ends_by) => None,
            };
            match line.map(serde_json::from_slice).transpose()? {
                Some(Message::Record(record)) => return Ok(record),
                Some(Message::Reply { .. }) => {}
                None => self.end_overdue().await?,
            }
        }
    }

    /// Ends the shim of an agent that has not ended in time. A shim whose agent is gone is left alone: it waits for a full
    /// disk, and has the last words of its agent.
    async fn end_overdue(&mut self) -> io::Result<()> {
        match self.ask(Command::Status).await {
            Ok(Reply::Status(status)) if !is_running(status.pid) => {
                self.ends_by = Some(Instant::now() + ANSWER_MAX);
                Ok(())
            }
            _ => {
                // Where nobody can tell who holds the lock, it is tried again over the next connection.
                end_holder(&self.shim.directory).await.ok();
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    /// Bounds how long the agent, which was told to end, may still live.
    pub(super) fn expect_end(&mut self, grace_ms: u64) {
        let grace = Duration::from_millis(grace_ms).saturating_add(ANSWER_MAX);
        // A length of time that no clock can count is no bound.
        self.ends_by = Instant::now().checked_add(grace);
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
        if let Command::Cancel { grace_ms } = &command
            && self.ends_by.is_none()
        {
            self.expect_end(*grace_ms);
        }
        in_time(async {
            let id = self.say(command).await?;
            self.reply_to(id).await
        })
        .await
    }

    /// Has the shim end its agent. A shim that does not answer is ended itself.
    pub(super) async fn end(&mut self, grace_ms: u64) {
        let asked = self.ask(Command::Cancel { grace_ms }).await;
        if asked.is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            // Where nobody can tell who holds the lock, the command is asked again when the connection breaks.
            end_holder(&self.shim.directory).await.ok();
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
/// An error if nobody can tell who holds the lock.
pub(super) async fn end_holder(directory: &Path) -> io::Result<()> {
    let directory = directory.to_path_buf();
    let ended = tokio::task::spawn_blocking(move || {
        // The lock of another shim may have been linked there. Without it the shim of this directory is lost for good.
        if end_lock_holder(&directory)? == 0 && end_displaced_shims(&directory)? > 0 {
            std::fs::remove_file(directory.join(LOCK))?;
        }
        Ok(())
    });
    ended.await.map_err(io::Error::other)?
}

/// Connects to a shim, and waits where its queue is full.
async fn connect(shim: &ShimPeer) -> io::Result<UnixStream> {
    loop {
        match shim.connect() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(QUEUE_LOOK).await,
            Err(error) => return Err(error),
            Ok(stream) => {
                stream.set_nonblocking(true)?;
                return UnixStream::from_std(stream);
            }
        }
    }
}

/// Waits for a time, or for ever.
async fn reached(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
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
        LockLimit, NotTheShim,
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
        let peer = ShimPeer {
            directory: shim.directory.clone(),
            session: format!("s_recorded_v{version}"),
            baseline: LockLimit::own(),
        };
        let mut link = Link::open(&peer, 0).await.expect("it greets");
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

    /// Obeys every command in words, and in deed none.
    const LIAR: &str = r#"
import fcntl, json, os, socket, sys
os.chdir(sys.argv[1])
lock = open("lock", "a")
fcntl.flock(lock, fcntl.LOCK_EX)
it = socket.socket(socket.AF_UNIX)
it.bind("ctl.sock")
it.listen()
print("ready", flush=True)
server = it.accept()[0]
server.sendall(b'{"shim":2,"session":"s_1.1@x"}\n')
status = {"pid": os.getpid(), "stopped": False, "stalled": False, "cancelling": True, "output_bytes": 0, "input_bytes": 0, "last_seq": 0}
for line in server.makefile("rb"):
    request = json.loads(line)
    reply = {"status": status} if request["do"] == "status" else {"done": None}
    server.sendall((json.dumps({"reply": {"id": request["id"], **reply}}) + "\n").encode())
"#;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a test starts what stands for a shim")]
    async fn a_shim_that_says_it_ends_its_agent_and_does_not_is_ended() {
        let program = std::env::current_exe().expect("a program");
        let target = program.ancestors().nth(3).expect("a target directory");
        let directory = target.join(format!("tmp/server-liar-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("__shim"), LIAR).expect("a file");
        let mut liar = std::process::Command::new("python3")
            .arg("__shim")
            .arg(&directory)
            .current_dir(&directory)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("python runs");
        let mut ready = [0; 6];
        io::Read::read_exact(liar.stdout.as_mut().expect("a pipe"), &mut ready).expect("it is ready");
        let (session, baseline) = ("s_1.1@x".to_owned(), LockLimit::own());
        let shim = ShimPeer { directory: directory.clone(), session, baseline };
        let other = ShimPeer { session: "s_2.1@x".to_owned(), ..shim.clone() };
        assert_eq!(
            other.check_greeting(&Greeting { shim: 2, session: shim.session.clone() }),
            Err(NotTheShim::OtherSession)
        );
        let mut link = Link::open(&shim, 0).await.expect("it greets");
        assert_eq!(link.ask(Command::Cancel { grace_ms: 10 }).await.expect("an answer"), Reply::Done);
        let ended = link.next().await.expect_err("there is no record");
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
        let status =
            tokio::task::spawn_blocking(move || liar.wait()).await.expect("a thread").expect("a child");
        assert!(!status.success(), "it was ended");
        std::fs::remove_dir_all(&directory).expect("it is ours");
    }
}
