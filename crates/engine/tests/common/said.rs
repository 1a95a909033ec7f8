//! What agents say, as `ostler parse` prints it.

use ostler_engine::request::Ask;
use serde_json::{Value, json};

/// The same over the session's socket.
pub(crate) fn asked(item: &Value) -> Ask {
    let mut fields = item.clone();
    let kind = match item["kind"].as_str() {
        Some("user_question") => "question",
        Some("dependency_request") => "dependency",
        _ => "error",
    };
    fields["kind"] = json!(kind);
    serde_json::from_value(fields).expect("it can be asked")
}

/// An item without a place; whoever prints it puts that in.
pub(crate) fn at(offset: u64, mut item: Value) -> Value {
    item["offset"] = json!(offset);
    item["end"] = json!(offset + 10);
    item["index"] = json!(0);
    if item["trust"].is_null() {
        item["trust"] = json!("plain");
    }
    item
}

/// A question that has to be answered.
pub(crate) fn question(text: &str) -> Value {
    json!({ "kind": "user_question", "category": "business", "question": text,
            "options": [], "default": null, "required": true })
}

/// A question with options.
pub(crate) fn choice(text: &str, options: &[&str]) -> Value {
    json!({ "kind": "user_question", "category": "choice", "question": text,
            "options": options, "default": null, "required": true })
}

/// A question that answers itself in time.
pub(crate) fn optional(text: &str, default: Option<&str>) -> Value {
    json!({ "kind": "user_question", "category": "business", "question": text,
            "options": [], "default": default, "required": false })
}

/// A question of an office agent.
pub(crate) fn ask_user(text: &str) -> Value {
    json!({ "kind": "ask_user", "question": text, "type": "text", "options": [], "context": null })
}

/// Something it needs.
pub(crate) fn dependency(sort: &str, name: &str) -> Value {
    json!({ "kind": "dependency_request", "type": sort, "name": name,
            "description": "because", "required": true, "default": null })
}

/// Something it can do without.
pub(crate) fn wish(sort: &str, name: &str, default: Option<&str>) -> Value {
    json!({ "kind": "dependency_request", "type": sort, "name": name,
            "description": "because", "required": false, "default": default })
}

/// An error.
pub(crate) fn error(message: &str, recovery: &str) -> Value {
    json!({ "kind": "error", "type": "recoverable", "message": message, "details": null, "recovery": recovery })
}

/// A message that cannot be understood.
pub(crate) fn fault(details: &str) -> Value {
    json!({ "kind": "fault", "severity": "fault", "details": details, "raw": "[USER_QUESTION]" })
}

/// A tool that wants to be allowed.
pub(crate) fn permission(number: u32, command: &str) -> Value {
    json!({ "kind": "permission_request", "trust": "stream", "request_id": format!("p{number}"), "tool": "Bash",
            "input": { "command": command }, "description": null })
}

/// The conversation.
pub(crate) fn conversation(id: &str) -> Value {
    json!({ "kind": "agent_session", "trust": "stream", "id": id, "model": "m", "version": null })
}

/// The CLI is through.
pub(crate) fn end(status: &str) -> Value {
    json!({ "kind": "end", "trust": "stream", "status": status, "reason": null })
}

/// What was used.
pub(crate) fn usage(cost_usd: f64) -> Value {
    json!({ "kind": "usage", "trust": "stream", "input_tokens": 3, "output_tokens": null,
            "cache_read_tokens": null, "cache_write_tokens": null, "reasoning_tokens": null, "cost_usd": cost_usd })
}

/// A limit of the account that lasts so long, or nobody knows how long.
pub(crate) fn limit_for(retry_after_ms: Option<u64>) -> Value {
    let mut limit = limit();
    limit["reset_at_ms"] = Value::Null;
    limit["retry_after_ms"] = json!(retry_after_ms);
    limit
}

/// A limit of the account.
pub(crate) fn limit() -> Value {
    json!({ "kind": "rate_limit", "trust": "stream", "reset_at_ms": 99, "retry_after_ms": null,
            "retrying": false, "message": "too much" })
}

/// A phase is said to be done.
pub(crate) fn phase_complete(phase: u32) -> Value {
    json!({ "kind": "phase_complete", "phase": phase, "name": null, "documents": [] })
}

/// The conversation holds an input, or the prompt of the process.
pub(crate) fn heard(id: Option<&str>) -> Value {
    json!({ "kind": "input_heard", "trust": "stream", "id": id })
}
