//! What tasks have left that were begun and are not done: nobody else may have it committed.

use ostler_engine::plan::State as TaskState;
use ostler_protocol::name::TaskId;

use crate::project::Project;

/// What belongs to tasks that were begun and are not done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The files that they declare.
    pub files: Vec<String>,
    /// When the first of those began that declare none, if somebody has one in hand in the project itself.
    pub since_ms: Option<u64>,
}

/// What is unfinished in a phase, but for this task. Whatever cannot be read is said in words.
pub fn unfinished(project: &Project, phase: u32, but: Option<&TaskId>) -> Result<Unfinished, String> {
    let Some(state) = project.state().map_err(|error| error.to_string())? else {
        return Ok(Unfinished::default());
    };
    let (plan, _) = project.plan().map_err(|error| error.thin().to_string())?;
    let progress = state.progress(&plan);
    let mut found = Unfinished::default();
    for task in plan.tasks().filter(|task| task.phase() == phase) {
        let id = task.id();
        let now = progress.state(task.number());
        let was_begun = state.run_key(&id).is_some() || now == TaskState::Failed;
        if now == TaskState::Completed || !was_begun || but == Some(&id) {
            continue;
        }
        let files = task.files();
        let note = state.note(&id).filter(|note| note.is_begun() && note.worktree.is_none());
        if let Some(begun_at_ms) = note.filter(|_| files.is_empty()).and_then(|it| it.begun_at_ms) {
            found.since_ms = Some(found.since_ms.map_or(begun_at_ms, |since_ms| since_ms.min(begun_at_ms)));
        }
        found.files.extend(files);
    }
    Ok(found)
}
