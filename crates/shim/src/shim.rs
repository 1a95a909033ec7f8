//! The loop: waits for whatever comes next, and does what follows from it.
//!
//! The order at a signal is fixed: the tree is stopped, the log is synced, the record is written and synced, and
//! only then is anybody told.

mod serving;
mod starting;

use std::{
    mem::{self, MaybeUninit},
    os::fd::OwnedFd,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use ostler_protocol::{Item, Parser, What, fault::Severity, signal::Signal};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read},
    process::{Pid, Signal as ProcessSignal, WaitOptions, WaitStatus, getpid, kill_process, waitpid},
    stdio::stdin,
};

use crate::{
    agent::Agent,
    cgroup,
    end_seal::EndKey,
    error::Error,
    files,
    input::Input,
    launch::Launch,
    limits::Limits,
    masking::Masking,
    output::Log,
    socket::{Client, Socket},
    spool::{Happening, Spool, SpoolReader, StallReason, StopCause},
    tree::{self, Stopped, Tree},
};

/// The most that is read at once.
const CHUNK: usize = 16 << 10;

/// How much is read before the server is listened to again: an agent that prints without end must not keep it away.
const CHUNKS_PER_STEP: usize = 4;

/// By how much a full log may grow when somebody sends the agent on.
const LOG_BYTES_MORE: u64 = 64 << 20;

/// How long a busy tree keeps a silence from counting.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);

/// How long what may be the beginning of a secret is held back when nothing follows.
const HELD_BACK: Duration = Duration::from_millis(500);

/// Between two looks at what nobody announces.
const TICK: Duration = Duration::from_millis(20);

/// How often to look at what may have changed only by accident: a stopped tree, and a full disk.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// Runs the agent of a directory until nothing of it is left.
pub fn run(directory: &Path) -> Result<(), Error> {
    let _lock = files::hold(directory)?;
    let launch = Launch::receive(stdin())?;
    let mut shim = Shim::start(directory, &launch)?;
    let ended = shim.run();
    if let Some(what) = shim.limits.taken() {
        return shim.give_up(what);
    }
    // Whatever went wrong, nothing of the agent is left running without anybody to listen.
    shim.end().and(ended)
}

/// Ends what a shim that was killed has left in its agent's control group, and removes the group.
pub fn sweep(directory: &Path) -> Result<(), Error> {
    let _lock = files::hold(directory)?;
    for record in SpoolReader::open(directory)? {
        if let Happening::Started { cgroup: Some(path), .. } = record.what {
            cgroup::sweep(&path, directory).map_err(|source| Error::Write { path, source })?;
        }
    }
    Ok(())
}

struct Shim {
    agent: Agent,
    /// Readable when a child of the shim has ended: the agent, or one of those it has adopted.
    children: OwnedFd,
    tree: Tree,
    parser: Parser,
    masking: Masking,
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
    /// When somebody last looked whether it still is.
    stop_checked_at: Instant,
    /// Output has nowhere to go: nothing is read until somebody sends the agent on.
    stalled: bool,
    /// When the grace of a cancellation runs out.
    cancel_at: Option<Instant>,
    input: Input,
    heard_at: Instant,
    /// Where the last thing that was heard ends.
    heard_to: u64,
    /// To sign the end.
    end_key: Option<EndKey>,
    limits: Limits,
}

impl Shim {
    /// Handles one thing after the other until the agent has ended.
    fn run(&mut self) -> Result<(), Error> {
        let unknown = |source| Error::System { what: "wait for the agent", source };
        while self.limits.taken().is_none() && !self.agent.has_ended().map_err(unknown)? {
            self.wait()?;
            self.read_output(CHUNKS_PER_STEP);
            self.read_errors(CHUNKS_PER_STEP);
            self.end_silence();
            self.give_held();
            self.input.write();
            self.note_consumed();
            self.talk();
            if self.cancel_at.is_some_and(|at| Instant::now() >= at) {
                self.tree.kill();
            }
            self.keep_stopped();
            if has_signals(&self.children) {
                bury_adopted(self.agent.pid);
            }
        }
        Ok(())
    }

    /// Listens to the server, writes down what happened, and tells.
    fn talk(&mut self) {
        self.socket.accept();
        self.serve();
        self.write_down();
        self.socket.flush(self.spool.file(), self.spool.length());
    }

    /// Sleeps until one of the streams, the socket or the clock has something.
    fn wait(&self) -> Result<(), Error> {
        let mut fds = vec![
            PollFd::new(&self.children, PollFlags::IN),
            PollFd::new(&self.socket.listener, PollFlags::IN),
        ];
        let output = self.agent.output.iter().filter(|_| !self.stalled);
        fds.extend(output.chain(&self.agent.errors).map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.input.event());
        fds.extend(self.socket.clients.iter().map(Client::event));
        let timeout = self.timeout().map(|timeout| Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(source) => Err(Error::System { what: "wait for events", source: source.into() }),
        }
    }

