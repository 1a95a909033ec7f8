//! What people call sessions. Of those that are not over, no two have the same name, or names that look alike.

use super::Maker;
use crate::{
    event::Event,
    id::SessionId,
    input::Refusal,
    session::{SessionName, SessionNameEvent},
};

impl Maker<'_> {
    /// Refuses a name that a session has which is not over.
    pub(super) fn is_free(&self, name: &SessionName, except: Option<SessionId>) -> Result<(), Refusal> {
        match self.named(name).filter(|other| Some(*other) != except) {
            Some(session) => {
                let taken = self.session(session).name.clone();
                Err(Refusal::NameTaken { name: taken.unwrap_or_else(|| name.clone()), session })
            }
            None => Ok(()),
        }
    }

    pub(super) fn rename(&mut self, id: SessionId, name: Option<&SessionName>) -> Result<(), Refusal> {
        let has_it = self.find(id)?.name.as_ref() == name;
        if let Some(name) = name {
            self.is_free(name, Some(id))?;
        }
        self.made.session = Some(id);
        if !has_it {
            self.call_by_name(id, name);
        }
        Ok(())
    }

    pub(super) fn call_by_name(&mut self, id: SessionId, name: Option<&SessionName>) {
        let event = SessionNameEvent::Renamed { name: name.cloned() };
        self.emit(id, Event::Name(event));
    }

    /// A session that goes on after it was over: another one may have its name by now, and keeps it.
    pub(super) fn yield_name(&mut self, id: SessionId) {
        let name = self.session(id).name.clone();
        if name.is_some_and(|name| self.is_free(&name, Some(id)).is_err()) {
            self.call_by_name(id, None);
        }
    }

    /// The session of that name, or of one that looks like it, that is not over.
    fn named(&self, name: &SessionName) -> Option<SessionId> {
        let is_named = |id: &SessionId| self.session(*id).name.as_ref().is_some_and(|it| it.looks_like(name));
        self.desk.sessions_under_way().into_iter().find(is_named)
    }
}
