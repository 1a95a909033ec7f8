//! File descriptors that are kept in reserve: a server without any can neither see that a shim lives nor end it.
//!
//! | free | what still happens |
//! |---|---|
//! | at least [`LAUNCH_MIN`] | everything |
//! | fewer | no agent is started |
//! | fewer than [`LINK_MIN`] | no further shim is followed, unless its session is cancelled |
//! | fewer than [`CLIENT_MIN`] | new connections of clients are refused with 503 |
//!
//! Another process of the user can lower the limit of the server. A soft limit is raised again; a server whose hard limit
//! leaves fewer than [`LAUNCH_MIN`] ends, and the next one has the old limit again.
//!
//! The rest is for locks, spools and `/proc`, which are opened for a moment.

use std::{fs, sync::OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// So many have to be free to start an agent.
const LAUNCH_MIN: u64 = 16;

/// So many have to be free to follow one more shim.
const LINK_MIN: u64 = 12;

/// So many have to be free to let one more client in.
const CLIENT_MIN: u64 = 8;

/// How many there could be when the server started.
static MOST: OnceLock<u64> = OnceLock::new();

/// When a client that is not let in may try again.
pub(crate) const RETRY_AFTER_S: u32 = 5;

/// Raises the limit as far as the system allows. Says how many were allowed before.
pub(crate) fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    MOST.get_or_init(|| limit.maximum.unwrap_or(u64::MAX));
    // Where it cannot be raised, fewer sessions fit; they are told so one by one.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).ok();
    limit.current
}

/// Raises the limit again, if another process of the user lowered it for a while. If it lowered it for good and too few
/// descriptors are left, says how many there may be now and could be before: such a server can let no client in.
pub(crate) fn lowered() -> Option<(u64, u64)> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        raise_limit();
    }
    let (now, before) = (limit.maximum.unwrap_or(u64::MAX), *MOST.get()?);
    (now < before && !can_launch()).then_some((now, before))
}

/// How many descriptors this process may have.
pub(crate) fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Whether an agent can be started.
pub(crate) fn can_launch() -> bool {
    free() >= LAUNCH_MIN
}

/// Whether one more shim can be followed.
pub(crate) fn can_link() -> bool {
    free() >= LINK_MIN
}

/// Whether one more client can be let in; its own descriptor is open already.
pub(crate) fn can_admit() -> bool {
    free() >= CLIENT_MIN
}

/// Below the highest number there may be free ones, so they are counted.
fn free() -> u64 {
    // Linux tells the number as the size of the directory since 6.2. Before, the list itself takes one more.
    let counted = fs::metadata("/proc/self/fd").map_or(0, |about| about.len());
    let listed = || fs::read_dir("/proc/self/fd").map(|list| list.count() as u64);
    let open = if counted > 0 { Ok(counted) } else { listed() };
    open.map_or(0, |open| limit().saturating_sub(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_not_free() {
        let before = free();
        let files: Vec<fs::File> =
            (0..20).map(|_| fs::File::open("/dev/null").expect("a descriptor")).collect();
        // Other tests of this program open and close some meanwhile.
        assert!(free() < before.saturating_sub(10), "{before}, then {}", free());
        drop(files);
    }
}
