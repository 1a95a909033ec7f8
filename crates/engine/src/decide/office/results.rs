//! Results: who is to have one, and what it is the result of.

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use crate::{
    InvocationId, Refusal,
    action::Deed,
    decide::Maker,
    event::Event,
    id::{ResultId, RunId, SessionId},
    office::{About, Delivery, Examined, Invocation, OfficeEvent, Verdict, Why, name_of, origin},
    words,
};

/// What a result is about.
struct Purpose {
    /// The call that it is the result of.
    invocation: Option<InvocationId>,
    /// Whether that was over by then.
    late: bool,
    /// Who is to read it.
    receiver: Option<SessionId>,
    /// The run of who began the chain.
    root: RunId,
}

impl Maker<'_> {
    /// An agent has printed a result. It is looked at before anybody gets it.
    pub(super) fn brings(
        &mut self,
        id: SessionId,
        launch: u32,
        (to, kind, content): (String, String, String),
        item: &Value,
    ) {
        let origin = origin(launch, item);
        let printed = item["end"].as_u64().map(|end| (launch, end));
        let delivery = Delivery { to, kind, content, invocation: None, origin, printed };
        self.act(id, Deed::Examine { delivery: Box::new(delivery) });
    }

    /// It is known whether it can be brought.
    pub(super) fn examined(
        &mut self,
        id: SessionId,
        launch: Option<u32>,
        delivery: &Delivery,
        found: &Result<Examined, String>,
    ) -> Result<(), Refusal> {
        self.made.session = Some(id);
        let session = self.find(id)?;
        let is_printed = launch.is_none();
        let is_known = session.office.given.contains(&delivery.origin);
        if is_known || (is_printed && !session.office.examined.contains(&delivery.origin)) {
            return Ok(());
        }
        if let Some(launch) = launch {
            self.can_speak(id, launch)?;
        }
        let step = session.office.step.clone();
        let purpose =
            found.as_ref().map_err(Clone::clone).and_then(|found| self.purpose(id, delivery, &found.to));
        match (found, purpose) {
            (Ok(found), Ok(purpose)) => {
                self.made.result = Some(self.give(id, delivery, found, &purpose));
            }
            (_, Err(why)) if !is_printed => return Err(Refusal::NotDelivered { why }),
            (_, Err(why)) => self.not_given(id, delivery.to.clone(), why, delivery.origin.clone()),
            (Err(_), Ok(_)) => {}
        }
        if let Some(step) = step.filter(|_| self.session(id).office.step.is_none()) {
            self.step(id, &step);
        }
        self.advance(id);
        Ok(())
    }

    /// Who printed something that nobody can get is told.
    pub(super) fn not_given(&mut self, id: SessionId, to: String, why: String, origin: String) {
        let session = self.session(id);
        let words = words::office::not_delivered(session.order.korean, &to, &why);
        self.emit(id, Event::Office(OfficeEvent::Refused { to, why, origin }));
        let session = self.session(id);
        if !session.is_over() && session.cancelled_at_ms.is_none() {
            self.write_message(id, &words);
        }
    }

    /// What a result is about: the call that was named, the one that is worked on, or the one that was.
    fn purpose(&self, id: SessionId, delivery: &Delivery, to: &str) -> Result<Purpose, String> {
        let session = self.session(id);
        let office = &session.office;
        let current = office.current.filter(|it| self.was_told(id, *it));
        let named = delivery.invocation.or(current);
        let call = named.and_then(|it| self.desk.get(it)).filter(|call| call.seat == Some(id));
        if let Some(call) = call.filter(|call| call.is_open() && call.caller == to) {
            let (invocation, receiver) = (Some(call.id), Some(call.session));
            return Ok(Purpose { invocation, late: false, receiver, root: call.run });
        }
        if let Some(past) = &office.last
            && past.caller == to
            && !past.has_result
            && delivery.invocation.is_none_or(|named| named == past.invocation)
        {
            let (invocation, receiver) = (Some(past.invocation), Some(past.session));
            return Ok(Purpose { invocation, late: true, receiver, root: session.run });
        }
        if let Some(named) = delivery.invocation {
            return Err(words::office::no_such_task(session.order.korean, named, to));
        }
        let seats = self.desk.get(session.project).map(|project| &project.seats);
        let receiver = seats.and_then(|seats| seats.get(to)).copied().or_else(|| to.parse().ok());
        let root = current.and_then(|it| self.desk.get(it)).map_or(session.run, |call| call.run);
        Ok(Purpose { invocation: None, late: false, receiver, root })
    }

    fn give(&mut self, id: SessionId, delivery: &Delivery, found: &Examined, purpose: &Purpose) -> ResultId {
        let result = ResultId(self.desk.counters().result + 1);
        let Purpose { invocation, late, receiver, root } = *purpose;
        if let Some(invocation) = invocation.filter(|_| !late) {
            self.begin(id, invocation);
        }
        let given = OfficeEvent::Given {
            result,
            from: name_of(&self.session(id).order, id),
            to: found.to.clone(),
            kind: delivery.kind.clone(),
            content: found.content.as_ref().unwrap_or(&delivery.content).clone(),
            reference: found.reference.clone(),
            cut: found.cut,
            invocation,
            late,
            receiver,
            root,
            origin: delivery.origin.clone(),
            printed: delivery.printed,
        };
        self.emit(id, Event::Office(given));
        match invocation.filter(|_| !late) {
            Some(call) => {
                let how = (Verdict::Completed, Why::Delivered);
                self.end_call(id, call, how, Some(result), |_, callee| callee.to_string());
                self.dispatch(id);
            }
            None => self.bring(result),
        }
        result
    }

    /// Brings a result to whoever is to read it, if there is somebody now.
    fn bring(&mut self, id: ResultId) {
        if let Some(receiver) = self.address(id) {
            self.advance(receiver);
        }
    }

    /// The same, without handing it over yet. Gives who has it to read.
    pub(super) fn address(&mut self, id: ResultId) -> Option<SessionId> {
        let result = self.desk.get(id).filter(|it| it.message.is_none())?;
        let receiver = result.receiver?;
        let session = self.desk.get(receiver)?;
        if session.project != result.project || session.is_over() || session.cancelled_at_ms.is_some() {
            return None;
        }
        let text =
            words::office::with_end(&session.order, &words::office::result(session.order.korean, result));
        self.write_about(receiver, &text, Some(About::Result(id)));
        Some(receiver)
    }

    /// What came for a role while nobody had it goes to who has it now.
    pub(super) fn bring_waiting(&mut self, seat: SessionId) {
        let session = self.session(seat);
        let name = name_of(&session.order, seat);
        let order = &session.order;
        let text = |it: &crate::office::Handover| {
            words::office::with_end(order, &words::office::result(order.korean, it))
        };
        let is_its = |it: &&crate::office::Handover| {
            let is_elsewhere = it.receiver.is_some_and(|receiver| {
                receiver != seat && self.desk.get(receiver).is_some_and(|session| !session.is_over())
            });
            it.to == name && !is_elsewhere
        };
        let waiting = self.desk.waiting_results(session.project).filter(is_its);
        // Who is blocked in a call reads its result there.
        let is_taken = |id: Option<InvocationId>| {
            id.and_then(|id| self.desk.get(id)).is_some_and(Invocation::is_waited_for)
        };
        let waiting = waiting.filter(|it| !is_taken(it.invocation));
        let texts: Vec<(ResultId, bool, String)> =
            waiting.map(|it| (it.id, it.receiver == Some(seat), text(it))).collect();
        for (result, is_addressed, text) in texts {
            if !is_addressed {
                self.emit(seat, Event::Office(OfficeEvent::Addressed { result, receiver: seat }));
            }
            self.write_about(seat, &text, Some(About::Result(result)));
        }
    }
}