    /// How long to sleep at the most; without an end if only an event can bring something new.
    fn timeout(&self) -> Option<Duration> {
        if self.socket.clients.iter().any(Client::has_request) {
            return Some(Duration::ZERO);
        }
        let now = Instant::now();
        // Who is stopped keeps no silence that could end, and reads nothing.
        let patience = self.parser.patience().filter(|_| !self.stop_noted && !self.stalled);
        let silence = patience.map(|patience| patience.saturating_sub(now - self.heard_at).max(TICK));
        let input = self.input.look_after().filter(|_| self.stopped.is_none());
        let cancel = self.cancel_at.map(|at| at.saturating_duration_since(now).max(TICK));
        let stop = self.stopped.as_ref().filter(|stopped| stopped.may_run()).map(|_| LOOK_AFTER);
        let disk = self.spool.has_waiting().then_some(LOOK_AFTER);
        let held = (self.masking.held() > 0).then(|| HELD_BACK.saturating_sub(now - self.heard_at).max(TICK));
        let folded = self.spool.patience().map(|patience| patience.max(TICK));
        [silence, input, cancel, stop, disk, held, folded].into_iter().flatten().min()
    }

    /// Stops again what somebody has continued, and what has appeared since.
    fn keep_stopped(&mut self) {
        if let Some(stopped) = self.stopped.as_mut().filter(|stopped| stopped.may_run())
            && self.stop_checked_at.elapsed() >= LOOK_AFTER
        {
            self.tree.stop_again(stopped);
            self.stop_checked_at = Instant::now();
        }
    }

