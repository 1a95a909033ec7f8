//! The lock of the state file: a file with the pid and the start time of whoever holds it.
//!
//! Other programs go by the file alone, so it is one. It appears with its content at once (a link), so nobody ever reads
//! half of one. Whoever finds the lock of a dead process takes it over, one at a time: a lock on the directory keeps two
//! who have seen the same dead lock from removing each other's new one. What cannot be known to be dead is alive.
//!
//! Threads of one process wait for each other without looking at the file: whoever lets go of it wakes the next.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    process::{Pid, test_kill_process},
};
use serde::{Deserialize, Serialize};

use crate::file::{beside, directory, read};

/// How long a lock is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// A lock is a line; others may write more.
const LOCK_BYTES_MAX: u64 = 4096;

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    owner: Owner,
    // Dropped last, so that the next thread finds no file.
    _turn: Turn,
}

/// The files that threads of this process hold, or wait for others to let go of.
static TURNS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static TURN_OVER: Condvar = Condvar::new();

/// The right of one thread of this process to take a lock.
#[derive(Debug)]
struct Turn(PathBuf);

impl Turn {
    fn wait(path: &Path, patience: Duration) -> Option<Turn> {
        let turns = TURNS.lock().expect("nobody panics while holding it");
        let is_taken = |turns: &mut BTreeSet<PathBuf>| turns.contains(path);
        let waited = TURN_OVER.wait_timeout_while(turns, patience, is_taken);
        let (mut turns, _) = waited.expect("nobody panics while holding it");
        turns.insert(path.to_owned()).then(|| Turn(path.to_owned()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TURNS.lock().expect("nobody panics while holding it").remove(&self.0);
        TURN_OVER.notify_all();
    }
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    /// When that process was started, in the clock ticks of `/proc`: pids come again.
    start_time: Option<u64>,
    /// Since which start of the machine these ticks count, and in which space of pids.
    #[serde(default)]
    space: Option<String>,
}

/// Why there is no lock.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Somebody else holds it.
    Held {
        /// Whose it is, if it says so.
        pid: Option<u32>,
    },
    /// It cannot be written here.
    Unwritable(io::Error),
}

impl Lock {
    /// Waits for the lock, [`PATIENCE`] at most.
    pub(crate) fn take(path: &Path) -> Result<Lock, LockError> {
        Lock::take_within(path, PATIENCE)
    }

