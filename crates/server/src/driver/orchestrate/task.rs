//! One task from its beginning to its line: a run of its own under a key that survives, the evidence, the commit, the mark.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{
    RunId,
    graph::{NodeEffort, WorkNode},
    orchestrate::About,
};
use ostler_orchestrate::{
    AttemptEnd, Begun, Ended, Over, Place, Settled, Work, begin, end_all, release, settle, unfinished,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::time::sleep;

use super::{
    Shared, ask,
    close::{name_of, set_up},
    exchange::Call,
    ground::{Merged, Whose},
    outside::{check_in, request},
    words::mend,
};
use crate::{
    api::NewRun,
    config::orchestrate::Worktrees,
    crash,
    driver::executor::{
        Attempted, ExecutorSites, NOT_CONCLUDED, PlannedRun, TaskFront, attempt,
        parent::{Parent, blocking},
        time_limits::{CallerLimit, TimeLimits},
    },
};

/// Between two attempts at something that is not possible now.
const AGAIN: Duration = Duration::from_millis(300);

/// What is made of an attempt.
enum Concluded {
    /// The task is over.
    Over(Over),
    /// It is tried again; the attempt has ended so.
    Again(Ended),
    /// It was done and could not be put down, for a reason that no agent can do anything about.
    Hindered(String),
}

/// Why what was done could not be committed, or brought to its phase.
enum Apart {
    /// Both sides have changed the same places: the reason, and what whoever tries next is told.
    Conflict(String, String),
    /// Something stands in the way.
    Hindered(String),
}

/// The name of the worktree of a task, where it has one of its own.
pub(super) fn worktree_of(id: &TaskId) -> String {
    format!("worktree/task-{id}")
}

/// A task that nobody works on any more.
pub(super) struct Left {
    pub(super) id: TaskId,
    /// Whether the conductor has put down its end.
    pub(super) is_known: bool,
}

/// Has a task done. `worktree` is that of its phase, relative to the project; without one it is done in the project
/// itself. Whether the conductor has put down its end.
pub(super) async fn carry_out(
    shared: Arc<Shared>,
    task: Place,
    worktree: Option<String>,
    mut begun: Option<Arc<Work>>,
) -> bool {
    let mut spent = BTreeMap::new();
    // What is begun already has its place.
    let place = if begun.is_some() { Ok((worktree, None)) } else { shared.own_place(&task, worktree).await };
    let (worktree, phase) = match place {
        Ok(found) => found,
        Err(message) => {
            ask(&shared, About::Hindered { message }).await;
            return false;
        }
    };
    loop {
        let begun = match begun.take() {
            Some(work) => Some(work),
            None => shared.begin(&task.id, worktree.as_deref()).await,
        };
        // Somebody was faster, or the state cannot be had: what is next is looked at again, after a while.
        let Some(work) = begun else {
            sleep(AGAIN).await;
            return false;
        };
        crash::site("after begin task");
        shared.exchange.line(&shared.asked_for(&work, worktree.as_deref()).to_string());
        // What is given back is looked at again: somebody else may have it, or nobody wants it any more.
        let Attempted::Over(attempt) = attempt(&shared, &work).await else {
            let (shared, work) = (Arc::clone(&shared), Arc::clone(&work));
            blocking(move || release(&shared.project, &work, shared.now_ms()).ok()).await;
            sleep(AGAIN).await;
            return false;
        };
        spent.entry(attempt.run).or_insert_with(NodeEffort::default).add(attempt.spent);
        let concluded = loop {
            match shared.conclude(&work, &task, phase.as_deref(), attempt.end.clone()).await {
                Concluded::Hindered(message) => {
                    ask(&shared, About::Hindered { message }).await;
                    if !shared.heeded().await {
                        return false;
                    }
                }
                concluded => break concluded,
            }
        };
        match concluded {
            Concluded::Over(over) => {
                let (ended, is_known) = shared.hand_in(over, phase.is_some()).await;
                shared.ended(&task.id, &ended, shared.spent(&task.id, spent)).await;
                return is_known;
            }
            Concluded::Again(ended) => shared.exchange.line(&ended.line(&task.id).to_string()),
            Concluded::Hindered(_) => {}
        }
        crash::site("after failed try");
    }
}

impl Shared {
    /// The effort of a task since its last end, with what an earlier server has seen of it: its node notes the end of every
    /// run.
    fn spent(&self, id: &TaskId, mut seen: BTreeMap<Option<RunId>, NodeEffort>) -> NodeEffort {
        let node = self.node(id);
        let noted = node.iter().flat_map(WorkNode::uncounted);
        seen.extend(noted.map(|(run, summary)| (Some(run), NodeEffort::of(summary))));
        seen.into_values().fold(NodeEffort::default(), |mut all, it| {
            all.add(it);
            all
        })
    }

    /// Begins a task; none if it cannot be begun.
    async fn begin(self: &Arc<Self>, id: &TaskId, worktree: Option<&str>) -> Option<Arc<Work>> {
        let (shared, id, worktree) = (Arc::clone(self), id.clone(), worktree.map(PathBuf::from));
        let begun = blocking(move || {
            begin(&shared.project, &id, worktree.as_deref(), shared.korean, shared.now_ms())
        });
        match begun.await {
            Some(Begun::Work(work)) => Some(work),
            _ => None,
        }
    }

    /// Has the end of a task put down, by the conductor where it is there; whether it was. A worktree of the task's own is
    /// taken away behind it.
    async fn hand_in(self: &Arc<Self>, over: Over, has_own: bool) -> (Ended, bool) {
        let id = over.id().clone();
        let lost = || Ended::failed(NOT_CONCLUDED);
        let (ended, is_known) = match self.desk.hand_in(over) {
            Ok(said) => (said.await.unwrap_or_else(|_| lost()), true),
            Err(over) => {
                let shared = Arc::clone(self);
                let ended = blocking(move || end_all(&shared.project, &[over], shared.now_ms())).await;
                crash::site("after end task");
                let ended = ended.and_then(|ended| ended.into_iter().next()).unwrap_or_else(lost);
                self.exchange.line(&ended.line(&id).to_string());
                (ended, false)
            }
        };
        if has_own && ended == Ended::Done {
            let (shared, name) = (Arc::clone(self), worktree_of(&id));
            // What cannot be taken away now stays; its work is merged.
            blocking(move || shared.ground().remove_task(&name).ok()).await;
        }
        (ended, is_known)
    }

    /// Where a task is worked on, and the worktree of its phase if that is another one.
    async fn own_place(
        self: &Arc<Self>,
        task: &Place,
        worktree: Option<String>,
    ) -> Result<(Option<String>, Option<String>), String> {
        let is_own = self.config()?.orchestrate.worktrees == Worktrees::Task;
        let Some(phase) = name_of(worktree.as_deref()).filter(|_| is_own).map(str::to_owned) else {
            return Ok((worktree, None));
        };
        let (shared, name, of_phase) = (Arc::clone(self), worktree_of(&task.id), phase.clone());
        let made = blocking(move || shared.ground().prepare_task(&of_phase, &name)).await;
        let made = made.unwrap_or_else(|| Err("the worktree could not be made".to_owned()))?;
        set_up(self, task.id.as_str(), &made).await?;
        Ok((Some(made), Some(phase)))
    }

    /// Brings what was done in a worktree of its own to its phase. What both sides have changed is for whoever tries
    /// next, who is told how.
    fn join(&self, work: &Work, phase: &str) -> Result<(), Apart> {
        let name = worktree_of(&work.id);
        let unmerged = match self.ground().merge_task(phase, &name, &work.title) {
            Ok(Merged::Yes(_)) => return Ok(()),
            Ok(Merged::No(unmerged)) => unmerged,
            Err(message) => return Err(Apart::Hindered(message)),
        };
        let files = unmerged.files.join(", ");
        let reason =
            if files.is_empty() { unmerged.message } else { format!("{}: {files}", unmerged.message) };
        if unmerged.is_conflict {
            let told = mend(&name, phase, &unmerged.files, self.korean);
            return Err(Apart::Conflict(reason, told));
        }
        Err(Apart::Hindered(format!("{name} cannot be merged into {phase}: {reason}")))
    }

    /// Commits what was done for a task, and merges it into its phase where it has a worktree of its own.
    fn bring_in(
        &self,
        work: &Work,
        phase: u32,
        of_phase: Option<&str>,
        mut others: Vec<String>,
    ) -> Result<(), Apart> {
        let stage = self.group(phase);
        // Somebody else may have begun it where everybody works.
        let of_phase = of_phase.filter(|_| self.is_within(&work.directory, &worktree_of(&work.id)));
        let is_elsewhere =
            stage.worktree.as_ref().is_some_and(|place| !self.is_within(&work.directory, place));
        let whose = match of_phase {
            // Nobody else works there.
            Some(_) => Some(Whose::AllBut(&[])),
            None if !work.files.is_empty() => Some(Whose::Declared(&work.files)),
            // Nobody knows what of all that is there is its work.
            None if is_elsewhere => None,
            None => {
                if let Some(message) = self.mixed(&stage) {
                    return Err(Apart::Hindered(format!("{} cannot be committed: {message}", work.id)));
                }
                // Nor is what those have left its work who were given up, or work where no loop sees them.
                let left = unfinished(&self.project, phase, Some(&work.id)).unwrap_or_default();
                others.extend(left.files);
                Some(Whose::AllBut(&others))
            }
        };
        let message = format!("{}: {}", work.id, work.title);
        let commit = |whose| self.commit(&work.directory, &whose, &stage.foreign, &message);
        let committed = whose.map_or(Ok(()), commit);
        crash::site("after commit task");
        if let Err(message) = committed {
            return Err(Apart::Hindered(format!("{} cannot be committed: {message}", work.id)));
        }
        of_phase.map_or(Ok(()), |phase| self.join(work, phase))
    }

    /// Whether a directory lies in a place of the project.
    fn is_within(&self, directory: &Path, place: &str) -> bool {
        let place = self.project.root().join(place);
        directory.starts_with(place.canonicalize().unwrap_or(place))
    }

    /// Waits until a person has settled what stands in the way. False if nobody wants that any more.
    async fn heeded(&self) -> bool {
        let mut changed = self.driver.journal.watch();
        loop {
            if self.is_cancelled() {
                return false;
            }
            if self.hold().is_none() {
                return true;
            }
            if changed.changed().await.is_err() {
                return false;
            }
        }
    }

    /// Looks at the evidence and commits. `of_phase` is the worktree that its own is merged into.
    async fn conclude(
        self: &Arc<Self>,
        work: &Arc<Work>,
        task: &Place,
        of_phase: Option<&str>,
        end: AttemptEnd,
    ) -> Concluded {
        let (of_work, phase) = (Arc::clone(work), task.phase);
        let (shared, work) = (Arc::clone(self), Arc::clone(work));
        let of_phase = of_phase.map(str::to_owned);
        // One after the other: two commits on one branch would have to wait for each other anyway.
        let turn = self.commits.lock().await;
        let others = self.files_of_others(&task.id);
        let concluded = blocking(move || {
            let mut end = end.proven(&work);
            if end.ended == Ended::Done {
                crash::site("before commit task");
                match shared.bring_in(&work, phase, of_phase.as_deref(), others) {
                    Ok(()) => {}
                    Err(Apart::Hindered(message)) => return Concluded::Hindered(message),
                    Err(Apart::Conflict(reason, told)) => end = end.not_kept(reason, told),
                }
            }
            match settle(&shared.project, &work, &end, shared.now_ms()) {
                Settled::Again(ended) => Concluded::Again(ended),
                Settled::Over(over) => Concluded::Over(over),
            }
        });
        let concluded = concluded.await;
        drop(turn);
        concluded.unwrap_or_else(|| Concluded::Over(Over::proven(&of_work, Ended::failed(NOT_CONCLUDED))))
    }

    /// The line by which an executor is asked: more is said to somebody else's alone.
    fn asked_for(&self, work: &Work, worktree: Option<&str>) -> Thin {
        match self.config() {
            Ok(config) if config.orchestrate.executor.is_some() => request(work, worktree),
            _ => Thin::task(work.id.clone(), worktree, None),
        }
    }

    /// Who is to do it, and how they are told. Somebody outside is told in one line, and everybody else all of it.
    fn planned_run(&self, work: &Work) -> Result<PlannedRun, String> {
        let config = self.config()?;
        let outside = config.orchestrate.executor.as_ref();
        let mut new = self.task_run(&config, work, outside.or(self.asked.agent.as_ref()))?;
        let more = self.place_environment(&config, &work.directory);
        new.environment.get_or_insert_default().extend(more);
        if outside.is_none() {
            return Ok(PlannedRun { new, is_outside: false });
        }
        let root = self.project.root();
        let worktree =
            work.directory.strip_prefix(root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
        let worktree = worktree.ok().map(|path| path.to_string_lossy()).filter(|path| !path.is_empty());
        let told = NewRun {
            directory: root.to_string_lossy().into_owned(),
            prompt: Some(request(work, worktree.as_deref()).to_string()),
            check: work.check.as_ref().map(|check| check_in(&work.directory, check)),
            // It is asked again in its own words, not told what a check has printed.
            attempts_max: work.check.is_some().then_some(1),
            guide: Some(false),
            ..new
        };
        Ok(PlannedRun { new: told, is_outside: true })
    }
}

impl TaskFront for Shared {
    const SITES: ExecutorSites = ExecutorSites {
        run_started: "after start task",
        before_end: "before commit task",
        attempt_failed: "after failed try",
        after_end: "after end task",
    };
    const CANCELLED: &'static str = "its loop was cancelled";

    fn parent(&self) -> &Parent {
        &self.parent
    }

    fn limits(&self, work: &Work) -> TimeLimits {
        let usual = self.config().ok().and_then(|config| config.orchestrate.timeout);
        TimeLimits::of(work, usual, CallerLimit::Unsaid)
    }

    fn planned(&self, work: &Work) -> Result<PlannedRun, String> {
        self.planned_run(work)
    }

    async fn began(&self, work: &Work, run: RunId) {
        self.started(&work.id, run).await;
    }

    fn reported(&self, work: &Work, run: RunId, agent: &str, report: &str) {
        let (task, title, prompt) = (work.id.as_str(), work.title.as_str(), work.prompt.as_str());
        self.exchange.call(&Call { run, task, agent, title, prompt, report });
    }
}
