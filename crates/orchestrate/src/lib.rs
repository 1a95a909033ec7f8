//! The files of an orchestrated project: the task file, the state with its lock, and the log.
//!
//! Other programs read and write them too, so their names and their form are fixed, and whatever stands in them is read
//! with tolerance. The engine decides what can run ([`ostler_engine::plan`]); this crate brings it the files and puts down
//! what follows. It runs no program, knows nothing of sessions, the server or git, and looks at no clock but for how long
//! it waits: the time of day is passed in. How, and what was rejected, stands in `docs/design/orchestrate.md`.

mod attempt;
mod claim;
mod conduct;
mod derived;
mod evidence;
mod exec;
mod executor_log;
mod executor_note;
mod file;
mod foreign;
mod history;
mod keeping;
mod lock;
mod log;
mod project;
mod resolve;
mod stamp;
mod state;
mod unfinished;
mod wish;

pub use attempt::{AttemptEnd, Settled, settle};
pub use conduct::{Begins, Hindrance, Look, Looked, Place, Question, enter, look, record, release};
pub use exec::{Begun, Ended, Over, Work, begin, end_all, ended_before, is_left, unbegun};
pub use executor_log::NoteEntry;
pub use foreign::ForeignState;
pub use history::{Attempt, Committed};
pub use log::{LogEntry, note, note_if_there};
pub use ostler_engine::plan;
pub use project::{Project, TASK_FILES, TasksError, has_repository, trust_command};
pub use resolve::{Resolve, Resolved, resolve};
pub use stamp::stamp;
pub use state::{State, StateError};
pub use unfinished::{Unfinished, unfinished};
pub use wish::{Wish, WishError, close, give_up, wish, wish_once};
