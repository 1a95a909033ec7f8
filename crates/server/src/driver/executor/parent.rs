//! The caller of an executor: a loop, a main agent, or a person at `ostler exec`. It has runs do its tasks, and waits for them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{
    Input, ProjectId, RunId, SessionId,
    graph::RunSummary,
    input::{Made, NewRun as Wanted, Refusal},
    retry::FailureCause,
    run::{Outcome, Reason},
    session::Session,
};
use ostler_orchestrate::{Ended, Project, Work};
use ostler_protocol::{name::TaskId, thin::REASON_CHARS_MAX};
use tokio::time::{Instant, sleep};

use super::time_limits::TimeLimits;
use crate::{
    api::NewRun,
    config::{Config, RepositoryCommand},
    driver::Driver,
    environment,
    http::runs,
    journal::{Key, SubmitError},
};

/// Between two attempts at something that is not possible now.
const AGAIN: Duration = Duration::from_millis(300);

/// The least of a command that a reason shows.
const COMMAND_CHARS_MIN: usize = 20;

/// Why a task cannot be given to anybody.
pub(in crate::driver) const NO_AGENT: &str =
    "no agent has the name of its owner, and there is no default agent";

/// The caller of an executor.
pub(in crate::driver) struct Parent {
    pub(in crate::driver) driver: Arc<Driver>,
    /// The loop or main agent; a person has no session.
    pub(in crate::driver) session: Option<SessionId>,
    /// The root by which the journal knows the project.
    root: String,
    pub(in crate::driver) project: Project,
    pub(in crate::driver) korean: bool,
    /// What all agents and commands find in their environment.
    pub(in crate::driver) environment: BTreeMap<String, String>,
}

/// How a run ended, as far as who waits for it knows.
pub(in crate::driver) enum End {
    Over(RunSummary),
    /// It took longer than it may, and was ended.
    Late(RunSummary, FailureCause),
    /// Nobody knows any more.
    Gone,
    /// Somebody wants who waits to end.
    Cancelled,
}

impl Parent {
    /// A session, and the project whose tasks it has done.
    pub(in crate::driver) fn of(driver: &Arc<Driver>, session: &Session, tasks: Option<&Path>) -> Parent {
        let environment = environment::read(&driver.home, &session.order.environment).unwrap_or_default();
        let world = driver.journal.world();
        let root = world.projects.get(&session.project).map(|project| project.root.clone());
        Parent {
            driver: Arc::clone(driver),
            session: Some(session.id),
            root: root.unwrap_or_default(),
            project: Project::find(Path::new(session.directory()), tasks),
            korean: session.order.korean,
            environment,
        }
    }

    /// A person who asks from a directory; `root` is that of the project it belongs to.
    pub(in crate::driver) fn person(
        driver: &Arc<Driver>,
        project: Project,
        root: String,
        environment: BTreeMap<String, String>,
        korean: bool,
    ) -> Parent {
        Parent { driver: Arc::clone(driver), session: None, root, project, korean, environment }
    }

    pub(in crate::driver) fn now_ms(&self) -> u64 {
        self.driver.journal.clock().now_ms()
    }

    pub(in crate::driver) fn read<T>(&self, read: impl FnOnce(&Session) -> T) -> Option<T> {
        self.driver.journal.world().sessions.get(&self.session?).map(read)
    }

    /// Whether nobody wants the work any more. A session that is gone wants nothing; a person wants it to its end.
    pub(in crate::driver) fn is_cancelled(&self) -> bool {
        let is_wanted = |session: &Session| session.cancelled_at_ms.is_none();
        self.session.is_some() && !self.read(is_wanted).unwrap_or(false)
    }

    pub(in crate::driver) fn is_paused(&self) -> bool {
        self.read(|session| session.paused_at_ms.is_some()).unwrap_or(false)
    }

    /// Asks for a run under a key. None if the key stands for something else.
    pub(in crate::driver) async fn submit_run(
        &self,
        wanted: Wanted,
        key: Key,
    ) -> Result<Option<Made>, String> {
        let input = Input::CreateRun(Box::new(wanted));
        loop {
            match self.driver.journal.submit_for(input.clone(), Some(key.clone())).await {
                Ok(made) => return Ok(Some(made)),
                Err(SubmitError::KeyReused) => return Ok(None),
                // A task has one agent at a time, even if somebody made it look open.
                Err(SubmitError::Refused(refusal)) => match *refusal {
                    Refusal::NodeHeld { run } if self.wait_for(run).await => {}
                    Refusal::NodeHeld { .. } => return Ok(None),
                    refusal => return Err(format!("{refusal:?}")),
                },
                Err(SubmitError::Closed) => std::future::pending().await,
                Err(SubmitError::Store(_)) => sleep(AGAIN).await,
            }
        }
    }

