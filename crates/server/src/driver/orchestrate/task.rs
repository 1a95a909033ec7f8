//! One task from its beginning to its line: a run of its own under a key that survives, the evidence, the commit, the mark.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ostler_agents::Output;
use ostler_engine::{
    Input, RunId, SessionId,
    input::Made,
    orchestrate::{About, Over, Step},
    run::{Outcome, Reason},
    session::Session,
};
use ostler_orchestrate::{Begun, Ended, Failure, Place, Work, again, begin, end, proven, release};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::time::{Instant, sleep};

use super::{
    Shared, ask,
    close::{name_of, set_up},
    exchange::Call,
    ground::{Merged, Whose},
    outside::{check_in, reply, request},
    words::mend,
};
use crate::{
    api::NewRun,
    config::{RepositoryCommand, orchestrate::Worktrees},
    crash,
    http::runs,
    journal::Key,
};

/// Between two attempts at something that is not possible now.
const AGAIN: Duration = Duration::from_millis(300);

/// The most of a failure that the next one who tries is told.
const FAILURE_CHARS_MAX: usize = 4_000;

/// What an attempt came to.
struct Attempt {
    ended: Ended,
    /// What is known of a failure beside its reason; `told` for whoever tries next.
    failure: Failure,
    /// Whether there is any point in another.
    is_final: bool,
    tries: u32,
    worked_ms: u64,
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

/// How a run ended, as far as its loop knows.
pub(super) enum End {
    Over(Over),
    /// Nobody knows any more.
    Gone,
    /// Somebody wants the loop to end.
    Cancelled,
}

/// The name of the worktree of a task, where it has one of its own.
pub(super) fn worktree_of(id: &TaskId) -> String {
    format!("worktree/task-{id}")
}

/// Has a task done. `worktree` is that of its phase, relative to the project; without one it is done in the project
/// itself.
pub(super) async fn carry_out(shared: Arc<Shared>, task: Place, worktree: Option<String>) {
    let (mut tries, mut worked_ms) = (0, 0);
    let (worktree, phase) = match shared.own_place(&task, worktree).await {
        Ok(found) => found,
        Err(message) => {
            ask(&shared, About::Hindered { message }).await;
            return;
        }
    };
    loop {
        let begun = {
            let (shared, id, worktree) = (Arc::clone(&shared), task.id.clone(), worktree.clone());
            blocking(move || {
                let worktree = worktree.map(PathBuf::from);
                begin(&shared.project, &id, worktree.as_deref(), shared.korean, shared.now_ms())
            })
            .await
        };
        // Somebody was faster, or the state cannot be had: what is next is looked at again, after a while.
        let Some(Begun::Work(work)) = begun else { return sleep(AGAIN).await };
        let work: Arc<Work> = Arc::from(work);
        crash::site("after begin task");
        shared.exchange.line(&shared.asked_for(&work, worktree.as_deref()).to_string());
        let Some(attempt) = shared.attempt(&work).await else {
            let (shared, work) = (Arc::clone(&shared), Arc::clone(&work));
            blocking(move || release(&shared.project, &work, shared.now_ms()).ok()).await;
            return;
        };
        tries += attempt.tries;
        worked_ms += attempt.worked_ms;
        if let Some(line) = shared.conclude(&work, &task, phase.as_deref(), attempt).await {
            crash::site("after end task");
            shared.exchange.line(&line.to_string());
            let (task, line) = (task.id.to_string(), line.to_string());
            shared.moved(Step::TaskEnded { task, line, worked_ms, tries }).await;
            return;
        }
        crash::site("after failed try");
    }
}

impl Shared {
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
    fn join(&self, work: &Work, phase: &str) -> Result<(), (String, String)> {
        let name = worktree_of(&work.id);
        match self.ground().merge_task(phase, &name, &work.title) {
            Ok(Merged::Yes(_)) => Ok(()),
            Ok(Merged::No(unmerged)) => {
                let reason = format!("{}: {}", unmerged.message, unmerged.files.join(", "));
                let failure = if unmerged.is_conflict {
                    mend(&name, phase, &unmerged.files, self.korean)
                } else {
                    reason.clone()
                };
                Err((reason, failure))
            }
            Err(reason) => Err((reason.clone(), reason)),
        }
    }

