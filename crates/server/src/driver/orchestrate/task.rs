//! One task from its beginning to its line: a run of its own under a key that survives, the evidence, the commit, the mark.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_agents::Output;
use ostler_engine::{
    RunId, SessionId,
    graph::{NodeEffort, WorkNode},
    orchestrate::About,
    run::{Outcome, Reason},
    session::Session,
    signature,
};
use ostler_orchestrate::{
    Begun, Ended, Failure, Over, Place, Work, again, begin, end_all, proven, release, unfinished,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::time::sleep;

use super::{
    Shared, ask,
    close::{name_of, set_up},
    exchange::{Call, complaint, said},
    ground::{Merged, Whose},
    outside::{check_in, reply, request},
    parent::{End, Limit, blocking, ended},
    words::mend,
};
use crate::{api::NewRun, config::orchestrate::Worktrees, crash};

/// Between two attempts at something that is not possible now.
const AGAIN: Duration = Duration::from_millis(300);

/// The most of a failure that is kept, and that the next one who tries is told.
const FAILURE_CHARS_MAX: usize = 4_000;

/// Why a task has failed that something went wrong with behind its work.
const NOT_CONCLUDED: &str = "it could not be concluded";

/// What an attempt came to.
#[derive(Clone)]
struct Attempt {
    ended: Ended,
    /// What is known of a failure beside its reason; `told` for whoever tries next.
    failure: Failure,
    /// Whether there is any point in another.
    is_final: bool,
    spent: NodeEffort,
    /// Who has worked, if anybody has.
    run: Option<RunId>,
}

/// What is made of an attempt.
enum Concluded {
    /// The task is over.
    Over(Over),
    /// It is tried again, and this is said of it.
    Again(Thin),
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

/// Who works on a task.
struct Started {
    run: RunId,
    session: SessionId,
    /// How what it prints is read.
    output: Output,
    /// Its name.
    agent: String,
    /// Whether it was asked in one line, and answers in one.
    is_outside: bool,
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
        let Some(attempt) = shared.attempt(&work).await else {
            let (shared, work) = (Arc::clone(&shared), Arc::clone(&work));
            blocking(move || release(&shared.project, &work, shared.now_ms()).ok()).await;
            return false;
        };
        spent.entry(attempt.run).or_insert_with(NodeEffort::default).add(attempt.spent);
        let concluded = loop {
            match shared.conclude(&work, &task, phase.as_deref(), attempt.clone()).await {
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
                let (line, is_known) = shared.hand_in(over, phase.is_some()).await;
                shared.ended(&task.id, &line, shared.spent(&task.id, spent)).await;
                return is_known;
            }
            Concluded::Again(line) => shared.exchange.line(&line.to_string()),
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
    async fn hand_in(self: &Arc<Self>, over: Over, has_own: bool) -> (Thin, bool) {
        let id = over.id().clone();
        let lost = || lost(&id);
        let (line, is_known) = match self.desk.hand_in(over) {
            Ok(said) => (said.await.unwrap_or_else(|_| lost()), true),
            Err(over) => {
                let shared = Arc::clone(self);
                let lines = blocking(move || end_all(&shared.project, &[over], shared.now_ms())).await;
                crash::site("after end task");
                let line = lines.and_then(|lines| lines.into_iter().next()).unwrap_or_else(lost);
                self.exchange.line(&line.to_string());
                (line, false)
            }
        };
        if has_own && matches!(line, Thin::Done { .. }) {
            let (shared, name) = (Arc::clone(self), worktree_of(&id));
            // What cannot be taken away now stays; its work is merged.
            blocking(move || shared.ground().remove_task(&name).ok()).await;
        }
        (line, is_known)
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
        attempt: Attempt,
    ) -> Concluded {
        let (of_work, phase) = (Arc::clone(work), task.phase);
        let (shared, work) = (Arc::clone(self), Arc::clone(work));
        let (of_phase, mut attempt) = (of_phase.map(str::to_owned), attempt);
        // One after the other: two commits on one branch would have to wait for each other anyway.
        let turn = self.commits.lock().await;
        let others = self.files_of_others(&task.id);
        let concluded = blocking(move || {
            let mut ended = proven(&work, attempt.ended);
            if ended == Ended::Done {
                crash::site("before commit task");
                match shared.bring_in(&work, phase, of_phase.as_deref(), others) {
                    Ok(()) => {}
                    Err(Apart::Hindered(message)) => return Concluded::Hindered(message),
                    Err(Apart::Conflict(reason, told)) => {
                        ended = Ended::Failed { reason };
                        attempt.failure = Failure { sign: told.clone(), told, ..Failure::default() };
                    }
                }
            }
            if let Ended::Failed { reason } = &ended
                && !attempt.is_final
            {
                let Failure { sign, told, .. } = attempt.failure;
                let or_reason = |text: String| if text.is_empty() { reason.clone() } else { text };
                let failure =
                    Failure { reason: reason.clone(), sign: or_reason(sign), told: or_reason(told) };
                let goes_on = again(&shared.project, &work, attempt.spent.tries, &failure, shared.now_ms());
                if let Some(line) = goes_on.ok().flatten() {
                    return Concluded::Again(line);
                }
            }
            Concluded::Over(Over::proven(&work, ended))
        });
        let concluded = concluded.await;
        drop(turn);
        let reason = NOT_CONCLUDED.to_owned();
        concluded.unwrap_or_else(|| Concluded::Over(Over::proven(&of_work, Ended::Failed { reason })))
    }

    /// Has somebody work on it. None if the loop is to end.
    async fn attempt(self: &Arc<Self>, work: &Arc<Work>) -> Option<Attempt> {
        if self.is_cancelled() {
            return None;
        }
        let failed = |reason: String, is_final: bool| Attempt {
            ended: Ended::Failed { reason },
            failure: Failure::default(),
            is_final,
            spent: NodeEffort { tries: 1, ..NodeEffort::default() },
            run: None,
        };
        let started = match self.start(work).await {
            Ok(Some(started)) => started,
            Ok(None) => return Some(failed("it was begun by somebody else".to_owned(), false)),
            Err(reason) => return Some(failed(reason, true)),
        };
        let noted = async {
            self.started(&work.id, started.run).await;
            crash::site("after start task");
        };
        let usual = || self.config().ok().and_then(|config| config.orchestrate.timeout);
        // Its end is waited for from the beginning; whoever comes back after a crash finds the run by its key.
        let ((), end) =
            tokio::join!(noted, self.wait(started.run, work.timeout.or_else(usual).map(Limit::whole)));
        let over = match end {
            // Every try has its own time, and one that was late may be faster when it is begun again.
            End::Over(over) | End::Late(over) => over,
            End::Gone => return Some(failed("nobody knows how it ended".to_owned(), false)),
            End::Cancelled => return None,
        };
        let report = self.reported(work, &started).await;
        let ended = match ended(&over.outcome) {
            Ended::Done if started.is_outside => reply(&report, &work.id),
            ended => ended,
        };
        let is_final = match &over.outcome {
            Outcome::Completed { .. } => false,
            Outcome::Cancelled => true,
            Outcome::Failed { reason } => {
                matches!(reason, Reason::NotStarted { .. } | Reason::SameFailure { .. })
            }
        };
        let (spent, run) = (NodeEffort::of(&over), Some(started.run));
        let Ended::Failed { reason } = ended else {
            return Some(Attempt { ended, failure: Failure::default(), is_final, spent, run });
        };
        let said = match &over.said {
            // Where a check has spoken, that is what counts; who answers in one line has said all in it.
            Some(checked) => checked.clone(),
            None if started.is_outside && matches!(over.outcome, Outcome::Completed { .. }) => String::new(),
            None => self.printed(started.session, report).await,
        };
        let sign = signature(&format!("{reason}\n{}", tail(&said, FAILURE_CHARS_MAX)));
        let reason = with_end(&reason, &said);
        let failure = Failure { sign, told: reason.clone(), ..Failure::default() };
        Some(Attempt { ended: Ended::Failed { reason }, failure, is_final, spent, run })
    }

    /// What whoever worked has printed at the end: the last that they said, and what they complained about.
    async fn printed(&self, session: SessionId, report: String) -> String {
        let home = self.driver.home.clone();
        let complaint = blocking(move || complaint(&home, session)).await.unwrap_or_default();
        if report.is_empty() || complaint.is_empty() {
            report + &complaint
        } else {
            format!("{report}\n{complaint}")
        }
    }

    /// The run under the key of the work, whether or not it was begun before, and by whomever. None if the key stands for
    /// something else.
    async fn start(self: &Arc<Self>, work: &Arc<Work>) -> Result<Option<Started>, String> {
        if let Some(session) = self.found(&work.key) {
            let Session { id, run, order, .. } = session;
            let is_outside = order.prompt.starts_with("TASK_ID:");
            let (output, agent) = (order.agent.output, order.agent.name);
            return Ok(Some(Started { run, session: id, output, agent, is_outside }));
        }
        let (shared, planned) = (Arc::clone(self), Arc::clone(work));
        let wanted = blocking(move || {
            let (new, is_outside) = shared.new_run(&planned)?;
            let agent = new.agent.clone().unwrap_or_default();
            Ok::<_, String>((shared.wanted(new)?, agent, is_outside))
        });
        let (wanted, agent, is_outside) = wanted.await.ok_or("it could not be prepared")??;
        let output = wanted.order.agent.output.clone();
        let made = self.ask_for(work, wanted).await?;
        Ok(made.map(|(run, session)| Started { run, session, output, agent, is_outside }))
    }

    /// The line by which an executor is asked: more is said to somebody else's alone.
    fn asked_for(&self, work: &Work, worktree: Option<&str>) -> Thin {
        match self.config() {
            Ok(config) if config.orchestrate.executor.is_some() => request(work, worktree),
            _ => Thin::task(work.id.clone(), worktree, None),
        }
    }

    /// What whoever worked on it said at last, which is kept beside what they were told.
    async fn reported(self: &Arc<Self>, work: &Arc<Work>, started: &Started) -> String {
        let (shared, work) = (Arc::clone(self), Arc::clone(work));
        let Started { run, session, .. } = *started;
        let (output, agent) = (started.output.clone(), started.agent.clone());
        let kept = blocking(move || {
            let (task, title, prompt) = (work.id.as_str(), work.title.as_str(), work.prompt.as_str());
            let report = said(&shared.driver.home, session, &output);
            shared.exchange.call(&Call { run, task, agent: &agent, title, prompt, report: &report });
            report
        });
        kept.await.unwrap_or_default()
    }

    /// Who is to do it, and how they are told. Somebody outside is told in one line, and everybody else all of it.
    fn new_run(&self, work: &Work) -> Result<(NewRun, bool), String> {
        let config = self.config()?;
        let outside = config.orchestrate.executor.as_ref();
        let mut new = self.task_run(&config, work, outside.or(self.asked.agent.as_ref()))?;
        let more = self.place_environment(&config, &work.directory);
        new.environment.get_or_insert_default().extend(more);
        if outside.is_none() {
            return Ok((new, false));
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
            // It reads lines, and nothing else.
            context: Some(false),
            ..new
        };
        Ok((told, true))
    }
}

/// What is said of a task whose end nobody knows how to put down.
pub(super) fn lost(id: &TaskId) -> Thin {
    Thin::fail(id.clone(), NOT_CONCLUDED)
}

/// A reason with the end of what was said about it, in as many characters as are kept.
fn with_end(reason: &str, said: &str) -> String {
    let room = FAILURE_CHARS_MAX.saturating_sub(reason.chars().count() + 2);
    match tail(said, room) {
        said if said.is_empty() => reason.to_owned(),
        said => format!("{reason}\n\n{said}"),
    }
}

fn tail(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let more = text.chars().count().saturating_sub(chars_max);
    text.chars().skip(more).collect()
}