    pub(in crate::driver) fn config(&self) -> Result<Arc<Config>, String> {
        let root = crate::config::project_root(self.project.root());
        let root = root.as_deref().or(Some(self.project.root()));
        Config::known(root, &self.trusted()).map_err(|error| error.to_string())
    }

    /// What a person lets the repository run.
    pub(in crate::driver) fn trusted(&self) -> Vec<String> {
        self.driver.trusted(&self.root)
    }

    /// The project in the journal, once it is known there.
    pub(in crate::driver) fn project_id(&self) -> Option<ProjectId> {
        self.driver.journal.world().project_at(&self.root)
    }

    /// What does a task: all of it as the prompt, by who is named, or its owner, or the default agent. A verify command
    /// comes from a repository: it runs only if a person has agreed to it.
    pub(in crate::driver) fn task_run(
        &self,
        config: &Config,
        work: &Work,
        named: Option<&String>,
    ) -> Result<NewRun, String> {
        let agent = config.agent_of_task(named, work.owner.as_ref()).ok_or(NO_AGENT)?;
        if let Some(check) = &work.check {
            let command =
                RepositoryCommand { key: "verify".to_owned(), value: check.clone(), file: PathBuf::new() };
            if !self.trusted().contains(&command.fingerprint()) {
                return Err(untrusted(check, &self.project.trust_command()));
            }
        }
        Ok(NewRun::of_task(work, agent, self.environment.clone(), self.korean))
    }

    /// The same as the engine has to know it: a run of this one's.
    pub(in crate::driver) fn wanted(&self, new: NewRun, task: &TaskId) -> Result<Wanted, String> {
        let mut wanted = runs::wanted(&self.driver, new).map_err(|problem| problem.title)?;
        wanted.parent = self.session;
        wanted.terms.task = Some(task.to_string());
        Ok(wanted)
    }

    /// Asks for it under the key of the work. None if that stands for something else.
    pub(in crate::driver) async fn ask_for(
        &self,
        work: &Work,
        mut wanted: Wanted,
    ) -> Result<Option<(RunId, SessionId)>, String> {
        wanted.node = Some(work.id.to_string());
        let caller = self.session.map_or_else(|| self.root.clone(), |session| session.to_string());
        let key = Key { fingerprint: format!("task of {caller}"), key: work.key.clone() };
        Ok(self.submit_run(wanted, key).await?.and_then(|made| match made {
            Made { run: Some(run), session: Some(session), .. } => Some((run, session)),
            _ => None,
        }))
    }

    /// Waits for the end of a run, however long its agent waits for answers. A caller that is cancelled has it cancelled
    /// too; a loop that is paused has it paused.
    pub(in crate::driver) async fn wait(&self, run: RunId, limits: TimeLimits) -> End {
        let deadline = self.deadline(run, limits);
        let mut changed = self.driver.journal.watch();
        let (mut is_cancelled, mut is_late) = (false, false);
        loop {
            let now = self.look_at(run);
            if let Some(mut over) = now.over {
                if self.is_cancelled() && over.outcome == Outcome::Cancelled {
                    return End::Cancelled;
                }
                if let Some(deadline) = deadline.as_ref().filter(|_| is_late)
                    && over.outcome == Outcome::Cancelled
                {
                    let message = format!("it was ended after {} s", deadline.limit.as_secs());
                    over.outcome = Outcome::Failed { reason: Reason::Reported { message } };
                    return End::Late(over, deadline.cause);
                }
                return End::Over(over);
            }
            let Some(child) = now.session else { return End::Gone };
            if !is_late && deadline.as_ref().is_some_and(|deadline| deadline.at <= Instant::now()) {
                is_late = true;
            }
            if (self.is_cancelled() || is_late) && !is_cancelled {
                is_cancelled = true;
                self.wish(Input::Cancel(child)).await;
            } else if now.is_interrupted {
                self.wish(Input::Resume { session: child, prompt: None }).await;
            } else if self.holds().is_some_and(|holds| holds != now.is_paused) && !is_cancelled {
                let wish = if now.is_paused { Input::Continue(child) } else { Input::Pause(child) };
                self.wish(wish).await;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = sleep(AGAIN) => {}
            }
        }
    }

