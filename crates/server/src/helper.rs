//! The mark of every program that the server starts itself: git with its filters and helpers, a command that prints a
//! secret, the command of a notification, the script of a demonstration.
//!
//! Such a program runs with the user's rights, but it is no person: whatever it does to its parents, its session and its
//! environment, its limit of file locks tells ([`LockLimit`]). Shims are the exception, since they mark what they start.
//! A command line that starts the same programs for the person who runs it leaves them as they are.

use std::{process::Command, sync::OnceLock};

use ostler_shim::{LockLimit, limit_locks};

/// The limit, in the process of a server.
static MARK: OnceLock<LockLimit> = OnceLock::new();

/// Has everything that this process starts from now on carry the mark, because it is a server.
pub(crate) fn mark_from_now_on(baseline: LockLimit) {
    // A process serves one state directory, once.
    MARK.set(baseline.helper_mark()).ok();
    ostler_workspace::prepare_git_with(mark);
    ostler_vault::prepare_commands_with(mark);
}

/// Marks a program that is about to be started, in the process of a server.
pub(crate) fn mark(command: &mut Command) {
    if let Some(mark) = MARK.get() {
        limit_locks(command, *mark);
    }
}
