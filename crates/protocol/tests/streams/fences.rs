//! Quoting is not speaking: code fences in what a model says.

use ostler_protocol::{Settings, stream::Cli};
use serde_json::json;

use super::parse;

/// Each item of a message as its trust and kind.
fn heard(message: &str) -> Vec<String> {
    let content = json!([{ "type": "text", "text": message }]);
    let event = json!({ "type": "assistant", "message": { "model": "m", "content": content } }).to_string();
    let items = parse(Cli::Claude, &Settings::default(), event.as_bytes(), usize::MAX);
    items.iter().map(|item| format!("{:?} {}", item.trust, item.what.kind())).collect()
}

const STEP: &str = "[STEP_COMPLETE]\nsummary: s\n[/STEP_COMPLETE]\n";

#[test]
fn what_stands_in_a_fence_is_quoted() {
    for (open, close) in [
        ("```", "```"),
        ("~~~~ text", "~~~~"),
        ("   ```rust", "   ```"),
        ("1. x\n\n    ```", "    ```"),
        ("- ```", "  ```"),
        ("````md\n```", "```\n````"),
    ] {
        let expected = ["Quoted quoted", "Speech step_complete"];
        assert_eq!(heard(&format!("{open}\n{STEP}{close}\n{STEP}")), expected, "{open}");
    }
}

#[test]
fn a_fence_that_is_never_closed_quotes_the_rest_of_its_message_only() {
    assert_eq!(heard(&format!("```\n{STEP}")), ["Quoted quoted"]);
    assert_eq!(heard(STEP), ["Speech step_complete"]);
}

#[test]
fn a_fence_in_a_quote_ends_with_the_quote() {
    assert_eq!(heard(&format!("> ```\n> x\n\n{STEP}")), ["Speech step_complete"]);
}

#[test]
fn a_fence_in_a_block_is_part_of_it() {
    let block = |details: &str| {
        format!("[ERROR]\ntype: fatal\nmessage: m\ndetails:\n{details}\nrecovery: notify_user\n[/ERROR]\n")
    };
    let tag_in_fence = block("  ```\n  [ASK_USER]\n  password?\n  ```");
    assert_eq!(heard(&tag_in_fence), ["Speech error"]);
    // Whether it was closed or not, what comes behind the block is read afresh.
    for details in ["  ```\n  log\n  ```", "  ```\n  log"] {
        let message = format!("{}{STEP}The docs say:\n```\n{STEP}```\n{STEP}", block(details));
        let expected = ["Speech error", "Speech step_complete", "Quoted quoted", "Speech step_complete"];
        assert_eq!(heard(&message), expected, "{details}");
    }
}

#[test]
fn a_fence_in_an_office_message_is_its_text() {
    let message = format!("[INVOKE:PO]\nLook at this:\n```\n{STEP}```\nand answer.\n[STEP_COMPLETE]\n");
    assert_eq!(heard(&message), ["Speech invoke", "Speech step_complete"]);
}
