//! Why a command of xtask could not do its work.

use std::{fmt, io, path::PathBuf, process::ExitStatus};

/// What went wrong. Each variant names the program, file or step that it is about.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments make no sense; the help is shown with it.
    Usage(String),
    /// A program could not be started.
    Start { program: String, source: io::Error },
    /// A program ran and failed.
    Failed { command: String, status: ExitStatus },
    /// A program succeeded, but its output lacks what we need from it.
    Output { command: String, lacks: String },
    /// A file or directory could not be read.
    Read { path: PathBuf, source: io::Error },
    /// A file or directory could not be written.
    Write { path: PathBuf, source: io::Error },
    /// A step of `test` failed.
    Step { name: &'static str, source: Box<Error> },
    /// `tidy` has printed this many problems.
    Untidy { count: usize },
    /// `soak` has printed this many findings.
    Findings { count: usize },
    /// A file lacks the marker comments that a table is written between.
    NoMarkers { path: PathBuf },
    /// A tool is missing and cannot be installed from here.
    Missing { tool: &'static str, install: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(what) => write!(f, "{what}"),
            Error::Start { program, source } => write!(f, "cannot start `{program}`: {source}"),
            Error::Failed { command, status } => write!(f, "`{command}` failed ({status})"),
            Error::Output { command, lacks } => write!(f, "the output of `{command}` has no {lacks}"),
            Error::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Error::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Error::Step { name, source } => write!(f, "step `{name}` failed: {source}"),
            Error::Untidy { count: 1 } => write!(f, "1 thing is not tidy"),
            Error::Untidy { count } => write!(f, "{count} things are not tidy"),
            Error::Findings { count: 1 } => write!(f, "1 finding"),
            Error::Findings { count } => write!(f, "{count} findings"),
            Error::NoMarkers { path } => {
                write!(f, "{} has no pair of marker comments for this table", path.display())
            }
            Error::Missing { tool, install } => write!(f, "{tool} is missing; install it with `{install}`"),
        }
    }
}
