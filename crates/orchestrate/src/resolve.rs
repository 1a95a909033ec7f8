//! Answers `RESOLVE_NEXT`: reads the plan and the state, says what can run, and writes the resolver's parts.

use std::fs;

use ostler_engine::plan::{Plan, Progress, Request, Task, answer};
use ostler_protocol::{name::TaskId, thin::Thin};

use crate::{
    exec::is_abandoned,
    history::Committed,
    log::append,
    project::Project,
    state::{State, StateError},
};

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resolve<'a> {
    /// This phase alone.
    pub phase: Option<u32>,
    /// Afresh from the file. That is how it is always done here, so it changes nothing; others may ask for it.
    pub force: bool,
    /// Later waves of the phase too.
    pub groups: bool,
    /// A state that cannot be understood is put aside and begun anew, from the done marks, the log and what git has,
    /// newest first.
    pub repair: Option<&'a [Committed]>,
}

/// The answer.
#[derive(Debug)]
pub struct Resolved {
    /// One line.
    pub line: Thin,
    /// Why the state could not be written, although there is an answer.
    pub unwritten: Option<StateError>,
    /// The task file that the state is about, if it is another one.
    pub other: Option<String>,
}

/// What can run now.
pub fn resolve(project: &Project, asked: Resolve<'_>, at_ms: u64) -> Resolved {
    let question = Thin::ResolveNext { phase: asked.phase, groups: asked.groups, force: asked.force };
    let (plan, name) = match project.plan() {
        Ok(read) => read,
        Err(error) => return refused(project, at_ms, &question, error.thin()),
    };
    if let Some(problem) = plan.problems().first() {
        return refused(project, at_ms, &question, problem.thin(&name));
    }
    if asked.repair.is_some()
        && let Err(error) = project.set_state_aside()
        && let Some(line) = error.thin()
    {
        return refused(project, at_ms, &question, line);
    }
    if let Some((line, other)) = unchanged(project, &plan, asked) {
        let lines = [question.to_string(), line.to_string()];
        let logged = append(&project.log_file(), at_ms, lines.iter().map(String::as_str));
        return Resolved { line, unwritten: logged.err().map(StateError::Unwritable), other };
    }
    let begin = || match asked.repair {
        Some(commits) => project.recalled(&plan, commits, at_ms),
        None => State::new(&project.name(), &plan, at_ms),
    };
    let changed = project.change_state(at_ms, begin, |state| {
        let line = decide(&plan, state, asked);
        let lines = vec![question.to_string().into(), line.to_string().into()];
        ((line, project.other_task_file(state)), lines)
    });
    let error = match changed {
        Ok((line, other)) => return Resolved { line, unwritten: None, other },
        Err(error) => error,
    };
    if let Some(line) = error.thin() {
        return refused(project, at_ms, &question, line);
    }
    // Nothing can be written here, and the question can be answered all the same.
    match project.state() {
        Ok(state) => {
            let mut state = state.unwrap_or_else(begin);
            let other = project.other_task_file(&state);
            Resolved { line: decide(&plan, &mut state, asked), unwritten: Some(error), other }
        }
        Err(error) => {
            let line = error
                .thin()
                .unwrap_or_else(|| Thin::error(ostler_protocol::thin::ErrorCode::StateCorrupt, None));
            Resolved { line, unwritten: None, other: None }
        }
    }
}

/// The answer, if the state is there and stays as it is: then nobody has to be kept from it, and nothing be on disk first.
/// While somebody holds the lock, the question waits its turn.
fn unchanged(project: &Project, plan: &Plan, asked: Resolve<'_>) -> Option<(Thin, Option<String>)> {
    let is_free = || !project.lock_file().exists();
    let before = Some(project).filter(|_| is_free())?.state().ok()??;
    let mut state = before.clone();
    let line = decide(plan, &mut state, asked);
    project.name_task_file(&mut state, false);
    (state == before && is_free()).then(|| (line, project.other_task_file(&before)))
}

fn decide(plan: &Plan, state: &mut State, asked: Resolve<'_>) -> Thin {
    let progress = state.progress(plan);
    let line = answer(&progress, &state.checkpoints(), Request { phase: asked.phase, groups: asked.groups });
    let left = (line == Thin::Wait {}).then(|| left_behind(&progress, state, asked.phase)).flatten();
    state.resolved(&progress);
    left.unwrap_or(line)
}

/// The tasks that are waited for, if nobody is at any of them any more: whoever begins them goes on with what their agents
/// do or have done. Nobody else would, and whoever waits would wait for ever.
fn left_behind(progress: &Progress<'_>, state: &State, phase: Option<u32>) -> Option<Thin> {
    let plan = progress.plan();
    let running = progress.running().map(|task| plan.task(task));
    let ids: Vec<TaskId> =
        running.filter(|task| phase.is_none_or(|phase| task.phase() == phase)).map(Task::id).collect();
    let is_left = ids.iter().all(|id| state.note(id).is_some_and(|note| is_abandoned(&note)));
    Thin::ready(vec![ids]).filter(|_| is_left)
}

/// An error changes nothing, and is in the log.
fn refused(project: &Project, at_ms: u64, question: &Thin, line: Thin) -> Resolved {
    log_refusal(project, at_ms, &[question.to_string(), line.to_string()]);
    Resolved { line, unwritten: None, other: None }
}

/// Logs what a resolver cannot answer. Where there is neither a task file nor a directory for the log, nobody has a project,
/// and nothing is left behind.
pub(crate) fn log_refusal(project: &Project, at_ms: u64, lines: &[String]) {
    let has_folder = project.folder().is_dir();
    if !project.is_folder_inside() || !has_folder && project.task_file().is_err() {
        return;
    }
    // Whoever asked has the line; a log that cannot be written takes nothing from it.
    if !has_folder && fs::create_dir(project.folder()).is_err() {
        return;
    }
    append(&project.log_file(), at_ms, lines.iter().map(String::as_str)).ok();
}
