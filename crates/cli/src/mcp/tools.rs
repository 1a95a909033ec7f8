//! The tools, as a model sees them: what they take, and what is said when something came of them.

use ostler_protocol::signal::{DependencyType, ErrorSeverity, QuestionCategory, Recovery};
use ostler_server::api::{CallAnswer, NewCall};
use serde::Deserialize;
use serde_json::{Value, json};

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// To ask a person.
    AskHuman,
    /// To ask for a thing.
    Need,
    /// To report what cannot be solved.
    ReportError,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// This.
    Answer(CallAnswer),
    /// Nothing: the session is over, or is to end.
    Over,
    /// It comes another way.
    Elsewhere,
    /// It could not even be asked.
    Refused(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default, rename = "type")]
    kind: Option<Kind>,
    #[serde(default)]
    default: Option<String>,
    #[serde(default)]
    optional: bool,
}

/// How a question is to be answered.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Choice,
    Confirm,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thing {
    name: String,
    #[serde(rename = "type")]
    kind: DependencyType,
    #[serde(default)]
    description: String,
    #[serde(default)]
    default: Option<String>,
    #[serde(default)]
    optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    message: String,
    #[serde(default)]
    details: Option<String>,
    #[serde(default)]
    fatal: bool,
    #[serde(default)]
    recovery: Option<Recovery>,
}

/// All of them, with what each takes.
pub(super) fn list() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let flag = |about: &str| json!({ "type": "boolean", "description": about, "default": false });
    let one_of =
        |words: &[&str], about: &str| json!({ "type": "string", "enum": words, "description": about });
    json!([
        {
            "name": "ask_human",
            "title": "Ask the person",
            "description": "Ask the person who looks after this session, and wait for the answer. It may take hours. \
                            Use it for decisions that are theirs and for what you cannot find out yourself.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "question": text("One question, understandable without seeing your work."),
                    "options": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "What can be chosen. Leave it out for an answer in words.",
                    },
                    "type": one_of(&["text", "choice", "confirm"], "How it is answered; confirm is Yes or No."),
                    "default": text("The answer that you would take."),
                    "optional": flag("Whether you can do without: then the default is the answer after a day."),
                },
                "required": ["question"],
                "additionalProperties": false,
            },
        },
        {
            "name": "need",
            "title": "Ask for a thing",
            "description": "Ask the person for a file, or for permission to do something, and wait. A file's path is \
                            the result, or whether it is approved.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": text("The name of the file, or what you want to do."),
                    "type": one_of(&["file", "permission"], "What sort of thing."),
                    "description": text("What it is for."),
                    "default": text("What to use if nobody gives it."),
                    "optional": flag("Whether you can do without."),
                },
                "required": ["name", "type"],
                "additionalProperties": false,
            },
        },
        {
            "name": "report_error",
            "title": "Report an error",
            "description": "Report what you cannot solve, and wait for what the person decides: retry, continue, or \
                            words to follow.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "message": text("What is wrong, in a line."),
                    "details": text("All there is to know about it."),
                    "fatal": flag("Whether trying again is no use."),
                    "recovery": one_of(
                        &["pause_and_retry", "checkpoint_and_fail", "notify_user"],
                        "What should happen now; notify_user, if you say nothing.",
                    ),
                },
                "required": ["message"],
                "additionalProperties": false,
            },
        },
    ])
}

impl Tool {
    pub(super) fn of_name(name: &str) -> Option<Tool> {
        match name {
            "ask_human" => Some(Tool::AskHuman),
            "need" => Some(Tool::Need),
            "report_error" => Some(Tool::ReportError),
            _ => None,
        }
    }

    /// What is asked with these arguments, or what is wrong with them.
    pub(super) fn call(self, arguments: &Value) -> Result<NewCall, String> {
        let arguments = arguments.clone();
        let call = match self {
            Tool::AskHuman => serde_json::from_value(arguments).map(Asking::call),
            Tool::Need => serde_json::from_value(arguments).map(Thing::call),
            Tool::ReportError => serde_json::from_value(arguments).map(Report::call),
        };
        call.map_err(|error| format!("The arguments make no sense: {error}"))
    }
}

