//! The rows of a graph: who may have a node, what its run leaves there, and what old journals fold into.

use std::num::NonZeroU32;

use ostler_engine::{
    Entry, Event, Input, NodeId, Overlay, Refusal, RunId, SessionId, World, decide,
    graph::{GraphEvent, GraphReport, GraphSpec, GroupFacts, NodeEffort, NodeOutcome, NodeState, WorkNode},
    input::NewRun,
    orchestrate::{LoopSpec, LoopStep},
    run::{Outcome, Terms},
    session::Role,
};
use serde_json::{Value, json};

use crate::{
    common::{order, plain},
    play::{Play, S},
};

fn spec() -> LoopSpec {
    LoopSpec { tasks: None, phase: None, parallel_max: NonZeroU32::new(2).expect("two"), agent: None }
}

/// A graph that was just created.
fn graph() -> Play {
    let graph = Some(GraphSpec::TaskFile(spec()));
    Play::ordered(NewRun { graph, ..order(plain(), Terms::default()) })
}

/// A run for a task of the graph.
fn run_of(key: &str) -> Input {
    let (parent, node) = (Some(S), Some(key.to_owned()));
    Input::CreateRun(Box::new(NewRun { parent, node, ..order(plain(), Terms::default()) }))
}

fn report(report: GraphReport) -> Input {
    Input::GraphReported { session: S, report: Box::new(report) }
}

fn ended(key: &str, outcome: NodeOutcome) -> Input {
    let effort = NodeEffort { tries: 1, worked_ms: 5, ..NodeEffort::default() };
    report(GraphReport::Ended { key: key.to_owned(), outcome, effort })
}

fn node<'a>(world: &'a World, key: &str) -> &'a WorkNode {
    world.node(world.graph_of(S).expect("a graph").id, key).expect("it was started")
}

/// The agent of a session could not be started: its run is over.
fn fails(play: &mut Play, session: u64) {
    let message = "no such program".to_owned();
    play.give(Input::LaunchFailed { session: SessionId(session), launch: 1, message });
}

#[test]
fn a_run_and_the_start_of_its_node_are_one_commit() {
    let play = graph();
    let created = decide(&play.book.world, &Overlay::default(), play.now_ms, &run_of("T1.1")).expect("taken");
    let started = created.entries.iter().filter_map(|entry| match &entry.event {
        Event::Graph(GraphEvent::NodeStarted { key, attempt, holder, .. }) => {
            Some((&**key, *attempt, *holder))
        }
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), [("T1.1", 1, RunId(2))]);
    // A run that a person asks for has no node, and one whose parent is no graph has none either.
    let alone = NewRun { node: Some("T1.1".to_owned()), ..order(plain(), Terms::default()) };
    let alone =
        decide(&play.book.world, &Overlay::default(), play.now_ms, &Input::CreateRun(Box::new(alone)));
    assert!(alone.expect("taken").overlay.tables.nodes.is_empty());
}

#[test]
fn a_node_has_one_holder_and_ends_once_per_attempt() {
    let mut play = graph();
    play.give(run_of("T1.1"));
    assert_eq!(node(&play.book.world, "T1.1").state(), NodeState::Running);
    assert_eq!(play.refused(run_of("T1.1")), Refusal::NodeHeld { run: RunId(2) });
    let other = report(GraphReport::Started { key: "T1.2".to_owned(), run: RunId(2) });
    assert_eq!(play.refused(other), Refusal::NodeHeld { run: RunId(2) }, "a run has one node");

    // Its run ends: the node notes how, in the same commit, and is still held until its end is decided.
    fails(&mut play, 2);
    let summary = play.book.world.run_summary(RunId(2)).expect("it is noted").clone();
    assert!(matches!(summary.outcome, Outcome::Failed { .. }), "{summary:?}");
    assert_eq!(node(&play.book.world, "T1.1").state(), NodeState::Running);

    // The next attempt takes over from a run that is over.
    play.give(run_of("T1.1"));
    assert_eq!(node(&play.book.world, "T1.1").holder, Some(RunId(3)));
    assert_eq!(
        node(&play.book.world, "T1.1").uncounted().count(),
        1,
        "the first one's effort is not counted yet"
    );
    play.give(ended("T1.1", NodeOutcome::Done));
    let found = node(&play.book.world, "T1.1");
    assert_eq!((found.state(), found.holder, found.attempt()), (NodeState::Done, None, 2));
    assert_eq!((found.spent.worked_ms, found.uncounted().count()), (5, 0));
    // Whatever is said of the same attempt later changes nothing.
    play.give(ended("T1.1", NodeOutcome::Failed { reason: "late".to_owned() }));
    assert_eq!(node(&play.book.world, "T1.1").spent.worked_ms, 5);
    assert_eq!(node(&play.book.world, "T1.1").state(), NodeState::Done);

    // A person makes it open again.
    play.give(run_of("T1.1"));
    assert_eq!(node(&play.book.world, "T1.1").state(), NodeState::Running);
    fails(&mut play, 4);
    play.give(ended("T1.1", NodeOutcome::Failed { reason: "no luck".to_owned() }));
    let found = node(&play.book.world, "T1.1");
    assert_eq!((found.state(), found.spent.tries, found.attempt()), (NodeState::Failed, 2, 3));
    assert_eq!(found.id, NodeId(1), "a key keeps its row");
}

