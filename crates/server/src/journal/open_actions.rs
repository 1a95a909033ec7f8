//! The actions that are committed and not done yet.

use std::collections::BTreeMap;

use ostler_engine::{ActionName, SessionId};

/// Open actions by name, with a count per session: a session that has one stays in memory.
#[derive(Debug, Default)]
pub(super) struct OpenActions {
    sessions: BTreeMap<ActionName, SessionId>,
    per_session: BTreeMap<SessionId, u32>,
}

impl OpenActions {
    pub(super) fn insert(&mut self, name: ActionName, session: SessionId) {
        if self.sessions.insert(name, session).is_none() {
            *self.per_session.entry(session).or_default() += 1;
        }
    }

    /// The session of an action that is done; none if it was not open.
    pub(super) fn remove(&mut self, name: &ActionName) -> Option<SessionId> {
        let session = self.sessions.remove(name)?;
        if let Some(count) = self.per_session.get_mut(&session) {
            *count -= 1;
            if *count == 0 {
                self.per_session.remove(&session);
            }
        }
        Some(session)
    }

    pub(super) fn contains(&self, name: &ActionName) -> bool {
        self.sessions.contains_key(name)
    }

    pub(super) fn has_any(&self, session: SessionId) -> bool {
        self.per_session.contains_key(&session)
    }
}

impl FromIterator<(ActionName, SessionId)> for OpenActions {
    fn from_iter<T: IntoIterator<Item = (ActionName, SessionId)>>(actions: T) -> Self {
        let mut open = OpenActions::default();
        actions.into_iter().for_each(|(name, session)| open.insert(name, session));
        open
    }
}
