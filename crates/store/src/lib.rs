//! The journal and what follows from it: events, projections and the outbox, written in one transaction.
//!
//! The server's writer thread commits through [`Store`]; everybody else reads through [`Reads`]. Only this crate
//! speaks SQL. It knows nothing of the engine: rows carry JSON that it does not read. It has no threads, no clock
//! and no async runtime of its own.

mod error;
mod export;
mod rows;
mod sqlite;
mod store;

pub use error::{Cause, CommitError, ExportError, OpenError, ReadError, SalvageError};
pub use rows::{
    ActionName, ActionRow, Commit, Counters, Entity, EventRow, Page, Projection, Scope, StoredReply,
};
pub use sqlite::{Salvaged, Sqlite, SqliteReader, lock_bytes, salvage};
pub use store::{CREATED_AT_MS, NEEDS_REPLAY, Reads, SCHEMA_VERSION, Store};
