//! Whole sessions: the real server, real shims, real agents. Everything is asked for as the command line asks, over
//! the socket in the state directory.
#![expect(clippy::disallowed_methods, reason = "tests start programs and write files where they like")]

mod answering;
mod bounds;
mod budgets;
mod calling;
mod checkpoints;
mod clock;
mod crashing;
mod damage;
mod disk;
mod done;
mod door;
mod ending;
mod gates;
mod health;
mod interface;
mod keeping_out;
mod leaking;
mod lies;
mod load;
mod locks;
mod losing;
mod many;
mod mcp;
mod needs;
mod notifying;
mod parking;
mod phases;
mod preload;
mod private;
mod receiver;
mod recovering;
mod routes;
mod schemathesis;
mod screen;
mod spoofs;
mod stopping;
mod storm;
mod streams;
mod support;
mod tasks;
mod tcp;
mod usage;
mod wire;
mod worktrees;
