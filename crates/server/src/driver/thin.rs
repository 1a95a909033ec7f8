//! Answers a main agent: what it has printed in the thin dialect is carried out as `ostler resolve`, `ostler exec` and
//! `ostler tasks` do, and the answer is written to it.
//!
//! Lines are taken in the order in which they were printed, so that who asks what can run after having begun something is
//! answered about that. What takes its time goes on beside them. Whatever a server leaves unanswered when it dies, the
//! next one takes up: a task by the key under which it was begun, a decision by a key of its own.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use ostler_engine::{
    ActionName, Input, SessionId,
    orchestrate::PARALLEL,
    run::{Outcome, Reason},
    thin::{Errand, OK, ThinNews, UNKNOWN, refused, report},
};
use ostler_orchestrate::{
    Begun, Resolve, Tried, Wish, Work, begin, close, conclude, ended_before, is_left, note, note_if_there,
    plan::timeout_s, release, resolve, unbegun, wish_once,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use serde_json::Value;
use tokio::{
    sync::{Semaphore, mpsc::UnboundedReceiver},
    time::sleep,
};

use super::{
    Driver,
    orchestrate::{
        exchange::said,
        parent::{End, Limit, NO_AGENT, Parent, blocking, ended},
    },
};
use crate::{crash, journal::SubmitError};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// What is said of a task whose main agent is not wanted any more.
const CANCELLED: &str = "its main agent was cancelled";

/// Takes up something that a main agent has asked.
pub(super) fn take(driver: &Arc<Driver>, session: SessionId, number: u64, name: ActionName) {
    driver.errands.send(session, (name, number), |errands| {
        tokio::spawn(serve(Arc::clone(driver), session, errands));
    });
}

async fn serve(driver: Arc<Driver>, session: SessionId, mut errands: UnboundedReceiver<(ActionName, u64)>) {
    loop {
        if driver.errands.leave(&session, &errands) {
            return;
        }
        let Some((name, number)) = errands.recv().await else { return };
        crash::site("before errand");
        let Some((errand, parent)) = errand(&driver, session, number).await else {
            done(&driver, name).await;
            continue;
        };
        let parent = Arc::new(parent);
        Asked { driver: Arc::clone(&driver), parent, session, number, name }.answer(errand).await;
    }
}

/// What was asked, and who has it done. None if it is answered already.
async fn errand(driver: &Arc<Driver>, session: SessionId, number: u64) -> Option<(Errand, Parent)> {
    let found = driver.journal.world().sessions.get(&session).cloned()?;
    let errand = found.thin.open.get(&number).cloned()?;
    let driver = Arc::clone(driver);
    let parent = blocking(move || Parent::of(&driver, &found, None)).await?;
    Some((errand, parent))
}

async fn done(driver: &Driver, name: ActionName) {
    while let Err(error) = driver.journal.done(name).await {
        if matches!(error, SubmitError::Closed) {
            return;
        }
        sleep(AGAIN).await;
    }
}

/// Something that a main agent has asked.
struct Asked {
    driver: Arc<Driver>,
    parent: Arc<Parent>,
    session: SessionId,
    number: u64,
    name: ActionName,
}

impl Asked {
    async fn answer(self, errand: Errand) {
        let said = Thin::parse(&errand.line);
        let line = match said {
            Some(Thin::Task { id, worktree, meta, .. }) => {
                let begun = if self.parent.is_cancelled() {
                    self.take_back(id).await
                } else {
                    self.begin(id, worktree, meta, errand.run.is_some()).await
                };
                match begun {
                    Ok((work, timeout)) => {
                        crash::site("after begin errand");
                        tokio::spawn(self.carry_out(work, timeout));
                        return;
                    }
                    Err(line) => line,
                }
            }
            Some(said @ Thin::ResolveNext { .. }) => self.resolve(said).await,
            Some(said) => self.decide(said).await,
            None => Thin::custom(UNKNOWN, &errand.line).expect("it is a word"),
        };
        self.say(&line).await;
    }

    /// The answer of a resolver.
    async fn resolve(&self, said: Thin) -> Thin {
        let parent = Arc::clone(&self.parent);
        let failed = refused(&said, "the files could not be looked at");
        let resolved = blocking(move || {
            let Thin::ResolveNext { phase, groups, force } = said else { return None };
            let asked = Resolve { phase, force, groups, repair: None };
            Some(resolve(&parent.project, asked, parent.now_ms()).line)
        });
        resolved.await.flatten().unwrap_or(failed)
    }

    /// Carries out what is said about a task, once. What nobody knows is in the log, and that is said.
    async fn decide(&self, said: Thin) -> Thin {
        let (parent, key) = (Arc::clone(&self.parent), format!("thin-{}-{}", self.session, self.number));
        let failed = refused(&said, "it could not be carried out");
        let decided = blocking(move || {
            let Thin::Custom { message_type, payload, .. } = &said else {
                return report(UNKNOWN, &said, None);
            };
            let decided = match wanted(message_type, payload) {
                Some(Ok(Wanted::Of(wish, id))) => {
                    wish_once(&parent.project, &id, wish, Some(&key), parent.now_ms())
                        .map_err(|error| error.to_string())
                }
                Some(Ok(Wanted::Close(phase))) => recorded(&parent, phase),
                Some(Err(reason)) => Err(reason.to_owned()),
                None => {
                    // Who cannot write the log has heard it all the same.
                    note(&parent.project, &[said.to_string()], parent.now_ms()).ok();
                    return report(UNKNOWN, &said, None);
                }
            };
            match decided {
                Ok(()) => report(OK, &said, None),
                Err(reason) => refused(&said, &reason),
            }
        });
        decided.await.unwrap_or(failed)
    }

    /// Begins a task, or says what there is to say of it. One that was worked on before, and has failed, is not begun again:
    /// the one who asked has not heard of it yet.
    async fn begin(
        &self,
        id: TaskId,
        worktree: Option<String>,
        meta: Option<Value>,
        was_begun: bool,
    ) -> Result<(Arc<Work>, Option<Duration>), Thin> {
        let (parent, failed) = (Arc::clone(&self.parent), Thin::fail(id.clone(), "it could not be begun"));
        let begun = blocking(move || {
            let refused = |reason: String| refused_task(&parent, &id, &reason);
            let timeout = timeout(meta.as_ref()).map_err(refused)?;
            let before = Some(&id).filter(|_| was_begun).and_then(|id| ended_before(&parent.project, id));
            if let Some(line) = before {
                return Err(line);
            }
            let worktree = worktree.map(PathBuf::from);
            let worktree: Option<&Path> = worktree.as_deref();
            check_agent(&parent, &id).map_err(refused)?;
            let begun = || begin(&parent.project, &id, worktree, parent.korean, parent.now_ms());
            let begun = match begun() {
                // Who asks for it now wants it done; the one who was cancelled with it did not.
                Begun::Work(work) if was_cancelled_with_another(&parent, &work.key) => {
                    let released = release(&parent.project, &work, parent.now_ms());
                    drop(work);
                    released.map_err(|error| refused(error.to_string()))?;
                    begun()
                }
                begun => begun,
            };
            match begun {
                Begun::Settled(line) => Err(line),
                Begun::Work(work) => {
                    let timeout = timeout.map_or(work.timeout, |seconds| {
                        Some(Duration::from_secs(seconds)).filter(|timeout| !timeout.is_zero())
                    });
                    Ok((work, timeout))
                }
            }
        });
        begun.await.unwrap_or(Err(failed))
    }

    /// Takes up a task of a main agent that is not wanted any more: what an earlier server has begun for it is to be ended
    /// and given back. Everything else stays as it is.
    async fn take_back(&self, id: TaskId) -> Result<(Arc<Work>, Option<Duration>), Thin> {
        let (parent, refused) = (Arc::clone(&self.parent), Thin::fail(id.clone(), CANCELLED));
        let begun = blocking(move || {
            if !is_left(&parent.project, &id) {
                return None;
            }
            let begun = begin(&parent.project, &id, None, parent.korean, parent.now_ms());
            let Begun::Work(work) = begun else { return None };
            let is_ours = made_for(&parent, &work.key).is_none_or(|(by, _)| by == Some(parent.session));
            is_ours.then_some((work, None))
        });
        begun.await.flatten().ok_or(refused)
    }

    /// Has a task done, again and again while there is a point in it, and says what came of it.
    async fn carry_out(self, mut work: Arc<Work>, timeout: Option<Duration>) {
        let room = self.room().await;
        // It is never closed.
        let _place = room.acquire_owned().await;
        let line = loop {
            let tried = self.work_on(&work, timeout).await;
            crash::site("before end errand");
            let (parent, about) = (Arc::clone(&self.parent), Arc::clone(&work));
            let next = blocking(move || put_down(&parent, &about, tried)).await;
            match next {
                Some(Begun::Work(again)) => work = again,
                Some(Begun::Settled(line)) => break line,
                None => break Thin::fail(work.id.clone(), "it could not be concluded"),
            }
            crash::site("after failed errand");
        };
        crash::site("after end errand");
        self.say(&line).await;
    }

    /// How a try went; or why the work is given back.
    async fn work_on(&self, work: &Arc<Work>, timeout: Option<Duration>) -> Result<Tried, String> {
        let run = match self.parent.found(&work.key) {
            Some(session) => session.run,
            None if self.parent.is_cancelled() => return Err(CANCELLED.to_owned()),
            None => {
                let (parent, planned) = (Arc::clone(&self.parent), Arc::clone(work));
                let wanted = blocking(move || {
                    let config = parent.config()?;
                    let new = parent.task_run(&config, &planned, None)?;
                    parent.wanted(new)
                });
                let asked = match wanted.await.unwrap_or_else(|| Err("it could not be prepared".to_owned())) {
                    Ok(wanted) => self.parent.ask_for(work, wanted).await,
                    Err(reason) => Err(reason),
                };
                match asked {
                    Ok(Some((run, _))) => run,
                    Ok(None) => return Err("it was begun by somebody else".to_owned()),
                    Err(reason) => return Ok(Tried::in_vain(reason)),
                }
            }
        };
        crash::site("after start errand");
        self.report(ThinNews::Began(run), None).await;
        let limit = timeout.map(|timeout| Limit { timeout, used: work.used });
        let (over, is_late) = match self.parent.wait(run, limit).await {
            End::Over(over) => (over, false),
            End::Late(over) => (over, true),
            End::Gone => {
                let unknown = Tried::in_vain("nobody knows how it ended".to_owned());
                return Ok(Tried { is_final: false, ..unknown });
            }
            End::Cancelled => return Err(CANCELLED.to_owned()),
        };
        let would_fail = match &over.outcome {
            Outcome::Completed { .. } => false,
            Outcome::Cancelled => true,
            Outcome::Failed { reason } => {
                matches!(reason, Reason::NotStarted { .. } | Reason::SameFailure { .. })
            }
        };
        Ok(Tried {
            ended: ended(&over.outcome),
            report: self.reported(work).await,
            checked: over.said,
            is_final: is_late || would_fail,
            tries: over.tries,
            used_ms: over.worked_ms.saturating_add(over.waited_ms),
        })
    }

    /// What whoever worked on it said at last, for the next one.
    async fn reported(&self, work: &Arc<Work>) -> String {
        let Some(session) = self.parent.found(&work.key) else { return String::new() };
        let driver = Arc::clone(&self.driver);
        let said = blocking(move || said(&driver.home, session.id, &session.order.agent.output));
        said.await.unwrap_or_default()
    }

    /// Where those wait whose turn has not come: a main agent has as many at work as a loop would.
    async fn room(&self) -> Arc<Semaphore> {
        let parent = Arc::clone(&self.parent);
        let configured = blocking(move || parent.config().ok()?.orchestrate.parallel_max).await.flatten();
        let many = configured.map_or(PARALLEL, |it: NonZeroU32| it).get() as usize;
        let mut rooms = self.driver.rooms.lock().expect("nobody panics while holding it");
        rooms.retain(|_, room| room.strong_count() > 0);
        let known = rooms.get(&self.session).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let room = Arc::new(Semaphore::new(many));
            rooms.insert(self.session, Arc::downgrade(&room));
            room
        })
    }

    async fn say(&self, line: &Thin) {
        crash::site("before answer errand");
        self.report(ThinNews::Answered(line.to_string()), Some(self.name)).await;
    }

    async fn report(&self, news: ThinNews, name: Option<ActionName>) {
        let input = Input::Thin { session: self.session, number: self.number, news };
        while let Err(error) = self.driver.journal.submit(input.clone(), name).await {
            if matches!(error, SubmitError::Closed) {
                return;
            }
            sleep(AGAIN).await;
        }
    }
}

