//! What a resolver answers: one line of the thin dialect.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use ostler_protocol::thin::{ErrorCode, Thin};

use super::{
    files::{Claims, overlap},
    progress::{Progress, State},
    task::{Risk, TaskNumber},
};

/// How many tasks an error names.
const NAMED_MAX: usize = 20;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// This phase alone.
    pub phase: Option<u32>,
    /// Later waves of the phase too.
    pub groups: bool,
}

/// Why a task cannot be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// These have to be settled first; none of them by name if it waits for a phase.
    Needs(Vec<TaskNumber>),
    /// This one runs, and the two may not run together.
    Beside(TaskNumber),
}

/// What stands in the way of a task that nobody has begun.
pub fn obstacle(progress: &Progress<'_>, task: TaskNumber) -> Option<Obstacle> {
    let plan = progress.plan();
    if !progress.is_ready(task) {
        let before = plan.graph().backwards().tasks_of(plan, task);
        return Some(Obstacle::Needs(
            before.into_iter().filter(|it| !progress.state(*it).is_settled()).collect(),
        ));
    }
    let files = plan.task(task).files();
    let is_critical = |task: TaskNumber| plan.entry(task).risk == Some(Risk::Critical);
    let overlaps = |other: &TaskNumber| {
        let theirs = plan.task(*other).files();
        is_critical(task)
            || is_critical(*other)
            || files.iter().any(|file| theirs.iter().any(|their| overlap(file, their)))
    };
    progress.running().find(overlaps).map(Obstacle::Beside)
}

/// What can be done now. The main loop has recorded a checkpoint for each of these phases.
pub fn answer(progress: &Progress<'_>, checkpoints: &BTreeSet<u32>, request: Request) -> Thin {
    let plan = progress.plan();
    let is_there = |number: u32| plan.phases.iter().any(|phase| phase.number == number);
    if let Some(number) = request.phase.filter(|&number| !is_there(number)) {
        let detail = alloc::format!("there is no phase {number}");
        return Thin::error(ErrorCode::TasksNotFound, Some(&detail));
    }
    if let Some(settled) = settled(progress, checkpoints, request.phase) {
        return settled;
    }
    let asked = |task: &TaskNumber| request.phase.is_none_or(|phase| plan.entry(*task).phase.number == phase);
    let first = together(progress, progress.ready().filter(asked));
    if first.is_empty() {
        return stuck(progress, request.phase);
    }
    let mut groups = alloc::vec![first];
    if request.groups {
        later_waves(progress, request.phase, &mut groups);
    }
    let ids = |group: &Vec<TaskNumber>| group.iter().map(|&task| plan.task(task).id()).collect();
    Thin::ready(groups.iter().map(ids).collect()).expect("no group is empty")
}

/// The lowest phase that is settled and has no checkpoint, or the end of all.
fn settled(progress: &Progress<'_>, checkpoints: &BTreeSet<u32>, asked: Option<u32>) -> Option<Thin> {
    if let Some(phase) = asked {
        return progress.is_phase_settled(phase).then_some(Thin::PhaseDone { phase });
    }
    for phase in progress.plan().phases.iter().map(|phase| phase.number) {
        if !progress.is_phase_settled(phase) {
            return None;
        }
        if !checkpoints.contains(&phase) {
            return Some(Thin::PhaseDone { phase });
        }
    }
    Some(Thin::AllDone {})
}

/// Nothing can run: somebody works, somebody has to decide, or a phase was asked for too early.
fn stuck(progress: &Progress<'_>, asked: Option<u32>) -> Thin {
    if progress.running().next().is_some() {
        return Thin::Wait {};
    }
    let plan = progress.plan();
    let phase_of = |task: TaskNumber| plan.entry(task).phase.number;
    let is_open = |task: &TaskNumber| progress.state(*task) == State::Pending;
    let blocked = progress.blocked();
    let asked_for = plan.tasks().map(super::Task::number).filter(|&task| asked == Some(phase_of(task)));
    // Only what waits for a failure is blocked: the rest waits for work that can be done.
    let is_early = asked_for.filter(is_open).any(|task| blocked.binary_search(&task).is_err());
    let (code, first): (_, Vec<TaskNumber>) = if is_early {
        let ready = || progress.ready();
        let before: Vec<TaskNumber> =
            ready().filter(|&task| asked.is_some_and(|it| phase_of(task) < it)).collect();
        (ErrorCode::OpenDep, if before.is_empty() { ready().collect() } else { before })
    } else {
        (ErrorCode::Blocked, progress.failed().collect())
    };
    let mut names: Vec<&str> = first.iter().take(NAMED_MAX).map(|&task| plan.task(task).name()).collect();
    if first.len() > NAMED_MAX {
        names.push("...");
    }
    Thin::error(code, Some(&names.join(",")))
}

/// Those that may run at the same time, beside those that run already.
fn together(progress: &Progress<'_>, tasks: impl Iterator<Item = TaskNumber>) -> Vec<TaskNumber> {
    let plan = progress.plan();
    let mut claims = Claims::default();
    let mut is_alone = true;
    for task in progress.running() {
        if plan.entry(task).risk == Some(Risk::Critical) {
            return Vec::new();
        }
        claims.add(plan.task(task).files());
        is_alone = false;
    }
    let mut chosen = Vec::new();
    for task in tasks {
        if plan.entry(task).risk == Some(Risk::Critical) {
            if is_alone {
                return alloc::vec![task];
            }
            continue;
        }
        let files: Vec<String> = plan.task(task).files();
        if files.is_empty() || claims.allow(&files) {
            claims.add(files);
            chosen.push(task);
            is_alone = false;
        }
    }
    chosen
}

/// What can run when each wave before is done, in the phase that is asked for or at work.
fn later_waves(progress: &Progress<'_>, asked: Option<u32>, groups: &mut Vec<Vec<TaskNumber>>) {
    let plan = progress.plan();
    let lowest =
        plan.phases.iter().map(|phase| phase.number).find(|&phase| !progress.is_phase_settled(phase));
    let Some(phase) = asked.or(lowest) else { return };
    let mut later = progress.clone();
    for task in progress.running() {
        later.complete(task);
    }
    while let Some(group) = groups.last() {
        for &task in group {
            later.complete(task);
        }
        let wave = together(&later, later.ready().filter(|&task| plan.entry(task).phase.number == phase));
        if wave.is_empty() {
            return;
        }
        groups.push(wave);
    }
}
