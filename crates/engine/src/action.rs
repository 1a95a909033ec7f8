//! What is to be done about something that happened. An action is named by the event that caused it, so that whoever
//! carries actions out does each of them once.

use alloc::{boxed::Box, string::String};

use serde::{Deserialize, Serialize};

use crate::{
    event::Parcel,
    id::{InvocationId, RequestId, SessionId},
    office::Delivery,
    phases::GateName,
    run::Outcome,
    told::Long,
};

/// The name of an action: the event that caused it, and its number among that event's actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionName {
    /// The event.
    pub seq: u64,
    /// The number.
    pub index: u32,
}

/// Something to be done for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// For whom.
    pub session: SessionId,
    /// What.
    pub what: Deed,
}

/// What can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Deed {
    /// Start the process of a launch.
    Launch {
        /// Its number.
        launch: u32,
    },
    /// Write something to the agent's input.
    Deliver {
        /// To which launch.
        launch: u32,
        /// What: the shim takes it once under this name.
        parcel: Parcel,
        /// The bytes, or what is too long for the agent's terminal.
        text: String,
        /// How that is told by a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        long: Option<Long>,
    },
    /// Have the nodes of a graph done, to its end.
    #[serde(alias = "conduct")]
    RunGraph,
    /// Stop the tree.
    Stop {
        /// Of which launch.
        launch: u32,
    },
    /// Send the tree on.
    GoOn {
        /// Of which launch.
        launch: u32,
        /// The last record that is known: a stop that came later holds.
        after: u64,
    },
    /// End the tree.
    End {
        /// Of which launch.
        launch: u32,
        /// How long it may take to end by itself.
        grace_ms: u64,
    },
    /// Close the agent's input.
    CloseInput {
        /// Of which launch.
        launch: u32,
    },
    /// Run the check.
    Check {
        /// Its number.
        number: u32,
    },
    /// Hold the check or send it on, whichever is wanted when this is carried out.
    SteerCheck {
        /// Its number.
        number: u32,
    },
    /// End the check.
    EndCheck {
        /// Its number.
        number: u32,
    },
    /// Look whether what a request asks for is in the vault already, and may be given again.
    LookInVault {
        /// The request.
        request: RequestId,
    },
    /// Write the values that the session was given to its private file.
    ProvideValues,
    /// Take that file away.
    RemoveValues,
    /// Install the package that a request asks for.
    Install {
        /// The request.
        request: RequestId,
    },
    /// End an installation that nobody waits for any more.
    EndInstall {
        /// The request.
        request: RequestId,
    },
    /// Keep what stands in the directory.
    Checkpoint {
        /// The number of the checkpoint.
        number: u64,
    },
    /// Bring files back to a checkpoint.
    Restore {
        /// Its number.
        number: u64,
        /// The number of the one that is made of what stands there first.
        before: u64,
        /// Its commit.
        commit: String,
    },
    /// Look at what is in the tree of a gate.
    Collect {
        /// Which one.
        gate: GateName,
    },
    /// Run a command at a gate.
    GateCheck {
        /// Which one.
        gate: GateName,
        /// Which command, from 0.
        index: u32,
    },
    /// Make a place for a verifier.
    Verify {
        /// Of which gate.
        gate: GateName,
        /// Which one, from 1.
        round: u32,
    },
    /// Read what a verifier has said, and take its place away.
    ReadVerdict {
        /// At which gate.
        gate: GateName,
        /// Who.
        verifier: SessionId,
        /// Its last launch; 0 if there was none.
        launch: u32,
        /// How it ended.
        outcome: Outcome,
        /// The word that stands in its prompt.
        token: Option<String>,
    },
    /// Write the report of a gate.
    Report {
        /// Which one.
        gate: GateName,
    },
    /// End what still runs at a gate, and take away its places.
    ClearGate {
        /// Which one.
        gate: GateName,
    },
    /// Look who is called.
    Seat {
        /// By which call.
        invocation: InvocationId,
    },
    /// Look at what the agent brings another.
    Examine {
        /// What.
        delivery: Box<Delivery>,
    },
    /// Look when the agent has last printed something.
    Listen {
        /// Which process of it.
        launch: u32,
    },
    /// Answer what a main agent has asked in the thin dialect.
    Thin {
        /// Its number.
        number: u64,
    },
    /// Make the worktree.
    MakeWorktree,
    /// Commit what was done in the worktree, and test it.
    TestWorktree {
        /// Which test it is, from 1.
        number: u32,
    },
    /// Merge the worktree.
    MergeWorktree,
    /// Take the worktree away, keeping its work.
    DiscardWorktree,
}
