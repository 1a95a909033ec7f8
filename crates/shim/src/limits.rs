//! Limits that another process of the user lowers for the shim, so that it can neither write nor report.
//!
//! A soft limit is raised again. With a hard limit that is too low the shim can never do its work again: it ends with its
//! agent, and the session is interrupted instead of hanging.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A shim that may open fewer files cannot look at its tree. It has some twenty open itself.
const FILES_MIN: u64 = 64;

/// The limits that the shim began with.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    open_files: Rlimit,
    file_bytes: Rlimit,
}

impl Limits {
    /// The limits of this process now.
    pub(crate) fn own() -> Limits {
        Limits { open_files: getrlimit(Resource::Nofile), file_bytes: getrlimit(Resource::Fsize) }
    }

    /// Raises soft limits to what they were. Says which hard limit is too low, if one was lowered since the beginning.
    pub(crate) fn taken(&self) -> Option<&'static str> {
        let now = Limits::own();
        let hard = |limit: &Rlimit| limit.maximum.unwrap_or(u64::MAX);
        if hard(&now.open_files) < hard(&self.open_files).min(FILES_MIN) {
            return Some("another process lowered the number of files that the shim may open");
        }
        if hard(&now.file_bytes) < hard(&self.file_bytes) {
            return Some("another process lowered the size of the files that the shim may write");
        }
        raise(Resource::Nofile, &now.open_files, &self.open_files);
        raise(Resource::Fsize, &now.file_bytes, &self.file_bytes);
        None
    }
}

/// Raises a soft limit to what it was, as far as the hard one allows. A process needs no right for that.
fn raise(resource: Resource, now: &Rlimit, before: &Rlimit) {
    let soft = |limit: &Rlimit| limit.current.unwrap_or(u64::MAX);
    let hard = now.maximum.unwrap_or(u64::MAX);
    let wanted = soft(before).min(hard);
    if soft(now) < wanted {
        let current = (wanted < u64::MAX).then_some(wanted);
        setrlimit(resource, Rlimit { current, maximum: now.maximum }).ok();
    }
}
