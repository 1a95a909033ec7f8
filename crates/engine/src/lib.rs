//! Decides what follows from what happened.
//!
//! Something happens ([`Input`]): a person answers, a shim hears a question, time passes. [`decide`] says which
//! [`Event`]s that makes and which [`Action`]s follow. Events change the [`World`] by [`World::fold`], and by nothing
//! else, so that the journal alone gives the same world again.
//!
//! The crate is pure, and `no_std` keeps it so: it cannot read a file, a clock or the environment. The time arrives
//! with the input. It knows nothing of storage, processes or HTTP.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod account;
pub mod action;
pub mod answer;
pub mod budget;
pub mod check_output;
pub mod checkpoint;
pub mod dispatch;
pub mod event;
pub mod graph;
pub mod id;
pub mod input;
pub mod input_id;
pub mod office;
pub mod orchestrate;
pub mod permission;
pub mod phases;
pub mod plan;
pub mod request;
pub mod retry;
pub mod run;
pub mod session;
pub mod thin;
pub mod told;
pub mod usage;
pub mod work_secret;
pub mod world;

mod decide;
mod entry;
mod fold;
mod heard;
pub mod mark;
mod refusal;
mod reset;
mod signature;
mod words;

pub use action::{Action, ActionName};
pub use decide::{Decision, decide};
pub use event::{Entry, Event};
pub use id::{
    AccountId, CheckpointId, GraphId, GroupId, InvocationId, NodeId, ProjectId, RequestId, ResultId, RunId,
    SessionId,
};
pub use input::{Input, Refusal};
pub use signature::signature;
pub use world::{Overlay, World};
