//! Puts a text into the events of each CLI, so that a fuzzer need not invent JSON to reach what stands in it.

use ostler_protocol::stream::Cli;
use serde_json::{Value, json};

/// A short session in which the agent says the text, in fragments of so many characters where the CLI has them.
pub(crate) fn session(cli: Cli, text: &str, fragment_chars: usize) -> String {
    let speech = match cli {
        Cli::Claude => vec![json!({
            "type": "assistant", "parent_tool_use_id": null,
            "message": {"model": "opus", "content": [{"type": "text", "text": text}]},
        })],
        Cli::Codex => {
            vec![json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}})]
        }
        Cli::Gemini => fragments(text, fragment_chars)
            .into_iter()
            .map(|part| json!({"type": "message", "role": "assistant", "content": part, "delta": true}))
            .collect(),
        Cli::Opencode => vec![json!({"type": "text", "sessionID": "ses_1", "part": {"text": text}})],
    };
    lines(&[vec![begin(cli)], speech, vec![end(cli)]].concat())
}

/// The same text wherever it is shown and not said.
pub(crate) fn quotations(cli: Cli, text: &str) -> String {
    let shown = match cli {
        Cli::Claude => vec![
            json!({"type": "user", "message": {"content": text}}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": text}]}}),
            json!({
                "type": "assistant", "parent_tool_use_id": "toolu_1",
                "message": {"model": "haiku", "content": [{"type": "text", "text": text}]},
            }),
        ],
        Cli::Codex => vec![
            json!({"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": text}}),
            json!({"type": "item.completed", "item": {
                "type": "collab_tool_call", "prompt": text, "agents_states": {"t2": {"message": text}},
            }}),
        ],
        Cli::Gemini => vec![
            json!({"type": "message", "role": "user", "content": text}),
            json!({"type": "tool_result", "status": "success", "output": text}),
        ],
        Cli::Opencode => {
            let tool = |tool| json!({"type": "tool_use", "part": {"tool": tool, "state": {"output": text}}});
            vec![tool("bash"), tool("task")]
        }
    };
    lines(&shown)
}

fn begin(cli: Cli) -> Value {
    match cli {
        Cli::Claude => json!({"type": "system", "subtype": "init", "session_id": "s1", "model": "opus"}),
        Cli::Codex => json!({"type": "thread.started", "thread_id": "t1"}),
        Cli::Gemini => json!({"type": "init", "session_id": "s1", "model": "flash"}),
        Cli::Opencode => json!({"type": "step_start", "sessionID": "ses_1", "part": {}}),
    }
}

fn end(cli: Cli) -> Value {
    match cli {
        Cli::Claude => {
            json!({"type": "result", "subtype": "success", "is_error": false, "usage": {"input_tokens": 1}})
        }
        Cli::Codex => json!({"type": "turn.completed", "usage": {"input_tokens": 1}}),
        Cli::Gemini => json!({"type": "result", "status": "success", "stats": {"input_tokens": 1}}),
        Cli::Opencode => {
            json!({"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 1}}})
        }
    }
}

fn fragments(text: &str, chars_max: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(chars_max).map(|part| part.iter().collect()).collect()
}

fn lines(events: &[Value]) -> String {
    events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}
