//! What something that was heard says about the session itself, and what was used.

use alloc::vec::Vec;

use ostler_agents::agent::Terminal;
use ostler_protocol::fact::{EndStatus, Usage};

use crate::{
    heard::{self, Heard, Said},
    office::{self, Standing, Step},
    session::{Session, UnrecordedItems},
    usage::{self, QUARTER_MS, Used},
};

/// How long a CLI that was told something may take between the end of one turn and the beginning of the next.
const TURN_MS: u64 = 3_000;

/// What an item says about the session itself; what it says was used is given back.
pub(super) fn fold_heard(session: &mut Session, at_ms: u64, item: &serde_json::Value) -> Option<Used> {
    let launch = session.launches.last_mut()?;
    launch.heard = heard::place(item).max(launch.heard);
    if session.order.agent.terminal == Terminal::Pty
        && session.office.drawn.len() < Standing::DRAWN_MAX
        && let Some(sum) = heard::sum(item)
    {
        session.office.drawn.insert(sum);
    }
    match heard::read(item) {
        Heard::Conversation(conversation) => {
            // A CLI that says who it is begins a turn.
            launch.closes_at_ms = None;
            session.conversation = Some(conversation);
        }
        Heard::Usage(report) => return Some(count(session, at_ms, &report)),
        Heard::Limit(mut limit) => {
            // Some name a time, some only how long it takes.
            let after_ms = limit.retry_after_ms.map(|time| at_ms.saturating_add(time));
            limit.reset_at_ms = limit.reset_at_ms.or(after_ms);
            if limit.retrying {
                session.retrying = Some(limit);
            } else {
                session.limited = Some(limit);
            }
        }
        Heard::End(end) => {
            let patience = if launch.fed { TURN_MS } else { 0 };
            launch.closes_at_ms = Some(at_ms.saturating_add(patience));
            if end.status == EndStatus::Success {
                session.proved_at_ms = Some(at_ms);
            }
            session.retrying = None;
            launch.end = Some(end);
        }
        Heard::Input(_) => launch.proofs = launch.proofs.saturating_add(1),
        Heard::Asks { .. } => session.proved_at_ms = Some(at_ms),
        Heard::Office(Said::DeliverResult { .. }) => {
            let origin = office::origin(launch.number, item);
            session.office.examined.insert(origin);
        }
        Heard::Office(Said::StepComplete { step, summary }) if !session.office.examined.is_empty() => {
            let printed = item["offset"].as_u64().map(|offset| (launch.number, offset));
            session.office.step = Some(Step { printed, summary: summary.or(step) });
        }
        Heard::PhaseComplete(_) | Heard::Office(_) | Heard::Thin(_) | Heard::Other => {}
    }
    None
}

/// Counts what was not recorded; what it says was used is given back.
pub(super) fn fold_unrecorded(session: &mut Session, at_ms: u64, items: &UnrecordedItems) -> Vec<Used> {
    if let Some(launch) = session.launches.last_mut() {
        launch.spool_seq = items.spool_seq.unwrap_or(launch.spool_seq);
        launch.heard = items.last.max(launch.heard);
        launch.unrecorded = launch.unrecorded.saturating_add(items.items);
    }
    session.office.owes_word = false;
    items.usage.iter().map(|report| count(session, at_ms, report)).collect()
}

/// Adds what a report says to what is known.
fn count(session: &mut Session, at_ms: u64, report: &Usage) -> Used {
    let mut used = session.meter.read(report);
    let order = &session.order;
    let model = session.conversation.as_ref().and_then(|conversation| conversation.model.as_ref());
    let model = model.or(order.model.as_ref()).or(order.agent.model.as_ref());
    // What the CLI says itself counts before any price.
    if report.cost_usd.is_none()
        && let Some(price) = model.and_then(|model| usage::price(&order.prices, model))
    {
        used.cost_nusd = price.of(&used);
    }
    // Who is refused at once reports nothing.
    if used.output_tokens.is_some_and(|tokens| tokens > 0) {
        session.proved_at_ms = Some(at_ms);
        session.retrying = None;
    }
    session.used.add(&used);
    session.used_at.entry(at_ms - at_ms % QUARTER_MS).or_default().add(&used);
    if let Some(launch) = session.launches.last_mut() {
        launch.used.add(&used);
    }
    used
}
