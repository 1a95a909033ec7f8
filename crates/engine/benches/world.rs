//! Measures one decision while many sessions wait for a person: an answer decided and absorbed, and the next deadline.
//!
//! Prints a Markdown table; the last column relates a decision to the same one beside 100 sessions, in the same run.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ostler_agents::Agent;
use ostler_engine::{
    Input, Overlay, RequestId, SessionId, World,
    answer::Given,
    decide,
    input::{NewRun, News},
    run::Terms,
    session::{Order, Patience, Role, WorktreeTerms},
    usage::Prices,
};
use serde_json::json;

const ROUNDS: usize = 200;
const NOW_MS: u64 = 1_000;

fn main() {
    println!(
        "| waiting sessions | decide an answer | absorb it | next deadline | decision, beside 100 |\n|---:|---:|---:|---:|---:|"
    );
    let mut first = None;
    for sessions in [100, 1_000, 10_000] {
        let world = waiting(sessions);
        let given = Given { value: Some("yes".to_owned()), ..Given::default() };
        let request = RequestId(u64::from(sessions) / 2);
        let input = Input::Answer { request, given, printed: None };
        let choose = || decide(&world, &Overlay::default(), NOW_MS, &input).expect("it can be answered");
        let decided = best(|| drop(black_box(choose())));
        let overlay = choose().overlay;
        let mut absorbing = world.clone();
        let absorbed = best(|| absorbing.absorb(overlay.clone()));
        let deadline = best(|| {
            black_box(world.next_deadline_ms());
        });
        let beside = decided.as_secs_f64() / first.get_or_insert(decided).as_secs_f64();
        println!("| {sessions} | {decided:.1?} | {absorbed:.1?} | {deadline:.1?} | {beside:.2} |");
    }
}

/// A world in which that many sessions have asked and stand still.
fn waiting(sessions: u32) -> World {
    let mut world = World::default();
    for number in 1..=u64::from(sessions) {
        let session = SessionId(number);
        give(&mut world, &Input::CreateRun(Box::new(new_run(number))));
        shim(&mut world, session, 1, News::Started { pid: 7, began: 1 });
        let question = json!({ "kind": "user_question", "category": "business", "question": "Go on?", "options": [],
            "default": null, "required": true, "offset": 100, "end": 110, "index": 0, "trust": "plain" });
        shim(&mut world, session, 2, News::Heard { item: question });
        shim(
            &mut world,
            session,
            3,
            News::Stopped { cause: "signal".to_owned(), processes: 1, confirmed: true },
        );
    }
    world
}

fn shim(world: &mut World, session: SessionId, spool_seq: u64, news: News) {
    give(world, &Input::Shim { session, launch: 1, spool_seq, news });
}

fn give(world: &mut World, input: &Input) {
    let decision = decide(world, &Overlay::default(), NOW_MS, input).expect("it is taken");
    world.absorb(decision.overlay);
}

fn new_run(number: u64) -> NewRun {
    NewRun {
        root: "/repo".to_owned(),
        name: "repo".to_owned(),
        git: true,
        title: "a task".to_owned(),
        terms: Terms::default(),
        order: Box::new(Order {
            agent: Agent::builtin("claude").expect("it is built in"),
            prompt: "Do it.".to_owned(),
            directory: format!("/repo/{number}"),
            environment: format!("env/{number}"),
            model: None,
            turns_max: None,
            nonce: None,
            new_conversation: "00000000-0000-4000-8000-000000000001".to_owned(),
            guide: true,
            channel: true,
            korean: false,
            patience: Patience::default(),
            account: None,
            prices: Prices::new(),
            checkpoints: None,
            role: Role::Work,
            instruction: None,
            tools: Vec::new(),
            screen: None,
        }),
        worktrees: None,
        worktree_terms: WorktreeTerms::default(),
        phases: None,
        parent: None,
        node: None,
        graph: None,
        session_name: None,
        roles: Vec::new(),
    }
}

fn best(mut work: impl FnMut()) -> Duration {
    let mut time = || {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    (0..ROUNDS).map(|_| time()).min().expect("there are rounds")
}
