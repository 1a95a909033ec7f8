//! Kills a process that commits, again and again, at moments of chance.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::Stdio,
};

use ostler_store::{ActionName, Commit, Entity, EventRow, Projection, Reads, Sqlite, Store};

use crate::support::{Folder, Random, action, all_events, child, event, folder_of_child, projection};

const ROUNDS: u64 = 20;
/// An action stays open for so many events.
const OPEN_FOR: u64 = 3;

/// What the journal says about one of five projects: how many events are about it.
fn state(events: &[EventRow], id: u64) -> Option<Projection> {
    let about: Vec<&EventRow> = events.iter().filter(|event| event.seq % 5 + 1 == id).collect();
    let last = about.last()?;
    Some(projection(Entity::Project, id, last.seq, format!(r#"{{"events":{}}}"#, about.len())))
}

fn decide(seq: u64) -> Commit {
    let about = seq.div_ceil(5);
    let done = (seq > OPEN_FOR).then(|| ActionName { seq: seq - OPEN_FOR, index: 0 });
    Commit {
        events: vec![event(seq, "{}")],
        upserts: vec![projection(Entity::Project, seq % 5 + 1, seq, format!(r#"{{"events":{about}}}"#))],
        actions: vec![action(seq, 0)],
        done: done.into_iter().collect(),
        reply: None,
    }
}

#[test]
fn nothing_that_was_reported_is_lost() {
    let folder = Folder::new("killed");
    let seed = u64::from(std::process::id()) | 1;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut last = 0;
    for round in 0..ROUNDS {
        let mut writer = child("killed::commits_until_it_is_killed", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap());
        let mut text = String::new();
        // Now and then long enough for the log to be written back and begun anew.
        let patience = if round % 10 == 9 { 1000 + random.below(500) } else { random.below(150) };
        for _ in 0..patience {
            lines.read_line(&mut text).unwrap();
        }
        // So that it is not always killed just when a line has come.
        for _ in 0..random.below(200_000) {
            std::hint::black_box(&text);
        }
        writer.kill().unwrap();
        lines.read_to_string(&mut text).unwrap();
        writer.wait().unwrap();
        let whole_lines = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let reported = whole_lines
            .lines()
            .filter_map(|line| line.strip_prefix("committed "))
            .map(|number| number.parse().unwrap())
            .max()
            .unwrap_or(last);
        last = look(&folder, reported, round);
    }
    assert!(last > ROUNDS, "the writer has come to write: {last}");
}

/// Looks at what the killed process has left, and gives the last event.
fn look(folder: &Folder, reported: u64, round: u64) -> u64 {
    let store = Sqlite::open(&folder.database(), 1).unwrap_or_else(|error| panic!("round {round}: {error}"));
    store.reader().unwrap().check().unwrap();
    let events = all_events(&store);
    let last = events.len() as u64;
    assert!(last >= reported, "round {round}: {reported} were reported, {last} are there");
    assert_eq!(store.last_seq().unwrap(), last);
    for id in 1..=5 {
        assert_eq!(store.entity(Entity::Project, id).unwrap(), state(&events, id), "round {round}");
    }
    let open: Vec<u64> = store.open_actions().unwrap().iter().map(|action| action.name.seq).collect();
    let expected: Vec<u64> = (last.saturating_sub(OPEN_FOR) + 1..=last).collect();
    assert_eq!(open, expected, "round {round}");
    last
}

#[test]
#[ignore = "runs only as a child of the test above"]
fn commits_until_it_is_killed() {
    let mut store = Sqlite::open(&folder_of_child().join("journal.db"), 1).unwrap();
    let mut random = Random(u64::from(std::process::id()) | 1);
    let mut out = std::io::stdout().lock();
    loop {
        let next = store.last_seq().unwrap() + 1;
        let last = next + random.below(4);
        let group: Vec<Commit> = (next..=last).map(decide).collect();
        store.commit(&group).unwrap();
        writeln!(out, "committed {last}").unwrap();
        out.flush().unwrap();
    }
}
