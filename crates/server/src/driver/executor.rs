//! The executor of tasks: an attempt at a task from its run to its end, again and again while there is a point in it.
//!
//! A loop, a main agent and `ostler exec` are its fronts: they say who does a task, and put down what came of it. The
//! run has a key that stands in the state file, so whoever comes back after a crash finds the same run. Lines of the wire
//! are made by the fronts alone.

mod found;
pub(in crate::driver) mod parent;
pub(crate) mod request;
pub(in crate::driver) mod time_limits;

use std::{future::Future, sync::Arc};

use ostler_agents::Output;
use ostler_engine::{
    RunId, SessionId,
    graph::{NodeEffort, RunSummary},
    retry::FailureCause,
    run::Outcome,
    session::Session,
};
use ostler_orchestrate::{
    AttemptEnd, Begun, Ended, Settled, Work, begin, end_all, note_if_there, release, settle, unbegun,
};
use ostler_protocol::{name::TaskId, thin::Thin};

pub(in crate::driver) use self::parent::{Parent, blocking};
use self::{
    parent::{End, NO_AGENT, ended},
    time_limits::TimeLimits,
};
use super::orchestrate::{
    exchange::{complaint, said},
    outside::reply,
};
use crate::{api::NewRun, crash};

/// Why a task has failed that something went wrong with behind its work.
pub(in crate::driver) const NOT_CONCLUDED: &str = "it could not be concluded";

/// What differs between those who have tasks done.
pub(in crate::driver) trait TaskFront: Send + Sync + 'static {
    /// Where a test can have the server die.
    const SITES: ExecutorSites;

    /// Why a task is given back whose caller is cancelled.
    const CANCELLED: &'static str;

    /// The caller.
    fn parent(&self) -> &Parent;

    /// How long the work may take. It reads files.
    fn limits(&self, work: &Work) -> TimeLimits;

    /// Who does the work, and how they are told. It reads files.
    fn planned(&self, work: &Work) -> Result<PlannedRun, String>;

    /// A run works on it.
    fn began(&self, work: &Work, run: RunId) -> impl Future<Output = ()> + Send;

    /// What whoever worked has said at last. It writes files.
    fn reported(&self, _work: &Work, _run: RunId, _agent: &str, _report: &str) {}
}

/// The crash sites of a front.
pub(in crate::driver) struct ExecutorSites {
    pub(in crate::driver) run_started: &'static str,
    pub(in crate::driver) before_end: &'static str,
    pub(in crate::driver) attempt_failed: &'static str,
    pub(in crate::driver) after_end: &'static str,
}

/// The run that is to do a task.
pub(in crate::driver) struct PlannedRun {
    pub(in crate::driver) new: NewRun,
    /// Whether it is asked in one line, and answers in one.
    pub(in crate::driver) is_outside: bool,
}

/// An attempt whose work is over.
#[derive(Clone)]
pub(in crate::driver) struct Attempt {
    pub(in crate::driver) end: AttemptEnd,
    pub(in crate::driver) spent: NodeEffort,
    /// The run that has worked, if one has.
    pub(in crate::driver) run: Option<RunId>,
}

/// What became of an attempt.
pub(in crate::driver) enum Attempted {
    /// It is over.
    Over(Box<Attempt>),
    /// Nobody wants it any more, or its key stands for something else: the work is to be given back, for this reason.
    GivenBack(String),
}

/// What came of a task.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) ended: Ended,
    pub(crate) spent: NodeEffort,
}

/// The run that works on a task.
struct Started {
    run: RunId,
    session: SessionId,
    /// How what it prints is read.
    output: Output,
    agent: String,
    is_outside: bool,
}

impl Attempt {
    /// One that was over before a run could work.
    fn unstarted(reason: String) -> Attempted {
        let end = AttemptEnd::new(Ended::Failed { reason }, FailureCause::NotStarted);
        let spent = NodeEffort { tries: 1, ..NodeEffort::default() };
        Attempted::Over(Box::new(Attempt { end, spent, run: None }))
    }
}

/// What follows from an attempt.
enum Next {
    /// The next attempt.
    Work(Arc<Work>),
    /// Nothing: the task has ended.
    Ended(Ended),
}

