//! What a loop does next, and what is due at the end of a phase. Both are decided from what is there now, however it came
//! to be so, and are asked again after every step.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use ostler_protocol::thin::{ErrorCode, Thin};

use super::{About, Conduct, Stage, Unmerged};
use crate::plan::{Progress, Request, Task, TaskNumber, answer};

/// What a loop does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// This phase needs its place before anything in it can begin.
    Prepare(u32),
    /// These begin.
    Begin(Vec<TaskNumber>),
    /// All of a phase is settled: test it, merge it, record it.
    Close(u32),
    /// Somebody works.
    Wait,
    /// Nobody works, and nothing can begin: a person decides.
    Ask(About),
    /// Nothing is left of what was asked for.
    Done,
    /// The file cannot be worked with.
    Refuse(Thin),
}

/// Decides. `ours` are the tasks that the loop itself has under way, `prepared` the phases that have their places, and a
/// checkpoint is recorded for each of `closed`.
pub fn next(
    progress: &Progress<'_>,
    closed: &BTreeSet<u32>,
    prepared: &BTreeSet<u32>,
    ours: usize,
    asked: &Conduct,
) -> Next {
    let plan = progress.plan();
    let is_wanted = |phase: u32| asked.phase.is_none_or(|wanted| wanted == phase);
    let phases = plan.phases().iter().map(|phase| phase.number);
    let Some(phase) = phases.into_iter().find(|phase| is_wanted(*phase) && !closed.contains(phase)) else {
        return match asked.phase.filter(|wanted| !plan.phases().iter().any(|it| it.number == *wanted)) {
            Some(_) => Next::Refuse(answer(progress, closed, Request { phase: asked.phase, groups: false })),
            None => Next::Done,
        };
    };
    if progress.is_phase_settled(phase) {
        // Somebody else may still work on a task of a later phase; the loop itself never does.
        return Next::Close(phase);
    }
    // A phase begins where the one before it was merged: what is ready early waits for its place.
    match answer(progress, closed, Request { phase: Some(phase), groups: false }) {
        Thin::Ready { groups, .. } => {
            let room = (asked.parallel_max.get() as usize).saturating_sub(ours);
            let ids = groups.into_iter().next().into_iter().flatten();
            let tasks: Vec<TaskNumber> =
                ids.filter_map(|id| plan.find(id.as_str()).map(Task::number)).take(room).collect();
            if tasks.is_empty() {
                Next::Wait
            } else if prepared.contains(&phase) {
                Next::Begin(tasks)
            } else {
                Next::Prepare(phase)
            }
        }
        Thin::Error { code: ErrorCode::Blocked, .. } => {
            let failed = progress.failed().map(|task| String::from(plan.task(task).name()));
            Next::Ask(About::Blocked { phase, tasks: failed.collect() })
        }
        Thin::Wait {} => Next::Wait,
        other => Next::Refuse(other),
    }
}

/// What is due at the end of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Run its tests.
    Test,
    /// Merge it.
    Merge,
    /// Have an agent bring the two sides together.
    Mend,
    /// A person decides.
    Ask(About),
    /// Record its checkpoint.
    Record,
}

/// How often agents are asked to bring the two sides of a phase together.
const MENDS_MAX: usize = 2;

/// How a phase stands in git when it is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The head of its branch; none outside of git.
    pub head: Option<String>,
    /// The head of the target, where it is worked on in a place of its own.
    pub target: Option<String>,
}

/// Decides what is due at the end of a phase. Tests count for the commit that they were about, and so does a merge that
/// was not possible.
pub fn due(phase: u32, stage: &Stage, standing: &Standing) -> Due {
    if stage.merged.is_some() {
        return Due::Record;
    }
    let Some(tested) = stage.tested.as_ref().filter(|tested| tested.commit == standing.head) else {
        return Due::Test;
    };
    if tested.code != 0 && !tested.waived {
        return Due::Ask(About::Red { phase, commit: standing.head.clone() });
    }
    let (Some(head), Some(target)) = (&standing.head, &standing.target) else { return Due::Record };
    let is_same = |it: &&Unmerged| it.commit == *head && it.target == *target;
    match stage.unmerged.as_ref().filter(is_same) {
        None => Due::Merge,
        Some(unmerged) if unmerged.is_conflict && stage.mending.len() < MENDS_MAX => Due::Mend,
        Some(_) => Due::Ask(About::Unmerged { phase, commit: head.clone(), target: target.clone() }),
    }
}
