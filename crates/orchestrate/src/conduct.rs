//! What a main loop asks of the files: what to do next, and what it puts down itself. Executing is in [`crate::exec`].

use std::collections::{BTreeMap, BTreeSet};

use ostler_engine::{
    orchestrate::{About, Conduct, Next, Stage, next},
    plan::{Plan, Progress, State as TaskState, Task, TaskNumber, obstacle},
};
use ostler_protocol::{
    name::TaskId,
    thin::{ErrorCode, Thin},
};
use serde_json::{Value, json};

use crate::{
    exec::{Ended, Work, is_abandoned},
    project::Project,
    state::{State, StateError},
    wish::{self, WishError},
};

/// How often a task fails in the same way before it is given up.
const SAME_MAX: u64 = 3;

/// What was found in the files.
#[derive(Debug)]
pub struct Look {
    /// What is to be done.
    pub next: Next,
    /// The tasks of it, if some are to be begun.
    pub begin: Vec<Place>,
    /// All that could be begun now, whether or not there is room.
    pub ready: Vec<Place>,
    /// Tasks in progress that nobody works on any more.
    pub abandoned: Vec<Place>,
    /// The name of the place of each phase, from phase 1 on.
    pub places: Vec<(u32, Option<String>)>,
    /// What a resolver would have said.
    pub line: Option<String>,
    /// The titles of the phases.
    pub titles: Vec<(u32, String)>,
}

/// A task, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The task.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// Its phase.
    pub phase: u32,
    /// The files that it declares.
    pub files: Vec<String>,
}

/// Why a loop cannot go on by itself.
#[derive(Debug)]
pub enum Hindrance {
    /// The task file cannot be worked with.
    Line(Thin),
    /// The state cannot be used.
    State(StateError),
}

impl Hindrance {
    /// One line of the thin dialect, or what the system said.
    pub fn message(&self) -> String {
        match self {
            Hindrance::Line(line) => line.to_string(),
            Hindrance::State(error) => {
                error.thin().map_or_else(|| error.to_string(), |line| line.to_string())
            }
        }
    }
}

/// Reads the files and says what is to be done. The answer stands in the log as a resolver's would, and the resolver's
/// parts of the state are written; while there is nothing to do but to wait, nothing is. What was `said` last is not said
/// again. What can be begun is not said at all where somebody `outside` is asked about it. `stages` are the phases that the
/// loop has come to.
pub fn look(
    project: &Project,
    asked: &Conduct,
    stages: &BTreeMap<u32, Stage>,
    ours: &BTreeSet<TaskId>,
    said: Option<&str>,
    outside: bool,
    at_ms: u64,
) -> Result<Look, Hindrance> {
    let (plan, name) = project.plan().map_err(|error| Hindrance::Line(error.thin()))?;
    if let Some(problem) = plan.problems().first() {
        return Err(Hindrance::Line(problem.thin(&name)));
    }
    let begin = || State::new(&project.name(), &plan, at_ms);
    let state = project.state().map_err(Hindrance::State)?.unwrap_or_else(begin);
    let looked = of(&plan, &state, asked, stages, ours);
    if looked.next == Next::Wait && looked.abandoned.is_empty() {
        return Ok(looked);
    }
    let changed = project.change_state(at_ms, begin, |state| {
        let mut looked = of(&plan, state, asked, stages, ours);
        if outside && matches!(looked.next, Next::Begin(_)) {
            looked.line = None;
        }
        let progress = state.progress(&plan);
        state.resolved(&progress);
        state.measured(&progress);
        let question = Thin::ResolveNext { phase: asked.phase, force: false };
        let lines = looked.line.iter().filter(|line| said != Some(line.as_str()));
        let lines = lines.flat_map(|line| [question.to_string(), line.clone()]).collect();
        (looked, lines)
    });
    changed.map_err(Hindrance::State)
}

fn of(
    plan: &Plan,
    state: &State,
    asked: &Conduct,
    stages: &BTreeMap<u32, Stage>,
    ours: &BTreeSet<TaskId>,
) -> Look {
    let mut progress: Progress<'_> = state.progress(plan);
    // Those that are about to be begun are not in the state yet.
    for task in ours.iter().filter_map(|id| plan.find(id.as_str())) {
        if progress.state(task.number()) == TaskState::Pending {
            progress.start(task.number());
        }
    }
    let prepared = stages.keys().copied().collect();
    // Whoever else records a phase knows nothing of what the loop has in its place: that is tested and merged all the same.
    let mut closed = state.checkpoints();
    closed.retain(|phase| stages.get(phase).is_none_or(|stage| stage.ended_at_ms.is_some()));
    let next = next(&progress, &closed, &prepared, ours.len(), asked);
    let begin = match &next {
        Next::Begin(tasks) => tasks.iter().map(|task| place(plan.task(*task))).collect(),
        _ => Vec::new(),
    };
    let ready = match &next {
        Next::Begin(tasks) => {
            let phase = tasks.first().map(|task| plan.task(*task).phase());
            let of_phase =
                progress.ready().map(|task| plan.task(task)).filter(|it| Some(it.phase()) == phase);
            of_phase.filter(|task| obstacle(&progress, task.number()).is_none()).map(place).collect()
        }
        _ => Vec::new(),
    };
    let running = progress.running().map(|task| plan.task(task));
    let abandoned = running.filter(|task| {
        let id = task.id();
        !ours.contains(&id) && state.note(&id).is_some_and(is_abandoned)
    });
    let abandoned = abandoned.map(place).collect();
    let own_place = |number: u32| number > 0;
    let phases = plan.phases();
    Look {
        line: line(plan, &next),
        next,
        begin,
        ready,
        abandoned,
        places: phases.iter().map(|it| (it.number, own_place(it.number).then(|| it.worktree()))).collect(),
        titles: phases.iter().map(|it| (it.number, it.title.clone().unwrap_or_default())).collect(),
    }
}

