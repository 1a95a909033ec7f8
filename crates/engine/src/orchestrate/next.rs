//! The decisions of a loop: which tasks can start ([`ready`]), and how a phase comes to its end ([`close`]). Both look at
//! what is there now, however it came to be so, and the driver asks again after every step.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use ostler_protocol::thin::{ErrorCode, Thin};

use super::{About, LoopSpec};
use crate::{
    graph::{GroupFacts, MergeFailure},
    plan::{Progress, Request, Task, TaskNumber, answer},
};

/// What a loop does next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
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
pub fn ready(
    progress: &Progress<'_>,
    closed: &BTreeSet<u32>,
    prepared: &BTreeSet<u32>,
    ours: usize,
    asked: &LoopSpec,
) -> NextStep {
    let plan = progress.plan();
    let is_wanted = |phase: u32| asked.phase.is_none_or(|wanted| wanted == phase);
    let phases = plan.phases().iter().map(|phase| phase.number);
    let Some(phase) = phases.into_iter().find(|phase| is_wanted(*phase) && !closed.contains(phase)) else {
        return match asked.phase.filter(|wanted| !plan.phases().iter().any(|it| it.number == *wanted)) {
            Some(_) => {
                NextStep::Refuse(answer(progress, closed, Request { phase: asked.phase, groups: false }))
            }
            None => NextStep::Done,
        };
    };
    if progress.is_phase_settled(phase) {
        // Somebody else may still work on a task of a later phase; the loop itself never does.
        return NextStep::Close(phase);
    }
    // A phase begins where the one before it was merged: what is ready early waits for its place.
    match answer(progress, closed, Request { phase: Some(phase), groups: false }) {
        Thin::Ready { groups, .. } => {
            let room = (asked.parallel_max.get() as usize).saturating_sub(ours);
            let ids = groups.into_iter().next().into_iter().flatten();
            let tasks: Vec<TaskNumber> =
                ids.filter_map(|id| plan.find(id.as_str()).map(Task::number)).take(room).collect();
            if tasks.is_empty() {
                NextStep::Wait
            } else if prepared.contains(&phase) {
                NextStep::Begin(tasks)
            } else {
                NextStep::Prepare(phase)
            }
        }
        Thin::Error { code: ErrorCode::Blocked, .. } => {
            let failed = progress.failed().map(|task| String::from(plan.task(task).name()));
            NextStep::Ask(About::Blocked { phase, tasks: failed.collect() })
        }
        Thin::Wait {} => NextStep::Wait,
        other => NextStep::Refuse(other),
    }
}

/// What is due at the end of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseStep {
    /// Run its tests.
    Test,
    /// Merge it.
    Merge,
    /// Have an agent bring the two sides together.
    Repair,
    /// A person decides.
    Ask(About),
    /// Record its checkpoint.
    Record,
}

/// How often agents are asked to bring the two sides of a phase together.
const REPAIRS_MAX: usize = 2;

/// The commits of a phase when it is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupHeads {
    /// The head of its branch; none outside of git.
    pub head: Option<String>,
    /// The head of the target, where it is worked on in a place of its own.
    pub target: Option<String>,
}

/// Decides what is due at the end of a phase. Tests count for the commit that they were about, and so does a merge that
/// was not possible.
pub fn close(phase: u32, group: &GroupFacts, heads: &GroupHeads) -> CloseStep {
    if group.merged.is_some() {
        return CloseStep::Record;
    }
    let Some(tested) = group.tested.as_ref().filter(|tested| tested.commit == heads.head) else {
        return CloseStep::Test;
    };
    if tested.code != 0 && !tested.waived {
        return CloseStep::Ask(About::Red { phase, commit: heads.head.clone() });
    }
    let (Some(head), Some(target)) = (&heads.head, &heads.target) else { return CloseStep::Record };
    let is_same = |it: &&MergeFailure| it.commit == *head && it.target == *target;
    match group.unmerged.as_ref().filter(is_same) {
        None => CloseStep::Merge,
        Some(unmerged) if unmerged.is_conflict && group.repairs.len() < REPAIRS_MAX => CloseStep::Repair,
        Some(_) => CloseStep::Ask(About::Unmerged { phase, commit: head.clone(), target: target.clone() }),
    }
}
