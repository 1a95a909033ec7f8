//! The loop: waits for whatever comes next, and does what follows from it.
//!
//! The order at a signal is fixed: the tree is stopped, the log is synced, the record is written and synced, and
//! only then is anybody told.

use std::{
    fs::File,
    mem,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ostler_protocol::{Format, Item, Parser, Settings, What, fault::Severity, signal::Signal, stream::Table};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read},
    process::{Pid, WaitOptions, WaitStatus, getpid, getsid, set_child_subreaper, setsid, waitpid},
};

use crate::{
    agent::{Agent, reset_signals},
    control::{Command, Greeting, Message, Reply, Request, Status, VERSION},
    error::Error,
    files,
    input::Input,
    launch::{Launch, OutputFormat},
    output::{ERR, Log, OUT},
    socket::{Client, Socket},
    spool::{self, Happening, Spool, StallReason, StopCause},
    tree::{self, Stopped},
};

/// The most that is read at once.
const CHUNK: usize = 16 << 10;

/// How much is read before the server is listened to again: an agent that prints without end must not keep it away.
const CHUNKS_PER_STEP: usize = 4;

/// The most of the log that one reply holds.
const TAIL_BYTES_MAX: usize = 256 << 10;

/// By how much a full log may grow when somebody sends the agent on.
const LOG_BYTES_MORE: u64 = 64 << 20;

/// How long a busy tree keeps a silence from counting.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at what nobody announces.
const TICK: Duration = Duration::from_millis(20);

/// The longest sleep: an orphan that has ended is buried within it.
const TICK_MAX: Duration = Duration::from_secs(1);

/// Runs the agent of a directory until nothing of it is left.
pub fn run(directory: &Path) -> Result<(), Error> {
    let _lock = files::hold(directory)?;
    let launch = Launch::read(directory)?;
    let mut shim = Shim::start(directory, &launch)?;
    let ended = shim.run();
    // Whatever went wrong, nothing of the agent is left running without anybody to listen.
    shim.end().and(ended)
}

struct Shim {
    directory: PathBuf,
    agent: Agent,
    parser: Parser,
    out: Log,
    err: Log,
    spool: Spool,
    socket: Socket,
    /// Whether a message that asks for something stops the tree.
    stops: bool,
    stopped: Option<Stopped>,
    /// Whether somebody was told that it is stopped; otherwise it is only held for a moment.
    stop_noted: bool,
    /// The record of the last stop.
    stop_seq: u64,
    /// Output has nowhere to go: nothing is read until somebody sends the agent on.
    stalled: bool,
    /// When the grace of a cancellation runs out.
    cancel_at: Option<Instant>,
    input: Input,
    heard_at: Instant,
}

impl Shim {
    fn start(directory: &Path, launch: &Launch) -> Result<Shim, Error> {
        // A client that is gone must be an error, not the end.
        reset_signals(Some(libc::SIGPIPE));
        lead_session().map_err(system("lead a session"))?;
        set_child_subreaper(Some(getpid())).map_err(system("adopt orphans"))?;
        let greeting = Greeting { shim: VERSION, session: launch.session.clone() };
        let parser = parser(launch)?;
        let (out, err) = (
            Log::create(directory, OUT, launch.log_bytes_max)?,
            Log::create(directory, ERR, launch.log_bytes_max)?,
        );
        let (mut spool, socket) = (Spool::create(directory)?, Socket::bind(directory, greeting)?);
        let mut agent = match Agent::start(launch) {
            Ok(agent) => agent,
            Err(error) => {
                spool.add(Happening::NotStarted { message: error.to_string() });
                let path = directory.join(spool::FILE);
                spool.write().map_err(|source| Error::Write { path, source })?;
                return Err(error);
            }
        };
        let pid = agent.pid;
        let input = Input::new(agent.input.take(), agent.has_terminal());
        let mut shim = Shim {
            directory: directory.to_path_buf(),
            agent,
            parser,
            out,
            err,
            spool,
            socket,
            stops: launch.stop,
            stopped: None,
            stop_noted: false,
            stop_seq: 0,
            stalled: false,
            cancel_at: None,
            input,
            heard_at: Instant::now(),
        };
        let began = tree::look(pid).map_or(0, |process| process.began);
        shim.spool.add(Happening::Started { pid: raw(pid), began });
        shim.write_down();
        Ok(shim)
    }

