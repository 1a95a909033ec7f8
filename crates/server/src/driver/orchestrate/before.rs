//! What somebody had changed in the checkout before a phase began there. It stays theirs: no task begins on top of it, and
//! what a task may have added to it is committed by nobody else than by them.

use std::{collections::BTreeMap, os::unix::fs::MetadataExt, path::Path, sync::Arc};

use ostler_engine::{
    graph::GroupFacts,
    plan::{State, Task, overlap},
};
use ostler_orchestrate::{Unfinished, unfinished};

use super::{Shared, ground::Ground};
use crate::driver::executor::parent::blocking;
use crate::task_list::short_list;

/// What a person can do before a task begins.
const PUT_AWAY: &str = "commit these changes or put them away (git stash), and it goes on";

/// What a person can do behind it.
const COMMIT: &str = "commit these files, and it goes on";

/// Why nothing can go on in the checkout, if a phase is worked on there: somebody has checked out another branch, or has
/// changes there that a task would add to.
pub(super) async fn stands_in_the_way(
    shared: &Arc<Shared>,
    stages: &BTreeMap<u32, GroupFacts>,
) -> Option<String> {
    let can_hinder = |it: &GroupFacts| it.target.is_some() || !it.foreign.is_empty();
    let is_there = |it: &GroupFacts| it.worktree.is_none() && it.ended_at_ms.is_none() && can_hinder(it);
    if !stages.values().any(is_there) {
        return None;
    }
    let (shared, stages) = (Arc::clone(shared), stages.clone());
    blocking(move || shared.ground().off_branch().or_else(|| shared.uncommitted(&stages))).await.flatten()
}

/// What of all that is changed in the checkout is no work of a phase that begins there.
pub(super) async fn foreign(
    shared: &Arc<Shared>,
    phase: u32,
    changed: Vec<String>,
) -> Result<Vec<String>, String> {
    let shared = Arc::clone(shared);
    let foreign = blocking(move || shared.foreign(phase, changed)).await;
    foreign.unwrap_or_else(|| Err("the place cannot be looked at".to_owned()))
}

impl Shared {
    /// What is foreign to a phase that begins in the checkout: all that is changed there now, but for what tasks of it have
    /// left that were begun before. Whoever declares no files owns what has changed since it began.
    fn foreign(&self, phase: u32, changed: Vec<String>) -> Result<Vec<String>, String> {
        let ground = self.ground();
        let within = ground.within();
        let Unfinished { files, since_ms } = unfinished(&self.project, phase, None)?;
        let is_foreign = |file: &String| {
            let Some(inner) = inner(&within, file) else { return true };
            let changed_at_ms = changed_at_ms(&ground.root.join(inner));
            let is_since = since_ms.is_some_and(|since_ms| changed_at_ms.is_some_and(|at| at >= since_ms));
            let is_of_task = is_since || files.iter().any(|pattern| overlap(pattern, inner));
            !is_of_task && !ground.is_own(inner)
        };
        Ok(changed.into_iter().filter(is_foreign).collect())
    }

    /// Why nothing can begin in the checkout: a task is to change files that somebody had changed before, and whoever
    /// commits them for it would commit both.
    fn uncommitted(&self, stages: &BTreeMap<u32, GroupFacts>) -> Option<String> {
        let (phase, stage) = stages.iter().find(|(_, stage)| is_here(stage))?;
        let (plan, _) = self.project.plan().ok()?;
        let known = self.project.state().ok()??;
        let progress = known.progress(&plan);
        let tasks = plan.tasks().filter(|task| {
            // Who was begun before has found them so, or has changed them.
            task.phase() == *phase
                && progress.state(task.number()) == State::Pending
                && known.run_key(&task.id()).is_none()
        });
        let patterns: Vec<String> = tasks.flat_map(Task::files).collect();
        let ground = self.ground();
        let within = ground.within();
        let fits = |file: &&String| {
            inner(&within, file).is_some_and(|inner| patterns.iter().any(|pattern| overlap(pattern, inner)))
        };
        let declared: Vec<String> = stage.foreign.iter().filter(fits).cloned().collect();
        let files = still_changed(&ground, &declared)?;
        Some(format!(
            "{} had changes before phase {phase} began, and tasks are to change them: {PUT_AWAY}",
            short_list(&files, false)
        ))
    }

    /// Why a task that declares no files cannot be committed: since its phase began, files were changed that had changes
    /// before, and nobody can tell whose is what.
    pub(super) fn mixed(&self, stage: &GroupFacts) -> Option<String> {
        if !is_here(stage) {
            return None;
        }
        let ground = self.ground();
        let within = ground.within();
        let is_since = |file: &&String| {
            let path = inner(&within, file).map(|inner| ground.root.join(inner));
            path.and_then(|path| changed_at_ms(&path)).is_some_and(|at| at > stage.began_at_ms)
        };
        let touched: Vec<String> = stage.foreign.iter().filter(is_since).cloned().collect();
        let files = still_changed(&ground, &touched)?;
        Some(format!(
            "{} had changes before the phase began, and has more by now: {COMMIT}",
            short_list(&files, false)
        ))
    }

    /// Whether what a person was told stands in the way still; none if that shows only when it is tried.
    pub(super) fn still_hinders(&self, message: &str) -> Option<bool> {
        let is_same = |now: Option<String>| Some(now.is_some_and(|now| message.ends_with(&now)));
        let stages = self.groups()?;
        if message.ends_with(PUT_AWAY) {
            return is_same(self.uncommitted(&stages));
        }
        if message.ends_with(COMMIT) {
            return is_same(stages.values().find_map(|stage| self.mixed(stage)));
        }
        self.ground().still_hinders(message)
    }
}

/// Whether a phase is worked on in the checkout, where somebody had changed something.
fn is_here(stage: &GroupFacts) -> bool {
    stage.worktree.is_none() && stage.ended_at_ms.is_none() && !stage.foreign.is_empty()
}

/// A file of the checkout as the project names it, by where in the checkout that is; none if it lies elsewhere.
fn inner<'a>(within: &Path, file: &'a str) -> Option<&'a str> {
    Path::new(file).strip_prefix(within).ok()?.to_str()
}

/// Those of these files that are not as they are committed; none if all are.
fn still_changed(ground: &Ground, files: &[String]) -> Option<Vec<String>> {
    if files.is_empty() {
        return None;
    }
    let changed = ground.foreign(&ground.root).ok()?;
    let found: Vec<String> = files.iter().filter(|file| changed.contains(file)).cloned().collect();
    (!found.is_empty()).then_some(found)
}

/// When a file was changed last, whatever time it says of its content itself; none if it is not there.
fn changed_at_ms(path: &Path) -> Option<u64> {
    let about = path.symlink_metadata().ok()?;
    u64::try_from(about.ctime() * 1_000 + about.ctime_nsec() / 1_000_000).ok()
}
