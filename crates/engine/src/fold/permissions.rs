//! What the events of permission rules change.

use crate::{
    id::SessionId,
    permission::{AllowedRule, PermissionEvent},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    pub(super) fn fold_permission(&mut self, session: SessionId, at_ms: u64, event: &PermissionEvent) {
        match event {
            PermissionEvent::Offered { request, rules } => self.get_mut(*request).rules.clone_from(rules),
            PermissionEvent::Allowed { number, request, rule } => {
                let permissions = &mut self.get_mut(session).permissions;
                permissions.count = *number;
                let allowed = AllowedRule { rule: rule.clone(), request: *request, at_ms };
                permissions.allowed.insert(*number, allowed);
            }
            PermissionEvent::Revoked { number } => {
                self.get_mut(session).permissions.allowed.remove(number);
            }
        }
    }
}
