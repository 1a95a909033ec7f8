//! What can go wrong in a command: the message, what to do next, and the exit code.

use std::{fmt, io, path::PathBuf, process::ExitCode};

/// Why a command failed. Each variant has its exit code in `docs/cli.md`.
#[derive(Debug)]
pub(crate) enum Error {
    /// A file or standard input could not be read.
    Input {
        /// The file; `None` is standard input.
        path: Option<PathBuf>,
        /// Why not.
        source: io::Error,
    },
    /// Standard output could not be written.
    Output(io::Error),
    /// Standard error could not be written.
    Stats(io::Error),
}

impl Error {
    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Error::Input { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "Check the path, or give '-' to read standard input.",
                io::ErrorKind::IsADirectory => "Name a file in it, or give '-' to read standard input.",
                io::ErrorKind::PermissionDenied => "Check who may read it.",
                _ => "What was read before is printed above.",
            },
            Error::Output(_) | Error::Stats(_) => {
                "The output is cut there. Nothing else was changed; make room or write elsewhere, and run it again."
            }
        }
    }

    /// The documented exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Error::Input { .. } => 3,
            Error::Output(_) | Error::Stats(_) => 4,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input { path: Some(path), source } => {
                write!(f, "cannot read '{}': {source}", path.display())
            }
            Error::Input { path: None, source } => write!(f, "cannot read standard input: {source}"),
            Error::Output(source) => write!(f, "cannot write standard output: {source}"),
            Error::Stats(source) => write!(f, "cannot write standard error: {source}"),
        }
    }
}
