//! What is written to the input of a running agent: messages, and decisions about tools.

use alloc::string::String;

use ostler_protocol::fact::PermissionRequest;
use serde_json::Value;

use crate::agent::{Agent, InputWay};

/// What a person decided about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It may run this once.
    Allow,
    /// It may not, and this sentence says why.
    Deny(&'a str),
}

impl Agent {
    /// The bytes that carry a message to the running agent; `None` if it has to be relaunched with it.
    ///
    /// For agents that read lines the text is one line: a caller with a reply has encoded it as such. The id is a UUID by
    /// which the stream may name the message later.
    pub fn message(&self, text: &str, id: &str) -> Option<String> {
        let mut line = match self.input.way {
            InputWay::Relaunch => return None,
            InputWay::Line => String::from(text.trim_end_matches('\n')),
            InputWay::Message => {
                let template = self.input.message.as_ref()?;
                template.fill(|name| Some(Value::from(if name == "id" { id } else { text }))).ok()?
            }
        };
        line.push('\n');
        Some(line)
    }

    /// The bytes that carry a decision about a tool; `None` if the CLI cannot be told, or not this.
    pub fn permission_reply(&self, request: &PermissionRequest, decision: Decision<'_>) -> Option<String> {
        let permission = self.permission.as_ref()?;
        let (template, message) = match decision {
            Decision::Allow => (&permission.allow, None),
            Decision::Deny(why) => (&permission.deny, Some(why)),
        };
        let mut line = template
            .fill(|name| match name {
                "request_id" => Some(Value::from(request.request_id.as_str())),
                "tool" => Some(Value::from(request.tool.as_str())),
                "input" => Some(request.input.clone()),
                _ => message.map(Value::from),
            })
            .ok()?;
        line.push('\n');
        Some(line)
    }
}
