//! Doing a task: what has to be known before it, and what counts as done after it.
//!
//! Who does the work is none of this module's business. It hands out [`Work`], and takes back how that ended. In between
//! the state says that the task is in progress, and under which key its run was asked for: whoever comes back after a
//! crash asks under the same key, and so finds the same run.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use ostler_engine::plan::{
    FILE_BYTES_MAX, Obstacle, Plan, Progress, State as TaskState, Task, TaskNumber, obstacle,
};
use ostler_protocol::{
    name::TaskId,
    thin::{ErrorCode, Thin},
};
use serde_json::{Value, json};

use crate::{
    claim::{Claim, is_claimed},
    evidence::look,
    file::{put, read},
    history::noted,
    lock::Owner,
    log::note_if_there,
    project::{Project, is_worktree},
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
    /// When it was begun, by the clock of whoever did: before now where somebody takes it over.
    pub begun_at_ms: u64,
    /// How long earlier tries took, where the time of all counts together.
    pub used: Duration,
    /// Why it was not done when it was tried last.
    pub failure: Option<String>,
    /// How the files looked before.
    before: u64,
    /// In which worktree it is done, as it was asked for.
    worktree: Option<String>,
    /// Nobody else in this process takes it over as long as this is held.
    _claim: Claim,
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

/// Work that is over, with what has to be known to put that down.
#[derive(Debug, Clone)]
pub struct Over {
    work: Arc<Work>,
    ended: Ended,
    remains: Option<Value>,
    /// What the next one who tries is told, where that is more than the reason.
    told: Option<String>,
}

impl Over {
    /// It ended so, and its evidence was looked at.
    pub fn proven(work: &Arc<Work>, ended: Ended) -> Over {
        let remains = if ended == Ended::Done { None } else { work.remains() };
        Over { work: Arc::clone(work), ended, remains, told: None }
    }

    /// The same, with what the next one who tries is told.
    pub(crate) fn telling(self, told: Option<String>) -> Over {
        Over { told, ..self }
    }

    /// The task.
    pub fn id(&self) -> &TaskId {
        &self.work.id
    }

    /// What is said of it.
    pub(crate) fn line(&self) -> Thin {
        match &self.ended {
            Ended::Done => Thin::done(self.work.id.clone()),
            Ended::Failed { reason } => fail(&self.work.id, reason),
        }
    }

    /// What is said of it where it cannot be put down.
    pub(crate) fn lost(&self, error: &StateError) -> Thin {
        Thin::fail(self.work.id.clone(), &state_reason(error))
    }

    /// What the log has to say of it. Whoever is refused a task meanwhile is told so by a `FAIL` too: the one that ends it
    /// stands behind the word that nobody works on it any more.
    fn lines(&self) -> Vec<String> {
        let line = self.line().to_string();
        match self.ended {
            Ended::Done => vec![line],
            Ended::Failed { .. } => vec![noted(&self.work.id, self.remains.as_ref()), line],
        }
    }

    /// Writes it into a state.
    pub(crate) fn write(&self, state: &mut State) {
        match &self.ended {
            Ended::Done => state.executed(&self.work.id, TaskState::Completed),
            Ended::Failed { reason } => {
                state.executed(&self.work.id, TaskState::Failed);
                state.add_failure(&self.work.id, reason, self.told.as_deref());
            }
        }
        state.set_note(&self.work.id, self.remains.clone());
    }
}

/// A task that is about to begin: where, and how its files look there. Whoever takes it up holds the lock; looking at
/// files may take longer than others should wait for that.
pub(crate) struct Start<'a> {
    task: Task<'a>,
    worktree: Option<&'a Path>,
    directory: PathBuf,
    before: u64,
}

impl<'a> Start<'a> {
    pub(crate) fn of(
        project: &Project,
        task: Task<'a>,
        worktree: Option<&'a Path>,
    ) -> Result<Start<'a>, &'static str> {
        let directory = place(project, worktree)?;
        let before = look(&directory, &task.files());
        Ok(Start { task, worktree, directory, before })
    }

    /// Writes into the state that it is in progress. Refused with a line.
    pub(crate) fn take_up(
        self,
        project: &Project,
        progress: &mut Progress<'_>,
        state: &mut State,
        is_korean: bool,
        at_ms: u64,
    ) -> Result<Work, Thin> {
        let Start { task, worktree, directory, before } = self;
        let id = &task.id();
        let (mut note, directory) = match decide(progress, state, task)? {
            // Whoever takes it over goes on where it was begun; without a worktree that is the project itself.
            Some(note) => {
                let begun_at = note["worktree"].as_str().map(PathBuf::from);
                let directory = place(project, begun_at.as_deref()).unwrap_or(directory);
                (note, directory)
            }
            None => {
                let worktree = worktree.map(|path| path.to_string_lossy());
                let before = looked_before(state, id, worktree.as_deref(), before);
                let mut note = json!({
                    "key": key(id, at_ms),
                    "begun_at_ms": at_ms,
                    "before": before.to_string(),
                    "worktree": worktree,
                });
                // Who has failed for good before is told why, as one who is begun again is.
                if let Some(told) = state.told(id) {
                    note["failure"] = told.into();
                }
                (note, directory)
            }
        };
        let mut prompt = task.prompt(note["worktree"].as_str(), is_korean);
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
            begun_at_ms: note["begun_at_ms"].as_u64().unwrap_or(at_ms),
            used: Duration::from_millis(note["used_ms"].as_u64().unwrap_or_default()),
            failure: note["failure"].as_str().map(str::to_owned),
            before: note["before"].as_str().and_then(|before| before.parse().ok()).unwrap_or(before),
            worktree: note["worktree"].as_str().map(str::to_owned),
            _claim: Claim::new(note["key"].as_str().unwrap_or_default()),
        };
        note["owner"] = json!(Owner::me());
        state.set_note(id, Some(note));
        state.set_run_key(id, &work.key);
        state.executed(id, TaskState::InProgress);
        Ok(work)
    }
}