    /// Looks at the evidence, commits and marks. None if the task is to be tried again. `of_phase` is the worktree that
    /// its own is merged into.
    async fn conclude(
        self: &Arc<Self>,
        work: &Arc<Work>,
        task: &Place,
        of_phase: Option<&str>,
        attempt: Attempt,
    ) -> Option<Thin> {
        let (shared, work, phase) = (Arc::clone(self), Arc::clone(work), task.phase);
        let (of_phase, mut attempt) = (of_phase.map(str::to_owned), attempt);
        // One after the other: two commits on one branch would have to wait for each other anyway.
        let turn = self.commits.lock().await;
        let others = self.files_of_others(&task.id);
        let concluded = blocking(move || {
            let mut ended = proven(&work, attempt.ended);
            if ended == Ended::Done {
                crash::site("before commit task");
                let foreign = shared.foreign(phase);
                let whose = match &of_phase {
                    // Nobody else works there.
                    Some(_) => Whose::AllBut(&[]),
                    None if work.files.is_empty() => Whose::AllBut(&others),
                    None => Whose::Declared(&work.files),
                };
                let message = format!("{}: {}", work.id, work.title);
                let committed = shared.ground().commit(&work.directory, &whose, &foreign, &message);
                crash::site("after commit task");
                if let Err(reason) = committed {
                    ended = Ended::Failed { reason };
                } else if let Some(Err((reason, failure))) =
                    of_phase.as_ref().map(|it| shared.join(&work, it))
                {
                    ended = Ended::Failed { reason };
                    attempt.failure = Failure { sign: failure.clone(), told: failure, ..Failure::default() };
                }
            }
            if let Ended::Failed { reason } = &ended
                && !attempt.is_final
            {
                let Failure { sign, told, .. } = attempt.failure;
                let or_reason = |text: String| if text.is_empty() { reason.clone() } else { text };
                let failure =
                    Failure { reason: reason.clone(), sign: or_reason(sign), told: or_reason(told) };
                let goes_on = again(&shared.project, &work, attempt.tries, &failure, shared.now_ms());
                if goes_on.unwrap_or(false) {
                    return None;
                }
            }
            let line = end(&shared.project, &work, ended, shared.now_ms());
            if let (Some(_), Thin::Done { .. }) = (&of_phase, &line) {
                // What cannot be taken away now stays; its work is merged.
                shared.ground().remove_task(&worktree_of(&work.id)).ok();
            }
            Some(line)
        });
        let concluded = concluded.await;
        drop(turn);
        concluded.unwrap_or_else(|| Some(Thin::fail(task.id.clone(), "it could not be concluded")))
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
            tries: 1,
            worked_ms: 0,
        };
        let started = match self.start(work).await {
            Ok(Some(started)) => started,
            Ok(None) => return Some(failed("it was begun by somebody else".to_owned(), false)),
            Err(reason) => return Some(failed(reason, true)),
        };
        let task = work.id.to_string();
        self.moved(Step::TaskBegun { task, run: started.run }).await;
        crash::site("after start task");
        let usual = || self.config().ok().and_then(|config| config.orchestrate.timeout);
        let over = match self.wait(started.run, work.timeout.or_else(usual)).await {
            End::Over(over) => over,
            End::Gone => return Some(failed("nobody knows how it ended".to_owned(), false)),
            End::Cancelled => return None,
        };
        let Over { outcome, tries, worked_ms, said } = over;
        let report = self.reported(work, &started).await;
        let (ended, is_final) = match &outcome {
            Outcome::Completed { .. } if started.is_outside => (reply(&report, &work.id), false),
            Outcome::Completed { .. } => (Ended::Done, false),
            Outcome::Cancelled => (Ended::Failed { reason: "it was cancelled".to_owned() }, true),
            Outcome::Failed { reason } => {
                let is_final = matches!(reason, Reason::NotStarted { .. } | Reason::SameFailure { .. });
                (Ended::Failed { reason: words(reason) }, is_final)
            }
        };
        let failure = match &ended {
            Ended::Done => Failure::default(),
            Ended::Failed { reason } => {
                let sign = [reason.as_str(), said.as_deref().unwrap_or_default()].join("\n\n");
                // Where a check has spoken, that is what counts; who answers in one line has said all in it.
                let is_said = said.is_some() || started.is_outside;
                let told = if is_said { sign.clone() } else { [reason, report.as_str()].join("\n\n") };
                Failure { sign: tail(&sign), told: tail(&told), ..Failure::default() }
            }
        };
        Some(Attempt { ended, failure, is_final, tries, worked_ms })
    }

    /// The run under the key of the work, whether or not it was begun before, and by whomever. None if the key stands for
    /// something else.
    async fn start(self: &Arc<Self>, work: &Arc<Work>) -> Result<Option<Started>, String> {
        let (shared, work) = (Arc::clone(self), Arc::clone(work));
        let key = work.key.clone();
        if let Some(session) = self.found(&key) {
            let Session { id, run, order, .. } = session;
            let is_outside = order.prompt.starts_with("TASK_ID:");
            let (output, agent) = (order.agent.output, order.agent.name);
            return Ok(Some(Started { run, session: id, output, agent, is_outside }));
        }
        let wanted = blocking(move || {
            let (new, is_outside) = shared.new_run(&work)?;
            let agent = new.agent.clone().unwrap_or_default();
            let mut wanted = runs::wanted(&shared.driver, new).map_err(|problem| problem.title)?;
            wanted.title = format!("{}: {}", work.id, work.title);
            wanted.parent = Some(shared.session);
            Ok::<_, String>((wanted, agent, is_outside))
        });
        let (wanted, agent, is_outside) = wanted.await.ok_or("it could not be prepared")??;
        let output = wanted.order.agent.output.clone();
        let key = Key { fingerprint: format!("task of {}", self.session), key };
        Ok(self.submit_run(wanted, key).await?.and_then(|made| match made {
            Made { run: Some(run), session: Some(session), .. } => {
                Some(Started { run, session, output, agent, is_outside })
            }
            _ => None,
        }))
    }

