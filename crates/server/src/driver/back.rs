//! The work of a role that is over: committed, and tested where it is. What follows from that the engine says; the merge
//! itself is an action of its own.

use std::{path::Path, sync::Arc, time::Duration};

use ostler_engine::{
    ActionName, Input, SessionId,
    input::{TestVerdict, WorktreeNews},
    run::Outcome,
    session::{Session, WorktreeState},
};
use ostler_workspace::Work;
use tokio::{task::spawn_blocking, time::sleep};

use super::{
    Driver,
    orchestrate::command::{self, Chosen, Errand, NOT_AGREED},
    worktree::{self, Place},
};
use crate::{config::Config, crash};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// How long tests may take: nobody looks at them, and the work would wait for ever.
const TESTS_MS_MAX: u64 = 30 * 60_000;

/// Commits what was done in a worktree, tests it, and reports what came of it.
pub(super) async fn test(driver: &Arc<Driver>, session: SessionId, number: u32, name: ActionName) {
    crash::site("before test worktree");
    let verdict = match wanted(driver, session, number) {
        Some((session, title)) => judge(driver, session, &title, number).await,
        None => None,
    };
    crash::site("after test worktree");
    // Who goes on, or merges or discards it, has said what becomes of it.
    let verdict = verdict.unwrap_or(TestVerdict::Nothing);
    let input = Input::Worktree { session, news: WorktreeNews::Tested { number, verdict } };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
}

/// The session with what it was asked for, if this test of it is still wanted.
fn wanted(driver: &Driver, id: SessionId, number: u32) -> Option<(Session, String)> {
    let world = driver.journal.world();
    let session = world.sessions.get(&id)?;
    let worktree = session.worktree.as_ref()?;
    let is_wanted = worktree.state == WorktreeState::Testing && worktree.back.tests == number;
    let title = world.runs.get(&session.run)?.title.clone();
    is_wanted.then(|| (session.clone(), title))
}

/// None if nobody wants to know any more.
async fn judge(driver: &Arc<Driver>, session: Session, title: &str, number: u32) -> Option<TestVerdict> {
    let place = Place::of(driver, session.clone());
    let (looked, message) = (session.clone(), worktree::work_message(&session, title));
    let found = spawn_blocking(move || look(&place, &looked, &message)).await;
    let commit = match found.unwrap_or_else(|_| Err("git could not be run".to_owned())) {
        Ok(Found::Verdict(verdict)) => return Some(verdict),
        Ok(Found::Work(commit)) => commit,
        Err(message) => return Some(TestVerdict::Hindered { message }),
    };
    let red = |command: String, output: String| TestVerdict::Red { commit: commit.clone(), command, output };
    let chosen = match choose(driver, &session).await {
        Ok(None) => return Some(TestVerdict::Green { commit }),
        Ok(Some(Chosen { command, allowed: false })) => return Some(red(command, NOT_AGREED.to_owned())),
        Ok(Some(chosen)) => chosen,
        Err(message) => return Some(TestVerdict::Hindered { message }),
    };
    let errand = Errand {
        name: format!("test-{number}"),
        command: chosen.command.clone(),
        directory: session.directory().into(),
        environment: [].into(),
    };
    let began_at_ms = session.worktree.as_ref().map_or(0, |worktree| worktree.back.tested_at_ms);
    let is_overdue = || driver.journal.clock().now_ms() > began_at_ms.saturating_add(TESTS_MS_MAX);
    let is_wanted = || wanted(driver, session.id, number).is_some();
    match command::run(driver, &session, &errand, || is_wanted() && !is_overdue()).await {
        Ok(Some((0, _))) => Some(TestVerdict::Green { commit }),
        Ok(Some((code, output))) => {
            Some(red(chosen.command, format!("{}\nexit code {code}", output.trim_end())))
        }
        Ok(None) if is_wanted() => {
            let minutes = TESTS_MS_MAX / 60_000;
            Some(red(chosen.command, format!("it was ended after {minutes} minutes")))
        }
        Ok(None) => None,
        Err(message) => Some(TestVerdict::Hindered { message }),
    }
}

/// What is found in a worktree.
enum Found {
    /// There is nothing to test.
    Verdict(TestVerdict),
    /// A commit that has all of it.
    Work(String),
}

fn look(place: &Place, session: &Session, message: &str) -> Result<Found, String> {
    let (repository, worktree) = worktree::found(place)?;
    if !repository.has_work(&worktree).map_err(|error| error.to_string())? {
        return Ok(Found::Verdict(TestVerdict::Nothing));
    }
    let is_through = matches!(session.outcome, Some(Outcome::Completed { .. }));
    let insisted = session.worktree.as_ref().is_some_and(|it| it.back.insisted);
    if !is_through && !insisted {
        return Ok(Found::Verdict(TestVerdict::Unfinished));
    }
    if worktree.target.is_none() {
        return Err(format!(
            "it began on a detached HEAD, so there is no branch that it could be merged into: merge '{}' where you \
             want it, and discard the worktree",
            worktree.branch
        ));
    }
    Ok(match repository.commit_work(&worktree, message).map_err(|error| error.to_string())? {
        Work::Nothing => Found::Verdict(TestVerdict::Nothing),
        // It was merged by hand, and the worktree has only to go.
        Work::Merged { commit } => Found::Verdict(TestVerdict::Green { commit: commit.as_str().to_owned() }),
        Work::Waits { commit } => Found::Work(commit.as_str().to_owned()),
    })
}

/// What tests the project, by what is configured in it or stands in the worktree; the same as at the end of a phase.
async fn choose(driver: &Arc<Driver>, session: &Session) -> Result<Option<Chosen>, String> {
    let (root, directory) = (session.order.directory.clone(), session.directory().to_owned());
    let trusted = driver.trusted(&root);
    let chosen = spawn_blocking(move || {
        let config = Config::load(Some(Path::new(&root)), &trusted).map_err(|error| error.to_string())?;
        Ok(command::test(&config, Path::new(&directory), &trusted))
    });
    chosen.await.unwrap_or_else(|_| Err("the configuration could not be read".to_owned()))
}
