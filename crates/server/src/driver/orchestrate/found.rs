//! A task that somebody else has begun: `ostler exec`, or a loop before this one. Its run is found by its key, and gone on
//! with. No loop hears of its end, so that is read from what the journal has kept.

use ostler_engine::{RunId, World, orchestrate::Over, session::Session};
use ostler_store::{Entity, ReadError, Reads};

use super::Shared;
use crate::journal::{Found, kept, made_under, read};

impl Shared {
    /// Who works, or has worked, on the run that was asked for under a key. The key stands in a file that anybody may have
    /// written, so it counts only for a run of the same project.
    pub(super) fn found(&self, key: &str) -> Option<Session> {
        let id = self.kept(|reader| made_under(reader, key))??.session?;
        let project = self.read(|session| session.project)?;
        let known = self.driver.journal.world().sessions.get(&id).cloned();
        let session = known.or_else(|| {
            let mut world = World::default();
            self.kept(|reader| kept(reader, Some(id), None))?.into_iter().for_each(|it| it.put(&mut world));
            world.sessions.remove(&id)
        });
        session.filter(|session| session.project == project)
    }

    /// How a run ended that is known no more.
    pub(super) fn over(&self, run: RunId) -> Option<Over> {
        let row = self.kept(|reader| reader.entity(Entity::Run, run.0))??;
        let Ok(Found::Run(run)) = read(&row) else { return None };
        let mut world = World::default();
        let found = self.kept(|reader| kept(reader, run.session(), None))?;
        for it in found {
            it.put(&mut world);
        }
        Over::of(&run, world.sessions.get(&run.session()?)?, run.ended_at_ms?)
    }

    fn kept<T>(&self, look: impl FnOnce(&dyn Reads) -> Result<T, ReadError>) -> Option<T> {
        let reader = self.driver.kept.lock().expect("nobody panics while reading");
        look(&*reader).ok()
    }
}