fn place(task: Task<'_>) -> Place {
    Place { id: task.id(), title: task.title().into_owned(), phase: task.phase(), files: task.files() }
}

/// What a resolver would have said.
fn line(plan: &Plan, next: &Next) -> Option<String> {
    let ids = |tasks: &[TaskNumber]| tasks.iter().map(|task| plan.task(*task).id()).collect();
    match next {
        Next::Begin(tasks) => Thin::ready(vec![ids(tasks)]).map(|line| line.to_string()),
        Next::Close(phase) => Some(Thin::PhaseDone { phase: *phase }.to_string()),
        Next::Done => Some(Thin::AllDone {}.to_string()),
        Next::Refuse(line) => Some(line.to_string()),
        Next::Ask(About::Blocked { tasks, .. }) => {
            Some(Thin::error(ErrorCode::Blocked, Some(&tasks.join(","))).to_string())
        }
        Next::Prepare(_) | Next::Wait | Next::Ask(_) => None,
    }
}

/// Writes that a phase is worked on, and where.
pub fn enter(project: &Project, phase: u32, worktree: Option<&str>, at_ms: u64) -> Result<(), StateError> {
    project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            state.enter(phase, worktree, at_ms);
            ((), Vec::new())
        },
    )
}

/// Records the checkpoint of a phase whose tasks are settled; the commit that has it, if it was merged.
pub fn record(project: &Project, phase: u32, merged: Option<&str>, at_ms: u64) -> Result<(), WishError> {
    let is_recorded = project
        .state()
        .ok()
        .flatten()
        .is_some_and(|state| state.checkpoints().contains(&phase) && state.is_merged(phase, merged));
    if is_recorded {
        return Ok(());
    }
    wish::close(project, phase, false, at_ms)?;
    project
        .change_state(
            at_ms,
            || unknown(project, at_ms),
            |state| {
                state.merged(phase, merged);
                ((), Vec::new())
            },
        )
        .map_err(WishError::State)
}

/// A task that was begun is given back: nobody works on it, and it has not failed.
pub fn release(project: &Project, work: &Work, at_ms: u64) -> Result<(), StateError> {
    project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            if state.note(&work.id).is_some_and(|note| note["key"].as_str() == Some(&work.key)) {
                state.executed(&work.id, TaskState::Pending);
                state.set_note(&work.id, work.remains());
            }
            ((), Vec::new())
        },
    )
}

/// How an attempt at a task has failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// In few words.
    pub reason: String,
    /// What shows that two failed in the same way.
    pub sign: String,
    /// What the next who tries is told.
    pub told: String,
}

/// Whether a task that has failed is tried again from nothing: it may be, unless its tries are used up or it fails in
/// the same way again and again. What went wrong is noted, and the next who begins it is told.
pub fn again(
    project: &Project,
    work: &Work,
    tries: u32,
    failure: &Failure,
    at_ms: u64,
) -> Result<bool, StateError> {
    project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            let limit = u64::from(state.retry_limit());
            let Some(note) = state.note(&work.id).filter(|note| note["key"].as_str() == Some(&work.key))
            else {
                return (false, Vec::new());
            };
            let mut note = note.clone();
            let count = |name: &str| note[name].as_u64().unwrap_or_default();
            let tries = count("tries") + u64::from(tries);
            let same = if note["sign"].as_str() == Some(&failure.sign) { count("same") + 1 } else { 1 };
            let goes_on = tries < limit && same < SAME_MAX;
            note["tries"] = json!(tries);
            note["same"] = json!(same);
            note["sign"] = Value::from(failure.sign.as_str());
            note["failure"] = Value::from(failure.told.as_str());
            let mut lines = Vec::new();
            if goes_on {
                // No id has this sign in it, so no two tasks get the same key.
                let next = format!("{}#{}", work.key.split('#').next().unwrap_or_default(), tries + 1);
                note["key"] = Value::from(next);
                state.set_note(&work.id, Some(note));
                lines.push(Thin::fail(work.id.clone(), &failure.reason).to_string());
            }
            (goes_on, lines)
        },
    )
}

/// How work ended once its evidence was looked at.
pub fn proven(work: &Work, ended: Ended) -> Ended {
    work.proven(ended)
}

fn unknown(project: &Project, at_ms: u64) -> State {
    State::new(&project.name(), &Plan::read(Vec::new()), at_ms)
}