/// Has a task done that was begun, and puts down what came of it. What nobody wants any more is given back.
pub(in crate::driver) async fn execute<F: TaskFront>(front: &Arc<F>, mut work: Arc<Work>) -> Executed {
    let mut spent = NodeEffort { tries: work.tries, ..NodeEffort::default() };
    loop {
        let attempted = attempt(front, &work).await;
        if let Attempted::Over(attempt) = &attempted {
            spent.add(attempt.spent);
        }
        crash::site(F::SITES.before_end);
        let (about, caller) = (Arc::clone(&work), Arc::clone(front));
        let next = blocking(move || match attempted {
            Attempted::Over(attempt) => conclude(caller.parent(), &about, attempt.end),
            Attempted::GivenBack(reason) => Next::Ended(give_back(caller.parent(), &about, &reason)),
        });
        match next.await {
            Some(Next::Work(again)) => work = again,
            Some(Next::Ended(ended)) => {
                crash::site(F::SITES.after_end);
                return Executed { ended, spent };
            }
            None => return Executed { ended: Ended::failed(NOT_CONCLUDED), spent },
        }
        crash::site(F::SITES.attempt_failed);
    }
}

/// Looks at the evidence and puts down what came of an attempt.
fn conclude(parent: &Parent, work: &Arc<Work>, end: AttemptEnd) -> Next {
    let over = match settle(&parent.project, work, &end.proven(work), parent.now_ms()) {
        Settled::Over(over) => over,
        // Its place stands in what was noted when it was begun first.
        Settled::Again(_) => {
            return match begin(&parent.project, &work.id, None, parent.korean, parent.now_ms()) {
                Begun::Work(again) => Next::Work(again),
                Begun::Settled(ended) => Next::Ended(ended),
            };
        }
    };
    let ended = end_all(&parent.project, std::slice::from_ref(&over), parent.now_ms());
    Next::Ended(ended.into_iter().next().unwrap_or_else(|| Ended::failed(NOT_CONCLUDED)))
}

/// Gives a task back. A state that cannot be written stays as it is: the next caller takes the task over.
fn give_back(parent: &Parent, work: &Work, reason: &str) -> Ended {
    release(&parent.project, work, parent.now_ms()).ok();
    refuse(parent, &work.id, reason)
}

/// A task that is not begun, or given back, for this reason. The log has that too.
pub(in crate::driver) fn refuse(parent: &Parent, id: &TaskId, reason: &str) -> Ended {
    let ended = Ended::failed(reason);
    note_if_there(&parent.project, &ended.line(id), parent.now_ms());
    ended
}

/// Whether somebody is there to do a task that nobody has begun: one that nobody can do stays as it is.
pub(in crate::driver) fn check_agent(
    parent: &Parent,
    id: &TaskId,
    named: Option<&String>,
) -> Result<(), String> {
    let Some(owner) = unbegun(&parent.project, id, parent.now_ms()) else { return Ok(()) };
    let config = parent.config()?;
    match config.agent_of_task(named, owner.as_ref()) {
        Some(name) if named.is_some() && config.agents.get(name).is_none() => {
            Err(format!("there is no agent '{name}'"))
        }
        Some(_) => Ok(()),
        None => Err(NO_AGENT.to_owned()),
    }
}

/// Has a run work on a task, and looks at what came of it. The evidence is for the caller.
pub(in crate::driver) async fn attempt<F: TaskFront>(front: &Arc<F>, work: &Arc<Work>) -> Attempted {
    let started = match start(front, work).await {
        Ok(started) => started,
        Err(attempted) => return attempted,
    };
    let noted = async {
        front.began(work, started.run).await;
        crash::site(F::SITES.run_started);
    };
    let (caller, about) = (Arc::clone(front), Arc::clone(work));
    let limits = blocking(move || caller.limits(&about)).await.unwrap_or_default();
    // Its end is waited for from the beginning; whoever comes back after a crash finds the run by its key.
    let ((), end) = tokio::join!(noted, front.parent().wait(started.run, limits));
    let (over, late) = match end {
        End::Over(over) => (over, None),
        End::Late(over, cause) => (over, Some(cause)),
        End::Gone => {
            let end = AttemptEnd::new(Ended::failed("nobody knows how it ended"), FailureCause::NotDone);
            let (spent, run) = (NodeEffort { tries: 1, ..NodeEffort::default() }, None);
            return Attempted::Over(Box::new(Attempt { end, spent, run }));
        }
        End::Cancelled => return Attempted::GivenBack(F::CANCELLED.to_owned()),
    };
    let report = reported(front, work, &started).await;
    Attempted::Over(Box::new(judged(front, &work.id, &started, (over, late), report).await))
}

