//! Whatever agents call, bring and die of, by chance.

use ostler_agents::Agent;
use ostler_engine::{Input, SessionId, office::Invocation, request::Bringing, session::Session};
use serde_json::json;

use super::stage::{Death, Stage};
use crate::common::{codex, plain, random::Random};

/// Whatever agents call, bring, and die of: each call ends in exactly one way, each result is delivered at most once,
/// and when everybody has ended nobody waits.
#[test]
fn any_graph_of_calls_comes_to_its_end() {
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let names: Vec<String> = (0..6).map(|n| format!("R{n}")).collect();
        let roles: Vec<(&str, Agent)> = names
            .iter()
            .map(|name| (name.as_str(), if random.once_in(3) { codex() } else { plain() }))
            .collect();
        let mut stage = Stage::new(&roles);
        for _ in 0..3 {
            stage.caller(plain());
        }
        for _ in 0..60 {
            play(&mut stage, random, &names);
            let forgotten = stage.world().invocations.values().find(|call| is_forgotten(&stage, call));
            assert_eq!(forgotten, None, "seed {seed}: nobody will ever hear of it");
        }
        finish(&mut stage, seed);
        let calls: Vec<&Invocation> = stage.world().invocations.values().collect();
        for call in calls {
            assert_eq!(stage.ended.get(&call.id), Some(&1), "seed {seed}: {call:?}");
        }
        assert!(stage.delivered.values().all(|times| *times == 1), "seed {seed}: {:?}", stage.delivered);
        let waits = stage.world().sessions.values().find(|session| session.office.waits());
        assert_eq!(waits.map(|session| session.id), None, "seed {seed}: nobody waits");
    }
}

/// Whether a seat is to work on a call of which it is never told.
fn is_forgotten(stage: &Stage, call: &Invocation) -> bool {
    let Some(seat) = call.seat.map(|id| stage.session(id)).filter(|it| it.office.current == Some(call.id))
    else {
        return false;
    };
    let message = seat.messages.iter().find(|message| Some(message.id) == call.message);
    call.ended.is_none() && message.is_none_or(|message| message.bringing == Bringing::Undeliverable)
}

/// Somebody who runs does something.
fn play(stage: &mut Stage, random: &mut Random, names: &[String]) {
    stage.now_ms += random.below(2_000);
    let runs = |session: &&Session| session.live().is_some_and(|live| live.process.is_some());
    let running: Vec<SessionId> = stage.world().sessions.values().filter(runs).map(|it| it.id).collect();
    let Some(&who) = random.one_of(&running) else { return };
    if random.once_in(8) {
        stage.deaths.push(if random.once_in(2) { Death::BeforeTaken } else { Death::BeforeRead });
    }
    let session = stage.session(who);
    let current = session.office.current.map(|call| stage.world().invocations[&call].caller.clone());
    let has_conversation = session.conversation.is_some();
    match random.below(12) {
        0..=4 => {
            let callee = random.one_of(names).expect("there are some").clone();
            stage.invokes(who, &callee, "do");
        }
        5..=7 => {
            let to = current.unwrap_or_else(|| random.one_of(names).expect("some").clone());
            stage.delivers(who, &to, "done");
        }
        8 => stage.says(who, json!({ "kind": "step_complete", "step": null, "summary": null })),
        9 if !has_conversation && stage.session(who).order.agent.can_resume() => {
            stage.says(who, json!({ "kind": "agent_session", "id": "c", "model": null }));
        }
        10 => stage.ends(who, i32::from(random.once_in(2))),
        11 if random.once_in(6) => {
            stage.give(&Input::Cancel(who));
            stage.settle();
        }
        _ => stage.says(who, json!({ "kind": "end", "status": "success", "reason": null })),
    }
}

/// Everybody ends, and what was waiting gets its turn, until nothing is left.
fn finish(stage: &mut Stage, seed: u64) {
    stage.deaths.clear();
    for _ in 0..2_000 {
        let is_live = |session: &&Session| session.live().is_some();
        let Some(id) = stage.world().sessions.values().find(is_live).map(|session| session.id) else {
            return;
        };
        let current = stage.session(id).office.current;
        let current = current.map(|call| stage.world().invocations[&call].caller.clone());
        if let Some(to) = current {
            stage.delivers(id, &to, "at last");
        }
        if stage.session(id).live().is_some() {
            stage.ends(id, 0);
        }
    }
    panic!("seed {seed}: somebody runs for ever");
}
