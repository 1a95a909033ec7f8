//! Measures one task of a graph, beside many that ended: its run is created with its start, its end is reported, both are
//! absorbed, and every row that changed is written as JSON.
//!
//! Prints a Markdown table; the last column relates a task to the same one beside 100, in the same run.

use std::{
    hint::black_box,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use ostler_agents::Agent;
use ostler_engine::{
    Input, Overlay, RunId, SessionId, World, decide,
    graph::{GraphReport, GraphSpec, NodeEffort, NodeOutcome},
    input::NewRun,
    orchestrate::LoopSpec,
    run::Terms,
    session::{Order, Patience, Role, WorktreeTerms},
    usage::Prices,
};
use serde::Serialize;

const ROUNDS: usize = 200;
const NOW_MS: u64 = 1_000;
const GRAPH: SessionId = SessionId(1);

fn main() {
    println!("| tasks that ended | one task | rows written | task, beside 100 |\n|---:|---:|---:|---:|");
    let mut first = None;
    for tasks in [100, 1_000, 10_000] {
        let world = after(tasks);
        let rounds = (0..ROUNDS).map(|_| {
            let mut world = world.clone();
            let begun = Instant::now();
            let bytes = task(&mut world, u64::from(tasks) + 1);
            (begun.elapsed(), black_box(bytes))
        });
        let (time, bytes) = rounds.min().expect("there are rounds");
        let beside = time.as_secs_f64() / Duration::as_secs_f64(first.get_or_insert(time));
        println!("| {tasks} | {time:.1?} | {bytes} bytes | {beside:.2} |");
    }
}

/// A world with a graph of which that many tasks ended. Their sessions are forgotten, as a server does.
fn after(tasks: u32) -> World {
    let mut world = World::default();
    let parallel_max = NonZeroU32::new(3).expect("three");
    let spec = LoopSpec { tasks: None, phase: None, parallel_max, agent: None };
    let graph = Some(GraphSpec::TaskFile(spec));
    give(&mut world, &Input::CreateRun(Box::new(NewRun { graph, ..new_run(0) })));
    for number in 1..=u64::from(tasks) {
        task(&mut world, number);
        let session = SessionId(number + 1);
        give(&mut world, &Input::LaunchFailed { session, launch: 1, message: String::new() });
        world.forget(session);
    }
    world
}

/// Starts a task and reports its end: the bytes of the rows that this wrote.
fn task(world: &mut World, number: u64) -> usize {
    let key = format!("T1.{number}");
    let (parent, node) = (Some(GRAPH), Some(key.clone()));
    let started = give(world, &Input::CreateRun(Box::new(NewRun { parent, node, ..new_run(number) })));
    let run = RunId(number + 1);
    let known = give(world, &reported(GraphReport::Started { key: key.clone(), run }));
    let effort = NodeEffort { tries: 1, ..NodeEffort::default() };
    let ended = give(world, &reported(GraphReport::Ended { key, outcome: NodeOutcome::Done, effort }));
    started + known + ended
}

fn reported(report: GraphReport) -> Input {
    Input::GraphReported { session: GRAPH, report: Box::new(report) }
}

fn give(world: &mut World, input: &Input) -> usize {
    let decision = decide(world, &Overlay::default(), NOW_MS, input).expect("it is taken");
    let tables = &decision.overlay.tables;
    let bytes = written(tables.runs.values())
        + written(tables.sessions.values())
        + written(tables.graphs.values())
        + written(tables.nodes.values());
    world.absorb(decision.overlay);
    bytes
}

fn written<T: Serialize>(rows: impl Iterator<Item = T>) -> usize {
    rows.map(|row| serde_json::to_string(&row).expect("plain data").len()).sum()
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
