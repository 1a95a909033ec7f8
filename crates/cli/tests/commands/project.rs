//! `ostler context`: what a project says of itself.

use std::fs;

use serde_json::{Value, json};

use crate::support::Place;

#[test]
fn the_stack_is_shown_with_the_lines_that_prove_it() {
    let place = Place::new();
    let empty = place.done(&["context", "detect"]);
    assert!(empty.contains("No manifest or configuration"), "{empty}");
    let manifest = "{\n  \"dependencies\": {\n    \"express\": \"^4.19.2\"\n  }\n}\n";
    fs::write(place.project().join("package.json"), manifest).expect("a manifest");
    fs::write(place.project().join("setup.py"), "").expect("a manifest");
    let shown = place.done(&["context", "detect"]);
    assert!(shown.contains("Backend: Framework  Express 4.19  package.json:3"), "{shown}");
    assert!(shown.contains("Unknown: setup.py was not read: its format is not supported."), "{shown}");
    let korean = place.done(&["--lang", "ko", "context", "detect"]);
    assert!(korean.contains("백엔드: Framework") && korean.contains("알 수 없음: setup.py"), "{korean}");
    let found: Value = serde_json::from_str(&place.done(&["--json", "context", "detect"])).expect("JSON");
    assert_eq!(found["findings"][0]["evidence"], json!([{ "file": "package.json", "line": 3 }]));
    assert_eq!(found["findings"][0]["version"], "4.19");
    assert_eq!(found["unread"], json!([{ "file": "setup.py", "why": { "kind": "unsupported" } }]));
}
