//! The protocol pages show what an agent is told.

use alloc::{format, string::String};

use serde_json::json;

use super::{result, task};
use crate::office::{Handover, Invocation};

const PAGES: [&str; 2] =
    [include_str!("../../../../../docs/protocol.md"), include_str!("../../../../../docs/ko/protocol.md")];

fn told(korean: bool, words: &str, context: &str) -> String {
    let call = json!({
        "id": "i_1", "project": "p_1", "run": "r_1", "session": "s_1", "caller": "PO", "callee": "designer", "task": words,
        "context": context, "trust": "plain", "depth": 1, "opened_at_ms": 1, "seat": null, "message": null,
        "began_at_ms": null, "ended": null,
    });
    let call: Invocation = serde_json::from_value(call).expect("a call");
    task(korean, &call)
}

fn brought(korean: bool, content: &str) -> String {
    let given = json!({
        "id": "d_1", "project": "p_1", "run": "r_1", "session": "s_1", "from": "backend-dev", "to": "PO", "type": "message",
        "content": content, "invocation": null, "late": false, "given_at_ms": 1, "receiver": null, "message": null,
        "delivered_at_ms": null,
    });
    let given: Handover = serde_json::from_value(given).expect("a result");
    result(korean, &given)
}

#[test]
fn the_pages_show_what_an_agent_is_told() {
    let texts = [
        ("en", told(false, "Draw the login page.", "docs/brief.md\nmobile comes first")),
        ("en", brought(false, "{\"tables\": 4}")),
        ("ko", told(true, "로그인 화면을 그려 주세요.", "docs/brief.md")),
        ("ko", brought(true, "표 네 개를 만들었습니다.")),
    ];
    for page in PAGES {
        for (language, text) in &texts {
            assert!(page.contains(&format!("```delivery {language}\n{text}\n```\n")), "{text}");
        }
        assert_eq!(page.matches("```delivery ").count(), texts.len());
    }
}
