//! Calls that are repeated while nothing changes: a person is asked whether they go on.

use alloc::{string::String, vec::Vec};

use crate::{
    InvocationId, Refusal,
    action::Deed,
    answer::{Answer, NotAnAnswer},
    decide::{Maker, requests::OSTLER},
    event::Event,
    id::{RequestId, SessionId},
    office::{OfficeEvent, RepeatTerms, Verdict, Why},
    request::{Ask, By, Request},
    words,
};

/// What a person can say about a call that is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::decide) enum RepeatChoice {
    /// It is made, and may be made as often again.
    Continue,
    /// It is not made.
    Stop,
}

impl RepeatChoice {
    /// All, in the order in which they are offered.
    pub(in crate::decide) const ALL: [RepeatChoice; 2] = [RepeatChoice::Continue, RepeatChoice::Stop];

    /// What is said for it.
    pub(in crate::decide) fn word(self) -> &'static str {
        match self {
            RepeatChoice::Continue => "continue",
            RepeatChoice::Stop => "stop",
        }
    }
}

impl Maker<'_> {
    /// Asks a person about a call, if nothing came of the same call before, as often as that may be.
    pub(super) fn hold_if_repeated(&mut self, id: InvocationId, role: &str, terms: &RepeatTerms) -> bool {
        let Some(call) = self.desk.get(id).filter(|call| call.held.is_none()) else { return false };
        let (caller, session) = (call.session, self.session(call.session));
        let repeats = &session.office.repeats;
        let times = repeats.count(role, &call.task, call.context.as_deref());
        let is_too_often = terms.max.is_some_and(|max| times >= max);
        if !is_too_often || repeats.has_changed(terms.files.as_deref()) {
            return false;
        }
        if let Some(request) = self.repeat_request(caller, id) {
            self.emit(caller, Event::Office(OfficeEvent::Held { invocation: id, request, times }));
            return true;
        }
        let launch = session.launches.last().map_or(0, |launch| launch.number);
        let options: Vec<String> = RepeatChoice::ALL.iter().map(|choice| choice.word().into()).collect();
        let question = words::office::repeated_question(session.order.korean, call, role, times, options);
        let request = self.open(caller, launch, Ask::Question(question), OSTLER, None);
        self.emit(caller, Event::Office(OfficeEvent::Held { invocation: id, request, times }));
        true
    }

    /// The open request about an earlier call of the same caller to the same role: a person decides once about all.
    fn repeat_request(&self, caller: SessionId, id: InvocationId) -> Option<RequestId> {
        let role = &self.desk.get(id)?.callee;
        let calls = self.desk.get(caller)?.office.calls.keys();
        calls.filter_map(|other| self.desk.get(*other)).find_map(|other| {
            let held = other.held.filter(|_| other.is_open() && other.callee == *role)?;
            self.desk.get(held.request).is_some_and(Request::is_open).then_some(held.request)
        })
    }

    /// The first open call that a request is about.
    pub(in crate::decide) fn held_call(&self, request: RequestId) -> Option<InvocationId> {
        self.held_calls(request).next()
    }

    /// All open calls that a request is about, in order.
    fn held_calls(&self, request: RequestId) -> impl Iterator<Item = InvocationId> + '_ {
        let session = self.desk.get(request).and_then(|request| self.desk.get(request.session));
        let calls = session.into_iter().flat_map(|session| session.office.calls.keys().copied());
        calls.filter(move |id| {
            let call = self.desk.get(*id).filter(|call| call.is_open());
            call.and_then(|call| call.held).is_some_and(|held| held.request == request)
        })
    }

    /// What is meant by an answer, if it is about a call that is repeated.
    pub(in crate::decide) fn repeat_choice_of(
        &self,
        request: RequestId,
        answer: &Answer,
    ) -> Result<Option<(Vec<InvocationId>, RepeatChoice)>, Refusal> {
        let calls: Vec<InvocationId> = self.held_calls(request).collect();
        if calls.is_empty() {
            return Ok(None);
        }
        let is_meant =
            |choice: &RepeatChoice| matches!(answer, Answer::Text { text } if *text == choice.word());
        let choice = RepeatChoice::ALL.into_iter().find(is_meant).ok_or_else(|| {
            let options = RepeatChoice::ALL.iter().map(|choice| choice.word().into()).collect();
            Refusal::NotAnAnswer { request, why: NotAnAnswer::NotAnOption { options, nearest: None } }
        })?;
        Ok(Some((calls, choice)))
    }

    /// Makes a call that was held, or tells its caller that it is not made.
    pub(in crate::decide) fn heed_repeat(&mut self, id: InvocationId, choice: RepeatChoice) {
        let Some(caller) = self.desk.get(id).map(|call| call.session) else { return };
        match choice {
            RepeatChoice::Continue => {
                self.emit(caller, Event::Office(OfficeEvent::Released { invocation: id }));
                self.act(caller, Deed::Seat { invocation: id });
            }
            RepeatChoice::Stop => {
                self.end_call(caller, id, (Verdict::Failed, Why::Repeated), None, words::office::repeated);
            }
        }
    }

    /// A call has ended: nobody has to decide whether it is made.
    pub(super) fn withdraw_repeat(&mut self, id: InvocationId) {
        let Some(call) = self.desk.get(id) else { return };
        let (session, held) = (call.session, call.held);
        let Some(request) = held.map(|held| held.request) else { return };
        if self.held_calls(request).any(|other| other != id) {
            return;
        }
        if self.desk.get(request).is_some_and(Request::is_open) {
            let (by, answer, brings) = (By::Change, Answer::Nothing, false);
            let settled = Event::RequestSettled {
                request,
                by,
                answer,
                brings,
                relaunches: false,
                unseen: false,
                printed: None,
            };
            self.emit(session, settled);
        }
    }
}
