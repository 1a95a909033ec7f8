//! Reads and writes the state file: as a whole, under its lock, and with a copy of what cannot be understood.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use crate::{
    file::{read, replace},
    lock::{Lock, LockError},
    log::{Log, LogEntry},
    project::Project,
    state::{State, StateError},
};

/// The largest state file that is read, and written: that of the most tasks and dependencies that a task file may have.
const STATE_BYTES_MAX: u64 = 512 << 20;

/// How many copies of states that cannot be understood are kept. Beyond them none is, and none is put aside.
const KEPT_MAX: u32 = 100;

/// What the state file held when it was last read or written, and what that says. It counts as long as the file holds the
/// same, whoever writes it.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<(Vec<u8>, Arc<State>)>>);

impl Known {
    fn of(&self, bytes: &[u8]) -> Option<Arc<State>> {
        let known = self.0.lock().expect("nobody panics while holding it");
        known.as_ref().filter(|(held, _)| held == bytes).map(|(_, state)| Arc::clone(state))
    }

    fn keep(&self, bytes: Vec<u8>, state: Arc<State>) {
        *self.0.lock().expect("nobody panics while holding it") = Some((bytes, state));
    }
}

impl Project {
    /// Reads the state, without its lock: it is replaced as a whole, so it is never half.
    pub fn state(&self) -> Result<Option<State>, StateError> {
        self.state_bytes()?.map(|bytes| self.understood(&bytes)).transpose()
    }

    /// The same for whoever asks again and again: to make sense of a file takes longer than to see that it is the same.
    pub(crate) fn known_state(&self) -> Result<Option<Arc<State>>, StateError> {
        let Some(bytes) = self.state_bytes()? else { return Ok(None) };
        if let Some(state) = self.known.of(&bytes) {
            return Ok(Some(state));
        }
        let state = Arc::new(self.understood(&bytes)?);
        self.known.keep(bytes, Arc::clone(&state));
        Ok(Some(state))
    }

