//! One small process per agent. It holds the agent's pipes, writes down what it prints, hears signals, and stops
//! the whole tree the moment one is complete, whatever the server is doing.
//!
//! The server starts a shim with a directory, hands it a sealed [`launch::Launch`], and talks to it over the socket in
//! that directory. Everything that must not be lost is in files there: the output log and the [`spool`]. When the
//! server is gone, the shim goes on.
//!
//! It knows nothing of runs, requests, the database or HTTP. One thread, one poll loop.

pub mod control;
pub mod launch;
pub mod spool;
pub mod values;

mod agent;
mod cgroup;
mod clock;
mod confine;
mod end_seal;
mod error;
mod files;
mod folding;
mod input;
mod limits;
mod lock_holder;
mod lock_limit;
mod masking;
mod output;
mod priority;
mod record_locks;
mod shim;
mod shim_peer;
mod socket;
mod tree;
mod work;

pub use confine::{can_confine, can_scope_signals};
pub use end_seal::EndKey;
pub use error::Error;
pub use files::LOCK;
pub use lock_holder::{end_displaced_shims, end_lock_holder, holds_lock};
pub use lock_limit::{LockLimit, limit_locks, peer_pidfd};
pub use output::{ERR, OUT};
pub use record_locks::{RecordLockHolder, end_record_lock_holder, record_lock_holders};
pub use shim::{run, sweep};
pub use shim_peer::{NotTheShim, ShimPeer};
pub use socket::connect;
pub use work::{TICKS_PER_SECOND, Work, work_of};
