//! A loop as clients see it: what the journal knows of it, beside what its files say now.

use std::{collections::BTreeMap, path::Path};

use ostler_engine::{
    RunId, World,
    orchestrate::{Begun, Conduct, Loop},
    plan::{Plan, Progress, State as TaskState, critical_path},
    request::Request,
    run::Run,
    session::Session,
};
use ostler_orchestrate::{Project, State};

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
    asked: Conduct,
    facts: Loop,
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
        let facts = session.conducts.as_deref()?.clone();
        Some(Seen {
            run: session.run,
            session: session.id.to_string(),
            project: views::project(world, session.project),
            status: views::word(&session.status(&blocking)),
            request,
            asks: asks(world, &facts),
            asked: session.order.role.conducts()?.clone(),
            facts,
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
fn asks(world: &World, facts: &Loop) -> BTreeMap<RunId, RequestView> {
    let runs = facts.tasks.values().filter_map(|task| world.runs.get(task.runs.last()?));
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
    let nothing = Begun::default();
    let before = plan.graph().backwards();
    let needs = |task: ostler_engine::plan::TaskNumber| {
        before.tasks_of(&plan, task).into_iter().map(|it| plan.task(it).name().to_owned()).collect()
    };
    let tasks: Vec<LoopTaskView> = plan
        .tasks()
        .map(|task| {
            let begun = seen.facts.tasks.get(task.name()).unwrap_or(&nothing);
            let is_begun = !begun.runs.is_empty();
            LoopTaskView {
                id: task.name().to_owned(),
                title: task.title().into_owned(),
                phase: task.phase(),
                needs: needs(task.number()),
                state: word(task.number()).to_owned(),
                run: begun.runs.last().map(|run| run_id(*run)),
                request: begun.runs.last().and_then(|run| seen.asks.get(run)).cloned(),
                began_at_ms: is_begun.then_some(begun.began_at_ms),
                ended_at_ms: begun.ended_at_ms,
                line: begun.line.clone(),
                tries: begun.tries,
                worked_ms: begun.worked_ms,
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

fn phases(seen: &Seen, plan: &Plan) -> Vec<LoopPhaseView> {
    let nothing = ostler_engine::orchestrate::Stage::default();
    let show = |phase: &ostler_engine::plan::Phase| {
        let stage = seen.facts.phases.get(&phase.number).unwrap_or(&nothing);
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
    let ended = || seen.facts.tasks.values().filter(|task| task.ended_at_ms.is_some());
    let took = |task: &Begun| task.worked_ms + task.waited_ms;
    let by_name: BTreeMap<&str, u64> =
        seen.facts.tasks.iter().map(|(name, task)| (name.as_str(), took(task))).collect();
    let weight = |task: ostler_engine::plan::TaskNumber| {
        by_name.get(plan.task(task).name()).copied().unwrap_or_default()
    };
    // As if nothing were done yet: the path goes through what this loop has done.
    let begun = |task: &ostler_engine::plan::TaskNumber| by_name.contains_key(plan.task(*task).name());
    let all = Progress::unmarked(plan);
    let path: Vec<_> = critical_path(&all, weight).into_iter().filter(begun).collect();
    LoopReport {
        done: ended()
            .filter(|task| task.line.as_deref().is_some_and(|line| line.starts_with("DONE")))
            .count(),
        retries: ended().map(|task| task.tries.saturating_sub(1)).sum(),
        wall_ms,
        waited_ms: seen.waited_ms,
        agent_ms: ended().map(|task| task.worked_ms).sum(),
        tasks_waited_ms: ended().map(|task| task.waited_ms).sum(),
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
