//! Doing a task: what has to be known before it, and what counts as done after it.
//!
//! Who does the work is none of this module's business. It hands out [`Work`], and takes back how that ended. In between
//! the state says that the task is in progress, and under which key its run was asked for: whoever comes back after a
//! crash asks under the same key, and so finds the same run.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ostler_engine::plan::{FILE_BYTES_MAX, Obstacle, Plan, Progress, State as TaskState, Task, obstacle};
use ostler_protocol::{
    name::TaskId,
    thin::{ErrorCode, Thin},
};
use serde_json::{Value, json};

use crate::{
    evidence::look,
    file::{read, replace},
    lock::Owner,
    project::Project,
    state::{State, StateError},
};

/// How often the lock of the state is waited for when work is done: nobody should have to do it again.
const RECORD_TRIES: u32 = 12;

/// How many tasks a reason names.
const NAMED_MAX: usize = 5;

/// What is to be done.
#[derive(Debug)]
pub struct Work {
    /// The task.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// Who is to do it.
    pub owner: Option<String>,
    /// What they are told.
    pub prompt: String,
    /// Where.
    pub directory: PathBuf,
    /// The command that has to pass.
    pub check: Option<String>,
    /// How often they may try.
    pub attempts_max: u32,
    /// Under which key it is asked for.
    pub key: String,
    /// The files that it declares.
    pub files: Vec<String>,
    /// After how long it is ended, where it says so itself.
    pub timeout: Option<Duration>,
    /// Why it was not done when it was tried last.
    pub failure: Option<String>,
    /// How the files looked before.
    before: u64,
    /// In which worktree it is done, as it was asked for.
    worktree: Option<String>,
}

impl Work {
    /// How it ended once its evidence was looked at: who declares files has to have changed one.
    pub(crate) fn proven(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Done if !self.files.is_empty() && look(&self.directory, &self.files) == self.before => {
                Ended::Failed { reason: format!("nothing has changed in {}", self.files.join(", ")) }
            }
            ended => ended,
        }
    }

    /// What is noted when it ends undone: how the files looked before and look now, if they were changed. Whoever begins
    /// it next may find that nothing is left to change.
    pub(crate) fn remains(&self) -> Option<Value> {
        let after = look(&self.directory, &self.files);
        let note = json!({
            "before": self.before.to_string(),
            "after": after.to_string(),
            "worktree": self.worktree,
        });
        (after != self.before).then_some(note)
    }
}

/// How the files looked before anybody worked on a task: what an earlier attempt has changed counts for the next one, as
/// long as nobody else has changed them since.
fn looked_before(state: &State, id: &TaskId, worktree: Option<&str>, now: u64) -> u64 {
    let number = |note: &Value, name: &str| note[name].as_str()?.parse::<u64>().ok();
    state
        .note(id)
        .filter(|note| note["worktree"].as_str() == worktree && number(note, "after") == Some(now))
        .and_then(|note| number(note, "before"))
        .unwrap_or(now)
}

/// A task that was asked for.
#[derive(Debug)]
pub enum Begun {
    /// It is to be done.
    Work(Box<Work>),
    /// There is nothing to do but to say this.
    Settled(Thin),
}

/// How work ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It was done, by the word of whoever did it and by the check, if there is one.
    Done,
    /// It was not.
    Failed {
        /// Why not.
        reason: String,
    },
}

