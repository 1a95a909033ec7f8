//! Room on the disk that is kept for the journal, so that an agent which fills the disk can still be ended.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
};

use rustix::fs::{FallocateFlags, fallocate};

use crate::home::private_file;

/// How much is kept.
const BYTES: u64 = 4 << 20;

/// A file that takes up room until somebody needs it.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// Keeps room, if there is some.
    pub(crate) fn keep(path: &Path) -> Reserve {
        let file = private_file(path, OpenOptions::new().write(true).truncate(false));
        let kept = file.is_ok_and(|file| fallocate(&file, FallocateFlags::empty(), 0, BYTES).is_ok());
        let reserve = Reserve { path: path.to_path_buf() };
        if !kept {
            reserve.give_up();
        }
        reserve
    }

    /// Gives the room back. Says whether there was any.
    pub(crate) fn give_up(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }
}
