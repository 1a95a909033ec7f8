//! The office: who calls whom, who works on what, and when a call is over.
//!
//! A seat works on one call at a time, in the order in which it was called: what it brings or completes is about that
//! one. Nobody waits for ever: a call that would close a ring of waiting agents is not opened.

mod calls;
mod repeats;
mod results;

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeSet, format, string::String, vec::Vec};

use super::{Maker, judge::failure};
use crate::{
    action::Deed,
    event::{Event, Parcel},
    id::{InvocationId, ProjectId, RunId, SessionId},
    input::Refusal,
    office::{About, OfficeEvent, OfficeInput, Seat, Verdict, Why, has_nothing_to_do, says_when_through},
    request::{Bringing, Request},
    run::{Outcome, Reason},
    session::{Ending, LaunchEnd, Message, Role, Session, WorktreeTerms},
    words,
};

/// So many processes may end without reading what they were called for.
const UNREAD_MAX: u32 = 3;

/// A file bears the time of the kernel's last tick, and may so seem to be older than the words that it answers.
const STAMP_MS: u64 = 20;

/// When the input of a CLI that is through is closed. Who waits for others is kept as long as one that waits for an
/// answer, and a seat for as long as it may be idle: it will hardly be the last thing that it hears.
pub(super) fn closes_at_ms(session: &Session, at_ms: u64) -> Option<u64> {
    let office = &session.office;
    if session.waits_for_others() {
        let rests_at_ms = at_ms.saturating_add(session.order.patience.stopped_ms);
        return Some(rests_at_ms).filter(|_| session.can_resume());
    }
    match (&session.order.role, office.idle_since_ms) {
        (Role::Office { idle_ms, .. }, Some(since_ms)) if office.current.is_none() => {
            Some(at_ms.max(since_ms.saturating_add(*idle_ms)))
        }
        _ => Some(at_ms),
    }
}

/// When it is looked whether a seat that has nothing to do, and does not end by itself, is to be ended.
pub(super) fn idle_at_ms(session: &Session) -> Option<u64> {
    let Role::Office { idle_ms, .. } = &session.order.role else { return None };
    let since_ms = idle_since_ms(session)?.max(session.office.listened_at_ms.unwrap_or_default());
    Some(since_ms.saturating_add(*idle_ms))
}

/// Since when a seat has nothing to do that does not end by itself.
fn idle_since_ms(session: &Session) -> Option<u64> {
    // Who says when it is through ends by itself, or because its input is closed.
    let is_idle = has_nothing_to_do(session) && !says_when_through(session);
    let since_ms = session.office.idle_since_ms.filter(|_| is_idle)?;
    // It could do nothing while it was held or waited for somebody.
    Some(since_ms.max(session.waited_until_ms.unwrap_or_default()))
}