/// Begins a task, or says why it cannot be begun.
pub fn begin(project: &Project, id: &TaskId, worktree: Option<&Path>, is_korean: bool, at_ms: u64) -> Begun {
    let fail = |reason: &str| Begun::Settled(Thin::fail(id.clone(), reason));
    let plan = match project.plan() {
        Ok((plan, name)) => match plan.problems().first() {
            Some(problem) => return fail(&problem.thin(&name).to_string()),
            None => plan,
        },
        Err(error) => return fail(&error.thin().to_string()),
    };
    let Some(task) = plan.find(id.as_str()) else { return fail("there is no such task") };
    let directory = match place(project, worktree) {
        Ok(directory) => directory,
        Err(reason) => return fail(reason),
    };
    let before = look(&directory, &task.files());
    let new = || State::new(&project.name(), &plan, at_ms);
    let changed = project.change_state(at_ms, new, |state| {
        let note = match decide(&plan, state, task) {
            Ok(note) => note.unwrap_or_else(|| {
                let worktree = worktree.map(|path| path.to_string_lossy());
                let before = looked_before(state, id, worktree.as_deref(), before);
                json!({ "key": key(id, at_ms), "before": before.to_string(), "worktree": worktree })
            }),
            Err(line) => return (Begun::Settled(line.clone()), vec![line.to_string()]),
        };
        // Whoever takes it over goes on where it was begun.
        let begun_at = note["worktree"].as_str().map(PathBuf::from);
        let shown = begun_at.as_deref().or(worktree).map(|path| path.to_string_lossy().into_owned());
        let directory = begun_at.and_then(|path| place(project, Some(&path)).ok()).unwrap_or(directory);
        let mut prompt = task.prompt(shown.as_deref(), is_korean);
        if let Some(failure) = note["failure"].as_str() {
            prompt.push_str(&after_failure(failure, is_korean));
        }
        let work = Work {
            id: id.clone(),
            title: task.title().into_owned(),
            owner: task.owner(),
            prompt,
            directory,
            check: task.verify(),
            attempts_max: left(state.retry_limit(), &note),
            key: note["key"].as_str().unwrap_or_default().to_owned(),
            files: task.files(),
            timeout: task.timeout(),
            failure: note["failure"].as_str().map(str::to_owned),
            before: note["before"].as_str().and_then(|before| before.parse().ok()).unwrap_or(before),
            worktree: note["worktree"].as_str().map(str::to_owned),
        };
        let mut note = note;
        note["owner"] = json!(Owner::me());
        state.set_note(id, Some(note));
        state.set_run_key(id, &work.key);
        state.executed(id, TaskState::InProgress);
        (Begun::Work(Box::new(work)), vec![format!("EXECUTE:{id}")])
    });
    changed.unwrap_or_else(|error| fail(&state_reason(&error)))
}

/// Takes back how work ended: looks at the evidence, puts it down, and says it.
pub fn end(project: &Project, work: &Work, ended: Ended, at_ms: u64) -> Thin {
    let ended = work.proven(ended);
    let (line, state) = match &ended {
        Ended::Done => (Thin::done(work.id.clone()), TaskState::Completed),
        Ended::Failed { reason } => (Thin::fail(work.id.clone(), reason), TaskState::Failed),
    };
    match record(project, work, state, &line, at_ms) {
        Ok(()) => line,
        Err(error) => Thin::fail(work.id.clone(), &state_reason(&error)),
    }
}

/// Whether a task may be begun; what was noted if it was begun before.
fn decide(plan: &Plan, state: &State, task: Task<'_>) -> Result<Option<Value>, Thin> {
    let progress = state.progress(plan);
    let id = task.id();
    let fail = |reason: &str| Err(Thin::fail(task.id(), reason));
    match progress.state(task.number()) {
        TaskState::Completed => Err(Thin::done(id)),
        TaskState::Skipped => fail("it was skipped"),
        TaskState::InProgress => {
            let Some(note) = state.note(&id).filter(|note| is_begun(note)) else {
                return fail("somebody else works on it");
            };
            match owner(note) {
                Some(owner) if !is_abandoned(note) => fail(&format!("process {} works on it", owner.pid)),
                _ => Ok(Some(note.clone())),
            }
        }
        TaskState::Pending | TaskState::Failed => {
            let mut progress = progress;
            progress.retry(task.number());
            match obstacle(&progress, task.number()) {
                Some(obstacle) => fail(&obstacle_reason(&progress, &obstacle)),
                None => Ok(None),
            }
        }
    }
}

/// Who has noted that they work on a task.
fn owner(note: &Value) -> Option<Owner> {
    serde_json::from_value(note["owner"].clone()).ok()
}

/// Whether somebody has noted that they began a task, rather than what remains of one.
fn is_begun(note: &Value) -> bool {
    note["key"].is_string()
}

/// Whether a task that was begun may be taken over: whoever noted it is gone, or is this process.
pub(crate) fn is_abandoned(note: &Value) -> bool {
    is_begun(note) && owner(note).filter(Owner::may_live).is_none_or(|owner| owner == Owner::me())
}

