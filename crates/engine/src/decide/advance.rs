//! The one question that ends every decision about a session: what is due now?
//!
//! It is answered from the facts alone, so that it does not matter in which order they came.

use alloc::{string::String, vec::Vec};

use ostler_agents::InputWay;

use super::{Maker, judge::failure, time::closes_at_ms};
use crate::{
    action::Deed,
    answer::Answer,
    checkpoint::RewindWay,
    event::{Event, Parcel},
    id::SessionId,
    request::{Bringing, By, Request},
    run::{Outcome, Reason},
    session::{Ending, LaunchCause, LaunchEnd, Session, WorktreeState},
    told::Long,
    words,
};

impl Maker<'_> {
    pub(super) fn advance(&mut self, id: SessionId) {
        let session = self.session(id);
        let wants_worktree =
            session.worktree.as_ref().is_some_and(|worktree| worktree.state == WorktreeState::Wanted);
        // Who holds an agent does not hold up its end.
        let has_failed = session.launches.last().is_some_and(|last| last.ending == Some(Ending::Failed));
        // The driver of a graph looks by itself at what people want of it.
        if session.is_over() || session.graph.is_some() {
            return;
        }
        self.unpark(id);
        let session = self.session(id);
        if session.cancelled_at_ms.is_some() {
            self.advance_cancelled(id);
        } else if session.dismissed_at_ms.is_some() {
            self.advance_dismissed(id);
        } else if session.gated && !has_failed {
            self.advance_gated(id);
        } else if session.live().is_some() {
            self.advance_live(id);
        } else if has_failed
            || !(wants_worktree || session.paused_at_ms.is_some() || session.checking.is_some())
        {
            self.advance_resting(id);
        }
    }

    fn advance_cancelled(&mut self, id: SessionId) {
        let session = self.session(id);
        let grace_ms = session.order.patience.grace_ms;
        // The check that runs is ended first, and reports it.
        if session.checking.is_some() {
            return;
        }
        match session.live() {
            Some(live) if live.ending == Some(Ending::Cancel) => {}
            // What it writes when it is asked to end would be lost between two files.
            Some(_) if self.is_exchanging(id) => {}
            Some(live) => {
                let launch = live.number;
                self.emit(id, Event::SessionRecalled { launch, why: Ending::Cancel });
                self.act(id, Deed::End { launch, grace_ms });
            }
            None => self.finish(id, Outcome::Cancelled),
        }
    }

    fn advance_live(&mut self, id: SessionId) {
        let session = self.session(id);
        let live = session.live().expect("the caller has seen it");
        let (launch, spool_seq) = (live.number, live.spool_seq);
        let is_ready = live.process.is_some() && live.ending.is_none() && session.paused_at_ms.is_none();
        if !is_ready || self.is_held_up(id) || session.checkpoints.hold() {
            return;
        }
        let is_blocked = self.is_blocked(id);
        let is_held = live.held().is_some();
        let ends = closes_at_ms(session).is_some_and(|at| at <= self.now_ms);
        let reads_nothing = session.order.agent.input.way == InputWay::Relaunch || live.input_closed;
        let grace_ms = session.order.patience.grace_ms;
        let needs_relaunch = session.needs_relaunch;
        let mut parcels = self.waiting_parcels(id);
        if (is_held || !parcels.is_empty()) && self.exchanged(id).is_some() {
            return;
        }
        if (is_held || !parcels.is_empty()) && self.must_park(id) {
            self.park(id);
        }
        if self.session(id).parked_at_ms.is_some() {
            // Who has said that it is through may end meanwhile.
            if ends && !is_held {
                self.close_input(id, launch);
            }
            return;
        }
        if (is_held || !parcels.is_empty()) && self.waits_for_budget(id) {
            return;
        }
        if reads_nothing || needs_relaunch {
            // An answer is waited for, a message can wait until the agent is through. So can an answer whose caller
            // has gone: the agent went on without it.
            parcels.retain(|&parcel| self.request_of(parcel).is_some_and(|request| request.call.is_none()));
            if (!parcels.is_empty() || needs_relaunch) && !is_blocked {
                self.emit(id, Event::SessionRecalled { launch, why: Ending::Relaunch });
                self.act(id, Deed::End { launch, grace_ms });
                return;
            }
        } else if !parcels.is_empty() {
            for parcel in parcels {
                let (text, long) = self.text_of(id, launch, parcel);
                self.emit(id, Event::InputSent { launch, parcel });
                self.act(id, Deed::Deliver { launch, parcel, text, long });
            }
            self.release(id, launch, spool_seq);
            return;
        }
        if is_held {
            self.release(id, launch, spool_seq);
        } else if ends && !is_blocked {
            self.close_input(id, launch);
        }
    }

    pub(super) fn close_input(&mut self, id: SessionId, launch: u32) {
        self.emit(id, Event::InputClosed { launch });
        self.act(id, Deed::CloseInput { launch });
    }

    pub(super) fn release(&mut self, id: SessionId, launch: u32, spool_seq: u64) {
        self.emit(id, Event::SessionReleased { launch, spool_seq });
        self.act(id, Deed::GoOn { launch, after: spool_seq });
    }

    fn advance_resting(&mut self, id: SessionId) {
        let session = self.session(id);
        let Some(last) = session.launches.last() else {
            if !session.checkpoints.hold() && self.exchanged(id).is_none() {
                self.launch(id, LaunchCause::First, None);
            }
            return;
        };
        if last.ending == Some(Ending::Failed) {
            let reason = self.reason_given_up(id);
            self.finish(id, Outcome::Failed { reason });
            return;
        }
        // What it has printed for others is looked at first.
        let is_examined = !session.office.examined.is_empty();
        let waits = session.parked_at_ms.is_some() || session.checkpoints.hold() || is_examined;
        if waits || self.is_blocked(id) || self.exchanged(id).is_some() {
            return;
        }
        if self.launch_with_words(id) {
            return;
        }
        self.settle_tasks(id);
        let session = self.session(id);
        let is_through = session.live().is_none() && !session.is_over();
        let Some(last) = session.launches.last().filter(|_| is_through) else { return };
        let waiting = self.waiting_parcels(id);
        let (has_parcels, has_words) = (!waiting.is_empty(), has_words(&waiting));
        let is_retry = waiting.iter().any(|&parcel| self.is_retry(parcel));
        let was_tried = session.attempts.last().is_some_and(|attempt| attempt.launch == last.number);
        let was_sent_away = matches!(last.ending, Some(Ending::Rest | Ending::Relaunch));
        let is_seat = session.order.role.seat().is_some();
        // Nobody had anything for it when it was told to end; however it has ended then, that was all.
        let was_idle = last.ending == Some(Ending::Idle) && !has_parcels;
        let was_limited = matches!(failure(session), Some(Reason::RateLimited { .. }));
        match last.ended.clone() {
            Some(LaunchEnd::NotStarted { message, .. }) if !was_sent_away => {
                self.finish(id, Outcome::Failed { reason: Reason::NotStarted { message } });
            }
            Some(LaunchEnd::Lost { .. }) if session.verifies() => {
                self.finish(id, Outcome::Failed { reason: Reason::NoEnd });
            }
            Some(LaunchEnd::Lost { .. }) if !was_sent_away && !was_idle => {
                if has_parcels && (session.can_resume() || is_seat) {
                    self.launch(id, LaunchCause::Bring, None);
                } else if is_retry {
                    self.launch(id, LaunchCause::Resume, None);
                }
            }
            _ if was_limited && !was_sent_away => self.launch(id, LaunchCause::Limit, None),
            _ if was_tried => self.try_again(id),
            _ if was_sent_away || (has_parcels && session.can_resume()) || (has_words && is_seat) => {
                self.launch(id, LaunchCause::Bring, None);
            }
            _ if is_retry => self.launch(id, LaunchCause::Resume, None),
            _ if was_idle => self.finish(id, Outcome::Completed { verified: false }),
            // Who has others at work is not done before they are.
            _ if session.waits_for_others() && failure(session).is_none() => {}
            _ => {
                let has_unread = !self.parcels_under_way(id).is_empty();
                self.return_parcels(id);
                if self.phase_of(id).is_some() {
                    self.end_unannounced(id, has_unread);
                } else {
                    self.judge(id);
                }
            }
        }
    }

    /// Starts a process. What is on its way to a CLI that remembers goes into its prompt; one that begins again from
    /// nothing will ask for it again.
    pub(super) fn launch(&mut self, id: SessionId, cause: LaunchCause, prompt: Option<&str>) {
        if self.must_park(id) {
            self.park(id);
            return;
        }
        if self.waits_for_budget(id) {
            return;
        }
        let session = self.session(id);
        let launch = session.launches.last().map_or(0, |launch| launch.number) + 1;
        let rewind = session.checkpoints.rewind.clone();
        let fresh = match rewind.as_ref().map(|rewind| &rewind.way) {
            Some(RewindWay::To { .. }) => false,
            Some(RewindWay::Anew { .. }) => true,
            None => !session.can_resume(),
        };
        let is_seat = session.order.role.seat().is_some();
        let carried = if cause == LaunchCause::First && !is_seat { Vec::new() } else { self.pack(id, fresh) };
        let session = self.session(id);
        let was_lost = session.last_end().is_some_and(|end| matches!(end, LaunchEnd::Lost { .. }));
        let mut texts = self.texts_of(id, cause, fresh, &carried);
        if let Some(rewind) = &rewind {
            // That files are not as it left them, and what it was answered by then.
            let restored = words::restored(session.order.korean, rewind);
            texts.splice(0..0, [restored].into_iter().chain(rewind.answers.iter().cloned()));
        }
        let prompt = match cause {
            LaunchCause::First if !is_seat => session.order.prompt.clone(),
            LaunchCause::Attempt => {
                let run = self.desk.get(session.run).expect("a session has its run");
                let check = run.terms.check.as_deref().unwrap_or_default();
                words::attempt(session, check, fresh, &texts)
            }
            LaunchCause::Limit => words::after_limit(session, fresh, &texts),
            _ if fresh => words::begin_again(session, &texts, prompt),
            _ => words::go_on(session.order.korean, was_lost, &texts, prompt),
        };
        self.emit(id, Event::SessionLaunched { launch, cause, fresh, prompt, rewind });
        self.act(id, Deed::Launch { launch });
        for parcel in carried {
            self.emit(id, Event::InputDelivered { launch, spool_seq: None, parcel });
        }
    }

    /// The words of what goes into a prompt. What the conversation may hold already is marked as repeated, and what
    /// stands in an earlier prompt that is given again as a whole is left out.
    fn texts_of(&self, id: SessionId, cause: LaunchCause, fresh: bool, carried: &[Parcel]) -> Vec<String> {
        let session = self.session(id);
        let last = session.launches.last().map(|last| last.number);
        let repeats_prompt = cause == LaunchCause::Limit && words::repeats_prompt(session, fresh);
        let text_of = |&parcel: &Parcel| {
            let bringing = self.desk.bringing(id, parcel)?;
            let is_in_prompt = matches!(bringing, Bringing::Prompted { launch } if Some(launch) == last);
            if repeats_prompt && is_in_prompt {
                return None;
            }
            let text = self.words_of(id, parcel);
            let is_repeated = !fresh && !text.is_empty() && bringing.may_be_known_from().is_some();
            Some(if is_repeated { words::repeated(session.order.korean, &text) } else { text })
        };
        carried.iter().filter_map(text_of).collect()
    }

    /// What goes into the prompt of the next process. What cannot is returned, and a question that nobody waits for any
    /// more is left; a message that has not set out yet can still be brought.
    fn pack(&mut self, id: SessionId, fresh: bool) -> Vec<Parcel> {
        let reads_prompt = !fresh || self.session(id).order.agent.input.way == InputWay::Relaunch;
        let under_way = self.parcels_under_way(id);
        if fresh {
            let open: Vec<_> = self.desk.blocking(id).map(|request| request.id).collect();
            for request in open {
                self.emit(id, Event::RequestLeft { request });
            }
        }
        if reads_prompt {
            return under_way;
        }
        // To be started again is all that a retry wants.
        let (retries, others): (Vec<_>, Vec<_>) = under_way.into_iter().partition(|&it| self.is_retry(it));
        let waiting = self.parcels(id, |bringing| bringing == Bringing::Waiting);
        for parcel in others {
            let can_wait = matches!(parcel, Parcel::Message(_)) && waiting.contains(&parcel);
            if !can_wait {
                self.emit(id, Event::InputReturned { parcel });
            }
        }
        retries
    }

    fn is_retry(&self, parcel: Parcel) -> bool {
        let settled = self.request_of(parcel).and_then(|request| request.settled.as_ref());
        settled.is_some_and(|settled| settled.answer == Answer::Retry)
    }

    /// What waits to be brought, in the order in which it was asked for.
    fn waiting_parcels(&self, id: SessionId) -> Vec<Parcel> {
        self.parcels(id, |bringing| {
            let (Bringing::Sent { launch } | Bringing::Refused { launch }) = bringing else {
                return bringing == Bringing::Waiting;
            };
            // It was handed to a process that did not live to take it.
            self.session(id).live().is_none_or(|live| live.number != launch)
        })
    }

    /// What has set out and is not known to have arrived.
    fn parcels_under_way(&self, id: SessionId) -> Vec<Parcel> {
        self.parcels(id, Bringing::is_under_way)
    }

    pub(super) fn parcels(&self, id: SessionId, wanted: impl Fn(Bringing) -> bool) -> Vec<Parcel> {
        let pending = self.desk.pending(id);
        let requests = pending.into_iter().filter_map(|id| self.desk.get(id));
        // Who is blocked in a call reads its answer there.
        let requests = requests.filter(|request| !request.has_caller() && wanted(request.bringing));
        let requests = requests.map(|request| {
            if request.is_open() { Parcel::Expiry(request.id) } else { Parcel::Request(request.id) }
        });
        let messages = self.session(id).messages.iter().filter(|message| wanted(message.bringing));
        requests.chain(messages.map(|message| Parcel::Message(message.id))).collect()
    }

    /// There is nobody to bring anything to. What only lacks its proof stays: a person may resume the conversation, and
    /// it is said once more then. A call that another agent made is over with the session.
    fn return_parcels(&mut self, id: SessionId) {
        let session = self.session(id);
        let is_proven = session.order.agent.input.proven && session.can_resume();
        let is_call = |parcel: Parcel| match parcel {
            Parcel::Message(id) => session.messages.iter().any(|it| it.id == id && it.about.is_some()),
            Parcel::Request(_) | Parcel::Expiry(_) => false,
        };
        let lacks_proof = |parcel: Parcel| match self.desk.bringing(id, parcel) {
            Some(Bringing::Unproven { .. } | Bringing::Prompted { .. }) => is_proven && !is_call(parcel),
            _ => false,
        };
        let mut parcels = self.parcels_under_way(id);
        parcels.retain(|&parcel| !lacks_proof(parcel));
        for parcel in parcels {
            self.emit(id, Event::InputReturned { parcel });
        }
    }

    pub(super) fn reads_lines(&self, id: SessionId) -> bool {
        self.session(id).order.agent.input.way == InputWay::Line
    }

    /// The bytes for an agent's input, or what they are made of when they are written.
    fn text_of(&self, id: SessionId, launch: u32, parcel: Parcel) -> (String, Option<Long>) {
        let session = self.session(id);
        words::input(session, launch, parcel, self.request_of(parcel))
    }

    /// The words for an agent's prompt.
    fn words_of(&self, id: SessionId, parcel: Parcel) -> String {
        words::sentence(self.session(id), parcel, self.request_of(parcel))
    }

    fn request_of(&self, parcel: Parcel) -> Option<&Request> {
        match parcel {
            Parcel::Request(id) | Parcel::Expiry(id) => self.desk.get(id),
            Parcel::Message(_) => None,
        }
    }

    /// The session is over, and with it everything that was open.
    pub(super) fn finish(&mut self, id: SessionId, outcome: Outcome) {
        if let Some(gate) = self.gate_of(id) {
            self.clear_gate(id, gate);
        }
        self.return_parcels(id);
        let pending = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        let open: Vec<_> = pending.filter(|request| request.is_open()).map(|request| request.id).collect();
        for request in open {
            let (by, answer, brings) = (By::End, Answer::Nothing, false);
            self.emit(
                id,
                Event::RequestSettled {
                    request,
                    by,
                    answer,
                    brings,
                    relaunches: false,
                    unseen: false,
                    printed: None,
                },
            );
        }
        self.end_installs(id);
        let (project, run) = (self.session(id).project, self.session(id).run);
        self.emit(id, Event::SessionFinished { outcome: outcome.clone() });
        if !self.session(id).values.is_empty() {
            self.act(id, Deed::RemoveValues);
        }
        self.leave_office(id, &outcome);
        if self.phases_of(id).is_some() {
            self.phase_session_over(id, &outcome);
        } else {
            self.emit_at(Some(project), Some(run), None, Event::RunEnded { outcome });
        }
        self.bring_back(id);
        self.finish_left(id);
    }

    /// Finishes the sessions of a loop or a main agent that were lost: nothing goes on with them once it is over.
    fn finish_left(&mut self, parent: SessionId) {
        let session = self.session(parent);
        if session.graph.is_none() && !session.order.role.is_main() {
            return;
        }
        let is_left = |session: &Session| {
            let run = self.desk.get(session.run);
            session.is_interrupted() && run.is_some_and(|run| run.parent == Some(parent))
        };
        let under_way = self.desk.sessions_under_way();
        let left = under_way.into_iter().filter(|&id| self.desk.get(id).is_some_and(is_left));
        for id in left.collect::<Vec<_>>() {
            self.finish(id, Outcome::Cancelled);
        }
    }

    /// Finishes a session that was lost, if the loop or main agent that asked for it is over.
    pub(super) fn finish_if_left(&mut self, id: SessionId) {
        let parent = self.desk.get(self.session(id).run).and_then(|run| run.parent);
        let is_over = parent.and_then(|parent| self.desk.get(parent)).is_some_and(Session::is_over);
        if is_over && self.session(id).is_interrupted() {
            self.finish(id, Outcome::Cancelled);
        }
    }
}

/// Whether any of it is more than an answer, which means nothing to a program that begins again from nothing: it would only
/// ask once more.
fn has_words(parcels: &[Parcel]) -> bool {
    parcels.iter().any(|parcel| matches!(parcel, Parcel::Message(_)))
}
