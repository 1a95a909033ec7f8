//! Permission rules against calls that try to get past them.

use alloc::{string::ToString, vec};

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn shell() -> ToolShape {
    ToolShape {
        command: Some("command".into()),
        path: None,
        free: vec!["description".into()],
        ..ToolShape::default()
    }
}

fn editor() -> ToolShape {
    ToolShape {
        command: None,
        path: Some("file_path".into()),
        free: vec!["content".into()],
        ..ToolShape::default()
    }
}

fn request(tool: &str, input: Value) -> PermissionRequest {
    PermissionRequest { request_id: "1".into(), tool: tool.into(), input, description: None }
}

/// The rules that are offered for a shell command.
fn offered(command: &str) -> Vec<PermissionRule> {
    let (request, shape) = (request("Bash", json!({ "command": command })), shell());
    ToolCall { request: &request, shape: Some(&shape), real_path: None }.offers()
}

fn covers_input(rule: &PermissionRule, input: Value) -> bool {
    let (request, shape) = (request("Bash", input), shell());
    rule.covers(ToolCall { request: &request, shape: Some(&shape), real_path: None })
}

fn covers(rule: &PermissionRule, command: &str) -> bool {
    covers_input(rule, json!({ "command": command }))
}

fn covers_file(rule: &PermissionRule, real_path: &str) -> bool {
    let (request, shape) = (request("Write", json!({ "file_path": "/any", "content": "x" })), editor());
    rule.covers(ToolCall { request: &request, shape: Some(&shape), real_path: Some(real_path) })
}

fn file_rules(real_path: Option<&str>) -> Vec<PermissionRule> {
    let (request, shape) = (request("Write", json!({ "file_path": "/any", "content": "x" })), editor());
    ToolCall { request: &request, shape: Some(&shape), real_path }.offers()
}

fn prefix(words: &str) -> PermissionRule {
    PermissionRule { tool: "Bash".into(), scope: RuleScope::Prefix { prefix: words.into() } }
}

fn words_of(rules: &[PermissionRule]) -> Vec<String> {
    rules.iter().map(|rule| format!("{}: {}", rule.option(), rule.text())).collect()
}

#[test]
fn the_narrow_rule_is_offered_first_and_the_tool_last() {
    assert_eq!(
        words_of(&offered("npm test -- --watch")),
        ["allow this call: npm test -- --watch", "allow this prefix: npm test …", "allow this tool: Bash"]
    );
    assert_eq!(
        words_of(&file_rules(Some("/srv/code/src/a.rs"))),
        [
            "allow this file: /srv/code/src/a.rs",
            "allow this directory: /srv/code/src",
            "allow this tool: Write"
        ]
    );
    let options = options(&offered("npm test"));
    assert_eq!(options, ["allow", "allow this call", "deny", "allow this prefix", "allow this tool"]);
    assert_eq!(super::options(&[]), ["allow", "deny"]);
}

#[test]
fn no_prefix_is_offered_where_it_would_be_any_command() {
    for command in [
        "ls",
        "sh -c x",
        "bash run.sh",
        "/usr/bin/env ls",
        "sudo npm test",
        "timeout 10 ls",
        "A=1 npm test",
        "npm --prefix x",
        "npm test; ls",
        "npm test && ls",
        "npm $(ls)",
        "npm\ttest",
        "npm  test",
        " npm test",
        "npm test\nls",
        "npm te\u{a0}st",
        "npm 'test'",
        "cat <x",
        "~/x y",
    ] {
        let rules = words_of(&offered(command));
        assert!(!rules.iter().any(|rule| rule.starts_with("allow this prefix")), "{command:?}: {rules:?}");
    }
}

