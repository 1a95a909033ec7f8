//! How fast the journal is, beside what the disk itself gives in the same run.
//!
//! Prints Markdown tables. Times alone mean nothing on a shared machine; each round measures everything once, and
//! the median of the rounds' ratios is shown.

use std::{
    fs::{self, File, OpenOptions},
    hint::black_box,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ostler_store::{ActionName, ActionRow, Commit, Entity, EventRow, Projection, Reads, Sqlite, Store};
use rustix::fs::{Advice, fadvise};

const ROUNDS: usize = 15;
const APPENDS: u64 = 300;
const GROUP: u64 = 64;
const RAW_BYTES: u64 = 64 << 20;
const BODY_BYTES: usize = 400;
const SESSIONS: u64 = 10_000;
const EVENTS_PER_SESSION: u64 = 20;
const LIVE: u64 = 50;

fn main() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-store-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target directory can be written");
    appends(&folder);
    start(&folder);
    fs::remove_dir_all(&folder).expect("what was made can be removed");
}

/// Writes and syncs records of a fixed size in a file that has its room already.
struct Raw {
    file: File,
    offset: u64,
}

impl Raw {
    fn new(path: &Path) -> io::Result<Raw> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        for block in 0..RAW_BYTES / 4096 {
            file.write_all_at(&[0; 4096], block * 4096)?;
        }
        file.sync_all()?;
        Ok(Raw { file, offset: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset = (self.offset + bytes.len() as u64) % (RAW_BYTES - 4096);
        self.file.sync_data()
    }
}

fn event(seq: u64, session: u64) -> EventRow {
    EventRow {
        seq,
        version: 1,
        at_ms: 1_800_000_000_000 + seq,
        kind: "session.heard".into(),
        project: Some(1),
        run: Some(session),
        session: Some(session),
        body: format!("{{\"text\":\"{}\"}}", "x".repeat(BODY_BYTES - 11)),
    }
}

/// An event alone.
fn bare(seq: u64) -> Commit {
    Commit { events: vec![event(seq, 1)], ..Commit::default() }
}

/// An event with all that usually follows: a new state, an action, and one that is done.
fn decision(seq: u64) -> Commit {
    let name = |seq| ActionName { seq, index: 0 };
    Commit {
        upserts: vec![session(1, seq, true)],
        actions: vec![ActionRow { name: name(seq), session: Some(1), body: "{\"stop\":{}}".into() }],
        done: vec![name(seq)],
        ..bare(seq)
    }
}

fn session(id: u64, seq: u64, live: bool) -> Projection {
    Projection {
        entity: Entity::Session,
        id,
        project: None,
        run: None,
        session: None,
        live,
        seq,
        body: format!("{{\"prompt\":\"{}\"}}", "y".repeat(1000)),
    }
}

/// Commits so many groups, and gives the time per event.
fn commits(store: &mut Sqlite, groups: u64, size: u64, make: fn(u64) -> Commit) -> Duration {
    let next = store.last_seq().expect("the journal can be read") + 1;
    let groups: Vec<Vec<Commit>> =
        (0..groups).map(|group| (0..size).map(|index| make(next + group * size + index)).collect()).collect();
    let begin = Instant::now();
    for group in &groups {
        store.commit(group).expect("there is room on the disk");
    }
    begin.elapsed() / u32::try_from(groups.len() as u64 * size).expect("a benchmark is small")
}

fn raw_appends(raw: &mut Raw, bytes: &[u8]) -> Duration {
    let begin = Instant::now();
    for _ in 0..APPENDS {
        raw.append(bytes).expect("there is room on the disk");
    }
    begin.elapsed() / u32::try_from(APPENDS).expect("a benchmark is small")
}

fn appends(folder: &Path) {
    let mut store = Sqlite::open(&folder.join("appends.db"), 1).expect("an empty journal can be made");
    let mut raw = Raw::new(&folder.join("raw")).expect("there is room on the disk");
    let bytes = [7; BODY_BYTES + 50];
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push([
            raw_appends(&mut raw, &bytes),
            commits(&mut store, APPENDS, 1, bare),
            commits(&mut store, APPENDS, 1, decision),
            commits(&mut store, 40, GROUP, bare),
            commits(&mut store, 40, GROUP, decision),
        ]);
    }
    let rate = |column: usize| median(rounds.iter().map(|times| 1.0 / times[column].as_secs_f64()));
    let ratio = |of: usize, to: usize| {
        median(rounds.iter().map(|times| times[to].as_secs_f64() / times[of].as_secs_f64()))
    };
    println!(
        "Durable appends of an event of {} bytes; raw is a write and fdatasync of the same bytes in a file that has its room already.\n",
        bytes.len()
    );
    println!("| what | events/s | to raw | to single |");
    println!("|---|---:|---:|---:|");
    println!("| raw | {:.0} | 1 | |", rate(0));
    println!("| single: an event | {:.0} | {:.2} | 1 |", rate(1), ratio(1, 0));
    println!("| single: event, state, action, done | {:.0} | {:.2} | 1 |", rate(2), ratio(2, 0));
    println!("| group of {GROUP}: events | {:.0} | {:.1} | {:.1} |", rate(3), ratio(3, 0), ratio(3, 1));
    println!(
        "| group of {GROUP}: event, state, action, done each | {:.0} | {:.1} | {:.1} |",
        rate(4),
        ratio(4, 0),
        ratio(4, 2)
    );
}

