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
use serde_json::{Map, Value};

use crate::{
    claim::{Claim, is_claimed},
    evidence::look,
    executor_log::NoteEntry,
    executor_note::{ExecutorNote, Fingerprint},
    file::{put, read},
    lock::Owner,
    log::{LogEntry, note_if_there},
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
    /// What the task file says about it in JSON, for whoever executes it.
    pub meta: Option<Map<String, Value>>,
    /// How long earlier attempts took.
    pub used: Duration,
    /// How many tries have failed before.
    pub tries: u32,
    /// Why it was not done when it was tried last.
    pub failure: Option<String>,
    /// How the files looked before.
    before: u64,
    /// In which worktree it is done, as it was asked for.
    worktree: Option<String>,
    /// Whether another process had begun it.
    is_taken_over: bool,
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
    pub(crate) fn remains(&self) -> Option<Box<ExecutorNote>> {
        let after = look(&self.directory, &self.files);
        let note = ExecutorNote {
            before: Some(Fingerprint(self.before)),
            after: Some(Fingerprint(after)),
            worktree: self.worktree.clone(),
            ..ExecutorNote::default()
        };
        (after != self.before).then(|| Box::new(note))
    }
}

/// How the files looked before anybody worked on a task: what an earlier attempt has changed counts for the next one, as
/// long as nobody else has changed them since.
fn looked_before(state: &State, id: &TaskId, worktree: Option<&str>, now: u64) -> u64 {
    let is_as_left =
        |note: &ExecutorNote| note.worktree.as_deref() == worktree && note.after == Some(Fingerprint(now));
    state.note(id).filter(is_as_left).and_then(|note| note.before).map_or(now, |before| before.0)
}

/// Work that is over, with what has to be known to put that down.
#[derive(Debug, Clone)]
pub struct Over {
    work: Arc<Work>,
    ended: Ended,
    remains: Option<Box<ExecutorNote>>,
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

    /// How it ended.
    pub fn ended(&self) -> &Ended {
        &self.ended
    }

    /// What the logs have to say of it. Whoever is refused a task meanwhile is told so by a `FAIL` too: the one that ends it
    /// stands behind the word that nobody works on it any more.
    fn entries(&self) -> Vec<LogEntry> {
        let id = &self.work.id;
        let noted = match self.ended {
            Ended::Done => NoteEntry::done(id),
            Ended::Failed { .. } => NoteEntry::of(id, self.remains.clone()),
        };
        vec![LogEntry::Noted(noted), LogEntry::Line(self.ended.line(id).to_string())]
    }

    /// Writes it into a state.
    pub(crate) fn write(&self, state: &mut State) {
        match &self.ended {
            Ended::Done => state.executed(&self.work.id, TaskState::Completed),
            Ended::Failed { reason } => {
                state.executed(&self.work.id, TaskState::Failed);
                state.add_failure(&self.work.id, self.told.as_deref().unwrap_or(reason));
            }
        }
        state.set_note(&self.work.id, self.remains.as_deref());
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

    /// Writes into the state that it is in progress, or says why not.
    pub(crate) fn take_up(
        self,
        project: &Project,
        progress: &mut Progress<'_>,
        state: &mut State,
        is_korean: bool,
        at_ms: u64,
    ) -> Result<Work, Ended> {
        let Start { task, worktree, directory, before } = self;
        let id = &task.id();
        let (mut note, directory) = match decide(progress, state, task)? {
            // Whoever takes it over goes on where it was begun; without a worktree that is the project itself.
            Some(note) => {
                let begun_at = note.worktree.as_deref().map(Path::new);
                let directory = place(project, begun_at).unwrap_or(directory);
                (note, directory)
            }
            None => {
                let worktree = worktree.map(|path| path.to_string_lossy().into_owned());
                let before = looked_before(state, id, worktree.as_deref(), before);
                let note = ExecutorNote {
                    key: Some(key(id, at_ms)),
                    begun_at_ms: Some(at_ms),
                    before: Some(Fingerprint(before)),
                    worktree,
                    // Who has failed for good before is told why, as one who is begun again is.
                    failure: state.told(id).map(str::to_owned),
                    ..ExecutorNote::default()
                };
                (note, directory)
            }
        };
        let mut prompt = task.prompt(note.worktree.as_deref(), is_korean);
        if let Some(failure) = &note.failure {
            prompt.push_str(&after_failure(failure, is_korean));
        }
        let key = note.key.clone().unwrap_or_default();
        let is_taken_over = note.owner.as_ref().is_some_and(|owner| *owner != Owner::me());
        let work = Work {
            id: id.clone(),
            title: task.title().into_owned(),
            owner: task.owner(),
            prompt,
            directory,
            check: task.verify(),
            attempts_max: state.retry_limit().saturating_sub(note.tries).max(1),
            files: task.files(),
            timeout: task.timeout(),
            meta: task.meta(),
            used: Duration::from_millis(note.used_ms),
            tries: note.tries,
            failure: note.failure.clone(),
            before: note.before.map_or(before, |before| before.0),
            worktree: note.worktree.clone(),
            is_taken_over,
            _claim: Claim::new(&key),
            key,
        };
        note.owner = Some(Owner::me());
        state.set_note(id, Some(&note));
        state.set_run_key(id, &work.key);
        state.executed(id, TaskState::InProgress);
        Ok(work)
    }
}

/// What the logs say of a task that begins. One that is taken over has begun already, and that is said once.
pub(crate) fn begins(project: &Project, state: &State, work: &Work) -> Vec<LogEntry> {
    let id = &work.id;
    let is_open =
        || project.history().get(id).and_then(|it| it.last()).is_some_and(|it| it.ended_at_ms.is_none());
    let line = (!work.is_taken_over || !is_open()).then(|| LogEntry::Line(format!("EXECUTE:{id}")));
    let noted = LogEntry::Noted(NoteEntry::of(id, state.note(id).map(Box::new)));
    [noted].into_iter().chain(line).collect()
}

/// A task that was asked for.
#[derive(Debug)]
pub enum Begun {
    /// It is to be done.
    Work(Arc<Work>),
    /// It is not: it has ended so, or may not begin.
    Settled(Ended),
}

/// How work ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It was done, by the word of whoever did it and by the check, if there is one.
    Done,
    /// It was not.
    Failed {
        /// Why not, in few words.
        reason: String,
    },
}