#[test]
fn a_call_is_allowed_again_only_as_it_was() {
    let rule = &offered("touch a1")[0];
    assert!(covers(rule, "touch a1"));
    assert!(covers_input(rule, json!({ "command": "touch a1", "description": "other words" })));
    for command in BYPASSES {
        assert!(!covers(rule, command), "{command:?}");
    }
    for input in [
        json!({ "command": "touch a1", "run_in_background": true }),
        json!({ "command": "touch a1", "dangerouslyDisableSandbox": true }),
        json!({ "command": "touch a1", "timeout": 600_000 }),
        json!({ "command": ["touch a1"] }),
        json!("touch a1"),
        json!(null),
    ] {
        assert!(!covers_input(rule, input.clone()), "{input}");
    }
    let other = request("Shell", json!({ "command": "touch a1" }));
    assert!(!rule.covers(ToolCall { request: &other, shape: Some(&shell()), real_path: None }));
}

/// Commands that are not `touch a1`, although they look like it or begin with it.
const BYPASSES: [&str; 24] = [
    "touch a1; rm -rf x",
    "touch a1 ; rm -rf x",
    "touch a1 && rm -rf x",
    "touch a1 || rm x",
    "touch a1 | sh",
    "touch a1 & rm x",
    "touch a1\nrm x",
    "touch a1\r\nrm x",
    "touch a1 $(rm x)",
    "touch a1 `rm x`",
    "touch a1 <(rm x)",
    "touch a1 >x",
    "touch a1 \\\nrm",
    "touch a1 {a,b}",
    "touch a1 *",
    "touch a1 ~root",
    "touch \"a1\"",
    "touch a1 \"$(rm x)\"",
    "touch a1 'x' ; 'y",
    "A=1 touch a1",
    "sh -c 'touch a1'",
    "touch\u{a0}a1",
    "touch a1\u{2028}rm x",
    "touch a1\u{3000}x",
];

#[test]
fn a_prefix_ends_at_a_word_and_covers_no_shell_syntax() {
    let rule = prefix("touch a1");
    for command in BYPASSES {
        assert!(!covers(&rule, command), "{command:?}");
    }
    for command in ["touch a12", "touch a1x b", "touch", "touch a", "touch  a1", " touch a1", "TOUCH a1"] {
        assert!(!covers(&rule, command), "{command:?}");
    }
    for command in ["touch a1", "touch a1 ", "touch a1 -t 2", "touch a1 'a b' \"c d\"", "touch a1 --x=y/z"] {
        assert!(covers(&rule, command), "{command:?}");
    }
    assert!(!covers_input(&rule, json!({ "command": "touch a1 b", "run_in_background": true })));
}

#[test]
fn a_directory_ends_at_a_name_and_leads_nowhere_else() {
    let rules = file_rules(Some("/srv/code/src/a.rs"));
    let (file, directory) = (&rules[0], &rules[1]);
    for path in ["/srv/code/src/a.rs", "/srv/code/src/b.rs", "/srv/code/src/deep/c.rs"] {
        assert!(covers_file(directory, path), "{path}");
    }
    for path in [
        "/srv/code/src",
        "/srv/code/src/",
        "/srv/code/srcs/a.rs",
        "/srv/code/src/../x",
        "/srv/code/src/./x",
        "/srv/code/src//x",
        "/srv/code/src/.git/hooks/x",
        "/srv/code/src/.env",
        "/etc/passwd",
        "work/src/a.rs",
        "",
    ] {
        assert!(!covers_file(directory, path), "{path}");
    }
    assert!(covers_file(file, "/srv/code/src/a.rs") && !covers_file(file, "/srv/code/src/b.rs"));
    // Where the real path is not known nothing but the tool is offered, and nothing else covers the call.
    assert_eq!(words_of(&file_rules(None)), ["allow this tool: Write"]);
    assert_eq!(words_of(&file_rules(Some("/srv/code/../etc/x"))), ["allow this tool: Write"]);
    assert_eq!(words_of(&file_rules(Some("/x"))), ["allow this file: /x", "allow this tool: Write"]);
    let hidden = ["allow this file: /srv/code/.env", "allow this tool: Write"];
    assert_eq!(words_of(&file_rules(Some("/srv/code/.env"))), hidden);
    let (moved, shape) = (request("Write", json!({ "file_path": "/any", "mode": 1 })), editor());
    let call = ToolCall { request: &moved, shape: Some(&shape), real_path: Some("/srv/code/src/a.rs") };
    assert!(!file.covers(call) && !directory.covers(call), "another field is asked about");
}

