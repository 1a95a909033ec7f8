//! What is to be said for which event, when, and when it is taken back; also under random orders, failures and crashes.

use std::collections::{BTreeMap, BTreeSet};

use ostler_engine::RequestId;
use proptest::prelude::*;

use super::*;
use crate::notify::render::example;

const SECOND_MS: u64 = 1_000;

fn terms(taking_back: TakingBack) -> Terms {
    Terms { kinds: Kind::usual(), after_ms: 30 * SECOND_MS, per_minute: 6, taking_back }
}

/// A request that is opened at a moment.
fn notice(number: u64, at_ms: u64) -> Notice {
    Notice { at_ms, ..example(Kind::Question, number, "Which?") }
}

fn opened(number: u64, at_ms: u64) -> Heard {
    Heard::Opened(Box::new(notice(number, at_ms)))
}

fn settled(number: u64) -> Heard {
    Heard::Settled(Subject::Request(RequestId(number)))
}

fn failure(is_certain: bool) -> Failure {
    Failure { message: "no".to_owned(), is_certain, is_refusal: false, wait_ms: None }
}

/// What is sent, by what it does and whom it is about.
fn sends(step: &Step) -> (What, Vec<u64>) {
    let Step::Send(message) = step else { panic!("nothing is sent: {step:?}") };
    let number = |notice: &Notice| match notice.subject {
        Subject::Request(id) => id.0,
        _ => 0,
    };
    (message.what, message.notices.iter().map(number).collect())
}

#[test]
fn what_is_answered_at_once_notifies_nobody() {
    let terms = terms(TakingBack::Each);
    let mut ledger = Ledger::default();
    ledger.hear(1, Some(opened(1, 0)), &terms);
    assert_eq!(ledger.next(&terms, 29 * SECOND_MS), Step::Wait(Some(30 * SECOND_MS)));
    assert!(ledger.hear(2, Some(settled(1)), &terms));
    assert_eq!(ledger.next(&terms, 60 * SECOND_MS), Step::Wait(None));
    assert_eq!((ledger.cursor(), ledger.waiting()), (2, 0));
}

#[test]
fn it_is_told_once_and_taken_back_as_the_channel_can() {
    for (taking_back, expected) in
        [(TakingBack::Never, false), (TakingBack::Each, true), (TakingBack::Whole, true)]
    {
        let terms = terms(taking_back);
        let mut ledger = Ledger::default();
        ledger.hear(1, Some(opened(1, 0)), &terms);
        let step = ledger.next(&terms, 30 * SECOND_MS);
        assert_eq!(sends(&step), (What::Notice, vec![1]));
        ledger.sent(&terms, 31 * SECOND_MS);
        assert!(!ledger.hear(2, Some(opened(1, 0)), &terms), "asked again, it is still the same card");
        assert_eq!(ledger.next(&terms, 90 * SECOND_MS), Step::Wait(None));
        ledger.hear(3, Some(settled(1)), &terms);
        let step = ledger.next(&terms, 91 * SECOND_MS);
        if expected {
            assert_eq!(sends(&step), (What::Settled, vec![1]));
            ledger.sent(&terms, 92 * SECOND_MS);
        }
        assert_eq!(ledger.next(&terms, 93 * SECOND_MS), Step::Wait(None));
        assert!(!ledger.hear(4, Some(settled(1)), &terms));
    }
}

#[test]
fn only_what_is_wanted_is_told_and_what_is_over_at_once() {
    let mut terms = terms(TakingBack::Each);
    let mut ledger = Ledger::default();
    let done = Heard::Opened(Box::new(example(Kind::Done, 1, "")));
    assert!(!ledger.hear(1, Some(done.clone()), &terms), "nobody wants to hear that it is done");
    terms.kinds.insert(Kind::Done);
    assert!(ledger.hear(2, Some(done), &terms));
    assert_eq!(
        sends(&ledger.next(&terms, 1_000)),
        (What::Notice, vec![1]),
        "nothing can settle it before long"
    );
}

