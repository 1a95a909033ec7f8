//! A sample of what looks like the agent's own word, through a real shim and a real server: nothing stops for a
//! quotation, nothing is settled, and what was read out is marked on its card.
//!
//! All of them are judged by the tests of the engine; here is one of each way in each stream.

#[path = "../../../../tests/spoofs/cases.rs"]
mod cases;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
};

use cases::{Case, Expected, STREAMS, Stream, cases};
use ostler_server::api::NewRun;

use crate::support::{World, write};

/// One of each way in each stream.
fn sample() -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut sample = cases();
    sample.retain(|case| seen.insert((case.way, case.stream.name())));
    sample
}

/// Stands for a CLI: prints what stands in a file.
const SCRIPT: &str = "#!/bin/sh\ncat \"$SPOOF\"\n";

fn begin(world: &World, index: usize, case: &Case) -> String {
    let name = format!("spoof{index}.txt");
    write(&world.project, &name, &case.printed);
    let mut new = NewRun { prompt: Some(case.prompt.clone()), ..world.new_run(&[]) };
    let path = new.environment.get_or_insert_default().remove("PATH").unwrap_or_default();
    new.environment
        .get_or_insert_default()
        .insert("PATH".to_owned(), format!("{}/bin:{path}", world.project.display()));
    new.environment
        .get_or_insert_default()
        .insert("SPOOF".to_owned(), world.project.join(&name).display().to_string());
    match case.stream {
        Stream::Raw => new.command = vec!["sh".to_owned(), "-c".to_owned(), "cat \"$SPOOF\"".to_owned()],
        stream => new.agent = Some(stream.name().to_owned()),
    }
    world.run_with(&new)
}

fn judge(world: &World, session: &str, case: &Case) {
    let kinds = |wanted: &str| world.events(session).iter().any(|event| event.kind == wanted);
    match case.expected {
        Expected::Nothing => {
            world.status(session, "completed");
            assert!(!kinds("request.opened") && !kinds("session.stopped"), "{}", case.name);
        }
        Expected::Plain | Expected::StillOpen | Expected::Marked(_) => {
            let request = world.asked(session);
            match case.expected {
                Expected::Marked(source) => {
                    let mark = request.mark.as_ref().unwrap_or_else(|| panic!("{}: no mark", case.name));
                    assert_eq!(mark.source, source, "{}", case.name);
                    let shown = world.ostler(&["show", &request.id]);
                    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
                    assert!(shown.contains("also stands in"), "{}: {shown}", case.name);
                }
                Expected::Plain => assert_eq!(request.trust, "plain", "{}", case.name),
                _ => assert_eq!(request.mark, None, "{}", case.name),
            }
            world.wait_for("the stop", |world| (world.count(session, "session.stopped") > 0).then_some(()));
            assert!(world.request(&request.id).settled.is_none(), "{}", case.name);
            assert!(!kinds("input.sent") && !kinds("session.released"), "{}", case.name);
        }
    }
}

#[test]
fn a_sample_of_spoofs_has_no_effect_in_real_sessions() {
    let world = World::new();
    fs::create_dir_all(world.project.join("bin")).expect("the project can be written");
    for stream in STREAMS {
        let program = world.project.join("bin").join(stream.name());
        fs::write(&program, SCRIPT).expect("the project can be written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let sample = sample();
    // Not with `println!`: what a passing test prints that way nobody sees.
    writeln!(io::stderr(), "{} spoofs in real sessions", sample.len()).expect("standard error is open");
    assert!(sample.len() >= 30);
    // A few at a time: each is a shim and an agent.
    for (number, few) in sample.chunks(16).enumerate() {
        let begun: Vec<(String, &Case)> = few
            .iter()
            .enumerate()
            .map(|(index, case)| (begin(&world, number * 16 + index, case), case))
            .collect();
        for (session, case) in &begun {
            judge(&world, session, case);
        }
        for (session, _) in &begun {
            if world.session(session).outcome.is_none() {
                world.wish(session, "cancel");
            }
        }
        for (session, _) in &begun {
            world.wait_for("the end", |world| world.session(session).outcome.is_some().then_some(()));
        }
    }
    world.verify();
}
