//! Reads and writes context files: bounded, never through a link, never half of one.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use ostler_files::{UnusableFile, open_directory, private, sync_directory};

use super::{CONTEXT_BYTES_MAX, ContextDocument, ContextFile, ContextFileError, ContextState};

/// Where the context files are, below the root of a project.
const FOLDER: &str = ".claude/memory/context";

/// What a file is called before it is whole. One writer at a time holds the directory, so one name is enough.
const DRAFT: &str = ".ostler-draft";

/// The directory of a project's context files.
#[derive(Debug, Clone)]
pub struct ContextDirectory {
    path: PathBuf,
}

impl ContextDirectory {
    /// That of a project.
    pub fn of(root: &Path) -> ContextDirectory {
        ContextDirectory { path: root.join(FOLDER) }
    }

    /// Where a file is, or would be.
    pub fn path(&self, file: ContextFile) -> PathBuf {
        self.path.join(file.name())
    }

    /// Reads a file; one that is not there is [missing](ContextState::Missing), which is no error.
    pub fn read(&self, file: ContextFile) -> Result<ContextDocument, ContextFileError> {
        let path = self.path(file);
        let text = match private::read_text(&path, CONTEXT_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(&path, error)),
        };
        Ok(ContextDocument::of_text(file, text))
    }

    /// Writes a file in the place of what was read before. Nothing is written over a file of somebody else, or over one
    /// that has changed since. After a crash the old file is there or the new one, never half of one.
    pub fn replace(&self, before: &ContextDocument, text: &str) -> Result<(), ContextFileError> {
        let path = self.path(before.file);
        if before.state == ContextState::Foreign {
            return Err(ContextFileError::Foreign { path });
        }
        let io = |source| ContextFileError::Io { path: path.clone(), source };
        fs::create_dir_all(&self.path).map_err(io)?;
        // Held until this returns: the only draft is ours.
        let held = open_directory(&self.path).map_err(io)?;
        held.lock().map_err(io)?;
        if self.read(before.file)?.text != before.text {
            return Err(ContextFileError::Changed { path });
        }
        let draft = self.path.join(DRAFT);
        let written = write_draft(&draft, &held, text).and_then(|()| fs::rename(&draft, &path));
        if let Err(source) = written {
            // It is not the draft that matters; the next writer removes it too.
            fs::remove_file(&draft).ok();
            return Err(ContextFileError::Io { path, source });
        }
        sync_directory(&self.path).map_err(io)
    }
}

/// Writes a file of a project that is not there yet; whether it was not. Whatever has its name is left as it is.
pub fn write_new_file(directory: &Path, name: &str, text: &str) -> Result<bool, ContextFileError> {
    let path = directory.join(name);
    let io = |source| ContextFileError::Io { path: path.clone(), source };
    fs::create_dir_all(directory).map_err(io)?;
    let held = open_directory(directory).map_err(io)?;
    held.lock().map_err(io)?;
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let draft = directory.join(DRAFT);
    // A second name is given only where there is none: a rename would replace what came meanwhile.
    let written = write_draft(&draft, &held, text).and_then(|()| fs::hard_link(&draft, &path));
    fs::remove_file(&draft).ok();
    match written {
        Ok(()) => sync_directory(directory).map(|()| true).map_err(io),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(io(source)),
    }
}

/// Writes a file beside the others, with the rights that files of the project have.
fn write_draft(draft: &Path, held: &File, text: &str) -> io::Result<()> {
    match fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private::create_with(draft, OpenOptions::new().write(true))?;
    file.write_all(text.as_bytes())?;
    // A directory has the rights of the user's mask, and those to enter it.
    let mode = held.metadata()?.permissions().mode() & 0o666;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

fn failed(path: &Path, error: io::Error) -> ContextFileError {
    let path = path.to_owned();
    match UnusableFile::of(&error) {
        Some(what) => ContextFileError::Unusable { path, what },
        None if error.kind() == io::ErrorKind::InvalidData => ContextFileError::NotText { path },
        None => ContextFileError::Io { path, source: error },
    }
}
