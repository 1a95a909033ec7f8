//! Permission rules of a session: offered on a card, allowed and revoked by a person, applied when the CLI asks again.

use alloc::vec::Vec;

use super::{Maker, requests::approved_by};
use crate::{
    event::Event,
    id::{RequestId, SessionId},
    input::Refusal,
    permission::{PermissionEvent, PermissionRule, RuleScope, ToolCall},
    request::{Ask, By},
};

impl Maker<'_> {
    /// The rule of the session that covers what is asked.
    pub(super) fn rule_for(
        &self,
        id: SessionId,
        ask: &Ask,
        real_path: Option<&str>,
    ) -> Option<PermissionRule> {
        let call = self.tool_call(id, ask, real_path)?;
        self.session(id).permissions.covering(call).cloned()
    }

    /// Puts the rules on a card that a person can choose there.
    pub(super) fn offer_rules(&mut self, request: RequestId, real_path: Option<&str>) {
        let Some(it) = self.desk.get(request) else { return };
        let session = it.session;
        let Some(call) = self.tool_call(session, &it.ask, real_path) else { return };
        let rules = call.offers();
        self.emit(session, Event::Permission(PermissionEvent::Offered { request, rules }));
    }

    /// A person chose a rule on a card.
    pub(super) fn allow_rule(&mut self, id: SessionId, request: RequestId, rule: PermissionRule) {
        let permissions = &self.session(id).permissions;
        let number = permissions.count + 1;
        if !permissions.allowed.values().any(|allowed| allowed.rule == rule) {
            self.emit(id, Event::Permission(PermissionEvent::Allowed { number, request, rule }));
        }
    }

    /// Settles the open cards that a rule of the session covers: whoever chose it on another card has answered them.
    pub(super) fn settle_covered(&mut self, id: SessionId) {
        let open =
            self.desk.requests_of(id).filter(|it| it.settled.is_none() && it.mark.is_none() && !it.left);
        let covered = open.filter_map(|it| {
            // A card for a file offers a rule for its real path.
            let real_path = it.rules.iter().find_map(|rule| match &rule.scope {
                RuleScope::File { path } => Some(path.as_str()),
                _ => None,
            });
            Some((it.id, self.rule_for(id, &it.ask, real_path)?))
        });
        let covered: Vec<(RequestId, PermissionRule)> = covered.collect();
        for (request, rule) in covered {
            self.settle(request, By::Rule, approved_by(rule));
        }
    }

    /// A person takes a rule back. What it covered is asked about from now on.
    pub(super) fn revoke_rule(&mut self, id: SessionId, number: u64) -> Result<(), Refusal> {
        let permissions = &self.find(id)?.permissions;
        let was_allowed = (1..=permissions.count).contains(&number);
        let is_allowed = permissions.allowed.contains_key(&number);
        if !was_allowed {
            return Err(Refusal::NoPermission { session: id, number });
        }
        self.made.session = Some(id);
        if is_allowed {
            self.emit(id, Event::Permission(PermissionEvent::Revoked { number }));
        }
        Ok(())
    }

    fn tool_call<'a>(
        &'a self,
        id: SessionId,
        ask: &'a Ask,
        real_path: Option<&'a str>,
    ) -> Option<ToolCall<'a>> {
        let Ask::Permission(request) = ask else { return None };
        let permission = self.session(id).order.agent.permission.as_ref();
        let shape = permission.and_then(|permission| permission.tools.get(&request.tool));
        Some(ToolCall { request, shape, real_path })
    }
}
