//! What the events of accounts change.

use crate::{
    account::{Account, AccountLimit, Limit},
    event::{Entry, Event},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    pub(super) fn fold_account(&mut self, entry: &Entry) {
        let at_ms = entry.at_ms;
        match &entry.event {
            Event::AccountLimited(AccountLimit {
                account: id,
                name,
                reset_at_ms,
                next_try_at_ms,
                times,
                message,
            }) => {
                self.own.counters.account = self.counters().account.max(id.0);
                let limit = Limit {
                    at_ms,
                    reset_at_ms: *reset_at_ms,
                    next_try_at_ms: *next_try_at_ms,
                    times: *times,
                    message: message.clone(),
                    tried: [].into(),
                    tried_at_ms: 0,
                };
                let account = Account { id: *id, name: name.clone(), limit: Some(limit) };
                self.insert(account);
            }
            Event::AccountTried { account } => {
                let session = entry.session.expect("somebody goes on");
                if let Some(limit) = &mut self.get_mut(*account).limit {
                    limit.tried.push(session);
                    limit.tried_at_ms = at_ms;
                }
            }
            Event::AccountRecovered { account } => self.get_mut(*account).limit = None,
            _ => {}
        }
    }
}