/// A task that is not begun, or given back; every line stands in the log.
fn refused_task(parent: &Parent, id: &TaskId, reason: &str) -> Thin {
    let line = Thin::fail(id.clone(), reason);
    note_if_there(&parent.project, &line, parent.now_ms());
    line
}

/// Puts down what came of a try: the line that ends it, or what is worked on next.
fn put_down(parent: &Parent, work: &Arc<Work>, tried: Result<Tried, String>) -> Begun {
    let line = match tried {
        Ok(tried) => conclude(&parent.project, work, &tried, parent.now_ms()),
        Err(reason) => {
            // A state that cannot be written stays as it is: the next who asks takes the task over.
            release(&parent.project, work, parent.now_ms()).ok();
            Some(refused_task(parent, &work.id, &reason))
        }
    };
    // Its place stands in what was noted when it was begun first.
    let again = || begin(&parent.project, &work.id, None, parent.korean, parent.now_ms());
    line.map_or_else(again, Begun::Settled)
}

/// Whose run was asked for under a key, and whether it was cancelled. None if there is none.
fn made_for(parent: &Parent, key: &str) -> Option<(Option<SessionId>, bool)> {
    let run = parent.found(key)?.run;
    let world = parent.driver.journal.world();
    let run = world.runs.get(&run)?;
    Some((run.parent, run.outcome == Some(Outcome::Cancelled)))
}

