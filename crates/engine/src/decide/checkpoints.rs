//! Checkpoints: when one is due, what came of it, and going back to one.
//!
//! An agent that asked is sent on only when the checkpoint at its question has a word: made, skipped or failed. So a
//! failure never holds anybody for ever.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use super::Maker;
use crate::{
    action::Deed,
    checkpoint::{CheckpointState, Pending, RestoredFiles, Rewind, RewindWay, Skip, UnrestoredFiles, Why},
    event::{Event, Parcel},
    id::{CheckpointId, SessionId, successor},
    input::{CheckpointNews, Refusal, RestoreNews, Wanted},
    request::By,
    session::{Launch, Session},
    words,
};

/// When time alone makes a checkpoint due: an agent has worked for so long since the last.
pub(super) fn checkpoint_at_ms(session: &Session, is_held_up: bool) -> Option<u64> {
    let every_ms = session.order.checkpoints.as_ref()?.every_ms?;
    let checkpoints = &session.checkpoints;
    let live = session.live().filter(|live| live.ending.is_none() && live.held().is_none())?;
    let works = !is_held_up && session.paused_at_ms.is_none() && has_place(session);
    if !works || checkpoints.off || !checkpoints.pending.is_empty() || checkpoints.restoring.is_some() {
        return None;
    }
    let began_at_ms = live.process?.at_ms;
    Some(began_at_ms.max(checkpoints.word_at_ms.unwrap_or(0)).saturating_add(every_ms))
}

/// Whether the directory is there.
fn has_place(session: &Session) -> bool {
    session.worktree.as_ref().is_none_or(|worktree| worktree.state.is_at_rest())
}

