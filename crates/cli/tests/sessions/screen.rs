//! The terminal of an agent: as large as somebody wanted it, and whoever looks later knows how large it is.

use ostler_server::api::{LaunchView, NewRun, NewSize, SessionView};

use crate::support::World;

/// Says how large its terminal is, whenever that changes.
const SIZES: &str = "stty size; trap 'stty size' WINCH; while :; do sleep 0.05; done";

fn size(world: &World, session: &str) -> Option<(u16, u16)> {
    let view: SessionView = world.session(session);
    view.launches.last().and_then(|launch: &LaunchView| launch.terminal).map(|it| (it.rows, it.columns))
}

fn says(world: &World, session: &str, times: usize, words: &str) {
    world.wait_for(words, |world| (world.output(session).matches(words).count() == times).then_some(()));
}

#[test]
fn it_has_the_size_that_was_wanted_and_keeps_the_last_one() {
    let mut world = World::new();
    let wanted = NewRun { terminal: Some((10, 50)), ..world.new_run(&["bash", "-c", SIZES]) };
    let session = world.run_with(&wanted);
    says(&world, &session, 1, "10 50");
    assert_eq!(size(&world, &session), Some((10, 50)));
    let path = format!("/sessions/{session}/size");
    for _ in 0..2 {
        world.post::<SessionView>(&path, &NewSize { rows: 30, columns: 90 }).expect("it has a terminal");
    }
    says(&world, &session, 1, "30 90");
    assert_eq!(world.count(&session, "session.resized"), 1, "the same size is no news");
    for (rows, columns) in [(0, 80), (24, 0), (1001, 80), (24, 65535)] {
        assert_eq!(world.refused(&path, &NewSize { rows, columns }).kind, "bad_size");
        let new = NewRun { terminal: Some((rows, columns)), ..world.new_run(&["true"]) };
        assert_eq!(world.refused("/runs", &new).kind, "bad_size");
    }
    world.restart();
    assert_eq!(size(&world, &session), Some((30, 90)));
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    // The next process finds what the last one had.
    world.wish(&session, "resume");
    says(&world, &session, 1, "30 90");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.verify();
}

#[test]
fn who_has_none_has_no_size() {
    let world = World::new();
    let session = world.run(&["sleep", "600"]);
    world.wait_for("a process", |world| world.session(&session).pid);
    assert_eq!(size(&world, &session), None);
    let path = format!("/sessions/{session}/size");
    assert_eq!(world.refused(&path, &NewSize { rows: 30, columns: 90 }).kind, "no_terminal");
    assert_eq!(world.count(&session, "session.resized"), 0);
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}
