//! What the loop does for a server: one reply to every request.

use std::{
    mem,
    time::{Duration, Instant},
};

use super::{LOG_BYTES_MORE, Shim, raw};
use crate::{
    control::{Command, GIVEN_UP, MaskedQuestion, Message, NO_ROOM, NOT_READ, Reply, Request, Status},
    socket::Client,
    spool::{Happening, StallReason, StopCause},
};

/// The most of the log that one reply holds.
const TAIL_BYTES_MAX: usize = 256 << 10;

impl Shim {
    /// Does what the server wants, as long as it takes the answers.
    pub(super) fn serve(&mut self) {
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
            Command::Input { key, text, go_on, asked } => self.take_input(key, &text, go_on, asked.as_ref()),
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
                self.tree.ask_to_end();
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
    fn take_input(&mut self, key: String, text: &str, go_on: bool, asked: Option<&MaskedQuestion>) -> Reply {
        if !self.input.knows(&key) {
            let text = self.masking.restored(text, asked).into_owned();
            if let Some(why) = self.input.objection(&text) {
                return refused(why);
            }
            if !self.put_down(Happening::TookInput { key: key.clone() }) {
                return refused(NO_ROOM);
            }
            self.input.take(key, &text);
        }
        if !self.input.is_open() && !self.input.is_closed() {
            return refused(GIVEN_UP);
        }
        if go_on { self.send_on() } else { Reply::Done }
    }

    /// Ends the input behind what was taken; a second time changes nothing.
    fn close_input(&mut self, key: String) -> Reply {
        if self.input.is_closed() {
            return Reply::Done;
        }
        if !self.input.is_open() {
            return refused(NOT_READ);
        }
        if !self.put_down(Happening::ClosedInput { key }) {
            return refused(NO_ROOM);
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
        match (self.out.read_at(&mut bytes, offset), u32::try_from(bytes.len())) {
            (Ok(()), Ok(length)) => (Reply::Bytes(length), bytes),
            (Err(source), _) => (Reply::Refused(source.to_string()), Vec::new()),
            (_, Err(_)) => (Reply::Refused("too much at once".to_owned()), Vec::new()),
        }
    }
}

fn refused(why: &str) -> Reply {
    Reply::Refused(why.to_owned())
}