    /// The line by which an executor is asked: more is said to somebody else's alone.
    fn asked_for(&self, work: &Work, worktree: Option<&str>) -> Thin {
        match self.config().map(|config| config.orchestrate.executor) {
            Ok(Some(_)) => request(work, worktree),
            _ => Thin::task(work.id.clone(), worktree, None),
        }
    }

    /// What whoever worked on it said at last, which is kept beside what they were told.
    async fn reported(self: &Arc<Self>, work: &Arc<Work>, started: &Started) -> String {
        let report = self.heard(started.session, started.output.clone()).await;
        let (shared, work, report) = (Arc::clone(self), Arc::clone(work), report);
        let (run, agent) = (started.run, started.agent.clone());
        let kept = blocking(move || {
            let (task, title) = (work.id.as_str(), work.title.as_str());
            let (prompt, report) = (work.prompt.as_str(), report);
            shared.exchange.call(&Call { run, task, agent: &agent, title, prompt, report: &report });
            report
        });
        kept.await.unwrap_or_default()
    }

    /// Who is to do it, and how they are told. Somebody outside is told in one line, and everybody else all of it.
    fn new_run(&self, work: &Work) -> Result<(NewRun, bool), String> {
        let config = self.config()?;
        let outside = config.orchestrate.executor.as_ref();
        let owner = work.owner.as_ref().filter(|owner| config.agents.get(owner).is_some());
        let agent = outside.or(self.asked.agent.as_ref()).or(owner).or(config.default_agent.as_ref());
        let agent = agent.ok_or("no agent has the name of its owner, and there is no default agent")?;
        if let Some(check) = &work.check {
            let command =
                RepositoryCommand { key: "verify".to_owned(), value: check.clone(), file: PathBuf::new() };
            if !self.trusted().contains(&command.fingerprint()) {
                return Err(format!("nobody has agreed to its verify command: ostler trust: {check}"));
            }
        }
        let mut environment = self.environment.clone();
        environment.extend(self.place_environment(&config, &work.directory));
        let new = NewRun {
            directory: work.directory.to_string_lossy().into_owned(),
            agent: Some(agent.clone()),
            prompt: Some(work.prompt.clone()),
            check: work.check.clone(),
            attempts_max: work.check.is_some().then_some(work.attempts_max),
            environment: Some(environment),
            korean: self.korean,
            ..NewRun::default()
        };
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
            ..new
        };
        Ok((told, true))
    }

    /// Waits for the end of a run, however long its agent waits for answers. What is wanted of the loop is wanted of it.
    pub(super) async fn wait(&self, run: RunId, timeout: Option<Duration>) -> End {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut changed = self.driver.journal.watch();
        let (mut is_cancelled, mut is_late) = (false, false);
        loop {
            let now = self.look_at(run);
            if let Some(mut over) = now.over {
                if self.is_cancelled() && over.outcome == Outcome::Cancelled {
                    return End::Cancelled;
                }
                if is_late && over.outcome == Outcome::Cancelled {
                    let message = format!("it was ended after {} s", timeout.unwrap_or_default().as_secs());
                    over.outcome = Outcome::Failed { reason: Reason::Reported { message } };
                }
                return End::Over(over);
            }
            let Some(child) = now.session else { return End::Gone };
            if !is_late && deadline.is_some_and(|at| at <= Instant::now()) {
                is_late = true;
            }
            if (self.is_cancelled() || is_late) && !is_cancelled {
                is_cancelled = true;
                self.wish(Input::Cancel(child)).await;
            } else if now.is_interrupted {
                self.wish(Input::Resume { session: child, prompt: None }).await;
            } else if self.is_paused() != now.is_paused && !is_cancelled {
                let wish = if now.is_paused { Input::Continue(child) } else { Input::Pause(child) };
                self.wish(wish).await;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = sleep(AGAIN) => {}
            }
        }
    }

    /// Waits for a run that is not about a task.
    pub(super) async fn wait_for(&self, run: RunId) -> bool {
        !matches!(self.wait(run, None).await, End::Cancelled)
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
        let conducts = world.sessions.get(&self.session).and_then(|it| it.conducts.as_deref());
        let over = conducts.and_then(|conducts| conducts.over.get(&run).cloned());
        let session = world.runs.get(&run).and_then(|run| world.sessions.get(run.sessions.last()?));
        let is_paused = session.is_some_and(|it| it.paused_at_ms.is_some());
        let is_interrupted = session.is_some_and(Session::is_interrupted);
        Child { over, session: session.map(|it| it.id), is_paused, is_interrupted }
    }

    /// Wants something of a session; who is in no state for it stays as they are.
    async fn wish(&self, input: Input) {
        self.driver.journal.submit(input, None).await.ok();
    }
}

/// A run as its loop sees it.
struct Child {
    over: Option<Over>,
    session: Option<SessionId>,
    is_paused: bool,
    is_interrupted: bool,
}

/// Does something that takes its time. None if it panicked.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let more = text.chars().count().saturating_sub(FAILURE_CHARS_MAX);
    text.chars().skip(more).collect()
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
