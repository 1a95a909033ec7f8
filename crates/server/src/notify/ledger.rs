//! What a channel is told, and when: the whole decision, without a clock, a socket or a file.
//!
//! [`Ledger::hear`] takes what happened, [`Ledger::next`] says what is to be sent now, and [`Ledger::sent`] or
//! [`Ledger::not_sent`] what came of it. It is written down between these, and whoever reads it again goes on with the
//! same messages under the same ids.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    kind::Kind,
    notice::{Heard, Notice, Subject, id_together},
};

/// Up to so many are told one by one.
const ALONE_MAX: usize = 3;

/// The most that wait, and the most that are remembered to be taken back.
const KEPT_MAX: usize = 500;

const MINUTE_MS: u64 = 60_000;

/// The first wait after a failure, and the longest.
const WAIT_MS: u64 = 2_000;
const WAIT_MS_MAX: u64 = 15 * MINUTE_MS;

/// The longest wait that somebody else can ask for.
const ASKED_MS_MAX: u64 = 60 * MINUTE_MS;

/// After so long nobody needs to hear of it any more.
const GIVEN_UP_AFTER_MS: u64 = 24 * 60 * MINUTE_MS;

/// How often a message is tried that is itself refused.
const REFUSALS_MAX: u32 = 3;

/// What a channel wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    /// What it is told of.
    pub(crate) kinds: BTreeSet<Kind>,
    /// How long something may take until it is told.
    pub(crate) after_ms: u64,
    /// How many messages it gets in a minute.
    pub(crate) per_minute: u32,
    /// What can be taken back.
    pub(crate) taking_back: TakingBack,
}

/// What a channel can do about something that is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakingBack {
    /// Nothing.
    Never,
    /// It hears of each notice by itself.
    Each,
    /// It takes back a message when all of it is settled.
    Whole,
}

/// What a message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// It tells something.
    Notice,
    /// It takes something back.
    Settled,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// What it does.
    pub(crate) what: What,
    /// The same, however often it is sent. One that takes back has that of what it takes back.
    pub(crate) id: String,
    /// One, or several that are told together.
    pub(crate) notices: Vec<Notice>,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// This is to be sent.
    Send(Message),
    /// Nothing, until then or until something is heard.
    Wait(Option<u64>),
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// In a sentence that holds no address and no secret.
    pub(crate) message: String,
    /// Whether it is certain that nobody has received it.
    pub(crate) is_certain: bool,
    /// Whether it is the message that is refused, and not the channel that does not work.
    pub(crate) is_refusal: bool,
    /// How long the other side wants us to wait.
    pub(crate) wait_ms: Option<u64>,
}

/// Something that waits for its moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    notice: Notice,
    due_at_ms: u64,
    tries: Tries,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tries {
    /// When it was tried first.
    since_ms: Option<u64>,
    /// How often the message itself was refused.
    refused: u32,
}

/// A message that is on its way, or was when the server died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Flight {
    message: Message,
    /// What was settled since it set out.
    settled: BTreeSet<Subject>,
    tries: Tries,
    /// Whether it may have arrived before, without anybody knowing.
    may_have_arrived: bool,
}

/// A message that has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    id: String,
    /// Without their texts, which nobody needs any more.
    notices: Vec<Notice>,
    settled: BTreeSet<Subject>,
}

/// How it went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// How many messages have arrived.
    pub(crate) sent: u64,
    /// How many notices were given up.
    pub(crate) given_up: u64,
    /// When a message arrived last.
    pub(crate) last_success_ms: Option<u64>,
    /// When one last did not.
    pub(crate) last_error_ms: Option<u64>,
    /// Why not.
    pub(crate) last_error: Option<String>,
}

/// All that is known of a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// The last event that was heard.
    cursor: u64,
    pending: Vec<Pending>,
    flight: Option<Flight>,
    told: Vec<Told>,
    /// What is to be taken back.
    back: Vec<Message>,
    /// When messages were sent in the last minute.
    sent_at_ms: Vec<u64>,
    /// Failures in a row.
    failures: u32,
    /// Nothing is sent before.
    not_before_ms: u64,
    record: Record,
}

impl Ledger {
    /// Begins behind an event, with what is open by then.
    pub(crate) fn begin(cursor: u64, open: Vec<Notice>, terms: &Terms) -> Ledger {
        let mut ledger = Ledger { cursor, ..Ledger::default() };
        for notice in open {
            ledger.open(notice, terms);
        }
        ledger
    }

    /// The last event that was heard.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// How it went.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// How many notices wait, or are on their way.
    pub(crate) fn waiting(&self) -> usize {
        let flight = self.flight.iter().filter(|flight| flight.message.what == What::Notice);
        self.pending.len() + flight.map(|flight| flight.message.notices.len()).sum::<usize>()
    }

    /// When it is tried again after a failure.
    pub(crate) fn tries_again_at_ms(&self) -> Option<u64> {
        (self.failures > 0).then_some(self.not_before_ms)
    }