impl Maker<'_> {
    /// A checkpoint is due, unless the session gets none. If `holds`, the agent is not sent on before it has a word;
    /// while one like that is being made another would find the same, for the tree stands still.
    pub(super) fn checkpoint_due(&mut self, id: SessionId, why: Why, holds: bool) {
        let session = self.session(id);
        let is_wanted = session.order.checkpoints.is_some() && has_place(session) && !session.checkpoints.off;
        let is_under_way = session.checkpoints.pending.iter().any(|pending| pending.holds && holds);
        if is_wanted && !is_under_way {
            let checkpoint = self.want_checkpoint(id, why, holds);
            self.act(id, Deed::Checkpoint { number: checkpoint.0 });
        }
    }

    pub(super) fn want_checkpoint(&mut self, id: SessionId, why: Why, holds: bool) -> CheckpointId {
        let checkpoint = CheckpointId(self.desk.counters().checkpoint + 1);
        let session = self.session(id);
        let launch = session.launches.last().map(|launch| launch.number);
        let conversation = session.conversation.as_ref().map(|it| it.id.clone());
        let pending = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        let requests: Vec<_> = pending.filter(|it| it.is_open()).map(|request| request.id).collect();
        self.emit(id, Event::CheckpointWanted { checkpoint, why, holds, launch, conversation, requests });
        checkpoint
    }

    /// A person wants one.
    pub(super) fn checkpoint(&mut self, id: SessionId) -> Result<(), Refusal> {
        let session = self.find(id)?;
        if session.checkpoints.off {
            return Err(Refusal::NotGit { directory: session.directory().to_string() });
        }
        if !has_place(session) {
            return Err(Refusal::WorktreeGone { session: id });
        }
        self.is_not_restoring(id)?;
        let checkpoint = self.want_checkpoint(id, Why::Person, false);
        self.act(id, Deed::Checkpoint { number: checkpoint.0 });
        self.made.session = Some(id);
        self.made.checkpoint = Some(checkpoint);
        Ok(())
    }

    /// The word of a checkpoint.
    pub(super) fn checkpointed(&mut self, id: SessionId, checkpoint: CheckpointId, news: &CheckpointNews) {
        let is_pending = |pending: &Pending| pending.checkpoint == checkpoint;
        let is_wanted =
            self.desk.get(id).is_some_and(|session| session.checkpoints.pending.iter().any(is_pending));
        if is_wanted {
            self.settle_checkpoint(id, checkpoint, news);
            self.end_failed(id);
            self.let_rest(id);
            self.advance(id);
        }
    }

    /// Ends a session that has failed, now that what it did is kept.
    fn end_failed(&mut self, id: SessionId) {
        let session = self.session(id);
        let is_due = !session.checkpoints.hold() && !session.is_over() && session.cancelled_at_ms.is_none();
        let is_due = is_due && self.exchanged(id).is_none();
        if is_due && session.checkpoints.failed.is_some() {
            self.end_as_failed(id);
        }
    }

    fn settle_checkpoint(&mut self, id: SessionId, checkpoint: CheckpointId, news: &CheckpointNews) {
        let last = self.session(id).checkpoints.last.as_ref().map(|last| last.checkpoint);
        let reason = match (news, last) {
            (CheckpointNews::Made { kept }, _) => {
                return self.emit(id, Event::CheckpointMade { checkpoint, kept: kept.clone() });
            }
            (CheckpointNews::Unchanged, Some(checkpoint)) => Skip::Unchanged { checkpoint },
            (CheckpointNews::Unchanged, None) => Skip::Failed { message: String::new() },
            (CheckpointNews::NoRepository, _) => Skip::NoRepository,
            (CheckpointNews::Failed { message }, _) => Skip::Failed { message: message.clone() },
        };
        self.emit(id, Event::CheckpointSkipped { checkpoint: Some(checkpoint), reason });
    }

    /// A person wants to go back to one.
    pub(super) fn restore(&mut self, target: CheckpointId, conversation: bool) -> Result<(), Refusal> {
        let none = Refusal::NoCheckpoint { checkpoint: target };
        let found = self.desk.get(target).filter(|it| it.kept().is_some()).ok_or(none)?;
        let id = found.session;
        let commit = found.kept().map(|kept| kept.commit.clone()).unwrap_or_default();
        let session = self.find(id)?;
        if !has_place(session) {
            return Err(Refusal::WorktreeGone { session: id });
        }
        // Files are not exchanged under the feet of somebody who works. Who stands still may go on with others, but
        // cannot forget what it knows.
        let stands_still = session.live().is_none_or(|live| live.held().is_some() && live.ending.is_none());
        let is_free = session.is_over() || session.is_interrupted();
        let can = if conversation { is_free } else { stands_still && session.checking.is_none() };
        self.is_not_restoring(id)?;
        if !can {
            return Err(self.not_now(id, Wanted::Restore));
        }
        if let Some(other) = self.exchanged(id) {
            self.is_not_restoring(other)?;
        }
        if let Some(other) = self.neighbour(id) {
            return Err(Refusal::PlaceBusy { session: id, other });
        }
        self.made.session = Some(id);
        self.made.checkpoint = Some(target);
        let rewind = conversation.then(|| self.rewind(id, target)).flatten();
        let before = self.want_checkpoint(id, Why::Restore, true);
        let restoring =
            Event::CheckpointRestoring { checkpoint: target, commit: commit.clone(), before, rewind };
        self.emit(id, restoring);
        self.act(id, Deed::Restore { number: target.0, before: before.0, commit });
        Ok(())
    }

    /// Refuses what cannot be while files are brought back.
    pub(super) fn is_not_restoring(&self, id: SessionId) -> Result<(), Refusal> {
        match &self.session(id).checkpoints.restoring {
            Some(restoring) => Err(Refusal::Restoring { session: id, checkpoint: restoring.checkpoint }),
            None => Ok(()),
        }
    }

    /// Another session that works on the same files.
    fn neighbour(&self, id: SessionId) -> Option<SessionId> {
        let session = self.session(id);
        let others = self.desk.sessions_under_way().into_iter().filter(|&other| other != id);
        let mut others = others.filter_map(|other| self.desk.get(other));
        let works = |other: &Session| {
            // Who is ended runs on for that.
            let runs = |live: &Launch| live.held().is_none() || live.ending.is_some();
            other.live().is_some_and(runs) || other.checking.is_some()
        };
        others.find(|other| other.shares_files(session) && works(other)).map(|other| other.id)
    }

    /// Another session whose files are being exchanged, and are those of this one too. Nobody begins or goes on there
    /// before that has its word.
    pub(super) fn exchanged(&self, id: SessionId) -> Option<SessionId> {
        self.desk.exchanged(id)
    }

    /// Whether its files are being exchanged, by itself or by another. Asked to end, an agent may still write.
    pub(super) fn is_exchanging(&self, id: SessionId) -> bool {
        self.session(id).checkpoints.restoring.is_some() || self.exchanged(id).is_some()
    }

    /// Those who waited for the files of a session are looked at again.
    fn advance_neighbours(&mut self, id: SessionId) {
        let session = self.session(id);
        let shares = |other: &SessionId| *other != id && self.session(*other).shares_files(session);
        let others: Vec<SessionId> = self.desk.sessions_under_way().into_iter().filter(shares).collect();
        for other in others {
            self.end_failed(other);
            self.advance(other);
        }
    }

    /// The word of a restore.
    pub(super) fn restored(&mut self, id: SessionId, target: CheckpointId, news: &RestoreNews) {
        let found = self.desk.get(id).and_then(|session| session.checkpoints.restoring.as_ref());
        let Some(restoring) = found.cloned() else { return };
        if restoring.checkpoint != target {
            return;
        }
        match news {
            RestoreNews::Restored { before, changed, different, submodules } => {
                self.settle_checkpoint(id, restoring.before, before);
                let (different, submodules) = (different.clone(), submodules.clone());
                let (checkpoint, changed) = (target, *changed);
                let files = RestoredFiles { checkpoint, changed, different, submodules };
                self.emit(id, Event::CheckpointRestored(files));
            }
            RestoreNews::NotRestored { before, message } => {
                self.settle_checkpoint(id, restoring.before, before);
                let message = message.clone();
                self.emit(id, Event::CheckpointNotRestored(UnrestoredFiles { checkpoint: target, message }));
            }
        }
        self.end_failed(id);
        self.advance(id);
        self.advance_neighbours(id);
    }

    /// Where the conversation is taken up; none if nothing was said yet, so that the next process begins anyway.
    fn rewind(&self, id: SessionId, target: CheckpointId) -> Option<Rewind> {
        let session = self.session(id);
        let checkpoint = self.desk.get(target)?;
        if !session.can_resume() {
            return None;
        }
        let anchor = checkpoint.kept().and_then(|kept| kept.anchor.clone());
        let to = checkpoint.conversation.clone().zip(anchor).filter(|_| session.order.agent.can_rewind());
        let way = match to {
            Some((conversation, anchor)) => RewindWay::To { conversation, anchor },
            None => {
                let launch = session.launches.last().map_or(0, |launch| launch.number) + 1;
                RewindWay::Anew { conversation: successor(&session.order.new_conversation, launch) }
            }
        };
        let requests = checkpoint.requests.clone();
        let asked = requests.iter().filter_map(|&id| self.desk.get(id));
        let answered = asked.filter(|it| it.settled.as_ref().is_some_and(|settled| settled.by == By::Person));
        let words = answered.map(|it| words::sentence(session, Parcel::Request(it.id), Some(it)));
        let answers = words.filter(|text| !text.is_empty()).collect();
        Some(Rewind { checkpoint: target, way, requests, answers })
    }

    /// Checkpoints are gone from the repository.
    pub(super) fn pruned(&mut self, id: SessionId, checkpoints: &[CheckpointId]) {
        for &checkpoint in checkpoints {
            let found = self.desk.get(checkpoint).filter(|it| it.session == id);
            if found.is_some_and(|it| matches!(it.state, CheckpointState::Made { .. })) {
                self.emit(id, Event::CheckpointPruned { checkpoint });
            }
        }
    }
}
