//! What the events of an office change.

use super::Place;
use crate::{
    event::Parcel,
    id::{InvocationId, ProjectId, SessionId},
    office::{About, Ended, Handover, HeldCall, Invocation, OfficeEvent, Past, Standing, Why},
    request::Caller,
    session::{Role, Written},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    /// The calls of a project that are open, oldest first.
    pub(crate) fn open_calls(&self, project: ProjectId) -> impl Iterator<Item = &Invocation> {
        self.live_calls(project).filter(|call| call.is_open())
    }

    /// The calls of a project to which something can still happen, oldest first.
    pub(crate) fn live_calls(&self, project: ProjectId) -> impl Iterator<Item = &Invocation> {
        let known = self.world.live_calls(project);
        let calls = self.with_touched(known).filter_map(|id| self.get(id));
        calls.filter(move |call| call.project == project && call.is_live())
    }

    /// The results of a project that nobody has read and that are on their way to no session, oldest first.
    pub(crate) fn waiting_results(&self, project: ProjectId) -> impl Iterator<Item = &Handover> {
        let known = self.world.undelivered_results(project);
        let results = self.with_touched(known).filter_map(|id| self.get(id));
        results
            .filter(move |it| it.project == project && it.delivered_at_ms.is_none() && it.message.is_none())
    }

    pub(super) fn fold_office(&mut self, place: &Place, at_ms: u64, event: &OfficeEvent) {
        match event {
            OfficeEvent::Opened { .. } => self.fold_call(place, at_ms, event),
            OfficeEvent::Seated { invocation, callee, seat, reference, files } => {
                if let Some(files) = files {
                    self.standing(place.session).repeats.see(files);
                }
                let call = self.get_mut(*invocation);
                call.callee.clone_from(callee);
                call.seat = Some(*seat);
                call.reference.clone_from(reference);
                self.standing(*seat).tasks.insert(*invocation);
            }
            OfficeEvent::Held { .. } | OfficeEvent::Released { .. } => self.fold_held(place, event),
            OfficeEvent::Began { invocation } => {
                let call = self.get_mut(*invocation);
                call.began_at_ms = Some(at_ms);
                // From here on what is printed is about this call, however near to the last result it stands.
                if let Some(seat) = call.seat {
                    self.standing(seat).printed = None;
                }
            }
            OfficeEvent::Unread { invocation } => {
                let call = self.get_mut(*invocation);
                call.message = None;
                call.unread += 1;
                if let Some(seat) = call.seat {
                    self.standing(seat).current = None;
                }
            }
            OfficeEvent::Ended { .. } => self.fold_end(at_ms, event),
            OfficeEvent::Parted { invocation, taken } => {
                let call = self.get_mut(*invocation);
                if let Some(call) = &mut call.call {
                    call.caller = Caller::Gone;
                }
                let (session, is_open) = (call.session, call.is_open());
                let result = call.ended.as_ref().and_then(|ended| ended.result).filter(|_| *taken);
                if is_open {
                    self.standing(session).calls.insert(*invocation, false);
                }
                if let Some(result) = result {
                    self.get_mut(result).delivered_at_ms = Some(at_ms);
                }
            }
            OfficeEvent::Given { .. } => self.fold_result(place, at_ms, event),
            OfficeEvent::Refused { origin, .. } => self.standing(place.session).looked_at(origin),
            OfficeEvent::Addressed { result, receiver } => {
                self.get_mut(*result).receiver = Some(*receiver);
            }
            OfficeEvent::Delivered { result } => self.get_mut(*result).delivered_at_ms = Some(at_ms),
            OfficeEvent::Unused { .. } => self.standing(place.session).listened_at_ms = Some(at_ms),
            OfficeEvent::Printed { printed_at_ms, .. } => {
                let standing = self.standing(place.session);
                standing.idle_since_ms = standing.idle_since_ms.max(Some(*printed_at_ms));
                standing.listened_at_ms = None;
                standing.owes_word = false;
            }
            OfficeEvent::Busy { .. } => {
                let standing = self.standing(place.session);
                standing.idle_since_ms = standing.idle_since_ms.max(Some(at_ms));
                standing.listened_at_ms = None;
            }
            OfficeEvent::Kept { idle_ms: now_ms } => {
                if let Role::Office { idle_ms, .. } = &mut self.get_mut(place.session).order.role {
                    *idle_ms = *now_ms;
                }
            }
        }
    }

    fn fold_held(&mut self, place: &Place, event: &OfficeEvent) {
        match event {
            OfficeEvent::Held { invocation, request, .. } => {
                self.get_mut(*invocation).held = Some(HeldCall { request: *request, released: false });
            }
            OfficeEvent::Released { invocation } => {
                if let Some(held) = &mut self.get_mut(*invocation).held {
                    held.released = true;
                }
                self.standing(place.session).repeats.begin_again();
            }
            _ => {}
        }
    }

    fn fold_call(&mut self, place: &Place, at_ms: u64, event: &OfficeEvent) {
        let OfficeEvent::Opened {
            invocation, caller, callee, task, context, depth, root, trust, call, ..
        } = event
        else {
            return;
        };
        let opened = Invocation {
            id: *invocation,
            project: place.project,
            run: *root,
            session: place.session,
            caller: caller.clone(),
            callee: callee.clone(),
            task: task.clone(),
            context: context.clone(),
            trust: trust.clone(),
            depth: *depth,
            opened_at_ms: at_ms,
            call: call.clone(),
            held: None,
            seat: None,
            reference: None,
            message: None,
            unread: 0,
            began_at_ms: None,
            ended: None,
        };
        self.own.counters.invocation = self.counters().invocation.max(invocation.0);
        self.insert(opened);
        let session = self.get_mut(place.session);
        let is_blocked = call.as_ref().is_some_and(|call| call.caller == Caller::Blocked);
        session.office.calls.insert(*invocation, is_blocked);
        if let Some(call) = call {
            session.signals = call.number;
        }
    }

    fn fold_end(&mut self, at_ms: u64, event: &OfficeEvent) {
        let OfficeEvent::Ended { invocation, status, why, result, words } = event else { return };
        let (result, words) = (*result, words.clone());
        let content = result.and_then(|id| self.get(id)).map(|it| it.content.clone());
        let told = content.or_else(|| words.clone()).unwrap_or_default();
        let newest = InvocationId(self.counters().invocation);
        let call = self.get_mut(*invocation);
        call.ended = Some(Ended { at_ms, status: *status, why: *why, result, words });
        let over = call.clone();
        let (caller, seat) = (call.session, call.seat);
        let past = Past {
            invocation: *invocation,
            caller: call.caller.clone(),
            session: caller,
            has_result: result.is_some(),
        };
        self.standing(caller).calls.remove(invocation);
        // A call that was not made is no round of it, and a person has answered.
        if *why != Why::Repeated {
            self.standing(caller).repeats.end(&over, &told, newest);
        }
        let Some(seat) = seat else { return };
        let standing = self.standing(seat);
        standing.tasks.remove(invocation);
        if standing.current == Some(*invocation) {
            standing.current = None;
            standing.last = Some(past);
        }
        standing.idle_since_ms = Some(at_ms);
    }

    fn fold_result(&mut self, place: &Place, at_ms: u64, event: &OfficeEvent) {
        let OfficeEvent::Given {
            result,
            from,
            to,
            kind,
            content,
            reference,
            cut,
            invocation,
            late,
            receiver,
            root,
            origin,
            printed,
        } = event
        else {
            return;
        };
        let given = Handover {
            id: *result,
            project: place.project,
            run: *root,
            session: place.session,
            from: from.clone(),
            to: to.clone(),
            kind: kind.clone(),
            content: content.clone(),
            reference: reference.clone(),
            cut: *cut,
            invocation: *invocation,
            late: *late,
            given_at_ms: at_ms,
            receiver: *receiver,
            message: None,
            delivered_at_ms: None,
        };
        self.own.counters.result = self.counters().result.max(result.0);
        self.insert(given);
        let standing = self.standing(place.session);
        standing.printed = printed.filter(|_| invocation.is_some());
        standing.looked_at(origin);
        standing.given.push(origin.clone());
        let too_many = standing.given.len().saturating_sub(Standing::GIVEN_MAX);
        standing.given.drain(..too_many);
        if let Some(past) = standing.last.as_mut().filter(|past| Some(past.invocation) == *invocation) {
            past.has_result = true;
        }
    }

    /// A message carries something from another agent.
    pub(super) fn fold_about(&mut self, session: SessionId, written: &Written) {
        match written.about {
            Some(About::Task(invocation)) => {
                let call = self.get_mut(invocation);
                call.message = Some(written.message);
                let call = call.clone();
                let standing = self.standing(session);
                standing.repeats.begin(&call);
                standing.current = Some(invocation);
                standing.idle_since_ms = None;
            }
            Some(About::Result(result)) => {
                let result = self.get_mut(result);
                result.message = Some(written.message);
                let content = result.content.clone();
                self.standing(session).repeats.receive(&content);
            }
            None if written.personal => self.standing(session).repeats.begin_again(),
            None => {}
        }
    }

    /// Something is handed to a session. Who is told something has something to do, and a person wants to hear of it.
    pub(super) fn fold_told(&mut self, session: SessionId, at_ms: u64, parcel: Parcel) {
        let session = self.get_mut(session);
        if session.order.role.seat().is_none() {
            return;
        }
        let launch = session.launches.last().map(|launch| launch.number);
        if let Some(launch) = launch.filter(|&launch| session.office.told.is_none_or(|(of, _)| of != launch))
        {
            session.office.told = Some((launch, at_ms));
        }
        session.office.owes_word |= match parcel {
            Parcel::Message(id) => session.messages.iter().any(|it| it.id == id && it.personal),
            Parcel::Request(_) => true,
            Parcel::Expiry(_) => false,
        };
        if session.office.current.is_none() {
            session.office.idle_since_ms = Some(at_ms);
        }
    }

    /// A message that carries something from another agent comes back: nobody was there to read it.
    pub(super) fn fold_returned(&mut self, about: Option<About>) {
        if let Some(About::Result(result)) = about {
            self.get_mut(result).message = None;
        }
    }

    /// A session of a role is the one that has it from now on.
    pub(super) fn fold_seat(&mut self, place: &Place, at_ms: u64) {
        let session = self.get_mut(place.session);
        let Some(name) = session.order.role.seat().map(Into::into) else { return };
        session.office.idle_since_ms = Some(at_ms);
        self.get_mut(place.project).seats.insert(name, place.session);
    }

    pub(crate) fn standing(&mut self, session: SessionId) -> &mut Standing {
        &mut self.get_mut(session).office
    }
}
