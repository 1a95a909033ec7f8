//! Calls: how one is opened, who is to do it, and how it ends.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::Spoken;
use crate::{
    InvocationId, Refusal,
    action::Deed,
    decide::Maker,
    event::{Event, Parcel},
    heard::Said,
    id::{ProjectId, ResultId, SessionId},
    office::{
        DEPTH_MAX, Invocation, NoSeat, OPEN_MAX, OfficeEvent, OfficeInput, RepeatTerms, Seat, Step, Verdict,
        Why, name_of, origin,
    },
    request::{Bringing, Call, Caller},
    session::Process,
    words,
};

/// How far behind a result a step may be said to be complete and be the same step, in bytes of output.
const NEAR_BYTES: u64 = 64;

impl Maker<'_> {
    /// Something was said for another agent.
    pub(in crate::decide) fn hear_office(&mut self, id: SessionId, launch: u32, said: Said, item: &Value) {
        // Who only looks at somebody else's work calls nobody.
        if self.session(id).verifies() {
            return;
        }
        let trust = item["trust"].as_str().unwrap_or("plain");
        match said {
            Said::Invoke { target, task, context } => {
                let marked = item.get("mark").is_some_and(|mark| !mark.is_null());
                let (callee, task, context) = (target.as_str(), task.as_str(), context.as_deref());
                let spoken = Spoken { callee, task, context, trust, call: None, marked };
                self.invoke(id, launch, spoken);
            }
            Said::DeliverResult { target, result_type, content } => {
                self.brings(id, launch, (target, result_type, content), item);
            }
            Said::TooLong { target, limit } => {
                let why = words::office::too_long(self.session(id).order.korean, &target, &limit);
                self.not_given(id, target, why, origin(launch, item));
            }
            Said::StepComplete { step, summary } => {
                // What was printed before it is looked at first: it may be the result of the same step.
                if self.session(id).office.step.is_none() {
                    let printed = item["offset"].as_u64().map(|offset| (launch, offset));
                    self.step(id, &Step { printed, summary: summary.or(step) });
                }
            }
        }
    }

    /// A process calls over the session's socket, or again under the same key because it was not heard.
    pub(super) fn called(&mut self, input: &OfficeInput) -> Result<(), Refusal> {
        let OfficeInput::Invoke { session, launch, key, callee, task, context, process, waits } = input
        else {
            return Ok(());
        };
        let project = self.find(*session)?.project;
        self.made.session = Some(*session);
        let is_known = |call: &Call| call.key == *key;
        let mut open = self.desk.open_calls(project);
        if let Some(call) = open.find(|it| it.call.as_ref().is_some_and(is_known)) {
            self.made.invocation = Some(call.id);
            return Ok(());
        }
        drop(open);
        self.can_speak(*session, *launch)?;
        let (pid, began) = *process;
        let call = Call {
            key: key.clone(),
            number: self.session(*session).signals + 1,
            process: Process { pid, began, at_ms: self.now_ms },
            caller: if *waits { Caller::Blocked } else { Caller::Gone },
        };
        let (context, call) = (context.as_deref(), Some(Box::new(call)));
        let spoken = Spoken { callee, task, context, trust: "channel", call, marked: false };
        self.made.invocation = Some(self.invoke(*session, *launch, spoken));
        Ok(())
    }

    fn invoke(&mut self, id: SessionId, launch: u32, spoken: Spoken<'_>) -> InvocationId {
        let session = self.session(id);
        let current = session.office.current.and_then(|it| self.desk.get(it));
        let depth = current.map_or(0, |call| call.depth) + 1;
        let root = current.map_or(session.run, |call| call.run);
        let is_one_too_many = session.office.calls.len() >= OPEN_MAX;
        let invocation = InvocationId(self.desk.counters().invocation + 1);
        let Spoken { callee, task, context, trust, call, marked } = spoken;
        let opened = OfficeEvent::Opened {
            invocation,
            caller: name_of(&session.order, id),
            callee: callee.to_owned(),
            task: task.to_owned(),
            context: context.map(ToOwned::to_owned),
            launch,
            depth,
            root,
            trust: trust.to_owned(),
            call: call.map(|call| *call),
        };
        self.emit(id, Event::Office(opened));
        let failed = |why| (Verdict::Failed, why);
        if marked {
            self.end_call(id, invocation, failed(Why::Marked), None, words::office::marked);
        } else if depth > DEPTH_MAX {
            self.end_call(id, invocation, failed(Why::TooDeep), None, |korean, _| {
                words::office::too_deep(korean)
            });
        } else if is_one_too_many {
            self.end_call(id, invocation, failed(Why::TooMany), None, |korean, _| {
                words::office::too_many(korean)
            });
        } else {
            self.act(id, Deed::Seat { invocation });
        }
        invocation
    }

    /// It is known who is called, or that nobody is.
    pub(super) fn seated(
        &mut self,
        id: InvocationId,
        seat: &Result<Box<Seat>, NoSeat>,
        repeats: &RepeatTerms,
    ) {
        let is_held = |call: &Invocation| call.held.is_some_and(|held| !held.released);
        let is_wanted = |call: &&Invocation| call.is_open() && call.seat.is_none() && !is_held(call);
        let Some(call) = self.desk.get(id).filter(is_wanted) else { return };
        let (project, caller, name) = (call.project, call.session, call.caller.clone());
        if self.session(caller).cancelled_at_ms.is_some() {
            // It has called while it was asked to end.
            self.take_back(caller, id);
            return;
        }
        let role = seat.as_ref().map_or_else(|_| call.callee.clone(), |seat| seat.name.clone());
        if self.hold_if_repeated(id, &role, repeats) {
            return;
        }
        let seat = match seat {
            Ok(seat) => seat,
            Err(NoSeat::Unknown { roles }) => {
                let how = (Verdict::Failed, Why::UnknownRole);
                return self.end_call(caller, id, how, None, |korean, callee| {
                    words::office::unknown(korean, callee, roles)
                });
            }
            Err(NoSeat::Bad { message }) => {
                let how = (Verdict::Failed, Why::BadRole);
                return self.end_call(caller, id, how, None, |korean, callee| {
                    words::office::bad_role(korean, callee, message)
                });
            }
        };
        if let Some(path) = self.cycle(project, &name, &seat.name) {
            return self.report_cycle(caller, id, &path);
        }
        let session = self.take_seat(project, seat);
        let seated = OfficeEvent::Seated {
            invocation: id,
            callee: seat.name.clone(),
            seat: session,
            reference: seat.reference.clone(),
            files: repeats.files.clone(),
        };
        self.emit(caller, Event::Office(seated));
        self.dispatch(session);
    }

    /// The names in a ring that this call would close, from its caller back to it.
    fn cycle(&self, project: ProjectId, from: &str, to: &str) -> Option<Vec<String>> {
        let mut before: BTreeMap<&str, &str> = BTreeMap::new();
        let mut found = [to].to_vec();
        while let Some(name) = found.pop() {
            if name == from {
                let mut path = [from.to_string()].to_vec();
                let mut at = from;
                while at != to {
                    at = before.get(at)?;
                    path.insert(0, at.to_string());
                }
                path.insert(0, from.to_string());
                return Some(path);
            }
            let waits = |call: &&Invocation| call.seat.is_some() && call.caller == name;
            for call in self.desk.open_calls(project).filter(waits) {
                if call.callee != to && !before.contains_key(call.callee.as_str()) {
                    before.insert(&call.callee, name);
                    found.push(&call.callee);
                }
            }
        }
        None
    }

    /// Everybody in a ring is told. The call that would close it is not made, and the others go on.
    fn report_cycle(&mut self, caller: SessionId, id: InvocationId, path: &[String]) {
        let project = self.session(caller).project;
        let in_it =
            |call: &&Invocation| path.windows(2).any(|pair| pair[0] == call.caller && pair[1] == call.callee);
        let mut others: BTreeMap<SessionId, (String, Vec<InvocationId>)> = BTreeMap::new();
        for call in self.desk.open_calls(project).filter(in_it).filter(|call| call.session != caller) {
            let (_, calls) = others.entry(call.session).or_insert_with(|| (call.caller.clone(), Vec::new()));
            calls.push(call.id);
        }
        self.end_call(caller, id, (Verdict::Failed, Why::Cycle), None, |korean, _| {
            words::office::cycle(korean, path)
        });
        for (other, (name, calls)) in others {
            let Some(session) = self.desk.get(other).filter(|session| !session.is_over()) else {
                continue;
            };
            let words = words::office::cycle_of_others(session.order.korean, path, &name, &calls);
            self.write_message(other, &words);
            self.advance(other);
        }
    }

    /// Its words were read.
    pub(super) fn begin(&mut self, id: SessionId, invocation: InvocationId) {
        let call = self.desk.get(invocation);
        if call.is_some_and(|call| call.is_open() && call.began_at_ms.is_none()) {
            self.emit(id, Event::Office(OfficeEvent::Began { invocation }));
        }
    }

    /// Somebody says that it has completed its step: what it works on is done.
    pub(super) fn step(&mut self, id: SessionId, step: &Step) {
        let office = &self.session(id).office;
        let is_near = office.printed.zip(step.printed).is_some_and(|((of, end), (launch, offset))| {
            of == launch && offset <= end.saturating_add(NEAR_BYTES)
        });
        let Some(current) = office.current else { return };
        // What is said before the next task was handed over is about the one whose result stands right before it.
        let is_handed_over = self.bringing(id, current).is_some_and(|it| {
            use Bringing::{Refused, Sent, Undeliverable, Waiting};
            !matches!(it, Waiting | Sent { .. } | Refused { .. } | Undeliverable)
        });
        if (is_near && !is_handed_over) || !self.was_told(id, current) {
            return;
        }
        self.begin(id, current);
        self.end_call(id, current, (Verdict::Completed, Why::Step), None, |korean, callee| {
            words::office::done(korean, callee, step.summary.as_deref())
        });
        self.dispatch(id);
    }

    /// Whether the words of a call have reached whom they are for, as far as anybody can know.
    pub(super) fn was_told(&self, seat: SessionId, invocation: InvocationId) -> bool {
        let bringing = self.bringing(seat, invocation);
        bringing.is_some_and(|it| {
            !matches!(it, Bringing::Waiting | Bringing::Refused { .. } | Bringing::Undeliverable)
        })
    }

    /// How far the words of a call have come.
    fn bringing(&self, seat: SessionId, invocation: InvocationId) -> Option<&Bringing> {
        let message = self.desk.get(invocation)?.message?;
        self.session(seat).messages.iter().find(|it| it.id == message).map(|it| &it.bringing)
    }

    /// Ends a call, and tells who has called. Words are what it is told where there is no result.
    pub(super) fn end_call(
        &mut self,
        by: SessionId,
        id: InvocationId,
        (status, why): (Verdict, Why),
        result: Option<ResultId>,
        words: impl Fn(bool, &str) -> String,
    ) {
        if let Some(caller) = self.settle_call(by, id, (status, why), result, words) {
            self.advance(caller);
        }
    }

    /// The same, without handing anything over yet. Gives who has something to read by that.
    pub(super) fn settle_call(
        &mut self,
        by: SessionId,
        id: InvocationId,
        (status, why): (Verdict, Why),
        result: Option<ResultId>,
        words: impl Fn(bool, &str) -> String,
    ) -> Option<SessionId> {
        let call = self.desk.get(id).filter(|call| call.is_open())?;
        let (caller, is_heard) = (call.session, call.is_heard());
        let said = self.close_call(by, id, (status, why), result, words);
        match (result, said) {
            _ if is_heard => None,
            (Some(result), _) => self.address(result),
            (None, Some(said)) => self.write_to_caller(caller, &said),
            (None, None) => None,
        }
    }

    /// Ends a call without telling anybody. Gives the words for who has called, where there is no result.
    fn close_call(
        &mut self,
        by: SessionId,
        id: InvocationId,
        (status, why): (Verdict, Why),
        result: Option<ResultId>,
        words: impl Fn(bool, &str) -> String,
    ) -> Option<String> {
        let call = self.desk.get(id)?;
        let caller = call.session;
        let korean = self.desk.get(caller).is_some_and(|session| session.order.korean);
        let said = words(korean, &call.callee);
        let said = match (result, status) {
            (Some(_), _) => None,
            (None, Verdict::Completed) => Some(said),
            (None, _) => Some(words::office::not_done(korean, &call.callee, &said)),
        };
        let ended = OfficeEvent::Ended { invocation: id, status, why, result, words: said.clone() };
        self.emit(by, Event::Office(ended));
        self.withdraw_repeat(id);
        said
    }

    /// Gives the caller if it has something to read by that.
    fn write_to_caller(&mut self, caller: SessionId, words: &str) -> Option<SessionId> {
        let session = self.desk.get(caller)?;
        if session.is_over() || session.cancelled_at_ms.is_some() {
            return None;
        }
        let words = words::office::with_end(&session.order, words);
        self.write_message(caller, &words);
        Some(caller)
    }

    /// A person does not want a call any more.
    pub(super) fn cancel_call(&mut self, id: InvocationId) -> Result<(), Refusal> {
        let Some(call) = self.desk.get(id) else {
            let is_past = id.0 <= self.desk.counters().invocation;
            return Err(if is_past {
                Refusal::InvocationOver { invocation: id }
            } else {
                Refusal::NoInvocation { invocation: id }
            });
        };
        self.made.invocation = Some(id);
        if call.is_open() {
            let (caller, is_heard) = (call.session, call.is_heard());
            let taken = self.take_back(caller, id);
            if let Some(seat) = taken.as_ref().and_then(|taken| taken.seat) {
                self.advance(seat);
                self.dispatch(seat);
            }
            let said = taken.and_then(|taken| taken.said).filter(|_| !is_heard);
            if let Some(caller) = said.and_then(|said| self.write_to_caller(caller, &said)) {
                self.advance(caller);
            }
        }
        Ok(())
    }

    /// Nobody wants a call any more. Who has been told of it may go on, and is told that nobody waits; to anybody else it
    /// was never said. Nothing is handed over yet: who takes more than one back does that first.
    pub(super) fn take_back(&mut self, by: SessionId, id: InvocationId) -> Option<TakenBack> {
        let call = self.desk.get(id).filter(|call| call.is_open()).cloned()?;
        let seat = call.seat.filter(|seat| self.desk.get(*seat).is_some_and(|it| !it.is_over()));
        let is_told =
            seat.is_some_and(|seat| self.session(seat).office.current == Some(id) && self.was_told(seat, id));
        let how = (Verdict::Cancelled, Why::Cancelled);
        let said = self.close_call(by, id, how, None, words::office::cancelled);
        if let Some(seat) = seat {
            if let Some(message) = call.message.filter(|_| !is_told) {
                self.emit(seat, Event::InputReturned { parcel: Parcel::Message(message) });
            } else if is_told {
                let words = words::office::not_wanted(self.session(seat).order.korean, &call);
                self.write_message(seat, &words);
            }
        }
        Some(TakenBack { seat, said })
    }

    /// The words of a call that have not set out.
    pub(super) fn waiting_words(&self, seat: SessionId, invocation: InvocationId) -> Option<Parcel> {
        let is_waiting = self.bringing(seat, invocation) == Some(&Bringing::Waiting);
        self.desk.get(invocation)?.message.filter(|_| is_waiting).map(Parcel::Message)
    }

    /// The process that was blocked has what it waited for. It says it to its agent only if this succeeds.
    pub(super) fn take_result(&mut self, id: InvocationId, key: &str) -> Result<(), Refusal> {
        let call = self.desk.get(id).ok_or(Refusal::NoInvocation { invocation: id })?;
        let is_its = call.call.as_ref().is_some_and(|call| call.key == key);
        if !is_its || call.is_open() || !call.is_waited_for() {
            return Err(Refusal::NotCalled { invocation: id });
        }
        let session = call.session;
        self.made.invocation = Some(id);
        self.emit(session, Event::Office(OfficeEvent::Parted { invocation: id, taken: true }));
        Ok(())
    }

    /// The process that was blocked is gone: what comes of the call is brought to its agent.
    pub(super) fn part_from_call(&mut self, id: InvocationId, key: &str) {
        if let Some(caller) = self.part_quietly(id, key) {
            self.advance(caller);
        }
    }

    /// The process of an agent has ended, and with it whoever was blocked in a call. Whoever says so sees to the agent
    /// when all of them are known to be gone.
    pub(in crate::decide) fn part_all_calls(&mut self, id: SessionId) {
        let session = self.session(id);
        let project = session.project;
        let blocked: Vec<(InvocationId, String)> = self
            .desk
            .live_calls(project)
            .filter(|call| call.session == id && call.is_waited_for())
            .filter_map(|call| Some((call.id, call.call.as_ref()?.key.clone())))
            .collect();
        for (call, key) in blocked {
            self.part_quietly(call, &key);
        }
    }

    /// Gives the session that is to be looked at by that.
    fn part_quietly(&mut self, id: InvocationId, key: &str) -> Option<SessionId> {
        let call = self.desk.get(id)?;
        let is_its = call.is_waited_for() && call.call.as_ref().is_some_and(|call| call.key == key);
        if !is_its {
            return None;
        }
        let (session, ended) = (call.session, call.ended.clone());
        self.emit(session, Event::Office(OfficeEvent::Parted { invocation: id, taken: false }));
        match ended.map(|ended| (ended.result, ended.words)) {
            Some((Some(result), _)) => self.address(result),
            Some((None, Some(words))) => self.write_to_caller(session, &words),
            _ => Some(session),
        }
    }
}

/// A call that was taken back.
pub(super) struct TakenBack {
    /// Who was to do it, if it is there.
    pub(super) seat: Option<SessionId>,
    /// The words for who has called.
    said: Option<String>,
}