#[test]
fn a_task_that_could_not_even_be_started_ends_as_well() {
    let mut play = graph();
    play.give(ended("T1.1", NodeOutcome::Failed { reason: "no agent".to_owned() }));
    let found = node(&play.book.world, "T1.1");
    assert_eq!((found.state(), found.attempt(), found.began_at_ms()), (NodeState::Failed, 0, None));
}

#[test]
fn the_rows_of_a_graph_are_forgotten_with_its_session() {
    let mut play = graph();
    play.give(run_of("T1.1"));
    fails(&mut play, 2);
    play.give(report(GraphReport::Finished(Outcome::Cancelled)));
    let mut world = play.book.world.clone();
    world.forget(S);
    assert!(world.graphs.is_empty() && world.nodes.is_empty() && world.groups.is_empty());
    assert_eq!(world.run_summary(RunId(2)), None);
    // A report that comes after the end changes nothing.
    play.give(ended("T1.1", NodeOutcome::Done));
    assert_eq!(node(&play.book.world, "T1.1").result, None);
}

/// A world that an old journal made: a session with the role `conduct`, and these steps of its loop.
fn old_world(steps: &[Value]) -> World {
    let new = Input::CreateRun(Box::new(order(plain(), Terms::default())));
    let mut world = World::default();
    for mut entry in decide(&world, &Overlay::default(), 1_000, &new).expect("taken").entries {
        if let Event::SessionCreated { order, .. } = &mut entry.event {
            let role = json!({ "role": "conduct", "parallel_max": 2 });
            order.role = serde_json::from_value(role).expect("it stays readable");
            assert_eq!(order.role, Role::Conduct(spec()));
        } else if !matches!(entry.event, Event::ProjectRegistered { .. } | Event::RunCreated { .. }) {
            continue;
        }
        world.fold(&entry);
    }
    for step in steps {
        let (session, seq) = (&world.sessions[&S], world.last_seq + 1);
        let (project, run) = (Some(session.project), Some(session.run));
        let event =
            serde_json::from_value(json!({ "kind": "loop.moved", "step": step })).expect("it stays readable");
        world.fold(&Entry { seq, at_ms: 2_000 + seq, project, run, session: Some(S), event });
    }
    world
}

#[test]
fn steps_of_old_loops_fold_into_the_same_rows() {
    let outcome = serde_json::to_value(Outcome::Cancelled).expect("plain data");
    let over = json!({ "outcome": outcome, "tries": 2, "worked_ms": 30, "said": "no" });
    let world = old_world(&[
        json!({ "step": "phase_begun", "phase": 1, "worktree": "worktree/phase-1-auth", "target": "main" }),
        json!({ "step": "task_begun", "task": "T1.1", "run": "r_2" }),
        // It is over before the journal says that it has begun.
        json!({ "step": "run_over", "run": "r_3", "over": over }),
        json!({ "step": "task_begun", "task": "T1.2", "run": "r_3" }),
        json!({ "step": "run_over", "run": "r_2", "over": over }),
        json!({ "step": "task_ended", "task": "T1.2", "line": "FAIL:T1.2:no luck: at all", "worked_ms": 30, "tries": 2 }),
        json!({ "step": "tested", "phase": 1, "tested": { "commit": "a", "command": "make", "code": 1, "output": "" } }),
        json!({ "step": "asked", "card": { "request": "q_1", "about": { "about": "red", "phase": 1, "commit": "a" } } }),
    ]);
    let graph = world.graph_of(S).expect("it gets one");
    assert_eq!((graph.task_file(), graph.unclaimed.len()), (&spec(), 0));
    assert_eq!(graph.hold.as_ref().map(|hold| hold.request.0), Some(1));
    let first = node(&world, "T1.1");
    assert_eq!((first.state(), first.holder), (NodeState::Running, Some(RunId(2))));
    assert_eq!(first.run_summary(RunId(2)).map(|it| it.said.as_deref()), Some(Some("no")));
    let second = node(&world, "T1.2");
    let reason = "no luck: at all".to_owned();
    let outcome = second.result.as_ref().map(|it| &it.outcome);
    assert_eq!(outcome, Some(&NodeOutcome::Failed { reason }));
    assert_eq!((second.spent.tries, second.spent.worked_ms, second.uncounted().count()), (2, 30, 0));
    assert_eq!(second.run_summary(RunId(3)).map(|it| it.tries), Some(2), "what came too early was kept");
    let groups: Vec<&GroupFacts> = world.groups_of(graph.id).map(|group| &group.facts).collect();
    assert_eq!(groups[0].worktree.as_deref(), Some("worktree/phase-1-auth"));
    assert_eq!(groups[0].tested.as_ref().map(|it| it.code), Some(1));
    // The next loop goes on with ids that nothing has.
    assert_eq!((world.counters.graph, world.counters.node, world.counters.group), (1, 2, 1));
}

#[test]
fn words_of_old_journals_stay_readable() {
    let action: ostler_engine::Action =
        serde_json::from_value(json!({ "session": "s_1", "what": { "do": "conduct" } })).expect("readable");
    assert_eq!(serde_json::to_value(&action).expect("plain")["what"]["do"], "run_graph");
    let step: LoopStep = serde_json::from_value(json!({ "step": "recorded", "phase": 2 })).expect("readable");
    assert_eq!(step, LoopStep::Recorded { phase: 2 });
}
