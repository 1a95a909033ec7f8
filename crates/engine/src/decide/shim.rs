//! What a shim says. Its records are numbered, so one that comes twice is known.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::{
    fact::{EndStatus, Usage},
    mark::Mark,
};
use serde_json::Value;

use super::{
    Maker,
    requests::{OSTLER, Source},
};
use crate::{
    action::Deed,
    answer::Answer,
    event::{Event, NotTaken, Parcel},
    heard::{self, Heard},
    id::SessionId,
    input::{FIRST_KEY, FoldedNews, News},
    input_id, mark,
    request::{Ask, Bringing, By, FaultReport, Request, Steering},
    session::{LaunchEnd, Message, Noted, UnrecordedItems},
    words,
};

/// So many records of one launch are taken as they are. After that, items that ask for nothing are counted.
const RECORDS_MAX: u64 = 20_000;

/// A launch with so many records that says once more who it is, that it is through or that a limit was hit is ended.
const FACTS_END: u64 = 200_000;

/// The most requests that an agent may have open, and the most words that may wait for it, when it prints one more.
const OPEN_MAX: usize = 256;

/// Items that are counted instead of recorded.
#[derive(Default)]
struct CountedItems {
    items: u64,
    /// The place of the last one.
    last: Option<(u64, u32)>,
    /// What they say was used: one report for each span.
    usage: Vec<Usage>,
}

