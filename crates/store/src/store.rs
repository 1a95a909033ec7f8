//! What every store can do: one way to write, and named reads.
//!
//! The server holds these traits and never a database. Nothing here decides anything: which rows to write, and
//! what they mean, is the engine's business.

use std::{io::Write, ops::ControlFlow};

use crate::{
    error::{CommitError, ExportError, ReadError},
    export,
    rows::{ActionRow, Commit, Counters, Entity, EventRow, Page, Projection, Scope, StoredReply},
};

/// How many rows are held at once while everything is gone through.
const ROWS_AT_ONCE: u32 = 64;

/// The name under which `meta` gives the version of the database's form.
pub const SCHEMA_VERSION: &str = "schema_version";
/// The name under which `meta` gives when the database was made, in UTC milliseconds.
pub const CREATED_AT_MS: &str = "created_at_ms";
/// The name under which `meta` says "yes" when the states are missing and have to be made again from the events.
/// Whoever has done so sets it to "no".
pub const NEEDS_REPLAY: &str = "needs_replay";

/// The named reads. Each sees what is committed at that moment.
pub trait Reads: Send {
    /// The number of the last event; 0 when there is none.
    fn last_seq(&self) -> Result<u64, ReadError>;

    /// The highest ids.
    fn counters(&self) -> Result<Counters, ReadError>;

    /// Everything of a kind that still matters, oldest first.
    fn live(&self, entity: Entity) -> Result<Vec<Projection>, ReadError>;

    /// One thing.
    fn entity(&self, entity: Entity, id: u64) -> Result<Option<Projection>, ReadError>;

    /// A page of things, newest first.
    fn page(&self, page: &Page) -> Result<Vec<Projection>, ReadError>;

    /// The events behind `after`, in order, at most `limit`. Fewer where they are long, but none only where there is
    /// none.
    fn events(&self, after: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError>;

    /// The events before `before`, newest first, at most `limit`. Fewer where they are long, but none only where there is
    /// none.
    fn events_before(&self, before: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError>;

    /// What has not been reported as done, in the order in which it was written.
    fn open_actions(&self) -> Result<Vec<ActionRow>, ReadError>;

    /// What was answered under an idempotency key.
    fn reply(&self, key: &str) -> Result<Option<StoredReply>, ReadError>;

    /// A fact about the database itself.
    fn meta(&self, name: &str) -> Result<Option<String>, ReadError>;

    /// Does all reads of `work` on the same state, whatever is committed meanwhile. Not to be nested.
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<(), ReadError>) -> Result<(), ReadError>;

    /// Goes through the whole journal, in order, until `visit` breaks off.
    ///
    /// Events never change, so it is read in pieces: a slow visitor does not keep the database from tidying up.
    fn each_event(&self, visit: &mut dyn FnMut(EventRow) -> ControlFlow<()>) -> Result<(), ReadError> {
        let mut after = 0;
        let last = self.last_seq()?;
        while after < last {
            let piece = self.events(after, Scope::default(), ROWS_AT_ONCE)?;
            assert!(!piece.is_empty(), "the journal holds {last} events, but none behind {after}");
            for event in piece {
                after = event.seq;
                if visit(event).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Goes through all things of all kinds, until `visit` breaks off. Call it within `snapshot` when they have
    /// to belong to the same moment.
    fn each_projection(&self, visit: &mut dyn FnMut(Projection) -> ControlFlow<()>) -> Result<(), ReadError> {
        for entity in Entity::ALL {
            let mut page =
                Page { entity, scope: Scope::default(), live: None, before: None, limit: ROWS_AT_ONCE };
            loop {
                let piece = self.page(&page)?;
                let Some(last) = piece.last() else { break };
                page.before = Some(last.id);
                for projection in piece {
                    if visit(projection).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the journal as one JSON object per line, and gives the number of lines. Each event goes through `whole`
    /// before, which puts in what is kept elsewhere.
    fn export(
        &self,
        whole: &mut dyn FnMut(EventRow) -> EventRow,
        out: &mut dyn Write,
    ) -> Result<u64, ExportError> {
        let mut lines = 0;
        let mut failed = None;
        self.each_event(&mut |event| match export::line(&whole(event), out) {
            Ok(()) => {
                lines += 1;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })
        .map_err(ExportError::Read)?;
        match failed {
            Some(error) => Err(ExportError::Write(error)),
            None => out.flush().map_err(ExportError::Write).map(|()| lines),
        }
    }
}

/// A store that can be written. There is one writer.
pub trait Store: Reads {
    /// Writes a group, all of it or nothing, and returns when the disk keeps it.
    ///
    /// # Panics
    ///
    /// When the events do not go on where the journal ends: the caller would have decided on a state that is not
    /// the stored one.
    fn commit(&mut self, group: &[Commit]) -> Result<(), CommitError>;

    /// Writes a fact about the database itself.
    fn set_meta(&mut self, name: &str, value: &str) -> Result<(), CommitError>;

    /// Forgets the replies from before `before_ms`, and gives their number.
    fn prune_replies(&mut self, before_ms: u64) -> Result<usize, CommitError>;
}
