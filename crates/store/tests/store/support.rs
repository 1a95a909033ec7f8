//! Directories, rows, and children for the tests.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use ostler_store::{ActionName, ActionRow, Commit, Entity, EventRow, Projection, Reads};

/// Where a child finds the directory that it is to work in.
pub(crate) const FOLDER: &str = "OSTLER_STORE_TEST_FOLDER";

/// A directory of its own, removed when the test has passed.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("journal.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

/// A command that runs one ignored test of this program, as a process of its own.
pub(crate) fn child(test: &str, folder: &Path) -> Command {
    let mut command = program(&std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
    command
}

#[expect(clippy::disallowed_methods, reason = "the home of `Command::new` in these tests")]
pub(crate) fn program(name: &Path) -> Command {
    Command::new(name)
}

/// The directory of the child that this is.
pub(crate) fn folder_of_child() -> PathBuf {
    std::env::var_os(FOLDER).expect("only run as a child").into()
}

pub(crate) fn event(seq: u64, body: impl Into<String>) -> EventRow {
    EventRow {
        seq,
        version: 1,
        at_ms: 1_800_000_000_000 + seq,
        kind: "session.heard".into(),
        project: Some(1),
        run: Some(1),
        session: Some(seq % 3 + 1),
        body: body.into(),
    }
}

pub(crate) fn projection(entity: Entity, id: u64, seq: u64, body: impl Into<String>) -> Projection {
    Projection { entity, id, project: None, run: None, session: None, live: true, seq, body: body.into() }
}

pub(crate) fn action(seq: u64, index: u32) -> ActionRow {
    ActionRow { name: ActionName { seq, index }, session: Some(1), body: format!(r#"{{"deliver":{seq}}}"#) }
}

/// A commit of events alone.
pub(crate) fn events(numbers: std::ops::RangeInclusive<u64>) -> Commit {
    Commit { events: numbers.map(|seq| event(seq, body(seq))).collect(), ..Commit::default() }
}

pub(crate) fn body(seq: u64) -> String {
    format!(r#"{{"text":"{}"}}"#, format!("what event {seq} says ").repeat(1 + (seq % 13) as usize))
}

pub(crate) fn all_events(store: &dyn Reads) -> Vec<EventRow> {
    let mut all = Vec::new();
    store
        .each_event(&mut |event| {
            all.push(event);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    all
}

/// A small generator of numbers, so that a failure can be repeated from its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