/// Whether the run under a key was cancelled, and was another main agent's.
fn was_cancelled_with_another(parent: &Parent, key: &str) -> bool {
    made_for(parent, key)
        .is_some_and(|(by, is_cancelled)| is_cancelled && by.is_some_and(|by| by != parent.session))
}

/// Whether there is somebody to do a task: one that nobody can do stays as it is.
fn check_agent(parent: &Parent, id: &TaskId) -> Result<(), String> {
    let Some(owner) = unbegun(&parent.project, id, parent.now_ms()) else { return Ok(()) };
    match parent.config()?.agent_of_task(None, owner.as_ref()) {
        Some(_) => Ok(()),
        None => Err(NO_AGENT.to_owned()),
    }
}

/// What a `CUSTOM` wants.
enum Wanted {
    /// Something is to become of a task.
    Of(Wish, TaskId),
    /// A phase is over.
    Close(u32),
}

/// What is wanted by a `CUSTOM`; none if its type is not known.
fn wanted(message_type: &str, payload: &str) -> Option<Result<Wanted, &'static str>> {
    let wish = match message_type {
        "PRIORITY" => Wish::First,
        "SKIP" => Wish::Skip,
        "RETRY" => Wish::Retry,
        // A repaired state would take it for the word of who works on a task.
        "EXECUTOR" => return Some(Err("executors alone note that")),
        "CLOSE" => return Some(payload.trim().parse().map(Wanted::Close).map_err(|_| "it names no phase")),
        _ => return None,
    };
    let (id, more) = payload.split_once(':').unwrap_or((payload, ""));
    let is_known = more.is_empty() || (wish == Wish::First && more.trim() == "high");
    Some(match id.trim().parse::<TaskId>() {
        Ok(id) if is_known => Ok(Wanted::Of(wish, id)),
        Ok(_) if wish == Wish::First => Err("PRIORITY knows high alone"),
        Ok(_) | Err(_) => Err("it names no task"),
    })
}

/// Records that a phase is over, if that is not recorded yet: who asks again after a crash is not refused.
fn recorded(parent: &Parent, phase: u32) -> Result<(), String> {
    let known = parent.project.state().ok().flatten();
    if known.is_some_and(|state| state.checkpoints().contains(&phase)) {
        return Ok(());
    }
    close(&parent.project, phase, false, parent.now_ms()).map(drop).map_err(|error| error.to_string())
}

/// After how many seconds it is ended, as far as that was said.
fn timeout(meta: Option<&Value>) -> Result<Option<u64>, String> {
    match meta {
        None => Ok(None),
        Some(Value::Object(meta)) => timeout_s(meta)
            .map_err(|said| format!("\"timeout\" is a whole number of seconds, 0 for none, and not {said}")),
        Some(_) => Err("its META is no JSON object".to_owned()),
    }
}
