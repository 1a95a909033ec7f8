//! Limits of accounts. All sessions of an account park together; when the wait is over they go on one after the
//! other, so that they do not all hit the limit again at once. The wait is neither a failure nor an attempt.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::fact::RateLimit;

use super::{Maker, judge};
use crate::{
    account::{Account, AccountLimit, Limit},
    action::Deed,
    checkpoint::Why,
    event::Event,
    id::{AccountId, SessionId},
    reset,
    session::Session,
    world::World,
};

/// How much longer than the first wait a later one may become, where no reset is named.
const LONGER_MAX: u64 = 12;

/// The account of a session. One that has none shares its allowance with nobody that is known.
pub(crate) fn account_name(session: &Session) -> String {
    session.order.account.clone().unwrap_or_else(|| session.id.to_string())
}

/// When something becomes due for an account by itself.
pub(crate) fn due_at_ms(world: &World, account: &Account) -> Option<u64> {
    let limit = account.limit.as_ref()?;
    let Some(last) = limit.tried.last() else { return Some(limit.next_try_at_ms) };
    let session = world.sessions.get(last);
    let is_held_up = world.blocking(*last).next().is_some();
    match session.filter(|session| !has_shown(session, limit, is_held_up)) {
        Some(session) => Some(limit.tried_at_ms.saturating_add(session.order.patience.stagger_ms)),
        None => Some(limit.tried_at_ms),
    }
}

/// Whether a session that went on has shown that the limit is over, or will not show anything.
fn has_shown(session: &Session, limit: &Limit, is_blocked: bool) -> bool {
    let is_proved = session.proved_at_ms.is_some_and(|at| at >= limit.tried_at_ms);
    let is_idle = session.live().is_none() || session.paused_at_ms.is_some() || is_blocked;
    is_proved || is_idle || session.is_over() || session.cancelled_at_ms.is_some()
}

