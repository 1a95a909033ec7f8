//! What a shim says. Its records are numbered, so one that comes twice is known.

use alloc::string::{String, ToString};

use serde_json::Value;

use super::Maker;
use crate::{
    event::{Event, Parcel},
    heard::{self, Heard},
    id::SessionId,
    input::News,
    request::Ask,
    session::LaunchEnd,
};

impl Maker<'_> {
    pub(super) fn hear(&mut self, id: SessionId, launch: u32, spool_seq: u64, news: &News) {
        // One that comes again is known, and none is left out: what it would say could never be heard again.
        let is_next = self.live(id, launch).is_some_and(|live| spool_seq == live.spool_seq + 1);
        if !is_next {
            return;
        }
        let at_ms = self.now_ms;
        match news {
            News::Started { pid, began } => {
                self.emit(id, Event::SessionStarted { launch, spool_seq, pid: *pid, began: *began });
            }
            News::Heard { item } => self.hear_item(id, launch, Some(spool_seq), item),
            News::Stopped { cause, processes, confirmed } => {
                let (cause, processes, confirmed) = (cause.clone(), *processes, *confirmed);
                self.emit(id, Event::SessionStopped { launch, spool_seq, cause, processes, confirmed });
            }
            News::WentOn => self.emit(id, Event::SessionContinued { launch, spool_seq }),
            News::Stalled { reason } => {
                self.note(id, launch, spool_seq, "stalled");
                self.open(id, launch, Ask::Stall { reason: reason.clone() }, "ostler", None);
            }
            News::NotStarted { message } => {
                let end = LaunchEnd::NotStarted { at_ms, message: message.clone() };
                self.emit(id, Event::SessionEnded { launch, spool_seq: Some(spool_seq), end });
            }
            News::TookInput { key } => match key.parse::<Parcel>() {
                Ok(parcel) => {
                    let spool_seq = Some(spool_seq);
                    self.emit(id, Event::InputDelivered { launch, spool_seq, parcel });
                }
                Err(_) => self.note(id, launch, spool_seq, "took_input"),
            },
            News::Consumed { key } => match key.parse::<Parcel>() {
                Ok(parcel) => self.emit(id, Event::InputConsumed { launch, spool_seq, parcel }),
                Err(_) => self.note(id, launch, spool_seq, "consumed"),
            },
            News::ClosedInput => self.note(id, launch, spool_seq, "closed_input"),
            News::Ended { code, signal, clean } => {
                let end = LaunchEnd::Exited { at_ms, code: *code, signal: *signal, clean: *clean };
                self.emit(id, Event::SessionEnded { launch, spool_seq: Some(spool_seq), end });
            }
            News::Unknown { what } => self.note(id, launch, spool_seq, what),
        }
        self.advance(id);
    }

    /// What stands in the log of a lost shim behind the last thing that is known.
    pub(super) fn overhear(&mut self, id: SessionId, launch: u32, items: &[Value]) {
        for item in items {
            let Some(live) = self.live(id, launch) else { return };
            if heard::place(item) > live.heard {
                self.hear_item(id, launch, None, item);
            }
        }
    }

    /// The shim is gone and left no word.
    pub(super) fn lose(&mut self, id: SessionId, launch: u32) {
        if self.live(id, launch).is_some() {
            let end = LaunchEnd::Lost { at_ms: self.now_ms };
            self.emit(id, Event::SessionEnded { launch, spool_seq: None, end });
            self.advance(id);
        }
    }

    /// There never was a shim.
    pub(super) fn fail_launch(&mut self, id: SessionId, launch: u32, message: &str) {
        if self.live(id, launch).is_some() {
            let end = LaunchEnd::NotStarted { at_ms: self.now_ms, message: message.to_string() };
            self.emit(id, Event::SessionEnded { launch, spool_seq: None, end });
            self.advance(id);
        }
    }

    fn hear_item(&mut self, id: SessionId, launch: u32, spool_seq: Option<u64>, item: &Value) {
        self.emit(id, Event::SessionHeard { launch, spool_seq, item: item.clone() });
        if let Heard::Asks { ask, trust } = heard::read(item) {
            self.asked(id, launch, ask, &trust);
        }
    }

    fn note(&mut self, id: SessionId, launch: u32, spool_seq: u64, what: &str) {
        self.emit(id, Event::SessionNoted { launch, spool_seq, what: String::from(what) });
    }
}