/// What is said of a task that has failed: the first line of why.
pub(crate) fn fail(id: &TaskId, reason: &str) -> Thin {
    Thin::fail(id.clone(), reason.trim_start().lines().next().unwrap_or_default())
}

/// What the log says of a task that begins.
pub(crate) fn begins(state: &State, id: &TaskId) -> [String; 2] {
    [noted(id, state.note(id)), format!("EXECUTE:{id}")]
}

/// A task that was asked for.
#[derive(Debug)]
pub enum Begun {
    /// It is to be done.
    Work(Arc<Work>),
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
        /// Why not: few words on the first line, and what else is known below it.
        reason: String,
    },
}

/// Begins a task, or says why it cannot be begun.
pub fn begin(project: &Project, id: &TaskId, worktree: Option<&Path>, is_korean: bool, at_ms: u64) -> Begun {
    let fail = |reason: &str| {
        let line = Thin::fail(id.clone(), reason);
        note_if_there(project, &line, at_ms);
        Begun::Settled(line)
    };
    let plan = match project.plan() {
        Ok((plan, name)) => match plan.problems().first() {
            Some(problem) => return fail(&problem.thin(&name).to_string()),
            None => plan,
        },
        Err(error) => return fail(&error.thin().to_string()),
    };
    let Some(task) = plan.find(id.as_str()) else { return fail("there is no such task") };
    let start = match Start::of(project, task, worktree) {
        Ok(start) => start,
        Err(reason) => return fail(reason),
    };
    let new = || State::new(&project.name(), &plan, at_ms);
    let changed = project.change_state(at_ms, new, |state| {
        let mut progress = state.progress(&plan);
        match start.take_up(project, &mut progress, state, is_korean, at_ms) {
            Ok(work) => {
                let lines = begins(state, &work.id).to_vec();
                (Begun::Work(Arc::new(work)), lines)
            }
            Err(line) => (Begun::Settled(line.clone()), vec![line.to_string()]),
        }
    });
    changed.unwrap_or_else(|error| fail(&state_reason(&error)))
}

/// Puts down how everything of this ended, at once, and says it of each. Whoever holds the lock is waited for, longer than
/// usual: the work is done.
pub fn end_all(project: &Project, over: &[Over], at_ms: u64) -> Vec<Thin> {
    if over.is_empty() {
        return Vec::new();
    }
    let recorded = patiently(|| {
        let begin = || State::new(&project.name(), &Plan::read(Vec::new()), at_ms);
        project.change_state(at_ms, begin, |state| ((), put_down(project, None, over, state)))
    });
    said(project, over, recorded.as_ref().err(), at_ms)
}

/// What is said of work that was put down, or could not be. What a damaged state cannot take is marked and logged all the
/// same, since one that is repaired comes from there.
pub(crate) fn said(project: &Project, over: &[Over], error: Option<&StateError>, at_ms: u64) -> Vec<Thin> {
    if over.is_empty() {
        return Vec::new();
    }
    let is_lost = |error: &&StateError| {
        let keep = || {
            mark_done(project, None, over);
            over.iter().flat_map(Over::lines).collect()
        };
        matches!(error, StateError::Locked { .. }) || project.log_alone(at_ms, keep).is_err()
    };
    let lost = error.filter(is_lost);
    let line = |it: &Over| lost.map_or_else(|| it.line(), |error| it.lost(error));
    over.iter().map(line).collect()
}

/// Marks what is done and writes all of it into the state; what the log has to say.
pub(crate) fn put_down(
    project: &Project,
    plan: Option<&Plan>,
    over: &[Over],
    state: &mut State,
) -> Vec<String> {
    // The mark first: it counts before the state, and both say the same if we end here.
    mark_done(project, plan, over);
    for it in over {
        it.write(state);
    }
    over.iter().flat_map(Over::lines).collect()
}

fn mark_done(project: &Project, plan: Option<&Plan>, over: &[Over]) {
    let done = over.iter().filter(|it| it.ended == Ended::Done).map(Over::id);
    mark(project, plan, &done.collect::<Vec<_>>());
}