    /// Handles one thing after the other until the agent has ended.
    fn run(&mut self) -> Result<(), Error> {
        let unknown = |source| Error::System { what: "wait for the agent", source };
        while !self.agent.has_ended().map_err(unknown)? {
            self.wait()?;
            self.read_output(CHUNKS_PER_STEP);
            self.read_errors(CHUNKS_PER_STEP);
            self.end_silence();
            self.input.write();
            self.note_consumed();
            self.talk();
            if self.cancel_at.is_some_and(|at| Instant::now() >= at) {
                tree::kill(getpid(), self.agent.pid);
            }
            bury_adopted(self.agent.pid);
        }
        Ok(())
    }

    /// Listens to the server, writes down what happened, and tells.
    fn talk(&mut self) {
        self.socket.accept();
        self.serve();
        self.write_down();
        self.socket.flush(&self.directory.join(spool::FILE), self.spool.length());
    }

    /// Sleeps until one of the streams, the socket or the clock has something.
    fn wait(&self) -> Result<(), Error> {
        let mut fds = vec![
            PollFd::new(&self.agent.ended, PollFlags::IN),
            PollFd::new(&self.socket.listener, PollFlags::IN),
        ];
        let output = self.agent.output.iter().filter(|_| !self.stalled);
        fds.extend(output.chain(&self.agent.errors).map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.input.event());
        fds.extend(self.socket.clients.iter().map(|client| {
            let mail = if client.has_mail() { PollFlags::OUT } else { PollFlags::empty() };
            PollFd::new(&client.stream, PollFlags::IN | mail)
        }));
        let timeout = self.timeout();
        let timeout = Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(source) => Err(Error::System { what: "wait for events", source: source.into() }),
        }
    }

    /// How long to sleep at the most.
    fn timeout(&self) -> Duration {
        let now = Instant::now();
        // Who is stopped keeps no silence that could end.
        let patience = self.parser.patience().filter(|_| !self.stop_noted && !self.stalled);
        let silence =
            patience.map_or(TICK_MAX, |patience| patience.saturating_sub(now - self.heard_at).max(TICK));
        let cancel = self.cancel_at.map_or(TICK_MAX, |at| at.saturating_duration_since(now).max(TICK));
        // Who is stopped reads nothing.
        let input = self.input.look_after().filter(|_| self.stopped.is_none()).unwrap_or(TICK_MAX);
        silence.min(cancel).min(input).min(TICK_MAX)
    }

    /// Takes what the agent has printed, as long as there is more of it, up to so many chunks.
    fn read_output(&mut self, chunks_max: usize) {
        let mut buffer = [0; CHUNK];
        for _ in 0..chunks_max {
            let Some(output) = self.agent.output.as_ref().filter(|_| !self.stalled) else { break };
            let room = self.out.room().min(CHUNK);
            if room == 0 {
                self.stall(StallReason::LogFull);
                break;
            }
            match read(output, &mut buffer[..room]) {
                Ok(0) => self.agent.output = None,
                Ok(length) => self.hear(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // A terminal whose last user is gone says EIO.
                Err(_) => self.agent.output = None,
            }
        }
    }

    /// Stops first: each instruction between the agent's write and the stop is one that it may run on.
    fn hear(&mut self, bytes: &[u8]) {
        self.heard_at = Instant::now();
        self.parser.push(bytes);
        let items: Vec<Item> = self.parser.by_ref().collect();
        let asked = self.stops_at(&items);
        if asked {
            self.hold();
        }
        self.note(&items);
        if asked {
            self.note_stop(StopCause::Signal);
        }
        if let Err(source) = self.out.append(bytes) {
            self.stall(StallReason::Disk { message: source.to_string() });
        }
        if !items.is_empty() {
            self.write_down();
        }
    }

    fn note(&mut self, items: &[Item]) {
        for item in items {
            let item = serde_json::to_value(item).expect("an item has only text and numbers");
            self.spool.add(Happening::Heard { item });
        }
    }

    /// Whether the agent is to be stopped after saying this.
    fn stops_at(&self, items: &[Item]) -> bool {
        self.stops && self.cancel_at.is_none() && items.iter().any(asks)
    }

    /// Stops the whole tree, unless it is stopped.
    fn hold(&mut self) {
        self.stopped.get_or_insert_with(|| tree::stop(getpid(), self.agent.pid));
    }

    /// Says once that the tree is stopped.
    fn note_stop(&mut self, cause: StopCause) {
        if let Some(stopped) = &self.stopped
            && !mem::replace(&mut self.stop_noted, true)
        {
            let (processes, confirmed) = (stopped.count(), stopped.confirmed);
            self.stop_seq = self.spool.add(Happening::Stopped { cause, processes, confirmed });
        }
    }

    /// Writes down what happened, for good, and only then tells.
    fn write_down(&mut self) {
        if !self.spool.has_waiting() {
            return;
        }
        let written = self.out.append(&[]).and_then(|()| self.out.sync()).and_then(|()| self.spool.write());
        if let Err(source) = written {
            self.stall(StallReason::Disk { message: source.to_string() });
        }
    }

    /// Stops the agent because its output has nowhere to go.
    fn stall(&mut self, reason: StallReason) {
        if self.stalled {
            return;
        }
        self.stalled = true;
        self.hold();
        self.note_stop(StopCause::Stall);
        self.spool.add(Happening::Stalled { reason });
    }

    fn read_errors(&mut self, chunks_max: usize) {
        let mut buffer = [0; CHUNK];
        for _ in 0..chunks_max {
            let Some(errors) = &self.agent.errors else { break };
            match read(errors, &mut buffer) {
                Ok(0) => self.agent.errors = None,
                // Beyond its limit, or on a full disk, the log of errors ends; nobody is stopped for it.
                Ok(length) => {
                    if self.err.append(&buffer[..length.min(self.err.room())]).is_err() {
                        self.err.give_up();
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.agent.errors = None,
            }
        }
    }

    /// Ends what a silence ends, unless the tree is only slow.
    fn end_silence(&mut self) {
        // Who is stopped says nothing because of that.
        if self.stop_noted || self.stalled {
            return;
        }
        let Some(patience) = self.parser.patience() else { return };
        let silence = self.heard_at.elapsed();
        let is_slow = || silence < patience + BUSY_PATIENCE && tree::is_busy(getpid());
        if silence < patience || (self.stopped.is_none() && is_slow()) {
            return;
        }
        // Nothing may be said while the message is closed, or it would be cut in two.
        let heard_at = self.heard_at;
        if self.stops {
            self.hold();
        }
        self.read_output(usize::MAX);
        if self.heard_at == heard_at {
            self.parser.silent_for(patience);
            let items: Vec<Item> = self.parser.by_ref().collect();
            self.note(&items);
            if self.stops_at(&items) {
                self.note_stop(StopCause::Signal);
            }
        }
        if !self.stop_noted {
            self.go_on();
        }
        self.write_down();
    }

    fn go_on(&mut self) {
        if let Some(stopped) = self.stopped.take() {
            self.stop_noted = false;
            self.heard_at = Instant::now();
            self.input.agent_runs();
            tree::go_on(&stopped);
        }
    }

    /// Notes what the agent has read to its end.
    fn note_consumed(&mut self) {
        for key in self.input.consumed() {
            self.spool.add(Happening::Consumed { key });
        }
    }

    /// Does what the server wants, as long as it takes the answers.
    fn serve(&mut self) {
        let mut clients = mem::take(&mut self.socket.clients);
        for client in &mut clients {
            client.read();
            while client.has_room()
                && let Some(Request { id, command }) = client.next_request()
            {
                let (reply, bytes) = self.obey(command, client);
                client.send(&Message::Reply { id, reply });
                client.send_bytes(&bytes);
            }
        }
        self.socket.clients = clients;
    }

    /// Carries out one command: the reply, and bytes that follow it.
    fn obey(&mut self, command: Command, client: &mut Client) -> (Reply, Vec<u8>) {
        let reply = match command {
            Command::Status => Reply::Status(self.report()),
            Command::Input { key, text, go_on } => self.take_input(key, &text, go_on),
            Command::CloseInput { key } => self.close_input(key),
            Command::Stop => {
                self.hold();
                self.note_stop(StopCause::Command);
                Reply::Done
            }
            Command::GoOn { after } if after.is_some_and(|after| after < self.stop_seq) => {
                Reply::Refused("it was stopped again since".to_owned())
            }
            Command::GoOn { .. } => self.send_on(),
            Command::Cancel { grace_ms } => {
                self.cancel_at.get_or_insert(Instant::now() + Duration::from_millis(grace_ms));
                self.stopped = None;
                self.stop_noted = false;
                tree::ask_to_end(getpid());
                Reply::Done
            }
            Command::Resize { rows, columns } => match self.agent.resize(rows, columns) {
                Ok(true) => Reply::Done,
                Ok(false) => Reply::Refused("the agent has no terminal".to_owned()),
                Err(source) => Reply::Refused(source.to_string()),
            },
            Command::Tail { offset, bytes_max } => return self.tail(offset, bytes_max),
            Command::Follow { after_seq } => {
                client.follow(after_seq);
                Reply::Done
            }
        };
        (reply, Vec::new())
    }

    fn report(&self) -> Status {
        Status {
            pid: raw(self.agent.pid),
            stopped: self.stopped.is_some(),
            stalled: self.stalled,
            cancelling: self.cancel_at.is_some(),
            output_bytes: self.out.length(),
            input_bytes: self.input.left(),
            input_unread: self.input.unread(),
            last_seq: self.spool.last_seq(),
        }
    }

    /// Writes what fits, then sends the agent on; the rest follows as it reads. The name is on disk before a byte
    /// leaves, so that after a crash it can be told whether it was taken.
    fn take_input(&mut self, key: String, text: &str, go_on: bool) -> Reply {
        if !self.input.knows(&key) {
            if let Some(why) = self.input.objection(text) {
                return refused(why);
            }
            if !self.put_down(Happening::TookInput { key: key.clone() }) {
                return refused("the disk does not take it; ask again when there is room");
            }
            self.input.take(key, text);
        }
        if !self.input.is_open() && !self.input.is_closed() {
            return refused("the agent has closed its input");
        }
        if go_on { self.send_on() } else { Reply::Done }
    }

    /// Ends the input behind what was taken; a second time changes nothing.
    fn close_input(&mut self, key: String) -> Reply {
        if self.input.is_closed() {
            return Reply::Done;
        }
        if !self.input.is_open() {
            return refused("the agent reads no input");
        }
        if !self.put_down(Happening::ClosedInput { key }) {
            return refused("the disk does not take it; ask again when there is room");
        }
        self.input.close();
        Reply::Done
    }

    /// Writes down what is about to happen. Whether the disk has it; otherwise it does not happen.
    fn put_down(&mut self, what: Happening) -> bool {
        let seq = self.spool.add(what);
        self.write_down();
        !self.spool.take_back(seq)
    }

    /// Sends a stopped agent on. A stalled one gets more room, and stalls again if that does not help.
    fn send_on(&mut self) -> Reply {
        if self.stalled {
            self.stalled = false;
            if self.out.room() == 0 {
                self.out.grow(LOG_BYTES_MORE);
            }
            if let Err(source) = self.out.append(&[]) {
                self.stall(StallReason::Disk { message: source.to_string() });
                return Reply::Refused("its output still has nowhere to go".to_owned());
            }
        }
        if self.stopped.is_some() {
            self.go_on();
            self.spool.add(Happening::WentOn);
        }
        Reply::Done
    }

    fn tail(&self, offset: u64, bytes_max: u32) -> (Reply, Vec<u8>) {
        let length = self.out.length().saturating_sub(offset).min(bytes_max.into());
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0).min(TAIL_BYTES_MAX)];
        let read =
            File::open(self.directory.join(OUT)).and_then(|file| file.read_exact_at(&mut bytes, offset));
        match (read, u32::try_from(bytes.len())) {
            (Ok(()), Ok(length)) => (Reply::Bytes(length), bytes),
            (Err(source), _) => (Reply::Refused(source.to_string()), Vec::new()),
            (_, Err(_)) => (Reply::Refused("too much at once".to_owned()), Vec::new()),
        }
    }

    /// The agent has ended: ends what it left behind, takes its last words, and says so. Waits for a full disk.
    fn end(&mut self) -> Result<(), Error> {
        let clean = tree::kill(getpid(), self.agent.pid);
        // The last words count even where the log was full.
        self.stalled = false;
        self.out.grow(LOG_BYTES_MORE);
        self.read_output(usize::MAX);
        self.read_errors(usize::MAX);
        self.parser.finish();
        let items: Vec<Item> = self.parser.by_ref().collect();
        self.note(&items);
        self.note_consumed();
        let input_bytes_left = self.input.left();
        bury_adopted(self.agent.pid);
        let status = self.agent.bury().map_err(|source| Error::System { what: "bury the agent", source })?;
        let code = status.and_then(WaitStatus::exit_status);
        let signal = status.and_then(WaitStatus::terminating_signal);
        self.spool.add(Happening::Ended { code, signal, clean, input_bytes_left });
        self.talk();
        while self.spool.has_waiting() {
            // Not `wait`: an agent that has ended would wake it at once, for ever.
            thread::sleep(TICK_MAX);
            self.talk();
        }
        Ok(())
    }
}