impl Maker<'_> {
    pub(super) fn office(&mut self, input: &OfficeInput) -> Result<(), Refusal> {
        match input {
            OfficeInput::Invoke { .. } => self.called(input)?,
            OfficeInput::Seated { invocation, seat, repeats } => self.seated(*invocation, seat, repeats),
            OfficeInput::Examined { session, launch, delivery, found } => {
                self.examined(*session, *launch, delivery, found)?;
            }
            OfficeInput::Taken { invocation, key } => self.take_result(*invocation, key)?,
            OfficeInput::CallerGone { invocation, key } => self.part_from_call(*invocation, key),
            OfficeInput::Listened { session, launch, printed_at_ms, at_work } => {
                self.listened(*session, *launch, *printed_at_ms, *at_work);
            }
            OfficeInput::Cancel(invocation) => self.cancel_call(*invocation)?,
            OfficeInput::Send { project, seat, text, printed } => {
                self.printed = seat.session.zip(*printed);
                self.send_to(*project, seat, text)?;
            }
        }
        Ok(())
    }

    /// The session of a role: the one that has it, or a new one. It is not started yet.
    fn take_seat(&mut self, project: ProjectId, seat: &Seat) -> SessionId {
        let known = self.desk.get(project).and_then(|it| it.seats.get(&seat.name)).copied();
        let known = known.and_then(|id| self.desk.get(id));
        match known.filter(|session| can_take_up(session, seat)).map(|session| session.id) {
            Some(id) => {
                self.keep_for(id, &seat.order.role);
                id
            }
            None => self.make_seat(project, seat),
        }
    }

    /// How long a seat is kept is what stands in the file now.
    fn keep_for(&mut self, id: SessionId, wanted: &Role) {
        let (Role::Office { idle_ms: known, .. }, Role::Office { idle_ms, .. }) =
            (&self.session(id).order.role, wanted)
        else {
            return;
        };
        if known != idle_ms {
            self.emit(id, Event::Office(OfficeEvent::Kept { idle_ms: *idle_ms }));
        }
    }

    fn make_seat(&mut self, project: ProjectId, seat: &Seat) -> SessionId {
        let run = RunId(self.desk.counters().run + 1);
        let created = Event::RunCreated { title: seat.name.clone(), terms: seat.terms.clone(), parent: None };
        self.emit_at(Some(project), Some(run), None, created);
        let id = {
            let terms = WorktreeTerms::default();
            let worktrees = seat.worktrees.as_deref().map(|folder| (folder, &terms));
            self.create_first_session(project, run, &seat.order, worktrees)
        };
        if seat.worktrees.is_some() {
            self.act(id, Deed::MakeWorktree);
        }
        id
    }

    /// Tells a seat what comes next for it, if it has nothing to do, and starts it if it has to be started.
    fn dispatch(&mut self, seat: SessionId) {
        let Some(session) = self.desk.get(seat) else { return };
        let korean = session.order.korean;
        let next = session.office.tasks.first().copied().filter(|_| session.office.current.is_none());
        let Some(call) = next.and_then(|id| self.desk.get(id)) else { return };
        let (id, text) = (call.id, words::office::task(korean, call));
        self.bring_waiting(seat);
        self.write_about(seat, &text, Some(About::Task(id)));
        self.wake(seat);
    }

    /// Has a session read what waits for it: it is started again if it is over.
    fn wake(&mut self, seat: SessionId) {
        if !self.session(seat).is_over() {
            self.advance(seat);
        } else if self.resume(seat, None).is_err() {
            // Its files are being exchanged, or its worktree is gone: whoever waits for it is told.
            self.leave_office(seat, &Outcome::Failed { reason: Reason::NoEnd });
        }
    }

    fn send_to(&mut self, project: ProjectId, seat: &Seat, text: &str) -> Result<(), Refusal> {
        if !self.desk.has_project(project) {
            return Err(Refusal::NoProject { project });
        }
        if text.trim().is_empty() {
            return Err(Refusal::EmptyMessage);
        }
        let id = self.take_seat(project, seat);
        self.bring_waiting(id);
        self.write_personally(id, text);
        self.wake(id);
        self.made.session = Some(id);
        self.made.run = Some(self.session(id).run);
        Ok(())
    }

    /// Something was read. A call begins by that, and a result has arrived.
    pub(super) fn office_read(&mut self, id: SessionId, parcel: Parcel) {
        let Parcel::Message(message) = parcel else { return };
        let messages = &self.session(id).messages;
        let about = messages.iter().find(|it| it.id == message).and_then(|message| message.about);
        match about {
            Some(About::Task(invocation)) => self.begin(id, invocation),
            Some(About::Result(result))
                if self.desk.get(result).is_some_and(|it| it.delivered_at_ms.is_none()) =>
            {
                self.emit(id, Event::Office(OfficeEvent::Delivered { result }));
            }
            Some(About::Result(_)) | None => {}
        }
    }

    /// It can be told to nobody: who is called for something that it cannot be told will not do it.
    pub(super) fn office_not_told(&mut self, id: SessionId, parcel: Parcel, why: &str) {
        let Parcel::Message(message) = parcel else { return };
        let about = self.session(id).messages.iter().find(|it| it.id == message).and_then(|it| it.about);
        if let Some(About::Task(invocation)) = about {
            let failed = |korean, callee: &str| words::office::failed(korean, callee, Some(why));
            self.end_call(id, invocation, (Verdict::Failed, Why::Failed), None, failed);
            self.say_next(id);
        }
    }

    /// A terminal does not tell what was read: what it took counts.
    pub(super) fn office_taken(&mut self, id: SessionId, parcel: Parcel) {
        if self.session(id).order.agent.reads_terminal() {
            self.office_read(id, parcel);
        }
    }

    /// Who runs has its prompt.
    pub(super) fn office_prompted(&mut self, id: SessionId, launch: u32) {
        for parcel in self.parcels(id, |bringing| bringing == Bringing::Prompted { launch }) {
            self.office_read(id, parcel);
        }
    }

    /// The process of a seat that remembers nothing has ended: what it did not live to take is said to the next one, and
    /// what it took and has not read, if it has read anything at all.
    fn say_again(&mut self, id: SessionId) {
        let session = self.session(id);
        let Some(launch) = session.launches.last().map(|last| last.number) else { return };
        if session.order.role.seat().is_none() || session.can_resume() {
            return;
        }
        let has_read = session.messages.iter().any(|it| match it.bringing {
            Bringing::Consumed { launch: of }
            | Bringing::Unproven { launch: of }
            | Bringing::Heard { launch: of } => of == launch,
            _ => false,
        });
        let is_unread = |bringing: Bringing| {
            let is_untaken = [Bringing::Sent { launch }, Bringing::Refused { launch }].contains(&bringing);
            is_untaken || (has_read && bringing == Bringing::Delivered { launch })
        };
        let is_task = |about: Option<About>| matches!(about, Some(About::Task(_)));
        let unread = session.messages.iter().filter(|it| is_unread(it.bringing) && !is_task(it.about));
        let unread: Vec<_> = unread.cloned().collect();
        for Message { id: message, text, about, personal, .. } in unread {
            self.emit(id, Event::InputReturned { parcel: Parcel::Message(message) });
            self.write(id, &text, about, personal);
        }
    }

    /// The process of a seat has ended: what it worked on is over with it, unless the next process goes on with it.
    pub(super) fn settle_tasks(&mut self, id: SessionId) {
        self.say_again(id);
        let session = self.session(id);
        let Some(last) = session.launches.last() else { return };
        let was_lost = matches!(last.ended, Some(LaunchEnd::Lost { .. }));
        let can_resume = session.can_resume();
        let has_forgotten = !can_resume && (was_lost || failure(session).is_some());
        let was_sent_away = matches!(last.ending, Some(Ending::Rest | Ending::Relaunch));
        let goes_on = was_sent_away || (session.office.waits() && !has_forgotten);
        let Some(current) = session.office.current else { return };
        if (was_lost && can_resume) || matches!(failure(session), Some(Reason::RateLimited { .. })) {
            return;
        }
        let message = self.desk.get(current).and_then(|call| call.message);
        let message = session.messages.iter().find(|it| Some(it.id) == message);
        let Some((parcel, bringing)) = message.map(|it| (Parcel::Message(it.id), it.bringing)) else {
            return;
        };
        let has_begun = self.desk.get(current).is_some_and(|call| call.began_at_ms.is_some());
        match bringing {
            // It has not set out.
            Bringing::Waiting => {}
            // The next one has it in its prompt.
            Bringing::Sent { .. }
            | Bringing::Refused { .. }
            | Bringing::Delivered { .. }
            | Bringing::Prompted { .. }
                if can_resume => {}
            Bringing::Sent { .. } | Bringing::Refused { .. } | Bringing::Delivered { .. } if !has_begun => {
                self.emit(id, Event::InputReturned { parcel });
                self.emit(id, Event::Office(OfficeEvent::Unread { invocation: current }));
                if self.desk.get(current).is_some_and(|call| call.unread >= UNREAD_MAX) {
                    self.end_call(id, current, (Verdict::Failed, Why::Failed), None, words::office::unread);
                } else {
                    self.say_next(id);
                }
            }
            _ if goes_on => {}
            _ => {
                if has_forgotten {
                    self.withdraw_calls(id);
                }
                self.end_task(id, current, was_lost);
                self.say_next(id);
            }
        }
    }

    /// Nobody is left who wants what it has called for. All are closed before anybody is told what comes next for it:
    /// that could be another one of them.
    pub(super) fn withdraw_calls(&mut self, id: SessionId) {
        let calls: Vec<_> = self.session(id).office.calls.keys().copied().collect();
        let seats: BTreeSet<_> =
            calls.into_iter().filter_map(|call| self.take_back(id, call)?.seat).collect();
        for seat in seats {
            self.advance(seat);
            self.dispatch(seat);
        }
    }

    fn end_task(&mut self, id: SessionId, current: InvocationId, was_lost: bool) {
        let reason = failure(self.session(id));
        match reason {
            _ if was_lost => {
                self.end_call(id, current, (Verdict::Failed, Why::Lost), None, words::office::lost);
            }
            None => {
                let how = (Verdict::Completed, Why::Ended);
                self.end_call(id, current, how, None, |korean, callee| {
                    words::office::done(korean, callee, None)
                });
            }
            Some(reason) => {
                let reason = told(&reason);
                self.end_call(id, current, (Verdict::Failed, Why::Failed), None, |korean, callee| {
                    words::office::failed(korean, callee, reason.as_deref())
                });
            }
        }
    }

    /// The same as `dispatch` for a seat that is about to be looked at anyway.
    fn say_next(&mut self, seat: SessionId) {
        let office = &self.session(seat).office;
        let next = office.tasks.first().copied().filter(|_| office.current.is_none());
        let korean = self.session(seat).order.korean;
        if let Some(call) = next.and_then(|id| self.desk.get(id)) {
            let (id, text) = (call.id, words::office::task(korean, call));
            self.write_about(seat, &text, Some(About::Task(id)));
        }
    }

    /// A session is over. Nobody waits for what it has called for, and nothing comes of what it was called for. Who has
    /// called it more than once hears all of that at once.
    pub(super) fn leave_office(&mut self, id: SessionId, outcome: &Outcome) {
        self.withdraw_calls(id);
        let tasks: Vec<_> = self.session(id).office.tasks.iter().copied().collect();
        let callers: BTreeSet<_> =
            tasks.into_iter().filter_map(|task| self.leave_task(id, task, outcome)).collect();
        for caller in callers {
            self.advance(caller);
        }
    }

    /// Ends what a session that is over was called for. Gives who has something to read by that.
    fn leave_task(&mut self, id: SessionId, task: InvocationId, outcome: &Outcome) -> Option<SessionId> {
        let parcel = self.waiting_words(id, task);
        let caller = match outcome {
            Outcome::Completed { .. } => {
                let how = (Verdict::Completed, Why::Ended);
                let done = |korean, callee: &str| words::office::done(korean, callee, None);
                self.settle_call(id, task, how, None, done)
            }
            Outcome::Failed { reason } => {
                let reason = told(reason);
                let failed = |korean, callee: &str| words::office::failed(korean, callee, reason.as_deref());
                self.settle_call(id, task, (Verdict::Failed, Why::Failed), None, failed)
            }
            Outcome::Cancelled => {
                let how = (Verdict::Failed, Why::Failed);
                self.settle_call(id, task, how, None, words::office::cancelled)
            }
        };
        // Who is resumed later would else read what nobody wants by then.
        if let Some(parcel) = parcel {
            self.emit(id, Event::InputReturned { parcel });
        }
        caller
    }

    /// Nobody has had anything for a seat to do for long. Whether it is still busy is not known here: it is looked.
    pub(super) fn listen_to_idle(&mut self, id: SessionId) {
        let session = self.session(id);
        let is_due = idle_at_ms(session).is_some_and(|at_ms| at_ms <= self.now_ms) && !self.is_blocked(id);
        if let Some(launch) = session.live().map(|live| live.number).filter(|_| is_due) {
            self.emit(id, Event::Office(OfficeEvent::Unused { launch }));
            self.act(id, Deed::Listen { launch });
        }
    }

    /// Ends a seat that has nothing to do, has not printed anything for long, and is not seen to do anything. Who was
    /// written to by a person and has not said a word since is still at it.
    fn listened(&mut self, id: SessionId, launch: u32, printed_at_ms: Option<u64>, at_work: bool) {
        let Some(session) = self.desk.get(id) else { return };
        let live = session.live().filter(|live| live.number == launch && !self.is_blocked(id));
        let Some(since_ms) = live.and_then(|_| idle_since_ms(session)) else { return };
        let owes_word = session.office.owes_word;
        let is_news =
            |at_ms: u64| at_ms > since_ms || (owes_word && at_ms.saturating_add(STAMP_MS) >= since_ms);
        if let Some(at_ms) = printed_at_ms.map(|at_ms| at_ms.min(self.now_ms)).filter(|&at_ms| is_news(at_ms))
        {
            let printed_at_ms = at_ms.max(since_ms);
            self.emit(id, Event::Office(OfficeEvent::Printed { launch, printed_at_ms }));
        }
        // Once is enough: the same may be seen again by a server that has died in between.
        let is_known = idle_since_ms(self.session(id)).is_some_and(|at_ms| at_ms >= self.now_ms);
        if at_work && !is_known {
            self.emit(id, Event::Office(OfficeEvent::Busy { launch }));
        }
        let session = self.session(id);
        let Role::Office { idle_ms, .. } = &session.order.role else { return };
        let is_idle =
            idle_since_ms(session).is_some_and(|at_ms| at_ms.saturating_add(*idle_ms) <= self.now_ms);
        let grace_ms = session.order.patience.grace_ms;
        // A question that has expired can still be answered, and the answer is for who asked.
        let has_asked = self.desk.requests_of(id).any(Request::is_open);
        if is_idle && !session.office.owes_word && !has_asked {
            self.emit(id, Event::SessionRecalled { launch, why: Ending::Idle });
            self.act(id, Deed::End { launch, grace_ms });
        }
    }
}

