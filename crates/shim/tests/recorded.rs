//! A shim of an earlier version is understood: what it wrote, and what it says.

mod replay;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_shim::{
    control::{CLOSED, Command, Greeting, Message, Reply, Request, Status, VERSION},
    launch::{Input, Launch, Terminal},
    spool::{Happening, Record, StallReason, StopCause, read},
};
use replay::Replay;

fn recording(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recorded/shim-v{version}"))
}

fn replay(version: u32, name: &str) -> Replay {
    let name = format!("{name}-v{version}");
    Replay::start(&recording(version), &Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
}

/// A client: one line out, lines in.
struct Client {
    reader: BufReader<UnixStream>,
    greeting: Greeting,
    records: Vec<Record>,
}

impl Client {
    fn connect(directory: &Path) -> Client {
        let stream = ostler_shim::connect(directory).expect("the shim listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket takes a timeout");
        let mut reader = BufReader::new(stream);
        let greeting = serde_json::from_str(&line(&mut reader).expect("a greeting")).expect("a greeting");
        Client { reader, greeting, records: Vec::new() }
    }

    /// The reply, or nothing if the shim hangs up.
    fn ask(&mut self, id: u64, command: Command) -> Option<Reply> {
        let request = serde_json::to_string(&Request { id, command }).expect("a request");
        self.reader.get_mut().write_all(format!("{request}\n").as_bytes()).ok()?;
        loop {
            match serde_json::from_str(&line(&mut self.reader)?).expect("a message") {
                Message::Reply { id: of, reply } => {
                    assert_eq!(of, id);
                    return Some(reply);
                }
                Message::Record(record) => self.records.push(record),
            }
        }
    }

    fn status(&mut self, id: u64) -> Status {
        match self.ask(id, Command::Status) {
            Some(Reply::Status(status)) => status,
            reply => panic!("{reply:?}"),
        }
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).expect("a line within the deadline");
    (read > 0).then_some(line)
}

#[test]
fn every_version_is_recorded() {
    for version in 1..=VERSION {
        assert!(recording(version).is_dir(), "crates/shim/tests/recorded/README.md says how to record it");
    }
}

#[test]
fn its_files_are_read() {
    for version in 1..=VERSION {
        files_are_read(&recording(version));
    }
}

fn files_are_read(recording: &Path) {
    let launch = Launch::read(recording).expect("a launch");
    assert_eq!((launch.terminal, launch.input, launch.log_bytes_max), (Terminal::None, Input::Open, 420));
    let records = read(recording).expect("a spool");
    let text = fs::read_to_string(recording.join(ostler_shim::spool::FILE)).expect("a spool");
    assert_eq!(records.len(), text.lines().count(), "every record is understood");
    assert!(records.iter().zip(1..).all(|(record, number)| record.seq == number));
    assert!(!records.iter().any(|record| record.what == Happening::Other), "{records:?}");
    assert!(records.iter().any(|it| it.what == Happening::Stalled { reason: StallReason::LogFull }));
    let end = Happening::Ended { code: None, signal: Some(15), clean: true, input_bytes_left: 0, seal: None };
    assert_eq!(records.last().map(|record| &record.what), Some(&end));
    let not_started = read(&recording.join("not-started")).expect("a spool");
    assert!(
        matches!(&not_started[..], [Record { what: Happening::NotStarted { .. }, .. }]),
        "{not_started:?}"
    );
}

#[test]
fn its_conversation_is_understood() {
    for version in 1..=VERSION {
        conversation_is_understood(version);
    }
}

fn conversation_is_understood(version: u32) {
    let shim = replay(version, "conversation");
    let mut client = Client::connect(&shim.directory);
    let session = format!("s_recorded_v{version}");
    assert_eq!(client.greeting, Greeting { shim: version, session });
    assert_eq!(client.ask(10, Command::Follow { after_seq: 0 }), Some(Reply::Done));
    let first = client.status(11);
    assert_eq!((first.stopped, first.output_bytes), (true, 120));
    assert_eq!(first.input_unread, (version >= 2).then_some(0), "the first version does not tell");
    let stopped = Happening::Stopped { cause: StopCause::Signal, processes: 1, confirmed: true };
    assert_eq!(client.records.last().map(|record| &record.what), Some(&stopped));
    assert_eq!(client.ask(12, Command::Tail { offset: 0, bytes_max: 18 }), Some(Reply::Bytes(18)));
    let mut bytes = [0; 18];
    client.reader.read_exact(&mut bytes).expect("as many bytes as were announced");
    assert_eq!(&bytes, b"Reading the plan.\n");
    let refused = client.ask(13, Command::Resize { rows: 40, columns: 120 });
    assert_eq!(refused, Some(Reply::Refused("the agent has no terminal".into())));
    let input = Command::Input { key: "q_1".into(), text: "x\n".into(), go_on: true, asked: None };
    assert_eq!(client.ask(14, input.clone()), Some(Reply::Done));
    assert_eq!(client.ask(15, Command::Stop), Some(Reply::Done));
    assert_eq!(client.ask(16, Command::GoOn { after: None }), Some(Reply::Done));
    if version >= 2 {
        assert_eq!(client.ask(17, Command::CloseInput { key: "close".into() }), Some(Reply::Done));
        assert_eq!(client.ask(18, input), Some(Reply::Refused(CLOSED.into())));
    }
    assert_eq!(client.ask(19, Command::Cancel { grace_ms: 0 }), Some(Reply::Done));
    while let Some(line) = line(&mut client.reader) {
        match serde_json::from_str(&line).expect("a message") {
            Message::Record(record) => client.records.push(record),
            Message::Reply { .. } => panic!("nobody asked: {line}"),
        }
        if matches!(client.records.last(), Some(Record { what: Happening::Ended { .. }, .. })) {
            break;
        }
    }
    assert_eq!(client.records, read(&recording(version)).expect("a spool"), "each record came once");
    drop(client);
    shim.join();
}

#[test]
fn the_second_version_records_what_was_read_and_where_the_input_ends() {
    let records = read(&recording(2)).expect("a spool");
    let has = |what: &Happening| records.iter().any(|record| record.what == *what);
    for key in ["q_1", "q_2"] {
        assert!(has(&Happening::TookInput { key: key.into() }), "{records:?}");
        assert!(has(&Happening::Consumed { key: key.into() }), "{records:?}");
    }
    assert!(has(&Happening::ClosedInput { key: "close".into() }), "{records:?}");
    assert!(!has(&Happening::TookInput { key: "q_3".into() }), "it came after the end of the input");
}

#[test]
fn it_hangs_up_on_what_came_later() {
    let shim = replay(1, "later");
    let mut client = Client::connect(&shim.directory);
    let close = Command::CloseInput { key: "end".into() };
    assert!(client.greeting.shim < close.since() && close.since() <= VERSION);
    assert_eq!(client.ask(1, close), None);
    shim.join();
}

#[test]
fn a_record_of_a_later_version_is_passed_over() {
    let record: Record = serde_json::from_str(r#"{"seq":7,"at_ms":1,"event":"flew_away","height":{"m":3}}"#)
        .expect("a record");
    assert_eq!((record.seq, record.what), (7, Happening::Other));
}