/// Whether the agent waits for somebody after saying this.
fn asks(item: &Item) -> bool {
    match &item.what {
        What::Signal(signal) => matches!(
            signal,
            Signal::DependencyRequest(_)
                | Signal::UserQuestion(_)
                | Signal::PhaseComplete(_)
                | Signal::Error(_)
                | Signal::AskUser(_)
        ),
        What::Fault(fault) => fault.severity() == Severity::Fault,
        What::Quoted(_) | What::Fact(_) => false,
    }
}

fn refused(why: &str) -> Reply {
    Reply::Refused(why.to_owned())
}

fn parser(launch: &Launch) -> Result<Parser, Error> {
    let format = match &launch.format {
        OutputFormat::Text => Format::Text,
        OutputFormat::Table(toml) => Format::Structured(Table::parse(toml).map_err(Error::Table)?),
    };
    let nonce = launch.nonce.as_deref().map(str::parse).transpose().map_err(Error::Nonce)?;
    Ok(Parser::new(format, Settings { nonce, thin_role: launch.thin_role, ..Settings::default() }))
}

/// Whoever leads a session already need not, and cannot, lead another.
fn lead_session() -> Result<(), Errno> {
    match setsid() {
        Err(Errno::PERM) if getsid(None) == Ok(getpid()) => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// Children of the agent whose parents are gone came to the shim; those that have ended are buried here.
fn bury_adopted(agent: Pid) {
    for process in tree::below(getpid()).processes.iter().filter(|process| process.pid != agent) {
        if process.doing == tree::Doing::Dead {
            waitpid(Some(process.pid), WaitOptions::NOHANG).ok();
        }
    }
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

fn system(what: &'static str) -> impl Fn(Errno) -> Error {
    move |source| Error::System { what, source: source.into() }
}
