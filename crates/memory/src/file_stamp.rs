//! The facts by which a file counts as unchanged where no event tells of a change.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

use rustix::fs::Stat;

/// A file that changed this shortly before it was read may change again without another time of change.
const SETTLED_AFTER_MS: u64 = 2_000;

/// The facts about a file at the moment when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// How many names the file has. A change under another name brings no event here.
    pub(crate) names: u64,
}

impl FileStamp {
    pub(crate) fn of(about: &Metadata) -> FileStamp {
        FileStamp {
            inode: about.ino(),
            bytes: about.len(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
            names: about.nlink(),
        }
    }

    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between processors"
    )]
    pub(crate) fn of_stat(stat: &Stat) -> FileStamp {
        FileStamp {
            inode: stat.st_ino as u64,
            bytes: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            names: stat.st_nlink as u64,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the file was changed last, in UTC milliseconds.
    pub(crate) fn modified_ms(&self) -> u64 {
        let (seconds, nanoseconds) = self.modified;
        let seconds = u64::try_from(seconds).unwrap_or_default();
        seconds
            .saturating_mul(1000)
            .saturating_add(u64::try_from(nanoseconds).unwrap_or_default() / 1_000_000)
    }

    /// Whether the last change is so long ago that the next one will show.
    pub(crate) fn is_settled(&self, now_ms: u64) -> bool {
        let changed_ms = u64::try_from(self.changed.0).unwrap_or_default().saturating_mul(1000);
        now_ms.saturating_sub(changed_ms) > 1000 + SETTLED_AFTER_MS
    }
}
