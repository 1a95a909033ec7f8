//! What a server and a shim say to each other: lines of JSON over the socket in the shim's directory.
//!
//! The shim greets with its version; a server speaks the older of the two. A request has a number and gets one
//! [`Reply`] with it. Whoever has asked to [`Command::Follow`] gets every record once it is written.

use serde::{Deserialize, Serialize};

use crate::spool::Record;

/// The name of the socket in the shim's directory.
pub const SOCKET: &str = "ctl.sock";

/// The version that this code speaks. The second has [`Command::CloseInput`], [`Status::input_unread`] and the
/// records of what the agent has read.
pub const VERSION: u32 = 2;

/// The first line from a shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// The version it speaks.
    pub shim: u32,
    /// The session it runs.
    pub session: String,
}

/// A line from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Named in the reply.
    pub id: u64,
    /// What is wanted.
    #[serde(flatten)]
    pub command: Command,
}

/// What a server can want.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Command {
    /// How the agent is.
    Status,
    /// Text for the agent's input. It is sent on, if it was stopped, once as much was written as fits.
    Input {
        /// Its name: what was taken under a name once is not taken again.
        key: String,
        /// The text.
        text: String,
        /// Whether to send the agent on.
        go_on: bool,
        /// The question that the text answers, where the question contains masked words. The shim puts back what they
        /// were; one that does not know this field writes the text as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<MaskedQuestion>,
    },
    /// End the agent's input behind all that was taken. On a terminal its end-of-file character is sent.
    CloseInput {
        /// Its name, for the record.
        key: String,
    },
    /// Stop the whole tree.
    Stop,
    /// Send it on.
    GoOn {
        /// The last record that the server knows: a stop that was noted later holds.
        #[serde(default)]
        after: Option<u64>,
    },
    /// End the whole tree: ask first, then do.
    Cancel {
        /// How long it has to end by itself.
        grace_ms: u64,
    },
    /// Give the terminal another size.
    Resize {
        /// Lines.
        rows: u16,
        /// Characters in a line.
        columns: u16,
    },
    /// A piece of the output log. The reply says how many bytes follow behind its line.
    Tail {
        /// From where.
        offset: u64,
        /// How much at the most.
        bytes_max: u32,
    },
    /// Every record behind this number, now and later.
    Follow {
        /// The last one that is known.
        after_seq: u64,
    },
}

/// A question as the shim has written it down, with secrets masked, and the option that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedQuestion {
    /// The question.
    pub question: String,
    /// Its options.
    #[serde(default)]
    pub options: Vec<String>,
    /// The number of the chosen option, counted from 1.
    #[serde(default)]
    pub number: Option<u32>,
}

impl Command {
    /// The first version of a shim that understands it; an older one hangs up on whoever says it.
    pub fn since(&self) -> u32 {
        match self {
            Command::CloseInput { .. } => 2,
            Command::Status
            | Command::Input { .. }
            | Command::Stop
            | Command::GoOn { .. }
            | Command::Cancel { .. }
            | Command::Resize { .. }
            | Command::Tail { .. }
            | Command::Follow { .. } => 1,
        }
    }
}

/// A line from the shim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The answer to a request.
    Reply {
        /// Which one.
        id: u64,
        /// What came of it.
        #[serde(flatten)]
        reply: Reply,
    },
    /// Something happened.
    Record(Record),
}

/// The most input that may wait for an agent.
pub const INPUT_BYTES_MAX: usize = 16 << 20;

/// The longest line that a terminal in its usual mode passes on; it cuts the rest without a word.
pub const TERMINAL_LINE_BYTES_MAX: usize = 4095;

/// Why input is refused until the disk has room again.
pub const NO_ROOM: &str = "the disk does not take it; ask again when there is room";

/// Why it is refused behind the end of the input.
pub const CLOSED: &str = "the input is closed";

/// Why it is refused where nobody reads.
pub const NOT_READ: &str = "the agent reads no input";

/// Why nothing comes of input that was taken.
pub const GIVEN_UP: &str = "the agent has closed its input";

/// What comes of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It was done.
    Done,
    /// It could not be done.
    Refused(String),
    /// How the agent is.
    Status(Status),
    /// So many bytes of the log follow.
    Bytes(u32),
}

/// How the agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its process.
    pub pid: i32,
    /// Whether its tree is stopped.
    pub stopped: bool,
    /// Whether its output has nowhere to go.
    pub stalled: bool,
    /// Whether it was told to end.
    pub cancelling: bool,
    /// How much it has printed.
    pub output_bytes: u64,
    /// How much input it has not taken yet, written or not.
    pub input_bytes: u64,
    /// How much of it was written and lies in the pipe. A terminal does not tell, and neither does the first version.
    #[serde(default)]
    pub input_unread: Option<u64>,
    /// The last record.
    pub last_seq: u64,
}