/// From nothing to all that a server needs in memory.
fn start(folder: &Path) {
    let path = folder.join("start.db");
    let mut store = Sqlite::open(&path, 1).expect("an empty journal can be made");
    let mut seq = 0;
    for first in (1..=SESSIONS).step_by(100) {
        let group: Vec<Commit> = (first..first + 100)
            .map(|id| {
                let events = (0..EVENTS_PER_SESSION).map(|number| event(seq + number + 1, id)).collect();
                seq += EVENTS_PER_SESSION;
                let live = id > SESSIONS - LIVE;
                Commit { events, upserts: vec![session(id, seq, live)], ..Commit::default() }
            })
            .collect();
        store.commit(&group).expect("there is room on the disk");
    }
    let journal = format!("{SESSIONS} sessions of {EVENTS_PER_SESSION} events, {LIVE} of them live");
    let killed = folder.join("killed.db");
    for end in ["", "-wal", "-shm"] {
        let name = |name: &str| folder.join(format!("{name}{end}"));
        fs::copy(name("start.db"), name("killed.db")).expect("there is room on the disk");
    }
    store.close().expect("there is room on the disk");
    let size = fs::metadata(&path).expect("it was just closed").len() / 1_000_000;
    println!(
        "\nOpening a journal of {journal} ({size} MB), and loading what is live, the counters and the actions.\n"
    );
    println!("| journal | ms |\n|---|---:|");
    println!("| closed, in the system's cache | {:.1} |", load(&path, false));
    println!("| closed, not in the cache | {:.1} |", load(&path, true));
    // Only the first opening finds the log, so it cannot be repeated.
    println!("| left by kill -9, not in the cache, once | {:.1} |", load_once(&killed, true));
}

fn load(path: &Path, cold: bool) -> f64 {
    median((0..ROUNDS).map(|_| load_once(path, cold)))
}

fn load_once(path: &Path, cold: bool) -> f64 {
    if cold {
        for end in ["", "-wal"] {
            let name = format!("{}{end}", path.display());
            let Ok(file) = File::open(name) else { continue };
            file.sync_all().and_then(|()| Ok(fadvise(&file, 0, None, Advice::DontNeed)?)).expect("a hint");
        }
    }
    let begin = Instant::now();
    let store = Sqlite::open(path, 1).expect("it was closed well");
    for entity in Entity::ALL {
        black_box(store.live(entity).expect("the journal can be read"));
    }
    black_box(store.counters().expect("the journal can be read"));
    black_box(store.open_actions().expect("the journal can be read"));
    begin.elapsed().as_secs_f64() * 1000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