    fn state_bytes(&self) -> Result<Option<Vec<u8>>, StateError> {
        if !self.is_folder_inside() {
            return Err(StateError::Outside);
        }
        match read(&self.state_file(), STATE_BYTES_MAX, false) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(StateError::Unreadable(error)),
        }
    }

    fn understood(&self, bytes: &[u8]) -> Result<State, StateError> {
        let corrupt = |reason| StateError::Corrupt { reason, kept: keep(&self.state_file(), bytes) };
        State::parse(bytes).map_err(corrupt)
    }

    /// Changes the state under its lock, and adds lines to the log. `begin` makes the state if there is none.
    pub fn change_state<T>(
        &self,
        at_ms: u64,
        begin: impl FnOnce() -> State,
        change: impl FnOnce(&mut State) -> (T, Vec<LogEntry>),
    ) -> Result<T, StateError> {
        let lock = self.lock()?;
        let before = self.known_state()?;
        let mut state = before.as_deref().cloned().unwrap_or_else(begin);
        let (result, lines) = change(&mut state);
        self.name_task_file(&mut state, before.is_none());
        // Before anything has changed: whoever is told that nothing could be written has to be told the truth.
        let log = Log::open(&self.log_file()).map_err(StateError::Unwritable)?;
        if before.as_deref() != Some(&state) {
            state.count_lists();
            let bytes = state.to_bytes();
            if bytes.len() as u64 > STATE_BYTES_MAX {
                let error = io::Error::new(io::ErrorKind::FileTooLarge, "it would be larger than 512 MiB");
                return Err(StateError::Unwritable(error));
            }
            replace(&self.state_file(), &bytes).map_err(StateError::Unwritable)?;
            self.known.keep(bytes, Arc::new(state));
        }
        log.add(at_ms, lines).map_err(StateError::Unwritable)?;
        drop(lock);
        Ok(result)
    }

    /// Adds lines to the log under the lock of a state that cannot be used: whoever repairs it finds them there.
    pub(crate) fn log_alone(
        &self,
        at_ms: u64,
        lines: impl FnOnce() -> Vec<LogEntry>,
    ) -> Result<(), StateError> {
        let lock = self.lock()?;
        let lines = lines();
        let log = Log::open(&self.log_file()).map_err(StateError::Unwritable)?;
        log.add(at_ms, lines).map_err(StateError::Unwritable)?;
        drop(lock);
        Ok(())
    }

    fn lock(&self) -> Result<Lock, StateError> {
        let folder = self.folder();
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StateError::Unwritable(error));
            }
            _ => {}
        }
        if !self.is_folder_inside() || !folder.is_dir() {
            return Err(StateError::Outside);
        }
        Lock::take(&self.lock_file()).map_err(|error| match error {
            LockError::Held { pid } => StateError::Locked { pid },
            LockError::Unwritable(source) => StateError::Unwritable(source),
        })
    }

    /// The task file that a state is about, if that is another one that is there too: both know their tasks by the same ids.
    pub fn other_task_file(&self, state: &State) -> Option<String> {
        let name = state.task_file()?;
        let there = self.root().join(name).canonicalize().ok()?;
        let (path, _) = self.task_file().ok()?;
        (path.canonicalize().ok()? != there).then(|| name.to_owned())
    }

    /// Puts down which task file a state is about when it is begun, and when that file is no more. Of a state that somebody
    /// else has begun nothing is known.
    pub(crate) fn name_task_file(&self, state: &mut State, is_new: bool) {
        let is_gone = state.task_file().is_some_and(|name| !self.root().join(name).exists());
        if (is_new || is_gone)
            && let Ok((_, name)) = self.task_file()
        {
            state.set_task_file(name);
        }
    }

    /// Puts the state that cannot be used aside, so that a new one can be begun.
    pub fn set_state_aside(&self) -> Result<(), StateError> {
        match self.state() {
            Err(StateError::Corrupt { kept: Some(_), .. }) => {
                fs::remove_file(self.state_file()).map_err(StateError::Unwritable)
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Keeps a copy of a file that cannot be understood beside it, and says where. The copies of earlier ones stay.
fn keep(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    for number in 1..=KEPT_MAX {
        let kept = match number {
            1 => path.with_extension("json.corrupt"),
            number => path.with_extension(format!("json.corrupt.{number}")),
        };
        match read(&kept, STATE_BYTES_MAX, false) {
            Ok(there) if there == bytes => return Some(kept),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return replace(&kept, bytes).is_ok().then_some(kept);
            }
            Ok(_) | Err(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::env;

    use ostler_engine::plan::{Plan, State as TaskState};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "somebody else writes the file")]
    fn what_is_known_is_what_the_file_says() {
        let root = env::temp_dir().join(format!("ostler-keeping-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(&root).expect("the temporary directory can be written");
        let project = Project::find(&root, None);
        let begin = || State::new("p", &Plan::read(Vec::new()), 1_000);
        let known = || project.known_state().expect("a state").expect("one was written");
        for (number, state) in [TaskState::InProgress, TaskState::Completed].into_iter().enumerate() {
            let id = "T1.1".parse().expect("an id");
            let change = |it: &mut State| (it.executed(&id, state), Vec::new());
            project.change_state(1_000, begin, change).expect("it is written");
            assert_eq!(Some(&*known()), project.state().expect("a state").as_ref(), "change {number}");
            assert!(Arc::ptr_eq(&known(), &known()), "nothing was read anew");
        }
        let theirs = r#"{"tasks": {"completed": ["T1.2", "P1-T1.3"]}}"#;
        fs::write(project.state_file(), theirs).expect("a file");
        let id = "T1.3".parse().expect("an id");
        assert_eq!(known().tasks().get(&id), Some(&TaskState::Completed));
        let change = |it: &mut State| (it.executed(&id, TaskState::Failed), Vec::new());
        project.change_state(1_000, begin, change).expect("it is written");
        assert_eq!(known().tasks().get(&id), Some(&TaskState::Failed), "by whatever name they have it");
        fs::remove_dir_all(&root).ok();
    }
}
