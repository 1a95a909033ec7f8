//! Calls over a session's own socket: a process of the agent is blocked there until somebody has settled what it asks.
//!
//! The tree is not stopped for it. The answer goes to the caller, or, if that is gone, to the agent as a message; which
//! of the two is decided here, and only once.

use alloc::{string::ToString, vec::Vec};

use ostler_protocol::mark::Mark;
use serde_json::Value;

use super::{Maker, requests::Source};
use crate::{
    answer::Answer,
    event::{Event, Parcel},
    heard::{self, Heard},
    id::{RequestId, SessionId},
    input::{ChannelLimit, Refusal, Wanted},
    request::{Ask, Bringing, By, Call, Caller, Request},
    session::{LaunchEnd, Process},
};

/// The most requests of one session that may be open when one more is asked over its socket.
const OPEN_MAX: usize = 64;

/// The most bytes that all of them may have together, as JSON.
const OPEN_BYTES_MAX: usize = 1 << 20;

/// The most that the processes of one session may say over its socket.
const SIGNALS_MAX: u64 = 20_000;

impl Maker<'_> {
    /// A process asks, or asks again under the same key because it was not heard, or does not know whether it was. Whatever
    /// way it asks, the same words may be somebody else's: they are compared as those of a printed block are.
    pub(super) fn call(
        &mut self,
        (id, launch): (SessionId, u32),
        key: &str,
        ask: &Ask,
        shown: Option<&Mark>,
        (pid, began): (i32, u64),
    ) -> Result<(), Refusal> {
        self.find(id)?;
        self.made.session = Some(id);
        let is_known = |request: &&Request| request.call.as_ref().is_some_and(|call| call.key == key);
        if let Some(request) = self.desk.requests_of(id).find(is_known) {
            self.made.request = Some(request.id);
            return Ok(());
        }
        self.can_speak(id, launch)?;
        self.has_room_for(id, ask)?;
        let number = self.session(id).signals + 1;
        let process = Process { pid, began, at_ms: self.now_ms };
        let call = Call { key: key.to_string(), number, process, caller: Caller::Blocked };
        let mark = shown.cloned().or_else(|| self.mark_of(id, ask));
        let source = Source::Called { call: &call, mark: mark.as_ref() };
        self.made.request = Some(self.asked(id, launch, ask.clone(), source));
        Ok(())
    }

    /// The caller has the answer in its hands. It says it to the agent only if this succeeds, and if this succeeds
    /// nobody else does.
    pub(super) fn take(&mut self, id: RequestId, key: &str) -> Result<(), Refusal> {
        let request = self.desk.get(id).ok_or(Refusal::NoRequest { request: id })?;
        let refused = Err(Refusal::NotWaitedFor { request: id });
        let Some(call) = request.call.as_ref().filter(|call| call.key == key) else { return refused };
        let (session, launch) = (request.session, request.launch);
        match (call.caller, request.bringing) {
            (Caller::Blocked, Bringing::Consumed { .. }) => {}
            (Caller::Blocked, Bringing::Waiting) => {
                let (spool_seq, parcel) = (None, Parcel::Request(id));
                self.emit(session, Event::InputConsumed { launch, spool_seq, parcel });
                self.advance(session);
            }
            _ => return refused,
        }
        self.made.request = Some(id);
        self.made.session = Some(session);
        Ok(())
    }

    /// The caller is gone: killed by the time-out of its agent's tool, or not interested any more.
    pub(super) fn part(&mut self, id: RequestId, key: &str) {
        let Some(request) = self.desk.get(id) else { return };
        let is_it = request.has_caller() && request.call.as_ref().is_some_and(|call| call.key == key);
        if is_it && request.is_pending() {
            let session = request.session;
            self.part_from(session, id, Caller::Gone);
            self.advance(session);
        }
    }

    /// Nobody is blocked for it any more. If somebody has asked the same meanwhile, there is a card for that, and one
    /// is enough.
    fn part_from(&mut self, session: SessionId, id: RequestId, caller: Caller) {
        self.emit(session, Event::RequestParted { request: id, caller });
        let request = self.desk.get(id).expect("it was looked up before");
        let is_another = |it: &&Request| it.id != id && it.is_open() && it.asks_the_same(&request.ask);
        if request.is_open() && self.desk.requests_of(session).any(|it| is_another(&it)) {
            let (by, answer, brings) = (By::Repetition, Answer::Nothing, false);
            self.emit(
                session,
                Event::RequestSettled {
                    request: id,
                    by,
                    answer,
                    brings,
                    relaunches: false,
                    unseen: false,
                    printed: None,
                },
            );
        }
    }

    /// The process of an agent has ended, and with it whoever was blocked. An agent that remembers is started again
    /// with the answer to what it could not do without; nobody else will hear it.
    pub(super) fn part_all(&mut self, id: SessionId) {
        let session = self.session(id);
        let was_lost = session.last_end().is_some_and(|end| matches!(end, LaunchEnd::Lost { .. }));
        let can_resume = session.can_resume();
        let is_called = |request: &&Request| {
            request.call.as_ref().is_some_and(|call| call.caller != Caller::Ended) && !request.left
        };
        let pending = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        let called: Vec<_> = pending.filter(is_called).map(|request| request.id).collect();
        for request in called {
            self.part_from(id, request, Caller::Ended);
            let it = self.desk.get(request).expect("it was found there");
            if it.is_open() && !was_lost && !(can_resume && it.ask.is_required()) {
                self.emit(id, Event::RequestLeft { request });
            }
        }
    }

    /// A process tells something that nobody has to settle.
    pub(super) fn tell(
        &mut self,
        id: SessionId,
        launch: u32,
        key: &str,
        item: &Value,
    ) -> Result<(), Refusal> {
        self.made.session = Some(id);
        if self.find(id)?.told.iter().any(|told| told == key) {
            return Ok(());
        }
        self.can_speak(id, launch)?;
        self.has_signals_left(id)?;
        let (number, key) = (self.session(id).signals + 1, key.to_string());
        self.emit(id, Event::SessionTold { launch, number, key, item: item.clone() });
        if let Heard::Office(said) = heard::read(item) {
            self.hear_office(id, launch, said, item);
            self.advance(id);
        }
        Ok(())
    }

    /// A person can settle only so much, and every list carries it: a session may ask for no more at once.
    fn has_room_for(&self, id: SessionId, ask: &Ask) -> Result<(), Refusal> {
        self.has_signals_left(id)?;
        let open = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        let open: Vec<&Request> = open.filter(|request| request.is_open()).collect();
        let over = |limit, max: usize| Refusal::OverLimit {
            session: id,
            limit,
            max: u64::try_from(max).unwrap_or(u64::MAX),
        };
        if open.len() >= OPEN_MAX {
            return Err(over(ChannelLimit::OpenRequests, OPEN_MAX));
        }
        let bytes: usize = open.iter().map(|request| &request.ask).chain([ask]).map(Ask::bytes).sum();
        if bytes > OPEN_BYTES_MAX {
            return Err(over(ChannelLimit::OpenBytes, OPEN_BYTES_MAX));
        }
        Ok(())
    }

    fn has_signals_left(&self, id: SessionId) -> Result<(), Refusal> {
        if self.session(id).signals < SIGNALS_MAX {
            return Ok(());
        }
        Err(Refusal::OverLimit { session: id, limit: ChannelLimit::Signals, max: SIGNALS_MAX })
    }

    /// Only the process that runs can say something, and not after it was told to end.
    pub(super) fn can_speak(&self, id: SessionId, launch: u32) -> Result<(), Refusal> {
        let can = self.live(id, launch).is_some_and(|live| live.ending.is_none())
            && self.session(id).cancelled_at_ms.is_none();
        if can { Ok(()) } else { Err(self.not_now(id, Wanted::Ask)) }
    }
}
