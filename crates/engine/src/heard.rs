//! What an item of an agent's output is to the engine. Items come as the JSON that `ostler parse` prints.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};

use ostler_protocol::{
    fact::{AgentSession, End, InputHeard, RateLimit, Usage},
    mark::Mark,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    permission::REAL_PATH,
    phases::Announced,
    request::Ask,
    thin::{self, Spoken},
};

/// What an item says.
pub(crate) enum Heard {
    /// Somebody has to settle something.
    Asks {
        /// What.
        ask: Ask,
        /// Who said it.
        trust: String,
        /// Where the same also stands.
        mark: Option<Mark>,
        /// The real path of the file that a tool would be used on, which the driver has looked up.
        real_path: Option<String>,
    },
    /// Which conversation it is.
    Conversation(AgentSession),
    /// What was used.
    Usage(Usage),
    /// The account has hit a limit.
    Limit(RateLimit),
    /// The conversation holds an input.
    Input(InputHeard),
    /// The CLI says that it is through.
    End(End),
    /// A phase is said to be done.
    PhaseComplete(Announced),
    /// Something for another agent.
    Office(Said),
    /// Something that a main agent is answered.
    Thin(Spoken),
    /// Nothing that anybody has to do something about.
    Other,
}

/// What is said to another agent, as it is written in an item.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Said {
    /// `[INVOKE:X]`
    Invoke {
        /// Who is called.
        target: String,
        /// What is to be done.
        task: String,
        /// What the other should know.
        context: Option<String>,
    },
    /// `[DELIVER_RESULT:X]`
    DeliverResult {
        /// Who is to have it.
        target: String,
        /// What sort of thing it is.
        result_type: String,
        /// The thing itself.
        content: String,
    },
    /// `[STEP_COMPLETE]`
    StepComplete {
        /// Which step.
        step: Option<String>,
        /// What came of it.
        summary: Option<String>,
    },
    /// A `[DELIVER_RESULT:X]` of which not all was taken.
    #[serde(skip)]
    TooLong {
        /// Who was to have it.
        target: String,
        /// How much is taken.
        limit: String,
    },
}

/// Reads an item.
pub(crate) fn read(item: &Value) -> Heard {
    if item[DRAWN_AGAIN] == true || is_half(item) {
        return Heard::Other;
    }
    let kind = item["kind"].as_str().unwrap_or_default();
    let ask = match kind {
        "user_question" => fields(item).map(Ask::Question),
        "ask_user" => fields(item).map(Ask::AskUser),
        "dependency_request" => fields(item).map(Ask::Dependency),
        "error" => fields(item).map(Ask::Error),
        "permission_request" => fields(item).map(Ask::Permission),
        "fault" if item["severity"] == "fault" => {
            if let Some(said) = too_long(item) {
                return Heard::Office(said);
            }
            if let Some(said) = thin::broken(item) {
                return Heard::Thin(said);
            }
            fields(item).map(Ask::Fault)
        }
        _ => None,
    };
    if let Some(ask) = ask {
        let trust = item["trust"].as_str().unwrap_or("plain").to_string();
        let mark = item.get("mark").and_then(|mark| Mark::deserialize(mark).ok());
        let real_path = item[REAL_PATH].as_str().map(ToOwned::to_owned);
        return Heard::Asks { ask, trust, mark, real_path };
    }
    let fact = match kind {
        "agent_session" => fields(item).map(Heard::Conversation),
        "usage" => fields(item).map(Heard::Usage),
        "rate_limit" => fields(item).map(Heard::Limit),
        "input_heard" => fields(item).map(Heard::Input),
        "end" => fields(item).map(Heard::End),
        "phase_complete" => fields(item).map(Heard::PhaseComplete),
        "invoke" | "deliver_result" | "step_complete" => fields(item).map(Heard::Office),
        "resolve_next" | "task" | "custom" => thin::spoken(item).map(Heard::Thin),
        _ => None,
    };
    fact.unwrap_or(Heard::Other)
}

/// Whether an item only says how far the agent is: a step, what it used, or something that nobody acts on.
pub(crate) fn is_minor(item: &Value) -> bool {
    matches!(read(item), Heard::Other | Heard::Usage(_) | Heard::Office(Said::StepComplete { .. }))
}

/// Whether an item is what its process was saying to other agents when it was killed, or cannot be understood because
/// of that. The others would take half a task or half a result for the whole, and a person who is asked about half a
/// block could do nothing: the end of the process says it all. A question or an error that can be understood counts.
fn is_half(item: &Value) -> bool {
    item["ended_by"] == CUT_OFF
        && matches!(item["kind"].as_str(), Some("fault" | "invoke" | "deliver_result"))
}

/// What a shim says of a message that ended because its process was killed.
const CUT_OFF: &str = "cut_off";

/// A result that is too long to be printed. Nobody has to be asked about that: there are other ways to bring it.
fn too_long(item: &Value) -> Option<Said> {
    if item["tag"] != "DELIVER_RESULT" || item["reason"] != "too_long" {
        return None;
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (_, target) = item["raw"].as_str()?.split_once("DELIVER_RESULT:")?;
    let target = target.split(|c| !is_name(c)).next()?.to_owned();
    Some(Said::TooLong { target, limit: item["field"].as_str()?.to_owned() })
}

/// Says of an item that it stands on a screen that was only drawn again.
pub(crate) const DRAWN_AGAIN: &str = "drawn_again";

/// What of an item belongs to the place where it stands, and not to what it says.
const OF_PLACE: [&str; 7] = ["offset", "end", "index", "ended_by", "trust", "mark", "warnings"];

/// Stands for what is said to other agents, wherever it stands; none for everything else.
pub(crate) fn sum(item: &Value) -> Option<u64> {
    let Heard::Office(_) = read(item) else { return None };
    let said = item.as_object()?.iter().filter(|(key, _)| !OF_PLACE.contains(&key.as_str()));
    // FNV-1a: nobody gains anything from two texts with the same sum but a call that is not made.
    let bytes = said.flat_map(|(key, value)| format!("{key}={value};").into_bytes());
    Some(bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

/// Offset and index.
pub(crate) fn place(item: &Value) -> Option<(u64, u32)> {
    Some((item["offset"].as_u64()?, u32::try_from(item["index"].as_u64()?).ok()?))
}

fn fields<T: DeserializeOwned>(item: &Value) -> Option<T> {
    serde_json::from_value(item.clone()).ok()
}
