//! Each real CLI under Ostler: real server, real shims, `ostler` as a person types it, and a scripted model on loopback.
//!
//! `cargo xtask test --real-agents` installs the CLIs and names their directory in `OSTLER_REAL_AGENTS`; without it
//! nothing is run, and the test says so. With `OSTLER_REAL_AGENTS_ALL` a CLI that is not there is a failure. One server
//! looks after all four, one after the other.
#![expect(clippy::disallowed_methods, reason = "these tests run programs and write their files")]

mod cases;
mod hearing;
mod lab;
mod model;
mod office;
mod phases;
mod script;
#[expect(dead_code, reason = "the harness of the other sessions knows more than is needed here")]
#[path = "../sessions/support.rs"]
mod support;
mod tasks;

use std::{
    env,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use lab::Lab;
use model::Model;
use support::World;

/// The agents that come with Ostler.
const NAMES: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

#[test]
fn real_agents() {
    let Some(installed) = env::var_os("OSTLER_REAL_AGENTS").map(PathBuf::from) else {
        return say("real agents: 0 of 4 (not installed: cargo xtask test --real-agents)");
    };
    let bin = installed.join("node_modules/.bin");
    let mut world = World::idle();
    lab::configure(&world.home.join("config"));
    world.start();
    let model = Model::start(&world.project, &script::of_all(&world.project));
    let mut working = 0;
    let mut broken = Vec::new();
    for name in NAMES {
        if bin.join(name).exists() {
            match catch_unwind(AssertUnwindSafe(|| all(name, &mut world, &model, &bin))) {
                Ok(()) => working += 1,
                Err(_) => broken.push(format!("{name} does not work under Ostler")),
            }
        } else if env::var_os("OSTLER_REAL_AGENTS_ALL").is_some() {
            broken.push(format!("{name} is not installed"));
        }
    }
    say(&format!("real agents: {working} of 4"));
    assert!(broken.is_empty(), "{}", broken.join("; "));
    assert_eq!(world.processes(), Vec::new(), "nothing is left running");
    world.kill_server();
    world.verify();
}

fn all(name: &'static str, world: &mut World, model: &Model, bin: &Path) {
    let lab = Lab::new(name, world, model, bin);
    for (what, case) in cases::ALL {
        let began = std::time::Instant::now();
        case(&lab, world, model);
        say(&format!("real agents: {name} {what} ({:.1} s)", began.elapsed().as_secs_f64()));
    }
}

/// Not with `println!`: what a passing test prints that way nobody sees.
fn say(line: &str) {
    writeln!(io::stderr(), "{line}").expect("standard error is open");
}
