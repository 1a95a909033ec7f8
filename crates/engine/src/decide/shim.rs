//! What a shim says. Its records are numbered, so one that comes twice is known.

use alloc::string::{String, ToString};

use ostler_agents::agent::Terminal;
use ostler_protocol::mark::Mark;
use serde_json::Value;

use super::{
    Maker,
    requests::{OSTLER, Source},
};
use crate::{
    event::{Event, NotTaken, Parcel},
    heard::{self, Heard},
    id::SessionId,
    input::News,
    mark,
    request::{Ask, Bringing, Request},
    session::{LaunchEnd, Noted},
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
                self.office_prompted(id, launch);
            }
            News::Heard { item } => self.hear_item(id, launch, Some(spool_seq), item),
            News::Stopped { cause, processes, confirmed } => {
                let is_stall = cause == "stall";
                let (cause, processes, confirmed) = (cause.clone(), *processes, *confirmed);
                self.emit(id, Event::SessionStopped { launch, spool_seq, cause, processes, confirmed });
                if is_stall && !self.stall_of(id, launch, |_| true).is_some_and(Request::is_open) {
                    // A shim of the first version says why in the next record; it must not be sent on before that.
                    self.open(id, launch, Ask::Stall { reason: String::new() }, OSTLER, None);
                }
            }
            News::WentOn => self.emit(id, Event::SessionContinued { launch, spool_seq }),
            News::Stalled { reason } => {
                self.note(id, launch, spool_seq, "stalled");
                let ask = Ask::Stall { reason: reason.clone() };
                let announced = self.stall_of(id, launch, str::is_empty);
                match announced.map(|request| (request.id, request.is_open())) {
                    Some((request, true)) => {
                        let (mark, expires_at_ms, call) = (None, None, None);
                        let event =
                            Event::RequestRepeated { request, launch, ask, mark, expires_at_ms, call };
                        self.emit(id, event);
                    }
                    // It was settled before anybody knew why.
                    Some((_, false)) => {}
                    None => {
                        self.open(id, launch, ask, OSTLER, None);
                    }
                }
            }
            News::NotStarted { message } => {
                let end = LaunchEnd::NotStarted { at_ms, message: message.clone() };
                self.end_launch(id, launch, Some(spool_seq), end);
            }
            News::TookInput { key } => match self.parcel_of(id, key) {
                Some(parcel) => {
                    self.emit(id, Event::InputDelivered { launch, spool_seq: Some(spool_seq), parcel });
                    self.office_taken(id, parcel);
                }
                None => self.note(id, launch, spool_seq, "took_input"),
            },
            News::Consumed { key } => match self.parcel_of(id, key) {
                Some(parcel) => {
                    self.emit(id, Event::InputConsumed { launch, spool_seq: Some(spool_seq), parcel });
                    self.office_read(id, parcel);
                }
                None => self.note(id, launch, spool_seq, "consumed"),
            },
            News::ClosedInput => self.note(id, launch, spool_seq, "closed_input"),
            News::Ended { code, signal, clean } => {
                self.count_as_read(id, launch);
                let end = LaunchEnd::Exited { at_ms, code: *code, signal: *signal, clean: *clean };
                self.end_launch(id, launch, Some(spool_seq), end);
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
            self.end_launch(id, launch, None, end);
            self.advance(id);
        }
    }

    /// There never was a shim.
    pub(super) fn fail_launch(&mut self, id: SessionId, launch: u32, message: &str) {
        if self.live(id, launch).is_some() {
            let end = LaunchEnd::NotStarted { at_ms: self.now_ms, message: message.to_string() };
            self.end_launch(id, launch, None, end);
            self.advance(id);
        }
    }

    /// The shim did not take what was to be written to the agent. It waits for the next process, if that could be told.
    pub(super) fn not_taken(&mut self, id: SessionId, what: &NotTaken, for_good: bool) {
        let NotTaken { launch, parcel, .. } = *what;
        let is_sent = self.live(id, launch).is_some()
            && self.parcels(id, |bringing| bringing == Bringing::Sent { launch }).contains(&parcel);
        if !is_sent {
            return;
        }
        self.emit(id, Event::InputRefused(what.clone()));
        if for_good {
            self.emit(id, Event::InputReturned { parcel });
            self.office_not_told(id, parcel, &what.why);
        }
        self.advance(id);
    }

    /// The process is gone, and everybody who called from it.
    fn end_launch(&mut self, id: SessionId, launch: u32, spool_seq: Option<u64>, end: LaunchEnd) {
        self.emit(id, Event::SessionEnded { launch, spool_seq, end });
        self.part_all(id);
        self.part_all_calls(id);
    }

    /// The last request that says that this launch stands still for want of room.
    fn stall_of(&self, id: SessionId, launch: u32, fits: impl Fn(&str) -> bool) -> Option<&Request> {
        let is_it = |request: &&Request| match &request.ask {
            Ask::Stall { reason } => request.launch == launch && fits(reason),
            _ => false,
        };
        self.desk.requests_of(id).filter(is_it).last()
    }

    /// What a name means, if it is the name of something for this session.
    fn parcel_of(&self, id: SessionId, key: &str) -> Option<Parcel> {
        let parcel = key.parse().ok()?;
        let is_known = match parcel {
            Parcel::Request(request) | Parcel::Expiry(request) => {
                self.desk.request(request).is_some_and(|request| request.session == id)
            }
            Parcel::Message(message) => self.session(id).messages.iter().any(|it| it.id == message),
        };
        is_known.then_some(parcel)
    }

    /// A process that ended by itself has read its prompt. A terminal does not tell what was read: what it took
    /// counts.
    fn count_as_read(&mut self, id: SessionId, launch: u32) {
        let has_terminal = self.session(id).order.agent.terminal == Terminal::Pty;
        let read = self.parcels(id, |bringing| match bringing {
            Bringing::Prompted { launch: of } => of == launch,
            Bringing::Delivered { launch: of } => has_terminal && of == launch,
            _ => false,
        });
        for parcel in read {
            self.emit(id, Event::InputConsumed { launch, spool_seq: None, parcel });
            self.office_read(id, parcel);
        }
    }

    fn hear_item(&mut self, id: SessionId, launch: u32, spool_seq: Option<u64>, item: &Value) {
        let mut item = item.clone();
        if heard::sum(&item).is_some_and(|sum| self.session(id).office.drawn.contains(&sum)) {
            item[heard::DRAWN_AGAIN] = Value::Bool(true);
        }
        let item = &item;
        self.emit(id, Event::SessionHeard { launch, spool_seq, item: item.clone() });
        match heard::read(item) {
            Heard::Asks { ask, trust, mark } => {
                let mark = mark.or_else(|| self.mark_of(id, &ask));
                self.asked(id, launch, ask, Source::Heard { trust: &trust, mark: mark.as_ref() });
            }
            Heard::Limit(limit) => self.hear_limit(id, launch, &limit),
            Heard::PhaseComplete(announced) => self.announce(id, announced),
            Heard::Office(said) => self.hear_office(id, launch, said, item),
            Heard::Thin(said) => self.hear_thin(id, launch, &said, item),
            _ => {}
        }
    }

    /// Whether the same stands in what the agent was told.
    pub(super) fn mark_of(&self, id: SessionId, ask: &Ask) -> Option<Mark> {
        let session = self.session(id);
        let check = self.desk.run(session.run).and_then(|run| run.terms.check.as_deref());
        let is_new = !self.desk.requests_of(id).any(|request| request.asks_the_same(ask));
        mark::of(session, check, ask, is_new)
    }

    fn note(&mut self, id: SessionId, launch: u32, spool_seq: u64, what: &str) {
        self.emit(id, Event::SessionNoted(Noted { launch, spool_seq, what: String::from(what) }));
    }
}