    /// Whoever is told has changed: what is not wanted any more is dropped, and a failure may be over.
    pub(crate) fn renew(&mut self, terms: &Terms) {
        self.pending.retain(|it| terms.kinds.contains(&it.notice.kind));
        self.failures = 0;
        self.not_before_ms = 0;
    }

    /// Takes an event, and says whether it changed more than the place in the journal.
    pub(crate) fn hear(&mut self, seq: u64, heard: Option<Heard>, terms: &Terms) -> bool {
        self.cursor = self.cursor.max(seq);
        match heard {
            None => false,
            Some(Heard::Opened(notice)) => self.open(*notice, terms),
            Some(Heard::Settled(subject)) => self.settle(subject, terms),
        }
    }

    fn open(&mut self, notice: Notice, terms: &Terms) -> bool {
        if !terms.kinds.contains(&notice.kind) || self.knows(&notice) {
            return false;
        }
        let after_ms = if notice.kind.may_pass() { terms.after_ms } else { 0 };
        let due_at_ms = notice.at_ms.saturating_add(after_ms);
        if self.pending.len() == KEPT_MAX {
            self.pending.remove(0);
            self.record.given_up += 1;
        }
        self.pending.push(Pending { notice, due_at_ms, tries: Tries::default() });
        true
    }

    /// Whether the same is known already, and not settled.
    fn knows(&self, new: &Notice) -> bool {
        let is_same = |it: &Notice| it.subject == new.subject && it.kind == new.kind;
        let flight = self.flight.iter().filter(|it| it.message.what == What::Notice);
        let flying =
            flight.flat_map(|it| it.message.notices.iter().filter(|at| !it.settled.contains(&at.subject)));
        let told =
            self.told.iter().flat_map(|it| it.notices.iter().filter(|at| !it.settled.contains(&at.subject)));
        self.pending.iter().map(|it| &it.notice).chain(flying).chain(told).any(is_same)
    }

    fn settle(&mut self, subject: Subject, terms: &Terms) -> bool {
        let before = self.pending.len();
        self.pending.retain(|it| it.notice.subject != subject);
        let mut is_changed = self.pending.len() < before;
        if let Some(flight) = &mut self.flight
            && flight.message.what == What::Notice
            && flight.message.notices.iter().any(|notice| notice.subject == subject)
        {
            is_changed |= flight.settled.insert(subject);
            // Whether it has arrived is not known. It is not sent again, and taken back in any case.
            if flight.message.notices.iter().all(|notice| flight.settled.contains(&notice.subject)) {
                let flight = self.flight.take().expect("it is there");
                self.remember(flight, terms);
            }
        }
        for told in &mut self.told {
            if told.notices.iter().any(|it| it.subject == subject) && told.settled.insert(subject) {
                take_back(told, &[subject], terms.taking_back, &mut self.back);
                is_changed = true;
            }
        }
        self.forget();
        is_changed
    }

    /// What is to be done now. What it gives to be sent is on its way from here on: it is to be written down first.
    pub(crate) fn next(&mut self, terms: &Terms, now_ms: u64) -> Step {
        if now_ms < self.not_before_ms {
            return Step::Wait(Some(self.not_before_ms));
        }
        if let Some(flight) = &mut self.flight {
            // Nobody knows what came of the last time, or there would be none.
            flight.may_have_arrived = true;
            return Step::Send(flight.message.clone());
        }
        if !self.back.is_empty() {
            let message = self.back.remove(0);
            return self.set_out(message, Tries { since_ms: Some(now_ms), refused: 0 });
        }
        let Some(first_ms) = self.pending.iter().map(|it| it.due_at_ms).min() else {
            return Step::Wait(None);
        };
        if first_ms > now_ms {
            return Step::Wait(Some(first_ms));
        }
        self.sent_at_ms.retain(|at_ms| at_ms.saturating_add(MINUTE_MS) > now_ms);
        if self.sent_at_ms.len() >= terms.per_minute as usize {
            return Step::Wait(self.sent_at_ms.first().map(|at_ms| at_ms + MINUTE_MS));
        }
        self.gather(now_ms)
    }

    /// Puts what is due into a message: one by one, or all together if there are many.
    fn gather(&mut self, now_ms: u64) -> Step {
        let due = self.pending.iter().filter(|it| it.due_at_ms <= now_ms).count();
        let wanted = if due > ALONE_MAX { due } else { 1 };
        let mut taken: Vec<Pending> = Vec::new();
        self.pending.retain(|it| {
            let is_taken = it.due_at_ms <= now_ms && taken.len() < wanted;
            if is_taken {
                taken.push(it.clone());
            }
            !is_taken
        });
        let tries = Tries {
            since_ms: taken.iter().filter_map(|it| it.tries.since_ms).min().or(Some(now_ms)),
            // Only one that is alone can be known to be the one that is refused.
            refused: if taken.len() == 1 { taken[0].tries.refused } else { 0 },
        };
        let notices: Vec<Notice> = taken.into_iter().map(|it| it.notice).collect();
        let id = if notices.len() == 1 { notices[0].id.clone() } else { id_together(&notices) };
        self.set_out(Message { what: What::Notice, id, notices }, tries)
    }

