//! What the agent is given to read: named pieces, each taken once, in order, and followed until the agent has read
//! them or can no longer.
//!
//! It only holds and writes bytes. What is put into the spool about them is up to the loop.

use std::{
    collections::{BTreeSet, VecDeque},
    os::fd::{AsRawFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, open},
    io::{Errno, ioctl_fionread, write},
    termios::{SpecialCodeIndex, tcgetattr},
};

use crate::control::{CLOSED, INPUT_BYTES_MAX, NOT_READ, TERMINAL_LINE_BYTES_MAX};

/// The pauses between two looks at what the agent has read, which nobody announces.
const LOOK_AFTER: std::ops::RangeInclusive<Duration> = Duration::from_millis(20)..=Duration::from_secs(1);

/// The agent's input.
#[derive(Debug)]
pub(crate) struct Input {
    /// Where it is written to; nothing once it is closed.
    end: Option<OwnedFd>,
    /// The pipe's other end, opened when ours is closed, to see what is left in it.
    rest: Option<OwnedFd>,
    on_terminal: bool,
    /// What does not fit yet.
    waiting: VecDeque<u8>,
    /// The names of all that was taken.
    keys: BTreeSet<String>,
    /// How much was taken and how much of it was written, since the beginning.
    taken_bytes: u64,
    written_bytes: u64,
    /// What the agent has not read to its end: the names, and where each ends.
    unread: VecDeque<(String, u64)>,
    /// Whether it ends behind what was taken.
    closed: bool,
    /// What nobody can read any more.
    lost_bytes: u64,
    /// Whether a terminal stands at the beginning of a line.
    at_line_start: bool,
    /// Since when the agent could have read it.
    since: Instant,
}

impl Input {
    pub(crate) fn new(end: Option<OwnedFd>, on_terminal: bool) -> Input {
        Input {
            end,
            rest: None,
            on_terminal,
            waiting: VecDeque::new(),
            keys: BTreeSet::new(),
            taken_bytes: 0,
            written_bytes: 0,
            unread: VecDeque::new(),
            closed: false,
            lost_bytes: 0,
            at_line_start: true,
            since: Instant::now(),
        }
    }

    /// Whether something was taken under this name.
    pub(crate) fn knows(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Whether it was closed from this side.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the agent reads what is given to it.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed && self.end.is_some()
    }

    /// Why this cannot be taken, if it cannot.
    pub(crate) fn objection(&self, text: &str) -> Option<&'static str> {
        if self.closed {
            Some(CLOSED)
        } else if self.end.is_none() {
            Some(NOT_READ)
        } else if self.on_terminal && text.lines().any(|line| line.len() > TERMINAL_LINE_BYTES_MAX) {
            Some("a terminal would cut a line that long")
        } else if self.waiting.len() + text.len() > INPUT_BYTES_MAX {
            Some("too much input waits for the agent already")
        } else {
            None
        }
    }

    /// Takes text under a name and writes what fits.
    pub(crate) fn take(&mut self, key: String, text: &str) {
        // At a terminal a control character is a command, not text.
        let is_text = |c: &char| !self.on_terminal || !c.is_control() || matches!(c, '\n' | '\t');
        let bytes = text.chars().filter(is_text).collect::<String>().into_bytes();
        if let Some(last) = bytes.last() {
            self.at_line_start = *last == b'\n';
        }
        self.keys.insert(key.clone());
        self.push(&bytes);
        if !self.on_terminal {
            self.unread.push_back((key, self.taken_bytes));
        }
        self.write();
    }

    /// Closes it behind what was taken. A terminal stays open and is told that this is the end.
    pub(crate) fn close(&mut self) {
        if self.closed {
            return;
        }
        if self.on_terminal {
            let end = self.end.as_ref().and_then(|end| tcgetattr(end).ok());
            let end = end.map_or(END_OF_TRANSMISSION, |it| it.special_codes[SpecialCodeIndex::VEOF]);
            // Within a line the first one only sends off what was typed.
            let count = if self.at_line_start { 1 } else { 2 };
            self.push(&[end, end][..count]);
        }
        self.closed = true;
        self.write();
    }

    fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        self.taken_bytes += bytes.len() as u64;
        self.agent_runs();
    }

    /// The agent runs again, and may read.
    pub(crate) fn agent_runs(&mut self) {
        self.since = Instant::now();
    }

    /// Gives the agent as much as it takes.
    pub(crate) fn write(&mut self) {
        while let Some(end) = &self.end
            && !self.waiting.is_empty()
        {
            match write(end, self.waiting.as_slices().0) {
                Ok(written) => {
                    self.waiting.drain(..written);
                    self.written_bytes += written as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.give_up(),
            }
        }
        // An idle shim holds no memory for what was.
        self.waiting.shrink_to_fit();
        if self.closed
            && !self.on_terminal
            && let Some(end) = self.end.take()
            && !self.unread.is_empty()
        {
            let path = format!("/proc/self/fd/{}", end.as_raw_fd());
            self.rest = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok();
        }
    }

    /// Nobody reads any more.
    fn give_up(&mut self) {
        self.lost_bytes = self.left();
        self.end = None;
        self.waiting.clear();
        self.unread.clear();
    }

    /// How much was written and not read. What a terminal holds for its reader cannot be seen from this side.
    pub(crate) fn unread(&self) -> Option<u64> {
        if self.on_terminal {
            return None;
        }
        let pipe = self.end.as_ref().or(self.rest.as_ref());
        Some(pipe.and_then(|pipe| ioctl_fionread(pipe).ok()).unwrap_or(0))
    }

    /// How much the agent has not read, and what it never will.
    pub(crate) fn left(&self) -> u64 {
        self.waiting.len() as u64 + self.unread().unwrap_or(0) + self.lost_bytes
    }

    /// The names of what the agent has read to its end since the last look.
    pub(crate) fn consumed(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        if self.unread.is_empty() {
            return keys;
        }
        let read_bytes = self.written_bytes - self.unread().unwrap_or(0);
        while let Some((key, _)) = self.unread.pop_front_if(|(_, end)| *end <= read_bytes) {
            keys.push(key);
        }
        if self.unread.is_empty() {
            self.rest = None;
        } else if self.has_lost_its_reader() {
            self.give_up();
        }
        keys
    }

    fn has_lost_its_reader(&self) -> bool {
        let Some(end) = &self.end else { return false };
        let mut fds = [PollFd::new(end, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// What to wait for: room for more, or that its reader goes away with something unread.
    pub(crate) fn event(&self) -> Option<PollFd<'_>> {
        let end = self.end.as_ref()?;
        let room = if self.waiting.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let of_interest = !self.waiting.is_empty() || !self.unread.is_empty();
        of_interest.then(|| PollFd::new(end, room))
    }

    /// When to look again at what the agent has read, if there is something to look at: the longer it takes, the
    /// less often.
    pub(crate) fn look_after(&self) -> Option<Duration> {
        let pause = self.since.elapsed() / 8;
        (!self.unread.is_empty()).then(|| pause.clamp(*LOOK_AFTER.start(), *LOOK_AFTER.end()))
    }
}

/// What ends the input of a terminal unless it says otherwise.
const END_OF_TRANSMISSION: u8 = 4;