/// How often it may still be tried.
fn left(limit: u32, note: &Value) -> u32 {
    let tried = note["tries"].as_u64().and_then(|tries| u32::try_from(tries).ok()).unwrap_or_default();
    limit.saturating_sub(tried).max(1)
}

/// What somebody is told who begins a task that has failed before.
fn after_failure(failure: &str, is_korean: bool) -> String {
    if is_korean {
        format!(
            "\n\n## 지난 시도\n\n이 작업은 이미 시도되었고 실패했습니다. 같은 디렉터리에 그 결과가 남아 있습니다.\n\n{failure}\n"
        )
    } else {
        format!(
            "\n\n## The last attempt\n\nThis task was tried before and failed. What was done stands in the same directory.\n\n{failure}\n"
        )
    }
}

fn obstacle_reason(progress: &Progress<'_>, obstacle: &Obstacle) -> String {
    let plan = progress.plan();
    match obstacle {
        Obstacle::Needs(tasks) if tasks.is_empty() => "it waits for an earlier phase".to_owned(),
        Obstacle::Needs(tasks) => {
            let names: Vec<&str> = tasks.iter().take(NAMED_MAX).map(|task| plan.task(*task).name()).collect();
            format!("it waits for {}", names.join(", "))
        }
        Obstacle::Beside(task) => format!("it may not run beside {}", plan.task(*task).name()),
    }
}

/// Where the work is done: the project, or a directory in it.
fn place(project: &Project, worktree: Option<&Path>) -> Result<PathBuf, &'static str> {
    let root = project.root().canonicalize().map_err(|_| "the project cannot be found")?;
    let Some(worktree) = worktree else { return Ok(root) };
    let path = root.join(worktree).canonicalize().map_err(|_| "there is no such worktree")?;
    if !path.is_dir() || !path.starts_with(&root) {
        return Err("the worktree does not lie in the project");
    }
    Ok(path)
}

/// A key that nobody else has.
fn key(id: &TaskId, at_ms: u64) -> String {
    format!("exec-{id}-{at_ms}-{}", std::process::id())
}

/// Writes down how a task ended. Whoever holds the lock is waited for, longer than usual: the work is done.
fn record(
    project: &Project,
    work: &Work,
    state: TaskState,
    line: &Thin,
    at_ms: u64,
) -> Result<(), StateError> {
    let mut tries = 1;
    let remains = if state == TaskState::Completed { None } else { work.remains() };
    loop {
        let begin = || State::new(&project.name(), &Plan::read(Vec::new()), at_ms);
        let recorded = project.change_state(at_ms, begin, |file| {
            // The mark first: it counts before the state, and both say the same if we end here.
            if state == TaskState::Completed {
                mark(project, &work.id);
            }
            file.executed(&work.id, state);
            file.set_note(&work.id, remains.clone());
            ((), vec![line.to_string()])
        });
        match recorded {
            Err(StateError::Locked { .. }) if tries < RECORD_TRIES => tries += 1,
            recorded => return recorded,
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Marks a task as done in its file. A file that cannot be marked is left as it is: the state knows it too.
fn mark(project: &Project, id: &TaskId) {
    let Ok((path, _)) = project.task_file() else { return };
    let Ok((plan, _)) = project.plan() else { return };
    let Some(task) = plan.find(id.as_str()).filter(|task| !task.is_done()) else { return };
    let marked = plan.marked([task.number()]);
    // A link is followed only as far as the project, or where a person has named it.
    let Ok(path) = path.canonicalize() else { return };
    let is_ours =
        project.names_tasks() || project.root().canonicalize().is_ok_and(|root| path.starts_with(root));
    // Somebody may have written meanwhile.
    if is_ours && read(&path, FILE_BYTES_MAX as u64, false).is_ok_and(|now| now == plan.text()) {
        replace(&path, &marked).ok();
    }
}

fn state_reason(error: &StateError) -> String {
    if let StateError::Corrupt { .. } = error {
        // A reason is short, and what helps has to be in it.
        return Thin::error(ErrorCode::StateCorrupt, Some("see ostler resolve; --repair begins anew"))
            .to_string();
    }
    error.thin().map_or_else(|| error.to_string(), |line| line.to_string())
}
