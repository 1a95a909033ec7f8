//! What people want of a session.

use alloc::vec::Vec;

use super::Maker;
use crate::{
    action::Deed,
    answer::Answer,
    event::Event,
    id::{MessageId, RequestId, SessionId},
    input::{Refusal, Wanted},
    office::About,
    request::{Ask, By, Request},
    run::{Outcome, Reason},
    session::{Ending, Launch, LaunchCause, LogPlace, Resized, Screen, Status, WorktreeState, Written},
};

impl Maker<'_> {
    fn status(&self, id: SessionId) -> Status {
        let blocking: Vec<&Request> = self.desk.blocking(id).collect();
        self.session(id).status(&blocking)
    }

    pub(super) fn not_now(&self, session: SessionId, wanted: Wanted) -> Refusal {
        Refusal::NotNow { session, status: self.status(session), wanted }
    }

    /// Somebody who looks at its terminal made it another size. It is kept for who looks later.
    pub(super) fn resized(&mut self, id: SessionId, launch: u32, screen: Screen) {
        let is_new = |live: &Launch| live.screen.is_some_and(|before| before != screen);
        if self.live(id, launch).is_some_and(is_new) {
            let Screen { rows, columns } = screen;
            self.emit(id, Event::SessionResized(Resized { launch, rows, columns }));
        }
    }

    pub(super) fn pause(&mut self, id: SessionId) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if session.is_over() || session.is_interrupted() || self.status(id) == Status::Ending {
            return Err(self.not_now(id, Wanted::Pause));
        }
        self.made.session = Some(id);
        if self.session(id).paused_at_ms.is_some() {
            return Ok(());
        }
        self.emit(id, Event::SessionPaused);
        if let Some(launch) = self.session(id).live().map(|live| live.number) {
            self.act(id, Deed::Stop { launch });
        }
        self.steer_check(id);
        Ok(())
    }

    pub(super) fn unpause(&mut self, id: SessionId) -> Result<(), Refusal> {
        let session = self.find(id)?;
        let (is_paused, is_over) = (session.paused_at_ms.is_some(), session.is_over());
        let is_parked = session.parked_at_ms.is_some();
        let waits = |request: &&Request| request.retry.is_some();
        let retry = self.desk.blocking(id).find(waits).map(|request| request.id);
        self.made.session = Some(id);
        match retry {
            _ if is_over => return Err(self.not_now(id, Wanted::Continue)),
            _ if is_paused => {
                self.emit(id, Event::SessionUnpaused);
                self.steer_check(id);
            }
            // The wait is cut short.
            Some(request) => self.settle(request, By::Person, Answer::Retry),
            None if is_parked => {
                self.try_now(id);
                return Ok(());
            }
            None => return Err(self.not_now(id, Wanted::Continue)),
        }
        self.advance(id);
        Ok(())
    }

    pub(super) fn cancel(&mut self, id: SessionId) -> Result<(), Refusal> {
        let session = self.find(id)?;
        let is_done = session.is_over() || session.cancelled_at_ms.is_some();
        self.made.session = Some(id);
        if is_done {
            return Ok(());
        }
        self.emit(id, Event::SessionCancelled);
        // Until its process has ended, somebody could begin what nobody will read.
        self.withdraw_calls(id);
        if let Some(number) = self.session(id).checking {
            self.act(id, Deed::EndCheck { number });
        }
        self.advance(id);
        Ok(())
    }

    pub(super) fn send(
        &mut self,
        id: SessionId,
        text: &str,
        printed: Option<LogPlace>,
    ) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if session.is_over() || session.cancelled_at_ms.is_some() || session.graph.is_some() {
            return Err(self.not_now(id, Wanted::Send));
        }
        if text.trim().is_empty() {
            return Err(Refusal::EmptyMessage);
        }
        self.made.session = Some(id);
        self.printed = printed.map(|place| (id, place));
        self.write_personally(id, text);
        self.advance(id);
        Ok(())
    }

    pub(super) fn write_message(&mut self, id: SessionId, text: &str) {
        self.write_about(id, text, None);
    }

    /// The same, with what another agent has for it.
    pub(super) fn write_about(&mut self, id: SessionId, text: &str, about: Option<About>) {
        self.write(id, text, about, false);
    }

    /// The same, in a person's words.
    pub(super) fn write_personally(&mut self, id: SessionId, text: &str) {
        self.write(id, text, None, true);
    }

    pub(super) fn write(&mut self, id: SessionId, text: &str, about: Option<About>, personal: bool) {
        let message = MessageId(self.session(id).messages.len() as u64 + 1);
        let printed = self.printed(id).filter(|_| personal);
        self.emit(
            id,
            Event::MessageWritten(Written { message, text: text.into(), about, personal, printed }),
        );
    }

    pub(super) fn resume(&mut self, id: SessionId, prompt: Option<&str>) -> Result<(), Refusal> {
        let session = self.find(id)?;
        self.is_not_restoring(id)?;
        // Whose phase is approved, or who only looked at one, has nothing more to do.
        let is_through = session.is_through();
        let is_past = self.phases_of(id).is_some() && self.phase_of(id).is_none();
        let run = self.desk.get(session.run);
        let is_rejected = run.is_some_and(|run| {
            matches!(run.outcome, Some(Outcome::Failed { reason: Reason::Rejected { .. } }))
        });
        if !(session.is_over() || session.is_interrupted()) || is_through || is_past || is_rejected {
            return Err(self.not_now(id, Wanted::Resume));
        }
        if run.is_some_and(|run| run.phases.is_some()) {
            self.is_free_for_phases(&session.order.directory, Some(session.run))?;
        }
        if session.worktree.as_ref().is_some_and(|worktree| !worktree.state.is_there()) {
            return Err(Refusal::WorktreeGone { session: id });
        }
        let (run, project) = (session.run, session.project);
        let can_resume = session.can_resume();
        let anew = session.is_over() || prompt.is_some();
        let rewind = session.checkpoints.rewind.clone();
        let last = session.launches.last().map_or(0, |launch| launch.number);
        self.made.session = Some(id);
        self.stay(id);
        self.yield_name(id);
        self.emit(id, Event::SessionResumed { anew });
        if self.desk.get(run).is_some_and(|run| run.outcome.is_some()) {
            self.emit_at(Some(project), Some(run), None, Event::RunReopened);
        }
        self.settle_what_is_past(id);
        if let Some(rewind) = &rewind {
            self.leave_what_came_later(id, &rewind.requests);
        }
        if let Some(more) = self.desk.get(run).and_then(|run| run.terms.time_ms_max) {
            let time_over_at_ms = Some(self.now_ms.saturating_add(more));
            self.emit(id, Event::SessionExtended { time_over_at_ms });
        }
        if can_resume && self.is_blocked(id) {
            // Its question is still open: the answer will start it, and bring the words along.
            if let Some(prompt) = prompt {
                self.write_personally(id, prompt);
            }
            self.emit(id, Event::SessionRecalled { launch: last, why: Ending::Rest });
            return Ok(());
        }
        if self.must_park(id) || self.is_over_budget(id) || self.exchanged(id).is_some() {
            // It goes on with its account, when it may use more, or when its files are there, and hears the words
            // then.
            if let Some(prompt) = prompt {
                self.write_personally(id, prompt);
            }
            if last > 0 {
                self.emit(id, Event::SessionRecalled { launch: last, why: Ending::Rest });
            }
            if self.must_park(id) {
                self.park(id);
            } else {
                self.waits_for_budget(id);
            }
            return Ok(());
        }
        self.launch(id, LaunchCause::Resume, prompt);
        Ok(())
    }

    /// Who goes back to an earlier moment has not asked what it asked after it. What it has used stays used.
    fn leave_what_came_later(&mut self, id: SessionId, by_then: &[RequestId]) {
        let asked = self.desk.blocking(id).filter(|request| !request.ask.is_about_budget());
        let open = asked.map(|request| request.id);
        let later: Vec<_> = open.filter(|request| !by_then.contains(request)).collect();
        for request in later {
            self.emit(id, Event::RequestLeft { request });
        }
    }

    /// What Ostler asked about a process that is gone: who wants it to go on has answered that.
    fn settle_what_is_past(&mut self, id: SessionId) {
        let is_past = |request: &&Request| {
            matches!(request.ask, Ask::Stall { .. } | Ask::Steered { .. } | Ask::TimeOver { .. })
        };
        let past: Vec<_> = self.desk.blocking(id).filter(is_past).map(|request| request.id).collect();
        for request in past {
            let (by, answer, brings) = (By::Person, Answer::GoOn { words: None }, false);
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
    }

    pub(super) fn merge(&mut self, id: SessionId) -> Result<(), Refusal> {
        let state = WorktreeState::Merging { tested: None };
        self.finish_worktree(id, Wanted::Merge, state, Deed::MergeWorktree)
    }

    pub(super) fn discard(&mut self, id: SessionId) -> Result<(), Refusal> {
        self.finish_worktree(id, Wanted::Discard, WorktreeState::Discarding, Deed::DiscardWorktree)
    }

    fn finish_worktree(
        &mut self,
        id: SessionId,
        wanted: Wanted,
        state: WorktreeState,
        deed: Deed,
    ) -> Result<(), Refusal> {
        let session = self.find(id)?;
        let mut worktree = session.worktree.clone().ok_or(Refusal::NoWorktree { session: id })?;
        if !worktree.state.is_there() {
            return Err(Refusal::WorktreeGone { session: id });
        }
        // Nothing is merged or taken away under the feet of somebody who works, or will go on.
        if !session.is_over() {
            return Err(self.not_now(id, wanted));
        }
        self.is_not_restoring(id)?;
        worktree.state = state;
        worktree.back.card = None;
        self.made.session = Some(id);
        self.withdraw_card(id);
        self.emit(id, Event::WorktreeChanged { worktree });
        self.act(id, deed);
        Ok(())
    }
}
