//! Trust: what a person lets a repository run. It is given for commands as they stand, and grows until it is revoked.

use alloc::{string::String, vec::Vec};

use super::Maker;
use crate::{event::Event, input::NewProject, run::Trusted};

impl Maker<'_> {
    pub(super) fn trust(&mut self, root: &str, name: &str, git: bool, commands: &[Trusted]) {
        let known = self.desk.project_at(root);
        let has = |command: &&Trusted| {
            let project = known.and_then(|id| self.desk.get(id));
            project.is_some_and(|it| it.trusted.iter().any(|trusted| trusted.hash == command.hash))
        };
        let mut new: Vec<Trusted> = commands.iter().filter(|command| !has(command)).cloned().collect();
        new.dedup();
        if new.is_empty() {
            return;
        }
        let project = self.project(&NewProject { root: String::from(root), name: String::from(name), git });
        self.emit_at(Some(project), None, None, Event::TrustGiven { commands: new });
    }

    pub(super) fn distrust(&mut self, root: &str) {
        let Some(id) = self.desk.project_at(root) else { return };
        if self.desk.get(id).is_some_and(|project| !project.trusted.is_empty()) {
            self.emit_at(Some(id), None, None, Event::TrustRevoked);
        }
    }
}
