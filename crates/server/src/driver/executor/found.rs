//! A task that `ostler exec` or an earlier loop began. Its run is found by its key and goes on. If it ended before a node
//! named it, its end is read from what the journal has kept.

use ostler_engine::{RunId, SessionId, World, graph::RunSummary, session::Session};
use ostler_store::{Entity, ReadError, Reads};

use super::parent::Parent;
use crate::journal::{Found, kept, made_under, read};

impl Parent {
    /// Who works, or has worked, on the run that was asked for under a key. The key stands in a file that anybody may have
    /// written, so it counts only for a run of the same project.
    pub(in crate::driver) fn found(&self, key: &str) -> Option<Session> {
        let id = self.kept(|reader| made_under(reader, key))??.session?;
        let project = self.project_id()?;
        let known = self.driver.journal.world().sessions.get(&id).cloned();
        let session = known.or_else(|| self.kept_of(id)?.sessions.get(&id).cloned())?;
        (session.project == project).then_some(session)
    }

    /// How a run ended that is known no more.
    pub(super) fn over(&self, run: RunId) -> Option<RunSummary> {
        let row = self.kept(|reader| reader.entity(Entity::Run, run.0))??;
        let Ok(Found::Run(run)) = read(&row) else { return None };
        let session = run.session()?;
        RunSummary::of(&run, self.kept_of(session)?.sessions.get(&session)?, run.ended_at_ms?)
    }

    /// A session and what belongs to it, as they were kept.
    fn kept_of(&self, session: SessionId) -> Option<World> {
        let mut world = World::default();
        for it in self.kept(|reader| kept(reader, Some(session), None))? {
            it.put(&mut world);
        }
        Some(world)
    }

    fn kept<T>(&self, look: impl FnOnce(&dyn Reads) -> Result<T, ReadError>) -> Option<T> {
        let reader = self.driver.kept.lock().expect("nobody panics while reading");
        look(&*reader).ok()
    }
}
