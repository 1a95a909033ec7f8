//! What people want of a session.

use super::Maker;
use crate::{
    action::Deed,
    event::Event,
    id::{MessageId, SessionId},
    input::{Refusal, Wanted},
    request::Request,
    session::{Ending, LaunchCause, Status, WorktreeState},
};

impl Maker<'_> {
    fn status(&self, id: SessionId) -> Status {
        let blocking: alloc::vec::Vec<&Request> = self.desk.blocking(id).collect();
        self.session(id).status(&blocking)
    }

    fn not_now(&self, session: SessionId, wanted: Wanted) -> Refusal {
        Refusal::NotNow { session, status: self.status(session), wanted }
    }

    pub(super) fn pause(&mut self, id: SessionId) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if session.is_over() || session.is_interrupted() || session.cancelled_at_ms.is_some() {
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
        Ok(())
    }

    pub(super) fn unpause(&mut self, id: SessionId) -> Result<(), Refusal> {
        if self.find(id)?.paused_at_ms.is_none() || self.session(id).is_over() {
            return Err(self.not_now(id, Wanted::Continue));
        }
        self.made.session = Some(id);
        self.emit(id, Event::SessionUnpaused);
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
        self.advance(id);
        Ok(())
    }

    pub(super) fn send(&mut self, id: SessionId, text: &str) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if session.is_over() || session.cancelled_at_ms.is_some() {
            return Err(self.not_now(id, Wanted::Send));
        }
        if text.trim().is_empty() {
            return Err(Refusal::EmptyMessage);
        }
        let message = MessageId(session.messages.len() as u64 + 1);
        self.made.session = Some(id);
        self.emit(id, Event::MessageWritten { message, text: text.into() });
        self.advance(id);
        Ok(())
    }

    pub(super) fn resume(&mut self, id: SessionId, prompt: Option<&str>) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if !(session.is_over() || session.is_interrupted()) {
            return Err(self.not_now(id, Wanted::Resume));
        }
        let gone = |state: &WorktreeState| {
            !matches!(
                state,
                WorktreeState::Made | WorktreeState::NotMerged { .. } | WorktreeState::NotDiscarded { .. }
            )
        };
        if session.worktree.as_ref().is_some_and(|worktree| gone(&worktree.state)) {
            return Err(Refusal::WorktreeGone { session: id });
        }
        let (run, project) = (session.run, session.project);
        let can_resume = session.can_resume();
        let last = session.launches.last().map_or(0, |launch| launch.number);
        self.made.session = Some(id);
        self.emit(id, Event::SessionResumed);
        if self.desk.run(run).is_some_and(|run| run.outcome.is_some()) {
            self.emit_at(Some(project), Some(run), None, Event::RunReopened);
        }
        if can_resume && self.is_blocked(id) {
            // Its question is still open: the answer will start it.
            self.emit(id, Event::SessionRecalled { launch: last, why: Ending::Rest });
            return Ok(());
        }
        self.launch(id, LaunchCause::Resume, prompt);
        Ok(())
    }

    pub(super) fn merge(&mut self, id: SessionId) -> Result<(), Refusal> {
        self.finish_worktree(id, Wanted::Merge, WorktreeState::Merging, Deed::MergeWorktree)
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
        let is_there = matches!(
            worktree.state,
            WorktreeState::Made | WorktreeState::NotMerged { .. } | WorktreeState::NotDiscarded { .. }
        );
        if !is_there {
            return Err(Refusal::WorktreeGone { session: id });
        }
        // Nothing is merged or taken away under somebody's feet.
        if session.live().is_some() || session.checking.is_some() {
            return Err(self.not_now(id, wanted));
        }
        worktree.state = state;
        self.made.session = Some(id);
        self.emit(id, Event::WorktreeChanged { worktree });
        self.act(id, deed);
        Ok(())
    }
}
