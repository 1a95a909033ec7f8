//! The tools with which an agent calls another one of its office, and brings it a result.

use ostler_server::{
    api::{CalledView, InvocationStatus, NewInvocation, NewResult},
    channel::Channel,
    client::ClientError,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Something for another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Errand {
    /// To call it.
    Invoke(NewInvocation),
    /// To bring it something.
    Deliver(NewResult),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calling {
    agent: String,
    task: String,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    no_wait: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bringing {
    agent: String,
    content: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    invocation: Option<String>,
}

/// Both tools, with what each takes.
pub(super) fn list() -> Vec<Value> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    vec![
        json!({
            "name": "invoke_agent",
            "title": "Call another agent",
            "description": "Call another agent of this project by its name, and wait for its result. It may take hours. \
                            With no_wait, the id of the call is returned, and the result comes as a message.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "agent": text("The name of the agent."),
                    "task": text("What is to be done, understandable without seeing your work."),
                    "context": text("What the other should know."),
                    "no_wait": {
                        "type": "boolean",
                        "description": "Whether to go on without the result.",
                        "default": false,
                    },
                },
                "required": ["agent", "task"],
                "additionalProperties": false,
            },
        }),
        json!({
            "name": "deliver_result",
            "title": "Bring a result",
            "description": "Bring another agent of this project a result. If you work on a call of that agent, the call \
                            is done by it.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "agent": text("Who is to have it: the name behind `Task from`."),
                    "content": text("The result."),
                    "type": {
                        "type": "string",
                        "enum": ["message", "github_issue", "markdown", "json", "file_path"],
                        "description": "What sort of thing it is; message, if you say nothing.",
                    },
                    "invocation": text("The call that is meant, if not the one that you work on."),
                },
                "required": ["agent", "content"],
                "additionalProperties": false,
            },
        }),
    ]
}

/// What is wanted with these arguments, if it is one of these tools; or what is wrong with them.
pub(super) fn errand(name: &str, arguments: &Value) -> Option<Result<Errand, String>> {
    let arguments = arguments.clone();
    let errand = match name {
        "invoke_agent" => serde_json::from_value(arguments).map(|calling: Calling| {
            let Calling { agent, task, context, no_wait } = calling;
            Errand::Invoke(NewInvocation { agent, task, context, wait: !no_wait })
        }),
        "deliver_result" => serde_json::from_value(arguments).map(|bringing: Bringing| {
            let Bringing { agent, content, kind, invocation } = bringing;
            let kind = kind.unwrap_or_else(|| "message".to_owned());
            Errand::Deliver(NewResult { agent, kind, content, invocation })
        }),
        _ => return None,
    };
    Some(errand.map_err(|error| format!("The arguments make no sense: {error}")))
}

/// What came of an errand.
pub(super) struct Report {
    /// What is said of it.
    pub(super) text: String,
    /// Whether that is an error.
    pub(super) is_error: bool,
    /// The result that it is: it is taken when it was said.
    pub(super) taken: Option<Taken>,
}

/// A call whose result is handed over, and its key.
pub(super) struct Taken {
    key: String,
    view: CalledView,
}

impl Report {
    fn new(text: String, is_error: bool) -> Report {
        Report { text, is_error, taken: None }
    }
}

impl Taken {
    /// It was said.
    pub(super) async fn settle(self, channel: &Channel) {
        // If it is refused, this process was taken for gone, and the result comes as a message too.
        channel.take_result(&self.key, &self.view).await.ok();
    }
}

/// Does it, and says what came of it; nothing, if the client does not want to know any more.
pub(super) async fn run(
    channel: &Channel,
    errand: &Errand,
    cancelled: oneshot::Receiver<()>,
) -> Option<Report> {
    let said = match errand {
        Errand::Invoke(call) => invoke(channel, call, cancelled).await,
        Errand::Deliver(result) => deliver(channel, result).await.map(Some),
    };
    said.unwrap_or_else(|error| Some(Report::new(error.to_string(), true)))
}

async fn deliver(channel: &Channel, result: &NewResult) -> Result<Report, ClientError> {
    let id = channel.deliver(result).await?;
    let text = id.map_or_else(|| "It was delivered before.".to_owned(), |id| format!("Delivered: {id}"));
    Ok(Report::new(text, false))
}

async fn invoke(
    channel: &Channel,
    call: &NewInvocation,
    cancelled: oneshot::Receiver<()>,
) -> Result<Option<Report>, ClientError> {
    let key = Channel::key();
    let opened = channel.invoke(&key, call).await?;
    let called = channel.called(&key, &opened, false).await?;
    let view = if call.wait {
        tokio::select! {
            over = channel.called(&key, &called, true) => over?,
            Ok(()) = cancelled => {
                // If that is refused, the call is gone, and with it who would want to know.
                channel.leave_call(&key, &called).await.ok();
                return Ok(None);
            }
        }
    } else {
        called
    };
    let has_failed = matches!(view.invocation.status, InvocationStatus::Failed | InvocationStatus::Cancelled);
    let text = match (&view.result, &view.invocation.words) {
        _ if call.wait && !view.waited_for => "The result will come as a message.".to_owned(),
        (Some(result), _) => result.content.clone(),
        (None, Some(words)) => words.clone(),
        (None, None) => format!("{} was called; its result comes as a message.", view.invocation.id),
    };
    let taken = (call.wait && view.waited_for).then_some(Taken { key, view });
    Ok(Some(Report { text, is_error: has_failed, taken }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_takes_what_it_says() {
        for tool in list() {
            let name = tool["name"].as_str().expect("a name");
            let fields = tool["inputSchema"]["properties"].as_object().expect("fields");
            let value = |field: &Value| match field["type"].as_str() {
                Some("boolean") => json!(true),
                _ => field["enum"].get(0).cloned().unwrap_or(json!("x")),
            };
            let all: Value = fields.iter().map(|(name, field)| (name.clone(), value(field))).collect();
            errand(name, &all).expect("a tool").unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(errand(name, &json!({})).expect("a tool").is_err(), "{name} needs something");
        }
        assert_eq!(errand("ask_human", &json!({})), None);
    }
}
