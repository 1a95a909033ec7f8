//! The whole system under seeds: the engine with a fake clock, fake store, fake shims, scripted agents and a person,
//! and a server that dies at every place where it can.
//!
//! `cargo test` runs a few hundred episodes; `cargo xtask soak sim` as many as the time allows. A failure names its
//! episode: `OSTLER_SIM_SEED=N cargo test -p ostler-engine --test simulator` plays that one again.

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the other test program needs more of it")]
mod common;

mod agent;
mod checks;
mod driver;
mod episode;
mod gates;
mod graphs;
mod hearing;
mod outside;
mod person;
mod shim;
mod sites;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use crate::{episode::Episode, sites::Sites};

/// How many episodes `cargo test` plays.
const EPISODES: u64 = 150;

#[test]
fn nothing_is_lost_and_nothing_is_done_twice() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seed = number("OSTLER_SIM_SEED");
    let seconds = number("OSTLER_SIM_SECONDS");
    let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let first = seed.unwrap_or(1);
    let mut sites = Sites::all();
    let mut count = 0;
    loop {
        let goes_on = match (deadline, seed) {
            (Some(deadline), _) => Instant::now() < deadline,
            (None, Some(_)) => count < 1,
            (None, None) => count < EPISODES,
        };
        if !goes_on {
            break;
        }
        let seed = first + count;
        let played = catch_unwind(AssertUnwindSafe(|| Episode::play(seed)));
        match played {
            Ok(hit) => sites.add(&hit),
            Err(cause) => {
                println!("sim: the episode that fails is --seed {seed}");
                std::panic::resume_unwind(cause);
            }
        }
        count += 1;
    }
    let (all, missed) = (sites.count(), sites.missed());
    let hit = all - missed.len();
    println!("sim: {count} episodes, {} crashes, {hit} of {all} sites", sites.crashes());
    // A few episodes cannot hit them all.
    assert!(missed.is_empty() || deadline.is_none(), "sites that were not hit: {missed:?}");
}
