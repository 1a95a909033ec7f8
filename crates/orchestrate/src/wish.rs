//! What a person decides about tasks: one comes first, is done without, or is tried again; a phase is over.

use std::fmt;

use ostler_engine::plan::{Plan, Problem, State as TaskState, Task};
use ostler_protocol::name::TaskId;

use crate::{
    log::LogEntry,
    project::{Project, TasksError},
    state::{State, StateError},
};

/// What is to become of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// It comes before all others that can run.
    First,
    /// It is done without: those who wait for it may go on.
    Skip,
    /// It was given up, and is to be tried again.
    Retry,
}

/// Why it does not become that.
#[derive(Debug)]
pub enum WishError {
    /// There is no task file, or it cannot be read.
    Tasks(TasksError),
    /// The task file cannot be worked with.
    Plan {
        /// What the file is called.
        name: String,
        /// The first thing that is wrong.
        problem: Box<Problem>,
    },
    /// There is no such task.
    NoTask {
        /// What the file is called.
        name: String,
    },
    /// There is no such phase.
    NoPhase,
    /// The task is in another state.
    NotSo {
        /// How it is.
        state: TaskState,
    },
    /// Tasks of the phase are not settled.
    Open {
        /// These.
        tasks: Vec<TaskId>,
    },
    /// The state cannot be used.
    State(StateError),
}

impl Wish {
    /// Its name in the thin dialect.
    fn word(self) -> &'static str {
        match self {
            Wish::First => "PRIORITY",
            Wish::Skip => "SKIP",
            Wish::Retry => "RETRY",
        }
    }

    /// Whether it makes sense for a task that is so.
    fn fits(self, state: TaskState) -> bool {
        match self {
            Wish::First => state == TaskState::Pending,
            Wish::Skip => matches!(state, TaskState::Pending | TaskState::Failed),
            Wish::Retry => matches!(state, TaskState::Failed | TaskState::Skipped),
        }
    }
}

/// Puts down what is to become of a task.
pub fn wish(project: &Project, id: &TaskId, wish: Wish, at_ms: u64) -> Result<(), WishError> {
    wish_once(project, id, wish, None, at_ms)
}

/// The same, once under a key: it stands in the same file as what was decided, so that nobody can end between the two.
pub fn wish_once(
    project: &Project,
    id: &TaskId,
    wish: Wish,
    key: Option<&str>,
    at_ms: u64,
) -> Result<(), WishError> {
    let (plan, name) = whole(project)?;
    let task = plan.find(id.as_str()).ok_or(WishError::NoTask { name })?;
    let begin = || State::new(&project.name(), &plan, at_ms);
    let changed = project.change_state(at_ms, begin, |state| {
        if key.is_some_and(|key| state.is_decided(id, key)) {
            return (Ok(()), Vec::new());
        }
        let now = state.progress(&plan).state(task.number());
        if !wish.fits(now) {
            return (Err(WishError::NotSo { state: now }), Vec::new());
        }
        match wish {
            Wish::First => state.prefer(id),
            Wish::Skip => state.executed(id, TaskState::Skipped),
            Wish::Retry => state.executed(id, TaskState::Pending),
        }
        state.set_decided(id, key);
        let progress = state.progress(&plan);
        state.resolved(&progress);
        (Ok(()), vec![format!("CUSTOM:{}:{id}", wish.word()).into()])
    });
    changed.map_err(WishError::State)?
}

/// Records that a phase is over. What was given up in it, and what waits for that, is done without if so wanted; those are
/// given back.
pub fn close(
    project: &Project,
    number: u32,
    with_failures: bool,
    at_ms: u64,
) -> Result<Vec<TaskId>, WishError> {
    in_phase(project, number, at_ms, |plan, state| {
        let left = settle(plan, state, number, with_failures)?;
        let names = plan.tasks().filter(|task| task.phase() == number).map(Task::name);
        state.close(plan, number, names, at_ms);
        Ok((left, vec![format!("PHASE_DONE:{number}")]))
    })
}

/// Does without what was given up in a phase and what waits for that, and gives those back. Whether the phase is over then
/// is for whoever tests and merges it to say.
pub fn give_up(project: &Project, number: u32, at_ms: u64) -> Result<Vec<TaskId>, WishError> {
    in_phase(project, number, at_ms, |plan, state| {
        settle(plan, state, number, true).map(|left| (left, Vec::new()))
    })
}