/// Whether a session can be told more as this role.
fn can_take_up(session: &Session, seat: &Seat) -> bool {
    if session.cancelled_at_ms.is_some() && !session.is_over() {
        return false;
    }
    let has_place = session.worktree.as_ref().is_none_or(|worktree| worktree.state.is_there());
    // What stands in the file now is what is used, as soon as nobody works by the old words.
    !session.is_over() || (has_place && is_same_role(&session.order.role, &seat.order.role))
}

/// Whether two are the same role by the same words. How soon it is ended is no reason to begin anew.
fn is_same_role(one: &Role, other: &Role) -> bool {
    match (one, other) {
        (Role::Office { name, hash, .. }, Role::Office { name: other, hash: words, .. }) => {
            name == other && hash == words
        }
        _ => one == other,
    }
}

/// A reason in the words of whoever said it.
fn told(reason: &Reason) -> Option<String> {
    match reason {
        Reason::ExitCode { code } => Some(format!("exit code {code}")),
        Reason::KilledBy { signal } => Some(format!("signal {signal}")),
        Reason::AgentError { message } => message.clone(),
        Reason::NotStarted { message } | Reason::NoWorktree { message } => Some(message.to_owned()),
        _ => None,
    }
}

/// What a call is said with, whoever says it.
struct Spoken<'a> {
    callee: &'a str,
    task: &'a str,
    context: Option<&'a str>,
    trust: &'a str,
    call: Option<Box<crate::request::Call>>,
    marked: bool,
}
