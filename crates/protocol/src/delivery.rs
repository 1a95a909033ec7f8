//! What Ostler tells an office agent in plain text: another agent's task or result.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{guide::Language, name::AgentName, text::context_key};

/// A message from one office agent to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Something to do.
    Task(TaskDelivery),
    /// Something that was done.
    Result {
        /// Who did it.
        from: AgentName,
        /// The result as it is.
        content: String,
    },
}

/// A task as it reaches the agent that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDelivery {
    from: AgentName,
    task: String,
    context: Option<String>,
}

impl TaskDelivery {
    /// A line of the task that looks like the beginning of the context is moved in by a space, so that the one who
    /// receives it cannot take it for that.
    pub fn new(from: AgentName, task: &str, context: Option<&str>) -> Self {
        let guard = |line: &str| match context_key(line) {
            Some(_) if !line.starts_with(' ') => format!(" {line}"),
            _ => line.to_string(),
        };
        let task = task.split('\n').map(guard).collect::<Vec<_>>().join("\n");
        TaskDelivery { from, task, context: context.map(ToString::to_string) }
    }

    /// Who calls.
    pub fn from(&self) -> &AgentName {
        &self.from
    }

    /// What is to be done.
    pub fn task(&self) -> &str {
        &self.task
    }

    /// What the agent should know.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }
}

/// The fixed words of a delivery.
struct Words {
    task: &'static str,
    result: &'static str,
    context: &'static str,
}

const ENGLISH: Words = Words { task: "[Task from ", result: "[Result from ", context: "Context:" };
const KOREAN: Words =
    Words { task: "[작업 요청 from ", result: "[결과 수신 from ", context: "컨텍스트:" };

impl Delivery {
    /// The text in the project's language, with its last newline.
    pub fn encode(&self, language: Language) -> String {
        let words = match language {
            Language::English => ENGLISH,
            Language::Korean => KOREAN,
        };
        match self {
            Delivery::Task(TaskDelivery { from, task, context: None }) => {
                format!("{}{from}]\n{task}\n", words.task)
            }
            Delivery::Task(TaskDelivery { from, task, context: Some(context) }) => {
                format!("{}{from}]\n{task}\n{} {context}\n", words.task, words.context)
            }
            Delivery::Result { from, content } => format!("{}{from}]\n{content}\n", words.result),
        }
    }

    /// Reads a text in either language.
    pub fn decode(text: &str) -> Option<Delivery> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (head, body) = text.split_once('\n')?;
        [ENGLISH, KOREAN].into_iter().find_map(|words| {
            let sender = |opening| head.strip_prefix(opening)?.strip_suffix(']')?.parse::<AgentName>().ok();
            match (sender(words.task), sender(words.result)) {
                (Some(from), _) => Some(Delivery::Task(decode_task(from, body))),
                (None, Some(from)) => Some(Delivery::Result { from, content: body.to_string() }),
                (None, None) => None,
            }
        })
    }
}

/// The context may be named in either language: no task has a line that begins so.
fn decode_task(from: AgentName, body: &str) -> TaskDelivery {
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        let first = line.strip_prefix(ENGLISH.context).or_else(|| line.strip_prefix(KOREAN.context));
        if let Some(first) = first {
            let context = &body[start + (line.len() - first.len())..];
            let context = context.strip_prefix(' ').unwrap_or(context);
            let task = body[..start].strip_suffix('\n').unwrap_or_default();
            return TaskDelivery { from, task: task.to_string(), context: Some(context.to_string()) };
        }
        start += line.len();
    }
    TaskDelivery { from, task: body.to_string(), context: None }
}