    /// Takes what the agent has printed, as long as there is more of it, up to so many chunks.
    fn read_output(&mut self, chunks_max: usize) {
        let mut buffer = [const { MaybeUninit::uninit() }; CHUNK];
        for _ in 0..chunks_max {
            let Some(output) = self.agent.output.as_ref().filter(|_| !self.stalled) else { break };
            let room = self.out.room().saturating_sub(self.masking.held()).min(CHUNK);
            if room == 0 {
                self.stall(StallReason::LogFull);
                break;
            }
            match read(output, &mut buffer[..room]) {
                Ok(([], _)) => self.agent.output = None,
                Ok((bytes, _)) => self.hear(bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
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
        // Whoever printed a value had it from the file.
        self.masking.refresh();
        self.note(&items);
        if asked {
            self.note_stop(StopCause::Signal);
        }
        if let Err(source) = self.out.append(&self.masking.out(bytes)) {
            self.stall(StallReason::Disk { message: source.to_string() });
        }
        if !items.is_empty() {
            self.write_down();
        }
    }

    fn note(&mut self, items: &[Item]) {
        for item in items {
            self.heard_to = self.heard_to.max(item.end);
            let masking = &mut self.masking;
            self.spool.add_item(item, || {
                masking.item(serde_json::to_value(item).expect("an item has only text and numbers"))
            });
        }
    }

    /// Whether the agent is to be stopped after saying this.
    fn stops_at(&self, items: &[Item]) -> bool {
        self.stops && self.cancel_at.is_none() && items.iter().any(asks)
    }

    /// Stops the whole tree, unless it is stopped.
    fn hold(&mut self) {
        self.stopped.get_or_insert_with(|| self.tree.stop());
    }

    /// Says that the tree is stopped. If it was so before and more is asked meanwhile, that is said again: a server
    /// that knows only of the first stop must not lift the second.
    fn note_stop(&mut self, cause: StopCause) {
        if let Some(stopped) = &self.stopped
            && (!mem::replace(&mut self.stop_noted, true) || cause != StopCause::Command)
        {
            let (processes, confirmed) = (stopped.count(), stopped.confirmed);
            self.stop_seq = self.spool.add(Happening::Stopped { cause, processes, confirmed });
        }
    }

    /// Writes down what happened, for good, and only then tells.
    fn write_down(&mut self) {
        if self.spool.patience().is_some_and(|patience| patience.is_zero()) {
            self.spool.add_folded();
        }
        if !self.spool.has_waiting() {
            return;
        }
        // What was said is written down before it is told, also where it ends like a secret begins.
        let rest = if self.out.length_to_be() < self.heard_to { self.masking.out_rest() } else { Vec::new() };
        let appended = self.out.append(&rest);
        // Nothing stands in the spool before the words that it is about stand in the log.
        let written = if self.out.length() >= self.heard_to {
            self.out.sync().and_then(|()| self.spool.write())
        } else {
            Ok(())
        };
        if let Err(source) = appended.and(written) {
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
        self.spool.add(Happening::Stalled { reason });
        self.note_stop(StopCause::Stall);
    }

    fn read_errors(&mut self, chunks_max: usize) {
        let mut buffer = [const { MaybeUninit::uninit() }; CHUNK];
        for _ in 0..chunks_max {
            let Some(errors) = &self.agent.errors else { break };
            match read(errors, &mut buffer) {
                Ok(([], _)) => self.agent.errors = None,
                // Beyond its limit, or on a full disk, the log of errors ends; nobody is stopped for it.
                Ok((bytes, _)) => {
                    self.masking.refresh();
                    let bytes = self.masking.err(bytes);
                    if self.err.append(&bytes[..bytes.len().min(self.err.room())]).is_err() {
                        self.err.give_up();
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.agent.errors = None,
            }
        }
    }

    /// Writes down what was held back as a possible beginning of a secret, when nothing has followed for a while: it
    /// may be a question that somebody is to see.
    fn give_held(&mut self) {
        if self.masking.held() > 0 && self.heard_at.elapsed() >= HELD_BACK {
            let rest = self.masking.out_rest();
            if let Err(source) = self.out.append(&rest) {
                self.stall(StallReason::Disk { message: source.to_string() });
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
        let is_slow = || silence < patience + BUSY_PATIENCE && tree::is_busy();
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
            self.tree.go_on(&stopped);
        }
    }

    /// Notes what the agent has read to its end.
    fn note_consumed(&mut self) {
        for key in self.input.consumed() {
            self.spool.add(Happening::Consumed { key });
        }
    }

    /// Takes all that is left of the output, even where the log was full, and waits for a full disk.
    fn read_last_words(&mut self) {
        self.out.grow(LOG_BYTES_MORE);
        loop {
            if self.out.append(&[]).is_ok() {
                self.stalled = false;
                self.read_output(usize::MAX);
            }
            if !self.stalled || self.limits.taken().is_some() {
                return;
            }
            thread::sleep(LOOK_AFTER);
            self.talk();
        }
    }

    /// Ends without having seen the end of the agent: a shim that cannot write or look at its tree any more would hang. What
    /// it leaves is ended by the server, which sees that the lock is free.
    fn give_up(&mut self, what: &'static str) -> Result<(), Error> {
        if let Some(cgroup) = self.tree.cgroup() {
            cgroup.kill();
        }
        kill_process(self.agent.pid, ProcessSignal::KILL).ok();
        self.spool.add(Happening::LimitLowered { what: what.to_owned() });
        self.write_down();
        self.socket.flush(self.spool.file(), self.spool.length());
        Err(Error::System { what, source: Errno::PERM.into() })
    }

    /// The agent has ended: ends what it left behind, takes its last words, and says so. Waits for a full disk.
    fn end(&mut self) -> Result<(), Error> {
        let clean = self.tree.kill();
        if let Some(cgroup) = self.tree.cgroup() {
            cgroup.remove();
        }
        self.read_last_words();
        self.read_errors(usize::MAX);
        let (out, err) = (self.masking.out_rest(), self.masking.err_rest());
        // What the disk does not take waits, like all that was printed before; errors are not waited for.
        if let Err(source) = self.out.append(&out) {
            self.stall(StallReason::Disk { message: source.to_string() });
        }
        self.err.append(&err).ok();
        bury_adopted(self.agent.pid);
        let status = self.agent.bury().map_err(|source| Error::System { what: "bury the agent", source })?;
        let code = status.and_then(WaitStatus::exit_status);
        let signal = status.and_then(WaitStatus::terminating_signal);
        // Whoever hears half a message has to know that it may be half of one.
        if signal.is_some() {
            self.parser.cut_off();
        } else {
            self.parser.finish();
        }
        let items: Vec<Item> = self.parser.by_ref().collect();
        self.note(&items);
        self.note_consumed();
        let input_bytes_left = self.input.left();
        // The end is not told before all that was said is in the log.
        self.heard_to = self.out.length_to_be();
        let seal = self.end_key.as_ref().map(|key| key.seal(code, signal, clean));
        self.spool.add(Happening::Ended { code, signal, clean, input_bytes_left, seal });
        self.talk();
        while self.spool.has_waiting() && self.limits.taken().is_none() {
            // Not `wait`: an agent that has ended would wake it at once, for ever.
            thread::sleep(LOOK_AFTER);
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
        // The thin dialect stops nobody: who speaks it is told in the same dialect.
        What::Fault(fault) => fault.severity() == Severity::Fault && !fault.is_thin(),
        What::Quoted(_) | What::Fact(_) => false,
    }
}

/// Whether signals have come; they are taken.
fn has_signals(signals: &OwnedFd) -> bool {
    let mut any = false;
    let mut buffer = [const { MaybeUninit::uninit() }; size_of::<libc::signalfd_siginfo>()];
    while read(signals, &mut buffer).is_ok() {
        any = true;
    }
    any
}

/// Children of the agent whose parents are gone came to the shim; those that have ended are buried here.
fn bury_adopted(agent: Pid) {
    for child in tree::children(getpid()).unwrap_or_default() {
        if child != agent {
            waitpid(Some(child), WaitOptions::NOHANG).ok();
        }
    }
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
