//! Room on the disk that is kept for the journal, so that an agent which fills the disk can still be ended.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ostler_files::private;
use rustix::fs::{FallocateFlags, fallocate};

/// How much is kept.
const BYTES: u64 = 4 << 20;

/// How much is given back at once: whoever fills the disk takes what is free, so the rest is kept for the next time.
const PIECE: u64 = 512 << 10;

/// Between two attempts to keep room again.
const AGAIN: Duration = Duration::from_secs(5);

/// A file that takes up room until somebody needs it.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    kept: u64,
    tried_at: Instant,
}

impl Reserve {
    /// Keeps room, if there is some.
    pub(crate) fn keep(path: &Path) -> Reserve {
        let mut reserve = Reserve { path: path.to_path_buf(), kept: 0, tried_at: Instant::now() };
        // What an earlier server has kept is there also where no more can be had.
        reserve.kept = reserve.open().and_then(|file| Some(file.metadata().ok()?.len())).unwrap_or_default();
        reserve.fill();
        reserve
    }

    /// Gives a piece of the room back. Says whether there was any.
    pub(crate) fn give(&mut self) -> bool {
        let left = self.kept.saturating_sub(PIECE);
        let given = self.kept > 0 && self.open().is_some_and(|file| file.set_len(left).is_ok());
        // One that cannot be made smaller is of no use any more.
        self.kept = if given { left } else { 0 };
        self.tried_at = Instant::now();
        given
    }

    /// Keeps room again, once there is some.
    pub(crate) fn renew(&mut self) {
        if self.kept < BYTES && self.tried_at.elapsed() > AGAIN {
            self.fill();
        }
    }

    fn fill(&mut self) {
        self.tried_at = Instant::now();
        let Some(file) = self.open() else { return };
        if fallocate(&file, FallocateFlags::empty(), 0, BYTES).is_ok() {
            self.kept = BYTES;
        } else {
            // Some file systems leave what they could get.
            file.set_len(self.kept).ok();
        }
    }

    fn open(&self) -> Option<File> {
        private::open_or_create(&self.path, OpenOptions::new().write(true).truncate(false)).ok()
    }
}
