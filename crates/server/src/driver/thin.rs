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
    ActionName, Input, RunId, SessionId,
    orchestrate::PARALLEL,
    run::Outcome,
    thin::{Errand, OK, ThinNews, UNKNOWN, refused, report},
};
use ostler_orchestrate::{
    Begun, Ended, Resolve, Wish, Work, begin, close, ended_before, is_left, note, release, resolve, wish_once,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use serde_json::Value;
use tokio::{
    sync::{Semaphore, mpsc::UnboundedReceiver},
    time::sleep,
};

use super::{
    Driver,
    executor::{
        Executed, ExecutorSites, PlannedRun, TaskFront, check_agent, execute,
        parent::{Parent, blocking},
        refuse,
        time_limits::{CallerLimit, TimeLimits, caller_limit},
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
                    self.take_back(id.clone()).await
                } else {
                    self.begin(id.clone(), worktree, meta, errand.run.is_some()).await
                };
                match begun {
                    Ok((work, limit)) => {
                        crash::site("after begin errand");
                        let task = Arc::new(ErrandTask { asked: self, limit });
                        tokio::spawn(carry_out(task, work));
                        return;
                    }
                    Err(ended) => ended.line(&id),
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

    /// Begins a task, or says how it has ended. One that was worked on before, and has failed, is not begun again: the one
    /// who asked has not heard of it yet.
    async fn begin(
        &self,
        id: TaskId,
        worktree: Option<String>,
        meta: Option<Value>,
        was_begun: bool,
    ) -> Result<(Arc<Work>, CallerLimit), Ended> {
        let parent = Arc::clone(&self.parent);
        let begun = blocking(move || {
            let refused = |reason: String| refuse(&parent, &id, &reason);
            let limit = caller_limit(meta).map_err(refused)?;
            let before = Some(&id).filter(|_| was_begun).and_then(|id| ended_before(&parent.project, id));
            if let Some(ended) = before {
                return Err(ended);
            }
            let worktree = worktree.map(PathBuf::from);
            let worktree: Option<&Path> = worktree.as_deref();
            check_agent(&parent, &id, None).map_err(refused)?;
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
                Begun::Settled(ended) => Err(ended),
                Begun::Work(work) => Ok((work, limit)),
            }
        });
        begun.await.unwrap_or_else(|| Err(Ended::failed("it could not be begun")))
    }

    /// Takes up a task of a main agent that is not wanted any more: what an earlier server has begun for it is to be ended
    /// and given back. Everything else stays as it is.
    async fn take_back(&self, id: TaskId) -> Result<(Arc<Work>, CallerLimit), Ended> {
        let parent = Arc::clone(&self.parent);
        let begun = blocking(move || {
            if !is_left(&parent.project, &id) {
                return None;
            }
            let begun = begin(&parent.project, &id, None, parent.korean, parent.now_ms());
            let Begun::Work(work) = begun else { return None };
            let is_ours = made_for(&parent, &work.key).is_none_or(|(by, _)| by == parent.session);
            is_ours.then_some((work, CallerLimit::Unsaid))
        });
        begun.await.flatten().ok_or_else(|| Ended::failed(CANCELLED))
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

/// A task that a main agent has asked for.
struct ErrandTask {
    asked: Asked,
    /// What it says about the time.
    limit: CallerLimit,
}

impl TaskFront for ErrandTask {
    const SITES: ExecutorSites = ExecutorSites {
        run_started: "after start errand",
        before_end: "before end errand",
        attempt_failed: "after failed errand",
        after_end: "after end errand",
    };
    const CANCELLED: &'static str = CANCELLED;

    fn parent(&self) -> &Parent {
        &self.asked.parent
    }

    fn limits(&self, work: &Work) -> TimeLimits {
        let usual = self.asked.parent.config().ok().and_then(|config| config.orchestrate.timeout);
        TimeLimits::of(work, usual, self.limit)
    }

    fn planned(&self, work: &Work) -> Result<PlannedRun, String> {
        let parent = &self.asked.parent;
        let new = parent.task_run(&*parent.config()?, work, None)?;
        Ok(PlannedRun { new, is_outside: false })
    }

    async fn began(&self, _: &Work, run: RunId) {
        self.asked.report(ThinNews::Began(run), None).await;
    }
}

/// Has a task done when its turn comes, and says what came of it.
async fn carry_out(task: Arc<ErrandTask>, work: Arc<Work>) {
    let room = task.asked.room().await;
    // It is never closed.
    let _place = room.acquire_owned().await;
    let id = work.id.clone();
    let Executed { ended, .. } = execute(&task, work).await;
    task.asked.say(&ended.line(&id)).await;
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
        .is_some_and(|(by, is_cancelled)| is_cancelled && by.is_some() && by != parent.session)
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