#[test]
fn many_are_told_together_and_taken_back_together() {
    let terms = terms(TakingBack::Whole);
    let open = (1..=5).map(|number| notice(number, 0)).collect();
    let mut ledger = Ledger::begin(9, open, &terms);
    let step = ledger.next(&terms, 30 * SECOND_MS);
    assert_eq!(sends(&step), (What::Notice, vec![1, 2, 3, 4, 5]));
    let Step::Send(Message { id, .. }) = step else { unreachable!() };
    ledger.sent(&terms, 30 * SECOND_MS);
    for number in 1..=4 {
        ledger.hear(9 + number, Some(settled(number)), &terms);
        assert_eq!(ledger.next(&terms, 31 * SECOND_MS), Step::Wait(None));
    }
    ledger.hear(14, Some(settled(5)), &terms);
    let Step::Send(back) = ledger.next(&terms, 32 * SECOND_MS) else { panic!("it is taken back") };
    assert_eq!((back.what, back.id), (What::Settled, id));
}

#[test]
fn a_channel_gets_no_more_than_so_many_in_a_minute() {
    let terms = Terms { after_ms: 0, per_minute: 2, ..terms(TakingBack::Never) };
    let mut ledger = Ledger::default();
    for number in 1..=2 {
        ledger.hear(number, Some(opened(number, 0)), &terms);
        assert_eq!(sends(&ledger.next(&terms, number)), (What::Notice, vec![number]));
        ledger.sent(&terms, number);
    }
    for number in 3..=9 {
        ledger.hear(number, Some(opened(number, 0)), &terms);
        assert_eq!(ledger.next(&terms, number), Step::Wait(Some(60_001)));
    }
    assert_eq!(sends(&ledger.next(&terms, 60_001)), (What::Notice, (3..=9).collect()));
}

#[test]
fn what_certainly_did_not_arrive_is_settled_or_gathered_meanwhile() {
    let terms = Terms { after_ms: 0, ..terms(TakingBack::Each) };
    let mut ledger = Ledger::default();
    ledger.hear(1, Some(opened(1, 0)), &terms);
    ledger.next(&terms, 0);
    ledger.not_sent(&failure(true), &terms, 0);
    assert_eq!(ledger.next(&terms, 1_999), Step::Wait(Some(2_000)), "it waits a little");
    for number in 2..=4 {
        ledger.hear(number, Some(opened(number, 0)), &terms);
    }
    ledger.hear(5, Some(settled(2)), &terms);
    assert_eq!(sends(&ledger.next(&terms, 2_000)), (What::Notice, vec![1]));
    ledger.not_sent(&failure(true), &terms, 2_000);
    ledger.hear(6, Some(opened(6, 0)), &terms);
    assert_eq!(ledger.tries_again_at_ms(), Some(6_000));
    assert_eq!(sends(&ledger.next(&terms, 6_000)), (What::Notice, vec![1, 3, 4, 6]));
}

#[test]
fn what_may_have_arrived_is_repeated_as_it_was_or_taken_back() {
    let terms = Terms { after_ms: 0, ..terms(TakingBack::Each) };
    let mut ledger = Ledger::default();
    ledger.hear(1, Some(opened(1, 0)), &terms);
    let first = ledger.next(&terms, 0);
    ledger.not_sent(&failure(false), &terms, 0);
    assert_eq!(ledger.next(&terms, 2_000), first);
    ledger.not_sent(&failure(false), &terms, 2_000);
    ledger.hear(2, Some(settled(1)), &terms);
    assert_eq!(sends(&ledger.next(&terms, 6_000)), (What::Settled, vec![1]));
}

