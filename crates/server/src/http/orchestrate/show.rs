//! A loop as clients see it: what the journal knows of it, beside what its files say now.

use std::{collections::BTreeMap, path::Path};

use ostler_engine::{
    RunId, World,
    graph::{GroupFacts, NodeOutcome, NodeState, WorkNode},
    orchestrate::LoopSpec,
    plan::{Plan, Progress, State as TaskState, critical_path},
    request::Request,
    run::Run,
    session::Session,
};
use ostler_orchestrate::{Project, State};
use ostler_protocol::{name::TaskId, thin::Thin};

use super::run_id;
use crate::{
    api::{
        LoopCounts, LoopExchange, LoopPhaseView, LoopReport, LoopTaskView, LoopView, Outcome, ProjectView,
        RequestView,
    },
    driver::orchestrate::exchange::{Tokens, counted},
    http::views,
};

/// What is known of a loop without its files.
pub(super) struct Seen {
    run: RunId,
    session: String,
    project: ProjectView,
    status: String,
    request: Option<String>,
    /// What is asked by those who do the tasks, by the run.
    asks: BTreeMap<RunId, RequestView>,
    asked: LoopSpec,
    /// The tasks that were ever started, by id.
    nodes: BTreeMap<String, WorkNode>,
    groups: BTreeMap<u32, GroupFacts>,
    directory: String,
    outcome: Option<Outcome>,
    created_at_ms: u64,
    ended_at_ms: Option<u64>,
    waited_ms: u64,
    now_ms: u64,
}

impl Seen {
    pub(super) fn run(&self) -> RunId {
        self.run
    }

    pub(super) fn of(world: &World, session: &Session, now_ms: u64) -> Option<Seen> {
        let blocking: Vec<&Request> = world.blocking(session.id).collect();
        let request = blocking.iter().find(|it| it.is_open()).map(|it| it.id.to_string());
        let graph = world.graph_of(session.id)?;
        let nodes: BTreeMap<String, WorkNode> =
            world.nodes_of(graph.id).map(|node| (node.key.clone(), node.clone())).collect();
        Some(Seen {
            run: session.run,
            session: session.id.to_string(),
            project: views::project(world, session.project),
            status: views::word(&session.status(&blocking)),
            request,
            asks: asks(world, nodes.values()),
            asked: graph.task_file().clone(),
            groups: world.groups_of(graph.id).map(|it| (it.number, it.facts.clone())).collect(),
            nodes,
            directory: session.order.directory.clone(),
            outcome: session.outcome.as_ref().map(views::outcome),
            created_at_ms: session.created_at_ms,
            ended_at_ms: session.ended_at_ms,
            waited_ms: session.waited_ms(session.ended_at_ms.unwrap_or(now_ms)),
            now_ms,
        })
    }
}

/// The oldest open request of everybody who does a task.
fn asks<'a>(world: &World, nodes: impl Iterator<Item = &'a WorkNode>) -> BTreeMap<RunId, RequestView> {
    let runs = nodes.filter_map(|node| world.runs.get(&node.holder?));
    let asks = |run: &Run| {
        let mut blocking = run.sessions.iter().flat_map(|session| world.blocking(*session));
        blocking.find(|it| it.is_open()).map(|request| (run.id, views::request(world, request)))
    };
    runs.filter(|run| run.outcome.is_none()).filter_map(asks).collect()
}

/// All of it. A file that cannot be read now shows no tasks but those that the loop itself has begun.
pub(super) fn view(seen: Seen, exchange: &Path) -> LoopView {
    let project = Project::find(Path::new(&seen.directory), seen.asked.tasks.as_ref().map(Path::new));
    let plan = project.plan().map_or_else(|_| Plan::read(Vec::new()), |(plan, _)| plan);
    let state = project.state().ok().flatten();
    let progress = state.as_ref().map_or_else(|| Progress::new(&plan), |state: &State| state.progress(&plan));
    let blocked = progress.blocked();
    let word = |task: ostler_engine::plan::TaskNumber| match progress.state(task) {
        TaskState::Pending if blocked.contains(&task) => "blocked",
        TaskState::Pending if progress.is_ready(task) => "ready",
        TaskState::Pending => "pending",
        TaskState::InProgress => "in_progress",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Skipped => "skipped",
    };
    let before = plan.graph().backwards();
    let needs = |task: ostler_engine::plan::TaskNumber| {
        before.tasks_of(&plan, task).into_iter().map(|it| plan.task(it).name().to_owned()).collect()
    };
    let tasks: Vec<LoopTaskView> = plan
        .tasks()
        .map(|task| {
            let node = seen.nodes.get(task.name());
            let run = node.and_then(|node| Some(node.attempts.last()?.run));
            LoopTaskView {
                id: task.name().to_owned(),
                title: task.title().into_owned(),
                phase: task.phase(),
                needs: needs(task.number()),
                state: word(task.number()).to_owned(),
                run: run.map(run_id),
                request: run.and_then(|run| seen.asks.get(&run)).cloned(),
                began_at_ms: node.and_then(WorkNode::began_at_ms),
                ended_at_ms: node.and_then(|node| Some(node.result.as_ref()?.ended_at_ms)),
                line: node.and_then(line),
                tries: node.map_or(0, |node| node.spent.tries),
                worked_ms: node.map_or(0, |node| node.spent.worked_ms),
                tests: node.and_then(|node| node.spent.tests),
            }
        })
        .collect();
    let count = |state: &str| tasks.iter().filter(|task| task.state == state).count();
    let counts = LoopCounts {
        total: tasks.len(),
        completed: count("completed"),
        failed: count("failed"),
        blocked: count("blocked"),
        skipped: count("skipped"),
        in_progress: count("in_progress"),
    };
    let report = report(&seen, &plan, exchange);
    let phases = phases(&seen, &plan);
    LoopView {
        run: run_id(seen.run),
        session: seen.session,
        project: seen.project,
        status: seen.status,
        request: seen.request,
        parallel_max: seen.asked.parallel_max.get(),
        tasks,
        phases,
        counts,
        report,
        outcome: seen.outcome,
        created_at_ms: seen.created_at_ms,
        ended_at_ms: seen.ended_at_ms,
    }
}