/// What an attempt has come to by the words of whoever worked and of the check.
async fn judged<F: TaskFront>(
    front: &Arc<F>,
    id: &TaskId,
    started: &Started,
    (over, late): (RunSummary, Option<FailureCause>),
    report: String,
) -> Attempt {
    let is_completed = matches!(over.outcome, Outcome::Completed { .. });
    let ended = match ended(&over.outcome) {
        Ended::Done if started.is_outside => reply(&report, id),
        ended => ended,
    };
    let report = match &ended {
        Ended::Done => String::new(),
        // Whoever answers in one line has said all in it, and a check says more than the agent before it.
        Ended::Failed { .. } if over.said.is_some() || (started.is_outside && is_completed) => String::new(),
        Ended::Failed { .. } => printed(front, started.session, report).await,
    };
    let cause = late.or_else(|| FailureCause::of(&over.outcome)).unwrap_or(FailureCause::NotDone);
    let spent = NodeEffort::of(&over);
    let end = AttemptEnd {
        checked: over.said.clone(),
        report,
        tries: spent.tries,
        used_ms: spent.worked_ms.saturating_add(spent.waited_ms),
        ..AttemptEnd::new(ended, cause)
    };
    Attempt { end, spent, run: Some(started.run) }
}

/// The run under the key of the work, whether or not it was begun before, and by whomever.
async fn start<F: TaskFront>(front: &Arc<F>, work: &Arc<Work>) -> Result<Started, Attempted> {
    if let Some(session) = front.parent().found(&work.key) {
        let is_outside = is_asked_in_a_line(&session, &work.id);
        let Session { id, run, order, .. } = session;
        return Ok(Started {
            run,
            session: id,
            output: order.agent.output,
            agent: order.agent.name,
            is_outside,
        });
    }
    if front.parent().is_cancelled() {
        return Err(Attempted::GivenBack(F::CANCELLED.to_owned()));
    }
    let (caller, planned) = (Arc::clone(front), Arc::clone(work));
    let wanted = blocking(move || {
        let PlannedRun { new, is_outside } = caller.planned(&planned)?;
        let agent = new.agent.clone().unwrap_or_default();
        Ok::<_, String>((caller.parent().wanted(new, &planned.id)?, agent, is_outside))
    });
    let unprepared = || Err("it could not be prepared".to_owned());
    let (wanted, agent, is_outside) = wanted.await.unwrap_or_else(unprepared).map_err(Attempt::unstarted)?;
    let output = wanted.order.agent.output.clone();
    match front.parent().ask_for(work, wanted).await {
        Ok(Some((run, session))) => Ok(Started { run, session, output, agent, is_outside }),
        Ok(None) => Err(Attempted::GivenBack("its key stands for something else".to_owned())),
        Err(reason) => Err(Attempt::unstarted(reason)),
    }
}

/// Whether a session was asked for a task by a line of the wire, as an executor of somebody else's is.
fn is_asked_in_a_line(session: &Session, task: &TaskId) -> bool {
    matches!(Thin::parse(&session.order.prompt), Some(Thin::Task { id, .. }) if id == *task)
}

/// What whoever worked has said at last.
async fn reported<F: TaskFront>(front: &Arc<F>, work: &Arc<Work>, started: &Started) -> String {
    let (caller, work) = (Arc::clone(front), Arc::clone(work));
    let Started { run, session, .. } = *started;
    let (output, agent) = (started.output.clone(), started.agent.clone());
    let kept = blocking(move || {
        let report = said(&caller.parent().driver.home, session, &output);
        caller.reported(&work, run, &agent, &report);
        report
    });
    kept.await.unwrap_or_default()
}

/// What whoever worked has printed at the end: the last that they said, and what they complained about.
async fn printed<F: TaskFront>(front: &Arc<F>, session: SessionId, report: String) -> String {
    let home = front.parent().driver.home.clone();
    let complaint = blocking(move || complaint(&home, session)).await.unwrap_or_default();
    if report.is_empty() || complaint.is_empty() {
        report + &complaint
    } else {
        format!("{report}\n{complaint}")
    }
}