#[test]
fn waits_grow_are_bounded_and_heed_the_other_side() {
    let terms = Terms { after_ms: 0, ..terms(TakingBack::Never) };
    let mut ledger = Ledger::default();
    ledger.hear(1, Some(opened(1, 0)), &terms);
    let mut now_ms = 0;
    let mut waits = Vec::new();
    for _ in 0..12 {
        ledger.next(&terms, now_ms);
        ledger.not_sent(&failure(true), &terms, now_ms);
        let next_ms = ledger.tries_again_at_ms().expect("it fails");
        waits.push((next_ms - now_ms) / SECOND_MS);
        now_ms = next_ms;
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
    ledger.next(&terms, now_ms);
    ledger.not_sent(&Failure { wait_ms: Some(u64::MAX), ..failure(true) }, &terms, now_ms);
    assert_eq!(ledger.tries_again_at_ms(), Some(now_ms + 60 * MINUTE_MS));
    // Whoever is told has changed: it may go well now.
    ledger.renew(&terms);
    assert_eq!(sends(&ledger.next(&terms, now_ms)), (What::Notice, vec![1]));
}

#[test]
fn after_a_day_it_is_given_up_and_said_so() {
    let terms = Terms { after_ms: 0, ..terms(TakingBack::Never) };
    let mut ledger = Ledger::default();
    ledger.hear(1, Some(opened(1, 0)), &terms);
    let mut now_ms = 0;
    while ledger.waiting() > 0 {
        ledger.next(&terms, now_ms);
        ledger.not_sent(&failure(true), &terms, now_ms);
        now_ms = ledger.tries_again_at_ms().expect("it fails");
        assert!(now_ms < 2 * GIVEN_UP_AFTER_MS, "it is never given up");
    }
    assert!(now_ms >= GIVEN_UP_AFTER_MS);
    let record = ledger.record();
    assert_eq!((record.given_up, record.sent, record.last_error.as_deref()), (1, 0, Some("no")));
}

#[test]
fn one_that_is_refused_does_not_hold_up_the_others() {
    let terms = Terms { after_ms: 0, ..terms(TakingBack::Never) };
    let open = (1..=5).map(|number| notice(number, 0)).collect();
    let mut ledger = Ledger::begin(1, open, &terms);
    let refused = Failure { is_refusal: true, ..failure(true) };
    let mut arrived = Vec::new();
    let mut now_ms = 0;
    for _ in 0..100 {
        match ledger.next(&terms, now_ms) {
            Step::Wait(None) => break,
            Step::Wait(Some(at_ms)) => now_ms = at_ms,
            step => {
                let (_, numbers) = sends(&step);
                if numbers.contains(&3) {
                    ledger.not_sent(&refused, &terms, now_ms);
                } else {
                    arrived.extend(numbers);
                    ledger.sent(&terms, now_ms);
                }
            }
        }
    }
    arrived.sort_unstable();
    assert_eq!((arrived, ledger.record().given_up), (vec![1, 2, 4, 5], 1));
}

#[test]
fn what_waits_has_a_bound() {
    let terms = terms(TakingBack::Each);
    let mut ledger = Ledger::default();
    for number in 1..=KEPT_MAX as u64 + 10 {
        ledger.hear(number, Some(opened(number, 0)), &terms);
    }
    assert_eq!((ledger.waiting(), ledger.record().given_up), (KEPT_MAX, 10));
}

/// What happens to a channel.
#[derive(Debug, Clone)]
enum Play {
    Open(u64),
    Settle(u64),
    Pass(u64),
    /// What is next is sent, and this comes of it.
    Send(Fate),
    /// It is written down and read again, before or behind the sending.
    Crash,
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    /// It arrives, and the server dies before it hears of that.
    ArrivesUnheard,
    FailsCertainly,
    ArrivesUnclear,
    GetsLost,
}

fn plays() -> impl Strategy<Value = Vec<Play>> {
    let fate = prop_oneof![
        4 => Just(Fate::Arrives),
        1 => Just(Fate::ArrivesUnheard),
        1 => Just(Fate::FailsCertainly),
        1 => Just(Fate::ArrivesUnclear),
        1 => Just(Fate::GetsLost),
    ];
    let play = prop_oneof![
        3 => (1..12_u64).prop_map(Play::Open),
        3 => (1..12_u64).prop_map(Play::Settle),
        3 => (0..100_000_u64).prop_map(Play::Pass),
        5 => fate.prop_map(Play::Send),
        1 => Just(Play::Crash),
    ];
    prop::collection::vec(play, 0..120)
}

/// A receiver who knows messages by their ids, and what is really open.
#[derive(Debug, Default)]
struct Receiver {
    /// Notices that are shown, by id of the message.
    shown: BTreeMap<String, BTreeSet<u64>>,
    /// What each id ever was.
    known: BTreeMap<String, (What, Vec<u64>)>,
    open: BTreeMap<u64, u64>,
}

impl Receiver {
    fn takes(&mut self, message: &Message, numbers: &[u64], each: bool) {
        match message.what {
            What::Notice => {
                let before = self.known.insert(message.id.clone(), (message.what, numbers.to_vec()));
                assert!(before.is_none_or(|before| before.1 == numbers), "an id stands for one message");
                self.shown.insert(message.id.clone(), numbers.iter().copied().collect());
            }
            What::Settled if each => {
                for shown in self.shown.values_mut() {
                    shown.retain(|number| !numbers.contains(number));
                }
            }
            What::Settled => drop(self.shown.remove(&message.id)),
        }
    }
}

fn play(plays: &[Play], taking_back: TakingBack) {
    let terms = Terms { per_minute: 3, ..terms(taking_back) };
    let (mut ledger, mut receiver) = (Ledger::default(), Receiver::default());
    let (mut now_ms, mut seq, mut asked) = (0, 0, BTreeSet::new());
    let mut rate = Vec::new();
    for play in plays {
        seq += 1;
        match play {
            // A request is opened once in its life.
            Play::Open(number) if asked.insert(*number) => {
                receiver.open.insert(*number, now_ms);
                ledger.hear(seq, Some(opened(*number, now_ms)), &terms);
            }
            Play::Settle(number) if receiver.open.remove(number).is_some() => {
                ledger.hear(seq, Some(settled(*number)), &terms);
            }
            Play::Open(_) | Play::Settle(_) => {}
            Play::Pass(time_ms) => now_ms += time_ms,
            Play::Crash => {
                let text = serde_json::to_string(&ledger).expect("plain data");
                ledger = serde_json::from_str(&text).expect("what was written");
            }
            Play::Send(fate) => {
                let step = ledger.next(&terms, now_ms);
                let Step::Send(message) = &step else { continue };
                let (what, numbers) = sends(&step);
                if what == What::Notice {
                    let is_old = |number: &u64| receiver.known.values().any(|it| it.1.contains(number));
                    for number in &numbers {
                        let since = receiver.open.get(number);
                        let is_due = since.is_some_and(|at_ms| at_ms + terms.after_ms <= now_ms);
                        // Only what may have been told already is told although it is settled.
                        assert!(is_due || is_old(number) || numbers.len() > 1, "{number} is told too early");
                    }
                }
                let kept = serde_json::to_string(&ledger).expect("plain data");
                let arrives = !matches!(fate, Fate::FailsCertainly | Fate::GetsLost);
                if arrives {
                    receiver.takes(message, &numbers, taking_back == TakingBack::Each);
                }
                match fate {
                    Fate::Arrives => {
                        ledger.sent(&terms, now_ms);
                        if what == What::Notice {
                            rate.push(now_ms);
                        }
                    }
                    Fate::ArrivesUnheard => ledger = serde_json::from_str(&kept).expect("what was written"),
                    Fate::FailsCertainly => ledger.not_sent(&failure(true), &terms, now_ms),
                    Fate::ArrivesUnclear | Fate::GetsLost => ledger.not_sent(&failure(false), &terms, now_ms),
                }
            }
        }
    }
    for window in rate.windows(terms.per_minute as usize + 1) {
        assert!(window[window.len() - 1] >= window[0] + MINUTE_MS, "too many in a minute: {rate:?}");
    }
    // From here on everything goes well: what is open is told, and nothing else is shown.
    for _ in 0..200 {
        let step = ledger.next(&terms, now_ms);
        match &step {
            Step::Wait(None) => break,
            Step::Wait(Some(at_ms)) => now_ms = *at_ms,
            Step::Send(message) => {
                let (_, numbers) = sends(&step);
                receiver.takes(message, &numbers, taking_back == TakingBack::Each);
                ledger.sent(&terms, now_ms);
            }
        }
    }
    assert_eq!(ledger.next(&terms, now_ms), Step::Wait(None), "it comes to rest");
    let shown: BTreeSet<u64> = receiver.shown.values().flatten().copied().collect();
    let open: BTreeSet<u64> = receiver.open.keys().copied().collect();
    assert!(open.is_subset(&shown), "{open:?} is open, {shown:?} is shown");
    if taking_back == TakingBack::Each {
        assert_eq!(shown, open);
    }
    if taking_back == TakingBack::Whole {
        for (id, numbers) in &receiver.shown {
            assert!(!numbers.is_disjoint(&open), "{id} is shown, and all of {numbers:?} is settled");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_what_is_open_is_told_and_what_is_settled_is_taken_back(plays in plays()) {
        for taking_back in [TakingBack::Never, TakingBack::Each, TakingBack::Whole] {
            play(&plays, taking_back);
        }
    }
}