impl Heard {
    /// The words for what came of it, and whether that is an error.
    pub(super) fn say(&self) -> (String, bool) {
        let said = match self {
            Heard::Refused(why) => return (why.clone(), true),
            Heard::Over => {
                return ("There is no answer: this session is over, or is to end.".to_owned(), true);
            }
            Heard::Elsewhere => "The answer will come as a message. Go on with something else.",
            Heard::Answer(CallAnswer::Text { text, remark: None, .. }) => text,
            Heard::Answer(CallAnswer::Text { text, remark: Some(remark), .. }) => {
                return (format!("{text}: {remark}"), false);
            }
            Heard::Answer(CallAnswer::Path { path }) => path,
            Heard::Answer(CallAnswer::Nothing) => "Nobody answered. Go on as you think best.",
            Heard::Answer(CallAnswer::Approved) => "approved",
            Heard::Answer(CallAnswer::Denied { reason: None }) => "denied",
            Heard::Answer(CallAnswer::Denied { reason: Some(reason) }) => {
                return (format!("denied: {reason}"), false);
            }
            Heard::Answer(CallAnswer::Provided { names }) => {
                // The value itself stays out of the conversation.
                let names = names.join(" and ");
                return (format!("{names} can be read now: in a shell, `ostler secret get NAME`"), false);
            }
            Heard::Answer(CallAnswer::Skipped { default: None }) => "The person declined. Go on without it.",
            Heard::Answer(CallAnswer::Skipped { default: Some(default) }) => {
                return (format!("Do without it, with its default: {default}"), false);
            }
            Heard::Answer(CallAnswer::Installed { installed: true, .. }) => "installed",
            Heard::Answer(CallAnswer::Installed { reason, .. }) => {
                let why = reason.as_deref().unwrap_or("nobody knows why");
                return (format!("not installed: {why}"), false);
            }
            Heard::Answer(CallAnswer::Retry) => "retry",
            Heard::Answer(CallAnswer::GoOn { words: None }) => "continue",
            Heard::Answer(CallAnswer::GoOn { words: Some(words) }) => words,
            Heard::Answer(CallAnswer::Fail) => "The person has given up; this session ends.",
        };
        (said.to_owned(), false)
    }
}

impl Asking {
    fn call(self) -> NewCall {
        let category = self.kind.map(|kind| match kind {
            Kind::Text => QuestionCategory::Clarification,
            Kind::Choice => QuestionCategory::Choice,
            Kind::Confirm => QuestionCategory::Confirmation,
        });
        let Asking { question, options, default, optional, .. } = self;
        NewCall::Question { category, question, options, default, required: !optional }
    }
}

impl Thing {
    fn call(self) -> NewCall {
        let Thing { name, kind, description, default, optional } = self;
        NewCall::Dependency { dependency_type: kind, name, description, required: !optional, default }
    }
}

impl Report {
    fn call(self) -> NewCall {
        let Report { message, details, fatal, recovery } = self;
        let severity = if fatal { ErrorSeverity::Fatal } else { ErrorSeverity::Recoverable };
        NewCall::Error { severity, message, details, recovery }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_takes_what_it_says() {
        for tool in list().as_array().expect("a list") {
            let name = tool["name"].as_str().expect("a name");
            let known = Tool::of_name(name).expect("a tool");
            let schema = &tool["inputSchema"];
            let value = |field: &Value| match field["type"].as_str() {
                Some("boolean") => json!(true),
                Some("array") => json!(["a"]),
                _ => field["enum"].get(0).cloned().unwrap_or(json!("x")),
            };
            let fields = schema["properties"].as_object().expect("fields");
            let all: Value = fields.iter().map(|(name, field)| (name.clone(), value(field))).collect();
            known.call(&all).unwrap_or_else(|why| panic!("{name}: {why}"));
            let required = schema["required"].as_array().expect("names").iter().filter_map(Value::as_str);
            let least: Value = required.map(|name| (name.to_owned(), all[name].clone())).collect();
            known.call(&least).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(known.call(&json!({})).is_err(), "{name} needs something");
            assert!(known.call(&json!({ "zzz": 1 })).is_err(), "{name} takes nothing else");
        }
    }
}
