//! What the events of checkpoints change.

use super::Place;
use crate::{
    checkpoint::{Checkpoint, CheckpointState, Last, Pending, Restoring, Skip},
    event::Event,
    id::{CheckpointId, SessionId},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    pub(super) fn fold_checkpoint(&mut self, place: &Place, seq: u64, at_ms: u64, event: &Event) {
        match event {
            Event::CheckpointWanted { checkpoint, why, holds, launch, conversation, requests } => {
                let id = *checkpoint;
                self.own.counters.checkpoint = self.counters().checkpoint.max(id.0);
                let wanted = Checkpoint {
                    id,
                    project: place.project,
                    run: place.run,
                    session: place.session,
                    why: *why,
                    wanted_at_ms: at_ms,
                    seq,
                    launch: *launch,
                    conversation: conversation.clone(),
                    requests: requests.clone(),
                    state: CheckpointState::Wanted,
                };
                self.insert(wanted);
                let pending = Pending { checkpoint: id, holds: *holds };
                self.get_mut(place.session).checkpoints.pending.push(pending);
            }
            Event::CheckpointMade { checkpoint, kept } => {
                let last = Last { checkpoint: *checkpoint, commit: kept.commit.clone() };
                self.get_mut(place.session).checkpoints.last = Some(last);
                let state = CheckpointState::Made { at_ms, kept: kept.clone() };
                self.settle_checkpoint(place.session, *checkpoint, at_ms, state);
            }
            Event::CheckpointSkipped { checkpoint, reason } => {
                self.get_mut(place.session).checkpoints.off |= *reason == Skip::NoRepository;
                if let Some(checkpoint) = checkpoint {
                    let state = CheckpointState::Skipped { at_ms, reason: reason.clone() };
                    self.settle_checkpoint(place.session, *checkpoint, at_ms, state);
                }
            }
            Event::CheckpointPruned { checkpoint } => {
                self.get_mut(*checkpoint).state = CheckpointState::Pruned { at_ms };
            }
            Event::CheckpointRestoring { checkpoint, commit, before, rewind } => {
                let (checkpoint, before) = (*checkpoint, *before);
                let (commit, rewind) = (commit.clone(), rewind.clone());
                let restoring = Some(Restoring { checkpoint, commit, before, rewind });
                self.get_mut(place.session).checkpoints.restoring = restoring;
            }
            Event::CheckpointRestored { .. } => {
                let checkpoints = &mut self.get_mut(place.session).checkpoints;
                if let Some(Restoring { checkpoint, commit, rewind, .. }) = checkpoints.restoring.take() {
                    // What stands there is that one again.
                    checkpoints.last = Some(Last { checkpoint, commit });
                    checkpoints.rewind = rewind;
                }
            }
            Event::CheckpointNotRestored { .. } => {
                self.get_mut(place.session).checkpoints.restoring = None;
            }
            _ => {}
        }
    }

    /// A checkpoint has its word, and nobody waits for it any more.
    fn settle_checkpoint(
        &mut self,
        id: SessionId,
        checkpoint: CheckpointId,
        at_ms: u64,
        state: CheckpointState,
    ) {
        let checkpoints = &mut self.get_mut(id).checkpoints;
        checkpoints.pending.retain(|pending| pending.checkpoint != checkpoint);
        checkpoints.word_at_ms = Some(at_ms);
        self.get_mut(checkpoint).state = state;
    }
}