impl CountedItems {
    fn add(&mut self, item: &Value) {
        self.items += 1;
        self.last = heard::place(item).max(self.last);
        if let Heard::Usage(report) = heard::read(item) {
            report.merge_into(&mut self.usage);
        }
    }
}

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
            News::Folded(FoldedNews { items, last, usage }) => {
                let (spool_seq, items, last) = (Some(spool_seq), *items, Some(*last));
                let unrecorded = UnrecordedItems { launch, spool_seq, items, last, usage: usage.clone() };
                self.emit(id, Event::SessionUnrecorded(unrecorded));
            }
            News::Stopped { cause, processes, confirmed } => {
                let is_stall = cause == "stall";
                let (cause, processes, confirmed) = (cause.clone(), *processes, *confirmed);
                self.emit(id, Event::SessionStopped { launch, spool_seq, cause, processes, confirmed });
                if is_stall && !self.stall_of(id, launch, |_| true).is_some_and(Request::is_open) {
                    // A shim of the first version says why in the next record; it must not be sent on before that.
                    self.open(id, launch, Ask::Stall { reason: String::new() }, OSTLER, None);
                }
            }
            News::WentOn => {
                let is_ordered = self.is_let_go_on(id);
                self.emit(id, Event::SessionContinued { launch, spool_seq });
                if !is_ordered {
                    self.steered(id, launch, Steering::WentOn);
                }
            }
            News::Stalled { reason } => self.stalled(id, launch, spool_seq, reason),
            News::NotStarted { message } => {
                let end = LaunchEnd::NotStarted { at_ms, message: message.clone() };
                self.end_launch(id, launch, Some(spool_seq), end);
            }
            News::TookInput { key } => self.took_input(id, launch, spool_seq, key),
            News::Consumed { key } => match self.parcel_of(id, key) {
                Some(parcel) => {
                    self.emit(id, Event::InputConsumed { launch, spool_seq: Some(spool_seq), parcel });
                    self.office_read(id, parcel);
                }
                None => self.note(id, launch, spool_seq, "consumed"),
            },
            News::ClosedInput => {
                self.note(id, launch, spool_seq, "closed_input");
                if self.live(id, launch).is_some_and(|live| !live.input_closed) {
                    self.steered(id, launch, Steering::ClosedInput);
                }
            }
            News::Ended { code, signal, clean } => {
                self.count_as_read(id, launch, *code);
                let end = LaunchEnd::Exited { at_ms, code: *code, signal: *signal, clean: *clean };
                self.end_launch(id, launch, Some(spool_seq), end);
            }
            News::Unknown { what } => self.note(id, launch, spool_seq, what),
        }
        self.advance(id);
    }

    /// Several records. Those that are only counted make one event for as many as stand in a row.
    pub(super) fn hear_records(&mut self, id: SessionId, launch: u32, records: &[(u64, News)]) {
        let mut counted = CountedItems::default();
        for (spool_seq, news) in records {
            if let News::Heard { item } = news
                && self.live(id, launch).is_some_and(|live| {
                    live.spool_seq >= RECORDS_MAX && *spool_seq == live.spool_seq + counted.items + 1
                })
                && self.can_count(id, item)
            {
                counted.add(item);
                continue;
            }
            self.note_counted(id, launch, Some(*spool_seq - 1), &mut counted);
            self.hear(id, launch, *spool_seq, news);
        }
        let last = records.last().map(|(spool_seq, _)| *spool_seq);
        self.note_counted(id, launch, last, &mut counted);
    }

    /// The output has nowhere to go.
    fn stalled(&mut self, id: SessionId, launch: u32, spool_seq: u64, reason: &str) {
        self.note(id, launch, spool_seq, "stalled");
        let ask = Ask::Stall { reason: reason.into() };
        let announced = self.stall_of(id, launch, str::is_empty);
        match announced.map(|request| (request.id, request.is_open())) {
            Some((request, true)) => {
                let (mark, expires_at_ms, call) = (None, None, None);
                let event = Event::RequestRepeated { request, launch, ask, mark, expires_at_ms, call };
                self.emit(id, event);
            }
            // It was settled before anybody knew why.
            Some((_, false)) => {}
            None => {
                self.open(id, launch, ask, OSTLER, None);
            }
        }
    }

    /// The shim has taken input: what was ordered is delivered, and anything else is another process's.
    fn took_input(&mut self, id: SessionId, launch: u32, spool_seq: u64, key: &str) {
        if let Some(parcel) = self.parcel_of(id, key).filter(|&parcel| self.is_settled(parcel)) {
            self.emit(id, Event::InputDelivered { launch, spool_seq: Some(spool_seq), parcel });
            return self.office_taken(id, parcel);
        }
        self.note(id, launch, spool_seq, "took_input");
        if key != FIRST_KEY {
            self.steered(id, launch, Steering::TookInput);
        }
    }

    /// What stands in the log of a lost shim behind the last thing that is known.
    pub(super) fn overhear(&mut self, id: SessionId, launch: u32, before: u64, items: &[Value]) {
        let mut counted = CountedItems::default();
        for (number, item) in (before..).zip(items) {
            let Some(live) = self.live(id, launch) else { return };
            if heard::place(item) <= live.heard.max(counted.last) {
                continue;
            }
            if number >= RECORDS_MAX && self.can_count(id, item) {
                counted.add(item);
                continue;
            }
            self.note_counted(id, launch, None, &mut counted);
            self.hear_item(id, launch, None, item);
        }
        self.note_counted(id, launch, None, &mut counted);
    }

    /// Whether an item may be counted instead of recorded. A step that may end a call is always heard.
    fn can_count(&self, id: SessionId, item: &Value) -> bool {
        let office = &self.session(id).office;
        heard::is_minor(item) && office.current.is_none() && office.examined.is_empty()
    }

    fn note_counted(
        &mut self,
        id: SessionId,
        launch: u32,
        spool_seq: Option<u64>,
        counted: &mut CountedItems,
    ) {
        let CountedItems { items, last, usage } = core::mem::take(counted);
        if items > 0 {
            let unrecorded = UnrecordedItems { launch, spool_seq, items, last, usage };
            self.emit(id, Event::SessionUnrecorded(unrecorded));
            if spool_seq.is_some() {
                self.advance(id);
            }
        }
    }

    /// The shim is gone and left no word.
    pub(super) fn lose(&mut self, id: SessionId, launch: u32) {
        if self.live(id, launch).is_some() {
            let end = LaunchEnd::Lost { at_ms: self.now_ms };
            self.end_launch(id, launch, None, end);
            self.advance(id);
            self.finish_if_left(id);
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

    /// Whether the stop of the live process was lifted before its shim sent it on. Where a release was taken back, the
    /// shim may have obeyed it before.
    fn is_let_go_on(&self, id: SessionId) -> bool {
        let live = self.session(id).live();
        live.is_none_or(|live| live.held().is_none() || live.withheld_at > 0 || live.ending.is_some())
    }

    /// Whether something could be brought to an agent: nobody brings the answer to an open request.
    fn is_settled(&self, parcel: Parcel) -> bool {
        match parcel {
            Parcel::Request(request) => self.desk.get(request).is_some_and(|it| it.settled.is_some()),
            Parcel::Expiry(_) | Parcel::Message(_) => true,
        }
    }

    /// Another process gave the shim a command. The tree is stopped again until a person decides; one card is enough.
    fn steered(&mut self, id: SessionId, launch: u32, what: Steering) {
        if self.live(id, launch).is_none_or(|live| live.ending.is_some()) {
            return;
        }
        let is_known =
            |it: &Request| it.launch == launch && it.is_open() && matches!(it.ask, Ask::Steered { .. });
        if !self.desk.requests_of(id).any(is_known) {
            self.open(id, launch, Ask::Steered { what }, OSTLER, None);
        }
        self.act(id, Deed::Stop { launch });
    }

    /// Another process answers in place of the shim. Whoever tells it again tells nothing new.
    pub(super) fn displaced(&mut self, id: SessionId, launch: u32) {
        let is_known =
            |it: &Request| it.launch == launch && it.is_open() && matches!(it.ask, Ask::Steered { .. });
        if self.live(id, launch).is_some() && !self.desk.requests_of(id).any(is_known) {
            self.steered(id, launch, Steering::Displaced);
            self.advance(id);
        }
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
                self.desk.get(request).is_some_and(|request| request.session == id)
            }
            Parcel::Message(message) => self.session(id).messages.iter().any(|it| it.id == message),
        };
        is_known.then_some(parcel)
    }

    /// A process that ended by itself has read its prompt. A terminal does not tell what was read: what it took
    /// counts.
    ///
    /// | the stream | the process | what it had in its prompt or has read |
    /// |---|---|---|
    /// | proves nothing | has ended | counts as read |
    /// | proves what is heard | exited with 0 after a successful end | counts as read: nothing was left in its queue |
    /// | | finished a turn without any proof | counts as read: this version of the CLI proves nothing |
    /// | | anything else | waits for the next process, which is told it once more |
    fn count_as_read(&mut self, id: SessionId, launch: u32, code: Option<i32>) {
        let session = self.session(id);
        let has_terminal = session.order.agent.reads_terminal();
        let is_certain = session.live().is_none_or(|live| {
            let has_done_all =
                code == Some(0) && live.end.as_ref().is_some_and(|end| end.status == EndStatus::Success);
            has_done_all || (live.end.is_some() && live.proofs == 0) || !session.order.agent.input.proven
        });
        let read = self.parcels(id, |bringing| match bringing {
            Bringing::Prompted { launch: of } | Bringing::Unproven { launch: of } => {
                is_certain && of == launch
            }
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
            Heard::Asks { .. } | Heard::Office(_) | Heard::Thin(_) if self.is_flooded(id) => {
                self.end_flood(id, launch);
            }
            Heard::Asks { ask, trust, mark, real_path } => {
                let mark = mark.or_else(|| self.mark_of(id, &ask));
                let (mark, real_path) = (mark.as_ref(), real_path.as_deref());
                self.asked(id, launch, ask, Source::Heard { trust: &trust, mark, real_path });
            }
            Heard::Conversation(_) | Heard::Limit(_) | Heard::Input(_) | Heard::End(_)
                if self.live(id, launch).is_some_and(|live| live.spool_seq >= FACTS_END) =>
            {
                self.end_flood(id, launch);
            }
            Heard::Limit(limit) => self.hear_limit(id, launch, &limit),
            Heard::Input(proof) => self.hear_proof(id, launch, proof.id.as_deref()),
            Heard::PhaseComplete(announced) => self.announce(id, announced),
            Heard::Office(said) => self.hear_office(id, launch, said, item),
            Heard::Thin(said) => self.hear_thin(id, launch, &said, item),
            _ => {}
        }
    }

    /// The conversation holds an input: a message by its id, or what stood in the prompt of the launch.
    fn hear_proof(&mut self, id: SessionId, launch: u32, input: Option<&str>) {
        let is_prompt = input.is_none_or(|input| input == input_id::of_prompt(id, launch));
        let mut heard = self.parcels(id, |bringing| bringing.may_be_known_from() == Some(launch));
        heard.retain(|&parcel| match self.desk.bringing(id, parcel) {
            Some(Bringing::Prompted { .. }) => is_prompt,
            _ => input.is_some_and(|input| input == input_id::of_parcel(id, launch, parcel)),
        });
        for parcel in heard {
            self.emit(id, Event::InputHeard { launch, parcel });
        }
    }

    /// Whether an agent has asked for or said more, without waiting, than anybody can settle.
    fn is_flooded(&self, id: SessionId) -> bool {
        let session = self.session(id);
        let is_unread = |it: &&Message| matches!(it.bringing, Bringing::Waiting | Bringing::Sent { .. });
        let open = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        open.filter(|request| request.is_open()).count() >= OPEN_MAX
            || session.messages.iter().filter(is_unread).count() >= OPEN_MAX
            || session.office.examined.len() > OPEN_MAX
    }

    /// Ends an agent that floods, and says why. What it has asked before stays.
    fn end_flood(&mut self, id: SessionId, launch: u32) {
        let session = self.session(id);
        let is_ending = session.live().is_none_or(|live| live.ending.is_some());
        if is_ending || session.checkpoints.failed.is_some() || session.is_over() {
            return;
        }
        let details = words::flood(session.order.korean, OPEN_MAX);
        let fault = FaultReport { details, ..FaultReport::default() };
        let request = self.open(id, launch, Ask::Fault(fault), OSTLER, None);
        self.settle(request, By::End, Answer::Fail);
    }

    /// Whether the same stands in what the agent was told.
    pub(super) fn mark_of(&self, id: SessionId, ask: &Ask) -> Option<Mark> {
        let session = self.session(id);
        let check = self.desk.get(session.run).and_then(|run| run.terms.check.as_deref());
        let is_new = !self.desk.requests_of(id).any(|request| request.asks_the_same(ask));
        mark::of(session, check, ask, is_new)
    }

    fn note(&mut self, id: SessionId, launch: u32, spool_seq: u64, what: &str) {
        self.emit(id, Event::SessionNoted(Noted { launch, spool_seq, what: String::from(what) }));
    }
}
