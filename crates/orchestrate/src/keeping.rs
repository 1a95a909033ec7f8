//! Reads and writes the state file: as a whole, under its lock, and with a copy of what cannot be understood.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    file::{read, replace},
    lock::{Lock, LockError},
    log::{Log, append},
    project::Project,
    state::{State, StateError},
};

/// The largest state file that is read, and written: that of the most tasks and dependencies that a task file may have.
const STATE_BYTES_MAX: u64 = 512 << 20;

/// How many copies of states that cannot be understood are kept. Beyond them none is, and none is put aside.
const KEPT_MAX: u32 = 100;

impl Project {
    /// Reads the state, without its lock: it is replaced as a whole, so it is never half.
    pub fn state(&self) -> Result<Option<State>, StateError> {
        if !self.is_folder_inside() {
            return Err(StateError::Outside);
        }
        let path = self.state_file();
        let bytes = match read(&path, STATE_BYTES_MAX, false) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(StateError::Unreadable(error)),
        };
        match State::parse(&bytes) {
            Ok(state) => Ok(Some(state)),
            Err(reason) => Err(StateError::Corrupt { reason, kept: keep(&path, &bytes) }),
        }
    }

    /// Changes the state under its lock, and adds lines to the log. `begin` makes the state if there is none.
    pub fn change_state<T>(
        &self,
        at_ms: u64,
        begin: impl FnOnce() -> State,
        change: impl FnOnce(&mut State) -> (T, Vec<String>),
    ) -> Result<T, StateError> {
        let lock = self.lock()?;
        let before = self.state()?;
        let mut state = before.clone().unwrap_or_else(begin);
        let (result, lines) = change(&mut state);
        self.name_task_file(&mut state, before.is_none());
        // Before anything has changed: whoever is told that nothing could be written has to be told the truth.
        let log = Log::open(&self.log_file()).map_err(StateError::Unwritable)?;
        if before.as_ref() != Some(&state) {
            let bytes = state.to_bytes();
            if bytes.len() as u64 > STATE_BYTES_MAX {
                let error = io::Error::new(io::ErrorKind::FileTooLarge, "it would be larger than 512 MiB");
                return Err(StateError::Unwritable(error));
            }
            replace(&self.state_file(), &bytes).map_err(StateError::Unwritable)?;
        }
        log.add(at_ms, lines.iter().map(String::as_str)).map_err(StateError::Unwritable)?;
        drop(lock);
        Ok(result)
    }

    /// Adds lines to the log under the lock of a state that cannot be used: whoever repairs it finds them there.
    pub(crate) fn log_alone(
        &self,
        at_ms: u64,
        lines: impl FnOnce() -> Vec<String>,
    ) -> Result<(), StateError> {
        let lock = self.lock()?;
        let lines = lines();
        append(&self.log_file(), at_ms, lines.iter().map(String::as_str)).map_err(StateError::Unwritable)?;
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