    /// When a run is late. What it has used under an earlier server counts, by the clock on the wall; one that was put
    /// back has used nothing.
    fn deadline(&self, run: RunId, limits: TimeLimits) -> Option<Deadline> {
        let begun_at_ms = self.driver.journal.world().runs.get(&run).map(|run| run.created_at_ms);
        let run_ms = begun_at_ms.map_or(0, |begun_at_ms| self.now_ms().saturating_sub(begun_at_ms));
        let (left, limit, cause) = limits.left(Duration::from_millis(run_ms))?;
        Some(Deadline { at: Instant::now().checked_add(left)?, limit, cause })
    }

    /// Waits for a run that is not about a task.
    pub(in crate::driver) async fn wait_for(&self, run: RunId) -> bool {
        !matches!(self.wait(run, TimeLimits::default()).await, End::Cancelled)
    }

    /// Whether its runs are to stand still. A loop does nothing itself, so whoever holds it means those; who holds a main
    /// agent means that agent.
    fn holds(&self) -> Option<bool> {
        self.read(|session| session.graph.is_some().then_some(session.paused_at_ms.is_some())).flatten()
    }

    fn look_at(&self, run: RunId) -> Child {
        let child = self.look_at_known(run);
        if child.over.is_some() || child.session.is_some() {
            return child;
        }
        Child { over: self.over(run), ..child }
    }

    fn look_at_known(&self, run: RunId) -> Child {
        let world = self.driver.journal.world();
        // The run of a node is noted there when it ends, and may be forgotten by now.
        let noted = world.run_summary(run).cloned();
        let run = world.runs.get(&run);
        let session = run.and_then(|run| world.sessions.get(run.sessions.last()?));
        let over = noted.or_else(|| RunSummary::of(run?, session?, run?.ended_at_ms?));
        let is_paused = session.is_some_and(|it| it.paused_at_ms.is_some());
        let is_interrupted = session.is_some_and(Session::is_interrupted);
        Child { over, session: session.map(|it| it.id), is_paused, is_interrupted }
    }

    /// Wants something of a session; who is in no state for it stays as they are.
    async fn wish(&self, input: Input) {
        self.driver.journal.submit(input, None).await.ok();
    }
}

/// When a run is ended, and why.
struct Deadline {
    at: Instant,
    limit: Duration,
    cause: FailureCause,
}

/// A run as its caller sees it.
struct Child {
    over: Option<RunSummary>,
    session: Option<SessionId>,
    is_paused: bool,
    is_interrupted: bool,
}

/// Does something that takes its time. None if it panicked.
pub(in crate::driver) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// What the outcome of a run is to its task.
pub(in crate::driver) fn ended(outcome: &Outcome) -> Ended {
    match outcome {
        Outcome::Completed { .. } => Ended::Done,
        Outcome::Cancelled => Ended::Failed { reason: "it was cancelled".to_owned() },
        Outcome::Failed { reason } => Ended::Failed { reason: words(reason) },
    }
}

/// Why a run failed, in few words: one line has to hold them.
fn words(reason: &Reason) -> String {
    match reason {
        Reason::NotStarted { message } => format!("the agent could not be started: {message}"),
        Reason::ExitCode { code } => format!("the agent ended with exit code {code}"),
        Reason::KilledBy { signal } => format!("signal {signal} ended the agent"),
        Reason::AgentError { message } => {
            message.clone().unwrap_or_else(|| "the agent reported an error".to_owned())
        }
        Reason::NoEnd => "the agent ended without a word".to_owned(),
        Reason::RateLimited { .. } => "the account has hit a limit".to_owned(),
        Reason::CheckFailed { code, attempts } => {
            format!("the check failed with exit code {code} after {attempts} attempts")
        }
        Reason::SameFailure { times } => format!("the check failed {times} times in the same way"),
        Reason::TimeOver => "its time is over".to_owned(),
        Reason::CostOver => "it has cost as much as it may".to_owned(),
        Reason::TokensOver => "it has used as many tokens as it may".to_owned(),
        Reason::Rejected { .. } => "it was rejected".to_owned(),
        Reason::VerifierOverdue => "a verifier has taken too long".to_owned(),
        Reason::Reported { message } | Reason::NoBase { message } | Reason::NoWorktree { message } => {
            message.clone()
        }
    }
}

/// Why a check does not run. The line of a failure is short, and what helps stands at its end.
fn untrusted(check: &str, how: &str) -> String {
    let fixed = "nobody has agreed to `` ()".len() + how.chars().count();
    let room = REASON_CHARS_MAX.saturating_sub(fixed).max(COMMAND_CHARS_MIN);
    let shown = if check.chars().count() <= room {
        check.to_owned()
    } else {
        check.chars().take(room - 1).chain(['…']).collect()
    };
    format!("nobody has agreed to `{shown}` ({how})")
}
