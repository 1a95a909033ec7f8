//! A graph in the storm. Its driver starts nodes, looks at what came of them and asks a person; whenever the server dies it
//! forgets everything but the state file, the journal and what runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};

use ostler_engine::{
    Entry, Event, Input, NodeId, RunId, World,
    answer::Answer,
    graph::{GraphEvent, GraphReport, GraphSpec, GroupChange, GroupTest, NodeEffort, NodeOutcome, WorkGraph},
    input::NewRun,
    orchestrate::{About, Choice, LoopSpec},
    run::{Outcome, Reason},
    session::{Role, Session},
};
use ostler_protocol::signal::{QuestionCategory, UserQuestion};

use crate::{agent::Script, common::random::Random, outside::Outside, person};

/// The tasks, each with those it waits for.
const TASKS: [(&str, &[&str]); 3] = [("T1.1", &[]), ("T1.2", &[]), ("T1.3", &["T1.1", "T1.2"])];

/// How many run at once.
const PARALLEL: usize = 2;

/// What the state file says of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Begun,
    Done,
    Failed,
    GivenUp,
}

/// A task, and who does it.
#[derive(Debug)]
struct Task {
    mark: Mark,
    new: NewRun,
    script: Script,
}

/// The state file: it outlives every server.
#[derive(Debug, Default)]
pub(crate) struct StateFile {
    tasks: BTreeMap<&'static str, Task>,
}

/// A graph of three tasks, and the state file for it.
pub(crate) fn graph(random: &mut Random) -> (Input, StateFile) {
    let mut file = StateFile::default();
    for (key, _) in TASKS {
        let (new, script) = plain_order(random, key);
        file.tasks.insert(key, Task { mark: Mark::Open, new, script });
    }
    let mut new = plain_order(random, "the graph").0;
    let parallel_max = NonZeroU32::new(2).expect("two");
    new.order.checkpoints = None;
    new.graph = Some(GraphSpec::TaskFile(LoopSpec { tasks: None, phase: None, parallel_max, agent: None }));
    (Input::CreateRun(Box::new(new)), file)
}

fn plain_order(random: &mut Random, name: &str) -> (NewRun, Script) {
    let (Input::CreateRun(mut new), script) = person::order(random, name) else { unreachable!("a run") };
    new.order.role = Role::Work;
    new.worktrees = None;
    (*new, script)
}

impl StateFile {
    /// The script of a session that works on a task.
    pub(crate) fn script_of(&self, world: &World, run: RunId) -> Option<Script> {
        let is_of = |node: &&ostler_engine::graph::WorkNode| node.attempts.iter().any(|it| it.run == run);
        let node = world.nodes.values().find(is_of)?;
        Some(self.tasks.get(node.key.as_str())?.script.clone())
    }

    fn is_settled(&self, key: &str) -> bool {
        matches!(self.tasks[key].mark, Mark::Done | Mark::GivenUp)
    }

    fn with(&self, mark: Mark) -> Vec<String> {
        let of_mark = self.tasks.iter().filter(|(_, task)| task.mark == mark);
        of_mark.map(|(key, _)| (*key).to_owned()).collect()
    }

    /// Carries out what a person chose for failed tasks; it may be done twice.
    fn heed(&mut self, choice: Option<Choice>) {
        let mark = if choice == Some(Choice::Retry) { Mark::Open } else { Mark::GivenUp };
        let close = choice == Some(Choice::Close);
        let failed =
            self.tasks.values_mut().filter(|it| it.mark == Mark::Failed || (close && it.mark == Mark::Open));
        failed.for_each(|task| task.mark = mark);
    }
}

/// What the driver of the graph does next; none while there is nothing to do but to wait.
pub(crate) fn next(world: &World, outside: &mut Outside, random: &mut Random) -> Option<Input> {
    let graph = world.graphs.values().next()?;
    let session = world.sessions.get(&graph.session).filter(|session| !session.is_over())?;
    let report = |report| Some(Input::GraphReported { session: session.id, report: Box::new(report) });
    if session.cancelled_at_ms.is_some() {
        let child = children(world, graph).find(|child| !child.is_over());
        return match child {
            Some(child) if child.cancelled_at_ms.is_none() => Some(Input::Cancel(child.id)),
            Some(_) => None,
            None => report(GraphReport::Finished(Outcome::Cancelled)),
        };
    }
    if session.paused_at_ms.is_some() {
        return None;
    }
    if let Some(hold) = &graph.hold {
        let choice = match hold.answer.as_ref()? {
            Answer::Text { text } | Answer::Chosen { text, .. } => Choice::of(text),
            _ => None,
        };
        if choice == Some(Choice::Stop) {
            let reason = Reason::Reported { message: "a person has ended it".to_owned() };
            return report(GraphReport::Finished(Outcome::Failed { reason }));
        }
        outside.state_file.heed(choice);
        return report(GraphReport::Settled { request: hold.request, choice });
    }
    let Some(group) = world.groups_of(graph.id).next() else {
        let (worktree, target) = (Some("worktree/1".to_owned()), Some("main".to_owned()));
        let change = GroupChange::Entered { worktree, target, foreign: Vec::new() };
        return report(GraphReport::Group { number: 1, change });
    };
    let step = end_one(world, graph, &mut outside.state_file)
        .map(|it| Input::GraphReported { session: session.id, report: Box::new(it) })
        .or_else(|| start_one(world, graph, &mut outside.state_file, random));
    let running = world.nodes_of(graph.id).filter(|node| node.holder.is_some()).count();
    if step.is_some() || running > 0 {
        return step;
    }
    let failed = outside.state_file.with(Mark::Failed);
    let number = group.number;
    report(if !failed.is_empty() {
        ask(failed)
    } else if group.facts.tested.is_none() {
        let (output, waived) = (String::new(), false);
        let tested = GroupTest { commit: None, command: Some("make".to_owned()), code: 0, output, waived };
        GraphReport::Group { number, change: GroupChange::Tested { tested } }
    } else if group.facts.ended_at_ms.is_none() {
        GraphReport::Group { number, change: GroupChange::Recorded }
    } else {
        GraphReport::Finished(Outcome::Completed { verified: true })
    })
}