impl Ended {
    /// It has failed for this reason.
    pub fn failed(reason: &str) -> Ended {
        Ended::Failed { reason: reason.to_owned() }
    }

    /// What is said of it on the wire.
    pub fn line(&self, id: &TaskId) -> Thin {
        match self {
            Ended::Done => Thin::done(id.clone()),
            Ended::Failed { reason } => {
                Thin::fail(id.clone(), reason.trim_start().lines().next().unwrap_or_default())
            }
        }
    }
}

/// Begins a task, or says why it cannot be begun.
pub fn begin(project: &Project, id: &TaskId, worktree: Option<&Path>, is_korean: bool, at_ms: u64) -> Begun {
    let fail = |reason: &str| {
        let ended = Ended::failed(reason);
        note_if_there(project, &ended.line(id), at_ms);
        Begun::Settled(ended)
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
                let lines = begins(project, state, &work);
                (Begun::Work(Arc::new(work)), lines)
            }
            Err(ended) => {
                let line = ended.line(id).to_string();
                (Begun::Settled(ended), vec![line.into()])
            }
        }
    });
    changed.unwrap_or_else(|error| fail(&state_reason(&error)))
}

/// Puts down how everything of this ended, at once, and says how each has ended by that. Whoever holds the lock is waited for, longer than
/// usual: the work is done.
pub fn end_all(project: &Project, over: &[Over], at_ms: u64) -> Vec<Ended> {
    if over.is_empty() {
        return Vec::new();
    }
    let recorded = patiently(|| {
        let begin = || State::new(&project.name(), &Plan::read(Vec::new()), at_ms);
        project.change_state(at_ms, begin, |state| ((), put_down(project, None, over, state)))
    });
    said(project, over, recorded.as_ref().err(), at_ms)
}

/// How work has ended that was put down, or could not be. What a damaged state cannot take is marked and logged all the
/// same, since one that is repaired comes from there.
pub(crate) fn said(project: &Project, over: &[Over], error: Option<&StateError>, at_ms: u64) -> Vec<Ended> {
    if over.is_empty() {
        return Vec::new();
    }
    let is_lost = |error: &&StateError| {
        let keep = || {
            mark_done(project, None, over);
            over.iter().flat_map(Over::entries).collect()
        };
        matches!(error, StateError::Locked { .. }) || project.log_alone(at_ms, keep).is_err()
    };
    let lost = error.filter(is_lost);
    let unwritten = |error| Ended::failed(&state_reason(error));
    let ended = |it: &Over| lost.map_or_else(|| it.ended.clone(), unwritten);
    over.iter().map(ended).collect()
}

/// Marks what is done and writes all of it into the state; what the logs have to say.
pub(crate) fn put_down(
    project: &Project,
    plan: Option<&Plan>,
    over: &[Over],
    state: &mut State,
) -> Vec<LogEntry> {
    // The mark first: it counts before the state, and both say the same if we end here.
    mark_done(project, plan, over);
    for it in over {
        it.write(state);
    }
    over.iter().flat_map(Over::entries).collect()
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
fn decide(progress: &mut Progress<'_>, state: &State, task: Task<'_>) -> Result<Option<ExecutorNote>, Ended> {
    let id = task.id();
    let fail = |reason: &str| Err(Ended::failed(reason));
    match progress.state(task.number()) {
        TaskState::Completed => Err(Ended::Done),
        TaskState::Skipped => fail("it was skipped"),
        TaskState::InProgress => {
            let Some(note) = state.note(&id).filter(ExecutorNote::is_begun) else {
                return fail("somebody else works on it");
            };
            match &note.owner {
                _ if is_abandoned(&note) => Ok(Some(note)),
                Some(owner) if *owner == Owner::me() => fail("it is being done already"),
                Some(owner) => fail(&format!("process {} works on it", owner.pid)),
                None => Ok(Some(note)),
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

/// Whether a task that was begun may be taken over: whoever noted it is gone, or is this process and has let go of it.
pub(crate) fn is_abandoned(note: &ExecutorNote) -> bool {
    let is_held = || note.key.as_deref().is_some_and(is_claimed);
    let owner = note.owner.as_ref().filter(|owner| owner.may_live());
    note.is_begun() && owner.is_none_or(|owner| *owner == Owner::me() && !is_held())
}

/// Whether a task was begun by somebody who is not at it any more.
pub fn is_left(project: &Project, id: &TaskId) -> bool {
    project.state().ok().flatten().is_some_and(|state| {
        state.tasks().get(id) == Some(&TaskState::InProgress)
            && state.note(id).is_some_and(|note| is_abandoned(&note))
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

/// How a task has ended that was begun under an earlier process, if it has failed by now.
pub fn ended_before(project: &Project, id: &TaskId) -> Option<Ended> {
    let state = project.state().ok()??.tasks().get(id).copied()?;
    if state != TaskState::Failed {
        return None;
    }
    let attempts = project.history().remove(id).unwrap_or_default();
    let reason = attempts.into_iter().next_back().and_then(|attempt| attempt.failed);
    Some(Ended::failed(reason.as_deref().unwrap_or("it has failed")))
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
