//! Keeps what is in memory there.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// For a process that holds secrets: a crash leaves no picture of its memory, and other processes of the same user
/// cannot look into it. Where the system refuses, it is as it was.
pub fn guard() {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    let maximum = getrlimit(Resource::Core).maximum;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum }).ok();
}