/// The line of the line protocol that says how a task ended.
fn line(node: &WorkNode) -> Option<String> {
    let id: TaskId = node.key.parse().ok()?;
    Some(match &node.result.as_ref()?.outcome {
        NodeOutcome::Done => Thin::done(id).to_string(),
        NodeOutcome::Failed { reason } => Thin::fail(id, reason).to_string(),
    })
}

fn phases(seen: &Seen, plan: &Plan) -> Vec<LoopPhaseView> {
    let nothing = GroupFacts::default();
    let show = |phase: &ostler_engine::plan::Phase| {
        let stage = seen.groups.get(&phase.number).unwrap_or(&nothing);
        let unmerged = stage.unmerged.as_ref().filter(|_| stage.merged.is_none());
        LoopPhaseView {
            number: phase.number,
            title: phase.title.clone().unwrap_or_default(),
            worktree: stage.worktree.clone(),
            test: stage.tested.as_ref().and_then(|tested| tested.command.clone()),
            test_code: stage.tested.as_ref().filter(|it| it.command.is_some()).map(|tested| tested.code),
            unmerged: unmerged.map(|it| it.message.clone()),
            merged: stage.merged.clone(),
            ended_at_ms: stage.ended_at_ms,
        }
    };
    plan.phases().iter().map(show).collect()
}

fn report(seen: &Seen, plan: &Plan, exchange: &Path) -> LoopReport {
    let wall_ms = seen.ended_at_ms.unwrap_or(seen.now_ms).saturating_sub(seen.created_at_ms);
    let ended = || seen.nodes.values().filter(|node| node.result.is_some());
    let took = |node: &WorkNode| node.spent.worked_ms + node.spent.waited_ms;
    let by_name: BTreeMap<&str, u64> =
        seen.nodes.iter().map(|(name, node)| (name.as_str(), took(node))).collect();
    let weight = |task: ostler_engine::plan::TaskNumber| {
        by_name.get(plan.task(task).name()).copied().unwrap_or_default()
    };
    // As if nothing were done yet: the path goes through what this loop has done.
    let begun = |task: &ostler_engine::plan::TaskNumber| by_name.contains_key(plan.task(*task).name());
    let all = Progress::unmarked(plan);
    let path: Vec<_> = critical_path(&all, weight).into_iter().filter(begun).collect();
    LoopReport {
        done: ended().filter(|node| node.state() == NodeState::Done).count(),
        retries: ended().map(|node| node.spent.tries.saturating_sub(1)).sum(),
        wall_ms,
        waited_ms: seen.waited_ms,
        agent_ms: ended().map(|node| node.spent.worked_ms).sum(),
        tasks_waited_ms: ended().map(|node| node.spent.waited_ms).sum(),
        speed_up: ratio(ended().map(took).sum(), wall_ms.saturating_sub(seen.waited_ms)),
        critical_ms: path.iter().map(|task| weight(*task)).sum(),
        critical_path: path.into_iter().map(|task| plan.task(task).name().to_owned()).collect(),
        exchange: exchanged(exchange),
    }
}

fn exchanged(directory: &Path) -> Option<LoopExchange> {
    let counted = counted(directory)?;
    let tokens = counted.tokens.as_ref();
    let saved = |tokens: &Tokens| {
        let part = ratio(tokens.thin.saturating_mul(10_000), tokens.full);
        // To a tenth, and never so that something looks like nothing.
        (tokens.full > 0).then(|| ((100.0 - part / 100.0) * 10.0).floor() / 10.0)
    };
    Some(LoopExchange {
        directory: directory.display().to_string(),
        calls: counted.calls,
        tokenizer: tokens.map(|it| it.tokenizer.clone()),
        thin_tokens: tokens.map(|it| it.thin),
        full_tokens: tokens.map(|it| it.full),
        saved_percent: tokens.and_then(saved),
    })
}

/// How many times one number is in another, to two places.
fn ratio(all: u64, part: u64) -> f64 {
    let hundredths = all.saturating_mul(100) / part.max(1);
    f64::from(u32::try_from(hundredths).unwrap_or(u32::MAX)) / 100.0
}
