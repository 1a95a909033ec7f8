//! What stands in a git directory only while something is done there. Its name says whose it is, so that what somebody
//! left who was killed is taken away by whoever comes next, and nothing else is.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    process,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use ostler_files::kernel;
use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};

/// A copy of the index.
pub(crate) const INDEX: &str = "ostler-index";

/// A folder without anything in it.
pub(crate) const EMPTY: &str = "ostler-empty";

/// How old something is that nobody needs any more, where its owner cannot be looked for. Nothing takes so long.
const OLD: Duration = Duration::from_hours(24);

/// The most names that are looked at: an agent can make as many as it likes.
const NAMES_MAX: usize = 10_000;

/// A name that nobody else has.
pub(crate) fn name(kind: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{kind}.{}.{}.{number}", place(), process::id())
}

/// Takes away what was left by those who are not there any more. What cannot be taken away does no harm.
pub(crate) fn sweep(git_dir: &Path) {
    let Ok(entries) = fs::read_dir(git_dir) else { return };
    for entry in entries.take(NAMES_MAX).flatten() {
        let name = entry.file_name();
        let parts: Vec<&str> = name.to_str().unwrap_or_default().split('.').collect();
        let [kind @ (INDEX | EMPTY), rest @ ..] = parts.as_slice() else { continue };
        let is_left = match rest {
            [there, pid, ..] if *there == place() => !is_alive(pid),
            // From before the last start of the machine, or from a container or another machine that shares the files.
            _ => entry.metadata().is_ok_and(|metadata| is_old(metadata.ctime())),
        };
        if is_left {
            let path = entry.path();
            drop(if *kind == EMPTY { fs::remove_dir(path) } else { fs::remove_file(path) });
        }
    }
}

/// In which list of processes a number is to be looked for: that of this start of the machine, in this container.
fn place() -> &'static str {
    static PLACE: OnceLock<String> = OnceLock::new();
    PLACE.get_or_init(|| {
        let boot = kernel::read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let list = fs::metadata("/proc/self/ns/pid").map_or(0, |it| it.ino());
        format!("{}-{list}", boot.get(..8).unwrap_or("0"))
    })
}

fn is_alive(pid: &str) -> bool {
    let pid = pid.parse().ok().and_then(Pid::from_raw);
    // One of another user is one, too.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

#[expect(
    clippy::disallowed_methods,
    reason = "how old a file is says the clock of the machine; nothing is decided by it that is replayed"
)]
fn is_old(changed_s: i64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(changed_s).is_ok_and(|changed_s| Duration::from_secs(changed_s) + OLD < now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_have_left_goes_and_nothing_else() {
        let folder =
            std::env::current_exe().expect("a test is a program").parent().expect("a folder").to_owned();
        let folder = folder.join(format!("scratch-{}", process::id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder");
        let dead = Pid::from_raw(i32::MAX).expect("a number that no process has").as_raw_nonzero();
        let own = name(INDEX);
        let stays = [own.as_str(), "index", "ostler-index", "ostler-index.x.1.0", "ostler-indexes.0.1"];
        let left = format!("{INDEX}.{}.{dead}.0", place());
        let goes = [left.clone(), format!("{left}.lock")];
        for file in stays.iter().copied().chain(goes.iter().map(String::as_str)) {
            fs::File::create(folder.join(file)).expect("a file");
        }
        let empty = format!("{EMPTY}.{}.{dead}.0", place());
        fs::create_dir(folder.join(&empty)).expect("a folder");
        sweep(&folder);
        let mut found: Vec<_> =
            fs::read_dir(&folder).expect("a folder").map(|it| it.expect("a file").file_name()).collect();
        found.sort();
        let mut expected: Vec<_> =
            stays.iter().copied().chain(["sub"]).map(Into::into).collect::<Vec<std::ffi::OsString>>();
        expected.sort();
        assert_eq!(found, expected);
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(is_old(0) && !is_old(i64::MAX / 2));
    }
}