#[test]
fn a_masked_value_is_in_no_narrow_rule() {
    assert_eq!(words_of(&offered("curl x ********")), ["allow this tool: Bash"]);
    let rule = PermissionRule {
        tool: "Bash".into(),
        scope: RuleScope::Call { input: json!({ "command": "x ****" }) },
    };
    assert!(!covers(&rule, "x ****"));
}

#[test]
fn an_unknown_tool_is_allowed_by_the_whole_input_or_as_a_whole() {
    let asked = request("mcp__db__query", json!({ "sql": "select 1", "description": "a" }));
    let call = ToolCall { request: &asked, shape: None, real_path: None };
    let rules = call.offers();
    assert_eq!(rules.len(), 2);
    assert!(rules.iter().all(|rule| rule.covers(call)));
    let other = request("mcp__db__query", json!({ "sql": "select 1", "description": "b" }));
    let call = ToolCall { request: &other, ..call };
    assert_eq!(rules.iter().map(|rule| rule.covers(call)).collect::<Vec<_>>(), [false, true]);
    let long = request("mcp__db__query", json!({ "sql": "x".repeat(INPUT_BYTES_MAX) }));
    assert_eq!(ToolCall { request: &long, ..call }.offers().len(), 1, "nobody reads that on a card");
}

#[test]
fn a_rule_is_read_as_it_was_written() {
    let rules: Vec<_> = offered("npm test").into_iter().chain(file_rules(Some("/a/b"))).collect();
    for rule in rules {
        let written = json!(rule).to_string();
        assert_eq!(serde_json::from_str::<PermissionRule>(&written).unwrap(), rule, "{written}");
    }
    assert_eq!(json!(prefix("npm test")), json!({ "tool": "Bash", "scope": "prefix", "prefix": "npm test" }));
}

/// Pieces of commands, shell syntax among them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("npm".to_string()),
        Just("test".to_string()),
        Just(" ".to_string()),
        Just("npm test".to_string()),
        Just("rm -rf x".to_string()),
        "[;&|<>()$`\\\\\n\t'\"{}*?~!#\u{a0}\u{2028}]",
        "[a-z0-9=./-]{1,4}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Characters with which a shell can do something else than pass a word on.
const SYNTAX: &str = ";&|<>()$`\\\n\r\t{}*?~!#[]^";

proptest! {
    #[test]
    fn a_rule_never_covers_more_than_it_says(base in pieces(), command in pieces(), tail in pieces()) {
        for rule in offered(&base) {
            for command in [&command, &base, &format!("{base}{tail}"), &format!("npm test{tail}")] {
                if !covers(&rule, command) {
                    continue;
                }
                match &rule.scope {
                    RuleScope::Call { .. } => prop_assert_eq!(command, &base),
                    RuleScope::Prefix { prefix } => {
                        let rest = command.strip_prefix(prefix.as_str());
                        prop_assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')));
                        prop_assert!(!command.contains(|c: char| SYNTAX.contains(c)), "{command:?}");
                        prop_assert!(!command.contains(|c: char| c.is_control() || (c != ' ' && c.is_whitespace())));
                    }
                    _ => prop_assert!(matches!(rule.scope, RuleScope::Tool)),
                }
            }
        }
    }

    #[test]
    fn every_rule_covers_the_call_it_was_offered_for(base in pieces()) {
        for rule in offered(&base) {
            prop_assert!(covers(&rule, &base), "{:?}", rule);
        }
    }

    #[test]
    fn a_directory_never_covers_a_path_outside(
        names in prop::collection::vec("[a-z.]{0,3}", 1..6), directory in "(/[a-z.]{1,2}){1,2}",
    ) {
        let path = format!("/{}", names.join("/"));
        let rule = PermissionRule { tool: "Write".into(), scope: RuleScope::Directory { directory: directory.clone() } };
        if covers_file(&rule, &path) {
            let inside = format!("{directory}/");
            prop_assert!(path.starts_with(&inside));
            prop_assert!(!path.split('/').any(|name| name == ".." || name == "."));
        }
    }
}
