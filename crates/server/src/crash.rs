//! Named places at which a test can have the server die: before and after every commit and every action.
//!
//! A test sets `OSTLER_CRASH_AT` to a name and a count, such as `after commit:3`; the third time that place is
//! reached, the process is killed as if by somebody else. Without the variable this is one comparison.
//!
//! Beside it, `OSTLER_PATIENCE_MS` says how long the server waits for git before it goes on without it, so that no
//! test has to wait as long as a person would.

use std::{
    env,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::process::{Signal, getpid, kill_process};

/// Every place, in the order in which a session passes them first.
pub const SITES: [&str; 66] = [
    "reconciling",
    "before commit",
    "after commit",
    "before make worktree",
    "after make worktree",
    "before launch",
    "after launch",
    "before first input",
    "after first input",
    "before done",
    "before checkpoint",
    "after checkpoint",
    "before deliver",
    "after deliver",
    "before go on",
    "after go on",
    "before stop",
    "after stop",
    "before close input",
    "after close input",
    "before check",
    "after check",
    "before merge",
    "after merge",
    "before end",
    "after end",
    "before steer check",
    "after steer check",
    "before end check",
    "after end check",
    "before restore",
    "after restore",
    "before prune",
    "after prune",
    "before discard",
    "after discard",
    "before look in vault",
    "after look in vault",
    "before provide values",
    "after provide values",
    "before remove values",
    "after remove values",
    "before install",
    "after install",
    "before end install",
    "after end install",
    "reconciling a session",
    "before burial",
    "after burial",
    "before not launched",
    "after not launched",
    "before caller gone",
    "before notify",
    "after notify",
    "before collect",
    "after collect",
    "before gate check",
    "after gate check",
    "before verify",
    "after verify",
    "before read verdict",
    "after read verdict",
    "before report",
    "after report",
    "before clear gate",
    "after clear gate",
];

/// The same for a loop through a task file, which no session of its own passes.
pub const LOOP_SITES: [&str; 19] = [
    "before conduct",
    "before prepare phase",
    "after prepare phase",
    "after begin task",
    "after start task",
    "after failed try",
    "before commit task",
    "after commit task",
    "after end task",
    "before heed",
    "after heed",
    "before test phase",
    "after test phase",
    "before merge phase",
    "after merge phase",
    "after start mend",
    "before record phase",
    "after record phase",
    "after conduct",
];

/// The same for what a main agent asks.
pub const MAIN_SITES: [&str; 7] = [
    "before errand",
    "after begin errand",
    "after start errand",
    "before end errand",
    "after failed errand",
    "after end errand",
    "before answer errand",
];

/// The same for a task that is asked for by name.
pub const EXEC_SITES: [&str; 6] = [
    "before begin exec",
    "after begin exec",
    "after start exec",
    "before end exec",
    "after failed exec",
    "after end exec",
];

/// The same for the work of a role that comes back by itself.
pub const BACK_SITES: [&str; 2] = ["before test worktree", "after test worktree"];

/// The same for setting a project up, which the command line does by itself.
pub const INIT_SITES: [&str; 10] = [
    "before new root",
    "after new root",
    "before init repository",
    "after init repository",
    "before context file",
    "after context file",
    "before role file",
    "after role file",
    "before init marker",
    "after init marker",
];

struct Plan {
    site: String,
    times_left: AtomicU64,
}

/// A place at which this process may die.
pub fn site(name: &'static str) {
    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
    debug_assert!(
        [&SITES[..], &LOOP_SITES, &MAIN_SITES, &EXEC_SITES, &BACK_SITES, &INIT_SITES]
            .iter()
            .any(|sites| sites.contains(&name)),
        "{name} is not in the list"
    );
    let Some(plan) = PLAN.get_or_init(plan) else { return };
    if plan.site == name && plan.times_left.fetch_sub(1, Ordering::SeqCst) == 1 {
        kill_process(getpid(), Signal::KILL).ok();
        std::thread::park();
    }
}

/// How long is waited for something that may hang.
pub(crate) fn patience(usual: Duration) -> Duration {
    static CHOSEN: OnceLock<Option<Duration>> = OnceLock::new();
    let chosen = || Some(Duration::from_millis(env::var("OSTLER_PATIENCE_MS").ok()?.parse().ok()?));
    CHOSEN.get_or_init(chosen).unwrap_or(usual)
}

fn plan() -> Option<Plan> {
    let text = env::var("OSTLER_CRASH_AT").ok()?;
    let (site, times) = text.rsplit_once(':')?;
    Some(Plan { site: site.to_owned(), times_left: AtomicU64::new(times.parse().ok()?) })
}