    fn take_within(path: &Path, patience: Duration) -> Result<Lock, LockError> {
        let owner = Owner::me();
        let begun = Instant::now();
        let turn = Turn::wait(path, patience).ok_or(LockError::Held { pid: Some(owner.pid) })?;
        loop {
            if create(path, &owner).map_err(LockError::Unwritable)? {
                return Ok(Lock { path: path.to_owned(), owner, _turn: turn });
            }
            let holder = holder(path);
            if holder.as_ref().is_some_and(|holder| !holder.may_live()) {
                remove_dead(path).map_err(LockError::Unwritable)?;
                continue;
            }
            if begun.elapsed() >= patience {
                return Err(LockError::Held { pid: holder.map(|holder| holder.pid) });
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Somebody who took it for dead holds it now, and it is theirs.
        if holder(&self.path).as_ref() == Some(&self.owner) {
            // If it cannot be removed, it is a dead lock when this process ends.
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Makes the lock appear with its content; whether it was free.
fn create(path: &Path, owner: &Owner) -> io::Result<bool> {
    let temporary = beside(path);
    let text = serde_json::to_string(owner).expect("numbers and letters") + "\n";
    // What was left there by a process of the same pid is nobody's.
    fs::remove_file(&temporary).ok();
    // Not synced: a lock is worth nothing once the machine has stopped.
    OpenOptions::new().write(true).create_new(true).open(&temporary)?.write_all(text.as_bytes())?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the lock of a dead process, unless somebody did so by now.
fn remove_dead(path: &Path) -> io::Result<()> {
    let folder = File::open(directory(path))?;
    flock(&folder, FlockOperation::LockExclusive)?;
    if holder(path).is_some_and(|holder| !holder.may_live()) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Whose lock it is; nothing if it is gone or does not say.
fn holder(path: &Path) -> Option<Owner> {
    let bytes = read(path, LOCK_BYTES_MAX, false).ok()?;
    serde_json::from_slice(&bytes).ok().or_else(|| {
        // Others may write a bare pid.
        let text = String::from_utf8_lossy(&bytes);
        let pid = text.split(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty())?;
        Some(Owner { pid: pid.parse().ok()?, start_time: None, space: None })
    })
}

impl Owner {
    pub(crate) fn me() -> Owner {
        let pid = std::process::id();
        Owner { pid, start_time: start_time(pid), space: space() }
    }

    /// Whether the process may still be there.
    pub(crate) fn may_live(&self) -> bool {
        let ours = space();
        if let (Some(theirs), Some(ours)) = (&self.space, &ours) {
            let boot = |space: &str| space.split(' ').next().map(str::to_owned);
            if boot(theirs) != boot(ours) {
                return false;
            }
            // Another space of pids cannot be looked into from here.
            if theirs != ours {
                return true;
            }
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return true };
        if test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            return false;
        }
        match (self.start_time, start_time(self.pid)) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        }
    }
}

/// When a process was started, in ticks since the machine was. Nothing where there is no `/proc`, or for one that only
/// waits to be collected.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of a program may hold anything, brackets too.
    let behind = stat.rsplit_once(')')?.1;
    let mut fields = behind.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return Some(u64::MAX);
    }
    fields.nth(18)?.parse().ok()
}

/// The start of this machine and the space of pids.
fn space() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let pids = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), pids.display()))
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    fn place(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("ostler-lock-{}-{name}", std::process::id()));
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).expect("the temporary directory can be written");
        folder.join("state.json.lock")
    }

    #[expect(clippy::disallowed_methods, reason = "a lock that another program has left")]
    fn leave(path: &Path, text: &str) {
        fs::write(path, text).expect("the temporary directory can be written");
    }

    #[test]
    fn held_until_dropped() {
        let path = place("held");
        let lock = Lock::take(&path).expect("it is free");
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(
            text.contains(&format!("\"pid\":{}", std::process::id())) && text.contains("\"start_time\":"),
            "{text}"
        );
        let again = Lock::take_within(&path, Duration::ZERO);
        assert!(matches!(again, Err(LockError::Held { pid: Some(pid) }) if pid == std::process::id()));
        drop(lock);
        assert!(!path.exists());
        assert!(Lock::take(&path).is_ok());
    }

    #[test]
    fn a_dead_owner_is_taken_over_and_a_live_one_never() {
        let path = place("dead");
        let me = Owner::me();
        let held = |owner: &Owner| {
            leave(&path, &serde_json::to_string(owner).expect("plain data"));
            let taken = Lock::take_within(&path, Duration::ZERO).is_ok();
            fs::remove_file(&path).ok();
            !taken
        };
        assert!(held(&me), "ours is alive");
        // The pid came again, the machine was started anew, the pid is gone.
        assert!(!held(&Owner { start_time: me.start_time.map(|time| time + 1), ..me.clone() }));
        assert!(!held(&Owner { space: Some("another-boot pid:[1]".to_owned()), ..me.clone() }));
        assert!(!held(&Owner { pid: 0x3fff_ffff, start_time: None, space: me.space.clone() }));
        // Another container on the same machine cannot be looked into.
        let boot = me.space.clone().unwrap_or_default().split(' ').next().unwrap_or_default().to_owned();
        assert!(held(&Owner { space: Some(format!("{boot} pid:[1]")), pid: 0x3fff_ffff, ..me }));
    }

    #[test]
    fn locks_of_others() {
        let path = place("others");
        let taken = |text: &str| {
            leave(&path, text);
            let taken = Lock::take_within(&path, Duration::ZERO).is_ok();
            fs::remove_file(&path).ok();
            taken
        };
        assert!(!taken(&std::process::id().to_string()), "a bare pid that lives");
        assert!(taken("1073741823\n"), "a bare pid that is gone");
        assert!(!taken(""), "nobody knows whose it is");
        assert!(!taken("locked"), "nobody knows whose it is");
    }

    #[test]
    fn one_at_a_time_also_over_a_dead_lock() {
        let path = place("race");
        let inside = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        leave(&path, "{\"pid\":1073741823,\"start_time\":1}");
        // Half of them call it by another name each, and so meet at the file alone, as other programs do.
        let again = Path::new("..").join(path.parent().and_then(Path::file_name).expect("it has a folder"));
        let named = |number: usize| {
            let folder = (1..number).fold(directory(&path).to_owned(), |folder, _| folder.join(&again));
            folder.join(path.file_name().expect("it has a name"))
        };
        thread::scope(|scope| {
            for number in 0..8_usize {
                let path = named(number.saturating_sub(3));
                let (inside, done) = (&inside, &done);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let lock = Lock::take_within(&path, Duration::from_mins(2)).expect("its turn comes");
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "alone");
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.load(Ordering::SeqCst), 160);
    }
}