    fn set_out(&mut self, message: Message, tries: Tries) -> Step {
        let (settled, may_have_arrived) = (BTreeSet::new(), false);
        self.flight = Some(Flight { message: message.clone(), settled, tries, may_have_arrived });
        Step::Send(message)
    }

    /// It has arrived.
    pub(crate) fn sent(&mut self, terms: &Terms, now_ms: u64) {
        (self.failures, self.not_before_ms) = (0, 0);
        let Some(flight) = self.flight.take() else { return };
        self.record.last_success_ms = Some(now_ms);
        if flight.message.what == What::Notice {
            self.record.sent += 1;
            self.sent_at_ms.push(now_ms);
            self.remember(flight, terms);
        }
    }

    /// It has not, or nobody knows.
    pub(crate) fn not_sent(&mut self, failure: &Failure, terms: &Terms, now_ms: u64) {
        self.failures = self.failures.saturating_add(1);
        let doubled = WAIT_MS.saturating_mul(1 << (self.failures - 1).min(20)).min(WAIT_MS_MAX);
        let wait_ms = doubled.max(failure.wait_ms.unwrap_or(0).min(ASKED_MS_MAX));
        self.not_before_ms = now_ms.saturating_add(wait_ms);
        self.record.last_error_ms = Some(now_ms);
        self.record.last_error = Some(failure.message.clone());
        let Some(mut flight) = self.flight.take() else { return };
        flight.may_have_arrived |= !failure.is_certain;
        let takes_back = flight.message.what == What::Settled;
        flight.tries.refused += u32::from(failure.is_refusal);
        let is_late =
            flight.tries.since_ms.is_some_and(|at_ms| now_ms >= at_ms.saturating_add(GIVEN_UP_AFTER_MS));
        let is_alone = flight.message.notices.len() == 1 || takes_back;
        if is_late || (is_alone && flight.tries.refused >= REFUSALS_MAX) {
            if takes_back {
                return;
            }
            self.record.given_up += flight.message.notices.len() as u64;
            // It may have arrived all the same: what is settled is taken back.
            if flight.may_have_arrived {
                self.remember(flight, terms);
            }
            return;
        }
        if takes_back || flight.may_have_arrived {
            self.flight = Some(flight);
        } else {
            self.return_to_waiting(flight, failure.is_refusal, now_ms);
        }
    }

    /// What has certainly not arrived waits again, so that it may be settled or told with others.
    fn return_to_waiting(&mut self, flight: Flight, is_refused: bool, now_ms: u64) {
        let several = flight.message.notices.len() > 1;
        let notices = flight.message.notices.into_iter();
        let mut returned: Vec<Pending> = notices
            .filter(|notice| !flight.settled.contains(&notice.subject))
            .map(|notice| Pending { notice, due_at_ms: now_ms, tries: flight.tries })
            .collect();
        if several && is_refused {
            // One of them may be what is refused: told one after the other, the rest arrives.
            for (index, it) in returned.iter_mut().enumerate() {
                it.due_at_ms = self.not_before_ms.saturating_add(index as u64 * MINUTE_MS);
            }
        }
        returned.append(&mut self.pending);
        self.pending = returned;
    }

    /// What has arrived, or may have, is remembered, so that it can be taken back and is not told twice.
    fn remember(&mut self, flight: Flight, terms: &Terms) {
        let Flight { message, settled, .. } = flight;
        let notices = message.notices.into_iter().map(|notice| Notice { text: None, ..notice }).collect();
        let mut told = Told { id: message.id, notices, settled: BTreeSet::new() };
        let subjects: Vec<Subject> = settled.into_iter().collect();
        told.settled.extend(&subjects);
        if !subjects.is_empty() {
            take_back(&told, &subjects, terms.taking_back, &mut self.back);
        }
        self.told.push(told);
        self.forget();
    }

    fn forget(&mut self) {
        self.told.retain(|told| !told.is_settled());
        let excess = self.told.len().saturating_sub(KEPT_MAX);
        self.told.drain(..excess);
        let excess = self.back.len().saturating_sub(KEPT_MAX);
        self.back.drain(..excess);
    }
}

impl Told {
    fn is_settled(&self) -> bool {
        self.notices.iter().all(|notice| self.settled.contains(&notice.subject))
    }
}

/// What is to be sent because these were settled.
fn take_back(told: &Told, subjects: &[Subject], taking_back: TakingBack, back: &mut Vec<Message>) {
    match taking_back {
        TakingBack::Each => {
            let notices = told.notices.iter().filter(|it| subjects.contains(&it.subject));
            back.extend(notices.map(|notice| Message {
                what: What::Settled,
                id: notice.id.clone(),
                notices: vec![notice.clone()],
            }));
        }
        TakingBack::Whole if told.is_settled() => {
            back.push(Message { what: What::Settled, id: told.id.clone(), notices: told.notices.clone() });
        }
        TakingBack::Whole | TakingBack::Never => {}
    }
}

#[cfg(test)]
mod tests;
