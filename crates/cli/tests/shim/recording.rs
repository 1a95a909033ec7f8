//! Records the present shim for `crates/shim/tests/recorded`: the files it leaves, and a conversation with every command.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_shim::{
    control::VERSION,
    launch::{self, CgroupPolicy, Launch},
    spool,
};
use serde_json::{Value, json};

use crate::support::{Session, bash, command, wait_for};

/// Asks, goes on with the answer, fills its log, makes a mistake, and waits.
const SCRIPT: &str = r#"echo "Reading the plan."
echo WAIT
printf '[USER_QUESTION]\ncategory: business\nquestion: Which market first?\nrequired: true\n[/USER_QUESTION]\n'
read -r answer
echo "Going on with: $answer"
echo "a warning" >&2
head -c 300 /dev/zero | tr '\0' .
echo
printf '[USER_QUESTION]\nquestion: no category\n[/USER_QUESTION]\n'
read -r _
sleep 1000
"#;

/// One side of the conversation, which writes down both.
struct Recorder {
    reader: BufReader<UnixStream>,
    next_id: u64,
    talk: String,
    seen: Vec<Value>,
}

impl Recorder {
    fn connect(session: &Session) -> Recorder {
        let stream = wait_for("the shim's socket", || ostler_shim::connect(&session.directory).ok());
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket takes a timeout");
        let reader = BufReader::new(stream);
        let mut recorder = Recorder { reader, next_id: 1, talk: String::new(), seen: Vec::new() };
        recorder.hear();
        recorder
    }

    fn note(&mut self, line: &Value) {
        writeln!(self.talk, "{line}").expect("memory");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.reader.read_line(&mut line).expect("a line"), 0, "the shim has hung up");
        let line = line.trim_end_matches('\n');
        self.note(&json!({ "by": "shim", "line": line }));
        let message: Value = serde_json::from_str(line).expect("JSON");
        self.seen.push(message.clone());
        message
    }

    /// Says something and gives the reply to it.
    fn say(&mut self, mut request: Value) -> Value {
        request["id"] = self.next_id.into();
        self.next_id += 1;
        let line = request.to_string();
        self.note(&json!({ "by": "server", "line": line }));
        self.reader.get_mut().write_all(format!("{line}\n").as_bytes()).expect("the shim reads");
        loop {
            let message = self.hear();
            if message["reply"]["id"] == request["id"] {
                return message["reply"].clone();
            }
        }
    }

    /// Waits until so many records of an event have come.
    fn until(&mut self, event: &str, count: usize) {
        while self.seen.iter().filter(|it| it["record"]["event"] == event).count() < count {
            self.hear();
        }
    }

    fn bytes(&mut self, length: usize) {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes).expect("as many bytes as were announced");
        self.note(&json!({ "by": "shim", "bytes": String::from_utf8(bytes).expect("text") }));
    }
}

/// Every command of the present version.
fn converse(recorder: &mut Recorder) {
    recorder.say(json!({ "do": "follow", "after_seq": 0 }));
    recorder.until("stopped", 1);
    recorder.say(json!({ "do": "status" }));
    let bytes = recorder.say(json!({ "do": "tail", "offset": 0, "bytes_max": 18 }));
    assert_eq!(bytes["bytes"], 18);
    recorder.bytes(18);
    recorder.say(json!({ "do": "resize", "rows": 40, "columns": 120 }));
    let answer =
        json!({ "do": "input", "key": "q_1", "text": "{\"answer\":\"한국 first\"}\n", "go_on": false });
    recorder.say(answer.clone());
    recorder.say(answer);
    recorder.say(json!({ "do": "status" }));
    recorder.say(json!({ "do": "go_on", "after": 5 }));
    recorder.until("stalled", 1);
    recorder.say(json!({ "do": "status" }));
    recorder.say(json!({ "do": "go_on" }));
    recorder.until("stopped", 3);
    recorder.say(json!({ "do": "input", "key": "q_2", "text": "x\n", "go_on": true }));
    recorder.until("consumed", 2);
    recorder.say(json!({ "do": "stop" }));
    recorder.say(json!({ "do": "status" }));
    recorder.say(json!({ "do": "go_on" }));
    recorder.say(json!({ "do": "close_input", "key": "close" }));
    recorder.until("closed_input", 1);
    recorder.say(json!({ "do": "input", "key": "q_3", "text": "late\n", "go_on": false }));
    recorder.say(json!({ "do": "cancel", "grace_ms": 0 }));
    recorder.until("ended", 1);
}

fn copy(from: &Path, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).expect("a folder");
    for name in names {
        fs::copy(from.join(name), to.join(name)).expect("a file of the shim");
    }
}

#[test]
#[ignore = "records the present shim; run before its protocol or its files change"]
fn record_the_present_shim() {
    let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let plain =
        |launch: Launch| Launch { cgroup: CgroupPolicy::Off, environment: environment.clone(), ..launch };
    let name = format!("s_recorded_v{VERSION}");
    let launch = plain(Launch { session: name, log_bytes_max: 420, ..bash(SCRIPT) });
    let session = Session::start(&launch);
    let mut recorder = Recorder::connect(&session);
    converse(&mut recorder);
    let recordings = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shim/tests/recorded");
    let folder = recordings.join(format!("shim-v{VERSION}"));
    copy(&session.directory, &folder, &[spool::FILE, ostler_shim::OUT, ostler_shim::ERR]);
    // A shim is handed it in memory; the recording says what it was handed.
    let text = serde_json::to_string(&launch).expect("a launch");
    fs::write(folder.join(launch::FILE), text).expect("a file");
    fs::write(folder.join("talk.ndjson"), recorder.talk).expect("a file");

    let session = Session::start(&plain(command(&["/no/such/program"])));
    wait_for("a spool", || spool::read(&session.directory).ok().filter(|records| !records.is_empty()));
    copy(&session.directory, &folder.join("not-started"), &[spool::FILE]);
}
