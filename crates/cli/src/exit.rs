//! The exit codes, all in one place. `docs/exit-codes.md` says what each means, and they never change.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was done.
    Done = 0,
    /// The run failed, or a check of Ostler itself found something wrong.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The input cannot be read.
    Input = 3,
    /// The output cannot be written.
    Output = 4,
    /// A shim could not run its agent.
    Shim = 5,
    /// There is no server, and none can be started.
    NoServer = 6,
    /// It cannot be done as things stand: settled, not among the options, the wrong state.
    Refused = 7,
    /// There is no such session, run, request or agent.
    NotFound = 8,
    /// The configuration has a mistake.
    Config = 9,
    /// The run was cancelled.
    Cancelled = 10,
    /// The run was interrupted.
    Interrupted = 11,
    /// The agent goes on alone.
    Detached = 12,
    /// Inside a session: nobody answered, or the answer goes another way.
    NoAnswer = 13,
    /// Inside a session: what was asked for was denied.
    Denied = 14,
    /// The task file, or the state of its tasks, cannot be worked with.
    Plan = 15,
    /// What was waited for has not happened in the time that was given.
    TimedOut = 16,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