/// The sessions of the runs that the graph asked for.
fn children<'a>(world: &'a World, graph: &WorkGraph) -> impl Iterator<Item = &'a Session> {
    let parent = graph.session;
    world.sessions.values().filter(move |it| world.runs[&it.run].parent == Some(parent))
}

/// The end of a node: the mark comes first, and what it says is reported until the journal knows.
fn end_one(world: &World, graph: &WorkGraph, file: &mut StateFile) -> Option<GraphReport> {
    for (key, task) in &mut file.tasks {
        let Some(holder) = world.node(graph.id, key).and_then(|node| node.holder) else { continue };
        let summary = world.run_summary(holder).filter(|_| world.runs[&holder].outcome.is_some());
        if let (Mark::Begun, Some(summary)) = (task.mark, summary) {
            let is_done = matches!(summary.outcome, Outcome::Completed { .. });
            task.mark = if is_done { Mark::Done } else { Mark::Failed };
        }
        let outcome = match task.mark {
            Mark::Done => NodeOutcome::Done,
            Mark::Failed => NodeOutcome::Failed { reason: "no luck".to_owned() },
            Mark::Open | Mark::Begun | Mark::GivenUp => continue,
        };
        let effort = summary.map(NodeEffort::of).unwrap_or_default();
        return Some(GraphReport::Ended { key: (*key).to_owned(), outcome, effort });
    }
    None
}

/// The start of a node: the note comes first. A start may come twice; then the second is refused.
fn start_one(world: &World, graph: &WorkGraph, file: &mut StateFile, random: &mut Random) -> Option<Input> {
    let is_held = |key: &str| world.node(graph.id, key).is_some_and(|node| node.holder.is_some());
    let running = TASKS.iter().filter(|(key, _)| is_held(key)).count();
    let again = random.once_in(20);
    let can_start = |(key, after): &&(&str, &[&str])| {
        let is_open = matches!(file.tasks[key].mark, Mark::Open | Mark::Begun);
        let is_free = again || (!is_held(key) && running < PARALLEL);
        is_open && is_free && after.iter().all(|it| file.is_settled(it))
    };
    let (key, _) = TASKS.iter().find(can_start)?;
    let task = file.tasks.get_mut(key).expect("it is in the file");
    task.mark = Mark::Begun;
    let (parent, node) = (Some(graph.session), Some((*key).to_owned()));
    Some(Input::CreateRun(Box::new(NewRun { parent, node, ..task.new.clone() })))
}

fn ask(tasks: Vec<String>) -> GraphReport {
    let about = About::Blocked { phase: 1, tasks };
    let question = UserQuestion {
        category: QuestionCategory::Choice,
        question: "What now?".to_owned(),
        options: about.choices().iter().map(|choice| choice.word().to_owned()).collect(),
        default: None,
        required: true,
    };
    GraphReport::Ask { about, question }
}

/// What the journal says of a node so far.
#[derive(Default)]
struct Seen {
    attempt: u32,
    holder: Option<RunId>,
    is_ended: bool,
}

/// Whatever happened: a node has one holder at a time, which was not given to it while another worked, and each attempt
/// ends once.
pub(crate) fn hold(journal: &[Entry]) {
    let mut under_way: BTreeSet<RunId> = BTreeSet::new();
    let mut nodes: BTreeMap<NodeId, Seen> = BTreeMap::new();
    for entry in journal {
        match &entry.event {
            Event::RunCreated { .. } | Event::RunReopened => {
                under_way.extend(entry.run);
            }
            Event::RunEnded { .. } => {
                under_way.remove(&entry.run.expect("it has its run"));
            }
            Event::Graph(GraphEvent::NodeStarted { node, attempt, holder, .. }) => {
                let has_other = nodes.iter().any(|(id, seen)| id != node && seen.holder == Some(*holder));
                assert!(!has_other, "{holder} has two nodes");
                let seen = nodes.entry(*node).or_default();
                assert!(seen.holder.is_none_or(|it| !under_way.contains(&it)), "{node} has a holder");
                assert_eq!(*attempt, seen.attempt + 1, "{node}: no attempt is left out");
                *seen = Seen { attempt: *attempt, holder: Some(*holder), is_ended: false };
            }
            Event::Graph(GraphEvent::NodeEnded { node, attempt, .. }) => {
                let seen = nodes.entry(*node).or_default();
                assert!(!seen.is_ended, "{node}: attempt {attempt} ends twice");
                assert_eq!(*attempt, seen.attempt, "{node}: the last attempt ends");
                (seen.holder, seen.is_ended) = (None, true);
            }
            _ => {}
        }
    }
}

/// At the end of a graph that came to its end, the state file and the rows agree.
pub(crate) fn agree(world: &World, file: &StateFile) {
    let Some(graph) = world.graphs.values().next() else { return };
    if !matches!(world.sessions[&graph.session].outcome, Some(Outcome::Completed { .. })) {
        return;
    }
    for (key, task) in &file.tasks {
        let result = world.node(graph.id, key).and_then(|node| node.result.as_ref());
        let is_done = result.is_some_and(|it| it.outcome == NodeOutcome::Done);
        assert_eq!(is_done, task.mark == Mark::Done, "{key}: {:?}, {result:?}", task.mark);
    }
}