impl Maker<'_> {
    /// The account of a session, if a limit holds it.
    fn limited_account(&self, id: SessionId) -> Option<(AccountId, &Limit)> {
        let account = self.desk.account_named(&account_name(self.session(id)))?;
        Some((account.id, account.limit.as_ref()?))
    }

    /// Whether a session may not go on now, because its account is limited and it is not its turn.
    pub(super) fn must_park(&self, id: SessionId) -> bool {
        self.limited_account(id).is_some_and(|(_, limit)| !limit.tried.contains(&id))
    }

    /// A session waits with its account.
    pub(super) fn park(&mut self, id: SessionId) {
        let Some(account) = self.limited_account(id).map(|(account, _)| account) else { return };
        let session = self.session(id);
        let has_worked = !session.launches.is_empty();
        if session.parked_at_ms.is_none() {
            self.emit(id, Event::SessionParked { account });
            // It may wait for days. Where it has said so by an error, that is kept already.
            if has_worked && !self.session(id).checkpoints.hold() {
                self.checkpoint_due(id, Why::Limit, false);
            }
        }
    }

    /// A CLI says that its account has hit a limit.
    pub(super) fn hear_limit(&mut self, id: SessionId, launch: u32, limit: &RateLimit) {
        let parks = self.session(id).order.agent.account.park_retrying;
        if limit.retrying && !parks {
            // It tries again by itself, and says so.
            return;
        }
        self.hit_limit(id, limit.reset_at_ms, limit.retry_after_ms, limit.message.clone());
        if limit.retrying && self.session(id).parked_at_ms.is_some() {
            self.act(id, Deed::Stop { launch });
        }
    }

    /// An account has hit a limit: its sessions park.
    pub(super) fn hit_limit(
        &mut self,
        id: SessionId,
        reset_at_ms: Option<u64>,
        retry_after_ms: Option<u64>,
        message: Option<String>,
    ) {
        let now_ms = self.now_ms;
        let after_ms = retry_after_ms.map(|time| now_ms.saturating_add(time));
        let said = || reset::named(message.as_deref()?, now_ms);
        let reset_at_ms = reset_at_ms.or(after_ms).filter(|at| *at > now_ms).or_else(said);
        let known = self.limited_account(id).map(|(account, limit)| (account, limit.clone()));
        let is_news = match &known {
            None => true,
            // Who went on has hit it again; who had not is only late to say so, unless it knows more.
            Some((_, limit)) => limit.tried.contains(&id) || reset_at_ms > limit.reset_at_ms,
        };
        if is_news {
            let times = known.as_ref().map_or(1, |(_, limit)| limit.times + 1);
            let patience = self.session(id).order.patience;
            let longer = (1_u64 << (times - 1).min(8)).min(LONGER_MAX);
            let unknown = || now_ms.saturating_add(patience.limit_ms.saturating_mul(longer));
            let next_try_at_ms = reset_at_ms.unwrap_or_else(unknown);
            let name = account_name(self.session(id));
            let account = self.desk.account_named(&name).map(|account| account.id);
            let account = account.unwrap_or_else(|| AccountId(self.desk.counters().account + 1));
            let limit = AccountLimit { account, name, reset_at_ms, next_try_at_ms, times, message };
            self.emit(id, Event::AccountLimited(limit));
        }
        self.park(id);
        self.park_others(id);
    }

    /// Those of the same account who are at work stop there.
    fn park_others(&mut self, id: SessionId) {
        let name = account_name(self.session(id));
        for other in self.desk.sessions_of_account(&name) {
            let session = self.session(other);
            let is_meant = other != id && session.parked_at_ms.is_none() && session.cancelled_at_ms.is_none();
            let live = session.live().filter(|live| is_meant && live.ending.is_none());
            let Some(launch) = live.map(|live| live.number) else { continue };
            self.park(other);
            self.act(other, Deed::Stop { launch });
        }
    }

    /// Whether a parked session may go on, and is told so.
    pub(super) fn unpark(&mut self, id: SessionId) {
        let session = self.session(id);
        let is_parked = session.parked_at_ms.is_some();
        // A limit that did not keep it from its end holds up nothing, and who was lost is asked about.
        let has_ended_well = session.last_end().is_some() && judge::failure(session).is_none();
        let is_moot = has_ended_well || session.is_interrupted();
        if is_parked && (is_moot || !self.must_park(id)) {
            self.emit(id, Event::SessionUnparked);
        }
    }

    /// A person does not want it to wait.
    pub(super) fn try_now(&mut self, id: SessionId) {
        if let Some((account, _)) = self.limited_account(id) {
            self.emit(id, Event::AccountTried { account });
        }
        self.advance(id);
    }

    /// Lets the sessions of accounts go on whose wait is over, one after the other.
    pub(super) fn tick_accounts(&mut self) {
        let limited: Vec<AccountId> = self.desk.limited_accounts();
        for id in limited {
            while self.is_due(id) {
                let account = self.desk.get(id).expect("it was looked up before");
                let name = account.name.clone();
                match self.next_parked(&name) {
                    Some(session) => {
                        self.emit(session, Event::AccountTried { account: id });
                        self.advance(session);
                    }
                    None => self.emit_at(None, None, None, Event::AccountRecovered { account: id }),
                }
            }
        }
    }

    fn is_due(&self, id: AccountId) -> bool {
        let Some(limit) = self.desk.get(id).and_then(|account| account.limit.as_ref()) else {
            return false;
        };
        let Some(&last) = limit.tried.last() else { return limit.next_try_at_ms <= self.now_ms };
        let Some(session) = self.desk.get(last) else { return true };
        let until_ms = limit.tried_at_ms.saturating_add(session.order.patience.stagger_ms);
        has_shown(session, limit, self.is_blocked(last)) || until_ms <= self.now_ms
    }

    /// The oldest session that waits for its account and nothing else.
    fn next_parked(&self, name: &str) -> Option<SessionId> {
        let waits = |session: &&Session| {
            session.parked_at_ms.is_some()
                && session.cancelled_at_ms.is_none()
                && session.paused_at_ms.is_none()
                && !session.is_interrupted()
        };
        let under_way = self.desk.sessions_of_account(name).into_iter();
        let parked = under_way.filter_map(|id| self.desk.get(id)).filter(waits);
        parked.map(|session| session.id).find(|&id| !self.is_blocked(id) && self.must_park(id))
    }
}