/// Changes the state of a phase that there is. `change` gives back the tasks that are done without, and what else is said.
fn in_phase(
    project: &Project,
    number: u32,
    at_ms: u64,
    change: impl FnOnce(&Plan, &mut State) -> Result<(Vec<TaskId>, Vec<String>), WishError>,
) -> Result<Vec<TaskId>, WishError> {
    let (plan, _) = whole(project)?;
    if !plan.phases().iter().any(|phase| phase.number == number) {
        return Err(WishError::NoPhase);
    }
    let begin = || State::new(&project.name(), &plan, at_ms);
    let changed = project.change_state(at_ms, begin, |state| match change(&plan, state) {
        Err(error) => (Err(error), Vec::new()),
        Ok((left, said)) => {
            let progress = state.progress(&plan);
            state.resolved(&progress);
            state.measured(&progress);
            let lines =
                left.iter().map(|id| format!("CUSTOM:SKIP:{id}")).chain(said).map(LogEntry::Line).collect();
            (Ok(left), lines)
        }
    });
    changed.map_err(WishError::State)?
}

/// Does without what has failed in a phase, and what waits for that, if so wanted; everything else has to be settled.
fn settle(
    plan: &Plan,
    state: &mut State,
    number: u32,
    with_failures: bool,
) -> Result<Vec<TaskId>, WishError> {
    let progress = state.progress(plan);
    let blocked = progress.blocked();
    let of_phase = plan.tasks().filter(|task| task.phase() == number);
    let (left, open): (Vec<Task<'_>>, Vec<Task<'_>>) =
        of_phase.filter(|task| !progress.state(task.number()).is_settled()).partition(|task| {
            let is_failed = progress.state(task.number()) == TaskState::Failed;
            with_failures && (is_failed || blocked.contains(&task.number()))
        });
    if !open.is_empty() {
        return Err(WishError::Open { tasks: open.into_iter().map(Task::id).collect() });
    }
    let left: Vec<TaskId> = left.into_iter().map(Task::id).collect();
    for id in &left {
        state.executed(id, TaskState::Skipped);
    }
    Ok(left)
}

/// A plan without problems.
fn whole(project: &Project) -> Result<(Plan, String), WishError> {
    let (plan, name) = project.plan().map_err(WishError::Tasks)?;
    match plan.problems().first() {
        Some(problem) => Err(WishError::Plan { name, problem: Box::new(problem.clone()) }),
        None => Ok((plan, name)),
    }
}

/// How a task is, in words.
fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Pending => "waiting",
        TaskState::InProgress => "in progress",
        TaskState::Completed => "done",
        TaskState::Failed => "failed",
        TaskState::Skipped => "skipped",
    }
}

impl fmt::Display for WishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WishError::Tasks(error) => error.fmt(f),
            WishError::Plan { name, problem } => write!(f, "{name}:{}: {problem}", problem.line()),
            WishError::NoTask { name } => write!(f, "there is no such task in {name}"),
            WishError::NoPhase => f.write_str("there is no such phase"),
            WishError::NotSo { state } => write!(f, "the task is {}", word(*state)),
            WishError::Open { tasks } => write!(f, "{} tasks are open", tasks.len()),
            WishError::State(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WishError {}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn who_repeats_a_decision_after_a_crash_is_not_refused() {
        let root = env::temp_dir().join(format!("ostler-wish-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(&root).expect("the temporary directory can be written");
        fs::write(root.join("TASKS.md"), "- [ ] T1.1: one\n").expect("a file");
        let project = Project::find(&root, Some(&root.join("TASKS.md")));
        let id: TaskId = "T1.1".parse().expect("an id");
        let skip = |key| wish_once(&project, &id, Wish::Skip, key, 1);
        skip(Some("k1")).expect("it is skipped");
        // Whoever decided it ended before it could remember the key anywhere else.
        skip(Some("k1")).expect("it was skipped");
        for key in [None, Some("k2")] {
            assert!(matches!(skip(key), Err(WishError::NotSo { state: TaskState::Skipped })), "{key:?}");
        }
        wish(&project, &id, Wish::Retry, 2).expect("it is tried again");
        skip(Some("k1")).expect("another decision came between, so it is decided anew");
        assert!(matches!(skip(None), Err(WishError::NotSo { .. })));
        fs::remove_dir_all(&root).ok();
    }
}
