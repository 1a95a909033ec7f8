//! Plays a recorded shim: the files it left, and its side of a conversation over a real socket.
//!
//! Whoever talks to it need not say exactly what was said then. A request is answered as the next recorded one of the
//! same kind was; what lies between is passed over, except for records, of which a follower misses none. A request
//! that was never recorded ends the connection, as it does with a shim that does not know it.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    os::{
        fd::AsRawFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use ostler_shim::{LOCK, control::SOCKET};
use serde::Deserialize;
use serde_json::Value;

/// One line of a conversation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    by: Side,
    line: Option<String>,
    bytes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    Server,
    Shim,
}

/// A recorded shim that answers for one connection.
pub(crate) struct Replay {
    /// Its directory, with copies of the files it left.
    pub(crate) directory: PathBuf,
    talk: JoinHandle<()>,
    /// Held, as a shim that lives holds it.
    _lock: File,
}

impl Replay {
    /// Copies a recording to a directory that nobody else uses, and listens there.
    pub(crate) fn start(recording: &Path, directory: &Path) -> Replay {
        fs::create_dir_all(directory).expect("the target directory can be written");
        for entry in fs::read_dir(recording).expect("a recording").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), directory.join(entry.file_name())).expect("a file can be copied");
            }
        }
        let talk = fs::read_to_string(recording.join("talk.ndjson")).expect("a conversation");
        let said = talk.lines().map(|line| serde_json::from_str(line).expect("something said")).collect();
        fs::remove_file(directory.join(SOCKET)).ok();
        // A socket's path may have only 108 bytes; through the directory's descriptor it is always short.
        let opened = File::open(directory).expect("a directory");
        let socket = format!("/proc/self/fd/{}/{SOCKET}", opened.as_raw_fd());
        let listener = UnixListener::bind(socket).expect("nobody else listens there");
        let lock = File::create(directory.join(LOCK)).expect("a lock");
        lock.lock().expect("nobody else holds it");
        let talk = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("somebody connects");
            play(said, stream);
        });
        Replay { directory: directory.to_path_buf(), talk, _lock: lock }
    }

    /// Waits until the connection has ended.
    pub(crate) fn join(self) {
        self.talk.join().expect("the conversation went well");
    }
}

fn play(mut said: VecDeque<Said>, stream: UnixStream) {
    let mut reader = BufReader::new(stream);
    tell(&mut said, reader.get_mut(), None);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        let request: Value = serde_json::from_str(&line).expect("a request");
        line.clear();
        let is_alike = |said: &Said| said.by == Side::Server && parse(said)["do"] == request["do"];
        let Some(place) = said.iter().position(is_alike) else { return };
        for passed in said.drain(..=place).filter(|said| said.by == Side::Shim && said.line.is_some()) {
            if parse(&passed).get("record").is_some() {
                send(reader.get_mut(), &parse(&passed));
            }
        }
        tell(&mut said, reader.get_mut(), Some(&request["id"]));
    }
}

/// Says everything up to the next request. The reply has the number of the request it answers now.
fn tell(said: &mut VecDeque<Said>, stream: &mut UnixStream, id: Option<&Value>) {
    while let Some(said) = said.pop_front_if(|said| said.by == Side::Shim) {
        if let Some(bytes) = &said.bytes {
            stream.write_all(bytes.as_bytes()).ok();
            continue;
        }
        let mut message = parse(&said);
        if let (Some(reply), Some(id)) = (message.get_mut("reply"), id) {
            reply["id"] = id.clone();
        }
        send(stream, &message);
    }
}

/// A client may have heard enough.
fn send(stream: &mut UnixStream, message: &Value) {
    stream.write_all(format!("{message}\n").as_bytes()).ok();
}

fn parse(said: &Said) -> Value {
    serde_json::from_str(said.line.as_deref().unwrap_or("null")).expect("a line of JSON")
}