/// Does something under the lock of the state, however long somebody holds it, within reason.
pub(crate) fn patiently<T>(mut change: impl FnMut() -> Result<T, StateError>) -> Result<T, StateError> {
    let mut tries = 1;
    loop {
        match change() {
            Err(StateError::Locked { .. }) if tries < RECORD_TRIES => tries += 1,
            changed => return changed,
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Whether a task may be begun; what was noted if it was begun before.
fn decide(progress: &mut Progress<'_>, state: &State, task: Task<'_>) -> Result<Option<Value>, Thin> {
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
                Some(owner) if !is_abandoned(note) && owner == Owner::me() => {
                    fail("it is being done already")
                }
                Some(owner) if !is_abandoned(note) => fail(&format!("process {} works on it", owner.pid)),
                _ => Ok(Some(note.clone())),
            }
        }
        TaskState::Pending | TaskState::Failed => {
            progress.retry(task.number());
            match obstacle(progress, task.number()) {
                Some(obstacle) => fail(&obstacle_reason(progress, &obstacle)),
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
pub(crate) fn is_begun(note: &Value) -> bool {
    note["key"].is_string()
}

/// Whether a task that was begun may be taken over: whoever noted it is gone, or is this process and has let go of it.
pub(crate) fn is_abandoned(note: &Value) -> bool {
    let is_held = || note["key"].as_str().is_some_and(is_claimed);
    is_begun(note)
        && owner(note).filter(Owner::may_live).is_none_or(|owner| owner == Owner::me() && !is_held())
}

/// Whether a task was begun by somebody who is not at it any more.
pub fn is_left(project: &Project, id: &TaskId) -> bool {
    project.state().ok().flatten().is_some_and(|state| {
        state.tasks().get(id) == Some(&TaskState::InProgress) && state.note(id).is_some_and(is_abandoned)
    })
}

/// The owner of a task that nobody has begun and nobody has done, if there is such a task: whoever begins it needs an
/// agent. Nothing is written.
pub fn unbegun(project: &Project, id: &TaskId, at_ms: u64) -> Option<Option<String>> {
    let (plan, _) = project.plan().ok()?;
    let task = plan.find(id.as_str())?;
    let state = project.state().ok()?.unwrap_or_else(|| State::new(&project.name(), &plan, at_ms));
    let now = state.progress(&plan).state(task.number());
    matches!(now, TaskState::Pending | TaskState::Failed).then(|| task.owner())
}

/// How a task stands that was begun under an earlier process: what is to be said of it if it is over by now.
pub fn ended_before(project: &Project, id: &TaskId) -> Option<Thin> {
    let state = project.state().ok()??.tasks().get(id).copied()?;
    if state != TaskState::Failed {
        return None;
    }
    let attempts = project.history().remove(id).unwrap_or_default();
    let reason = attempts.into_iter().next_back().and_then(|attempt| attempt.failed);
    Some(Thin::fail(id.clone(), &reason.unwrap_or_else(|| "it has failed".to_owned())))
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

/// Where the work is done: the project, or a worktree of its repository in it.
fn place(project: &Project, worktree: Option<&Path>) -> Result<PathBuf, &'static str> {
    let root = project.root().canonicalize().map_err(|_| "the project cannot be found")?;
    let Some(worktree) = worktree else { return Ok(root) };
    let path = root.join(worktree).canonicalize().map_err(|_| "there is no such worktree")?;
    if !path.is_dir() || !path.starts_with(&root) {
        return Err("the worktree does not lie in the project");
    }
    if path != root && !is_worktree(&root, &path) {
        return Err("it is no worktree of the project's repository");
    }
    Ok(path)
}

/// A key that nobody else has.
fn key(id: &TaskId, at_ms: u64) -> String {
    format!("exec-{id}-{at_ms}-{}", std::process::id())
}

/// Marks tasks as done in their file; `plan` is what it was read as, if somebody has. A file that cannot be marked is left
/// as it is: the state knows it too.
fn mark(project: &Project, plan: Option<&Plan>, ids: &[&TaskId]) {
    if ids.is_empty() {
        return;
    }
    let Ok((path, _)) = project.task_file() else { return };
    // A link is followed only as far as the project, or where a person has named it.
    let Ok(path) = path.canonicalize() else { return };
    let is_ours =
        project.names_tasks() || project.root().canonicalize().is_ok_and(|root| path.starts_with(root));
    let Some(now) = read(&path, FILE_BYTES_MAX as u64, false).ok().filter(|_| is_ours) else { return };
    // Somebody may have written meanwhile.
    match plan.filter(|plan| plan.text() == now) {
        Some(plan) => mark_in(plan, &path, ids),
        None => mark_in(&Plan::read(now), &path, ids),
    }
}

fn mark_in(plan: &Plan, path: &Path, ids: &[&TaskId]) {
    let tasks = ids.iter().filter_map(|id| plan.find(id.as_str()));
    let open: Vec<TaskNumber> = tasks.filter(|task| !task.is_done()).map(Task::number).collect();
    if !open.is_empty() {
        // The state, which follows, is there for good. After a power cut it may be the only one that knows.
        put(path, &plan.marked(open)).ok();
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
