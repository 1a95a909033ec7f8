//! Sessions of `gemini -o stream-json`, whose speech comes in fragments.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use ostler_protocol::{Limits, Settings, stream::Cli};

use super::parse;

fn check(events: &[&str], expect: Expect) {
    super::check(Cli::Gemini, events, expect);
}

const TOOL_USE: &str =
    r#"{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"<question>"}}"#;

/// One fragment of speech; `text` is escaped for JSON.
fn fragment(text: &str) -> String {
    format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
}

#[test]
fn a_session() {
    check(
        &[
            r#"{"type":"init","session_id":"s1","model":"flash"}"#,
            r#"{"type":"message","role":"user","content":"<question>"}"#,
            &fragment("```\\n"),
            &fragment("<question>\\n``"),
            &fragment("`\\n<question>\\nbye"),
            TOOL_USE,
            r#"{"type":"tool_result","status":"success","output":"<question>"}"#,
            r#"{"type":"message","role":"assistant","content":"<question>"}"#,
            r#"{"type":"result","status":"success","stats":{"input_tokens":20,"output_tokens":40,"cached":1}}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"s1","model":"flash"}
            2 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"prompt","trust":"quoted"}
            3 input_heard {}
            4 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"fence","trust":"quoted"}
            5 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            7 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"tool_output","trust":"quoted"}
            8 user_question {"category":"business","ended_by":"closing_tag","mark":{"source":"tool_output"},"options":[],"question":"Which?","required":true,"trust":"speech"}
            9 usage {"cache_read_tokens":1,"input_tokens":19,"output_tokens":40,"tokens_span":"process"}
            9+1 end {"status":"success"}"#]],
    );
}

/// The item stands where its first character does and ends where its last one does.
#[test]
fn a_tag_in_fragments() {
    check(
        &[
            &fragment("Before:\\n  [USER_"),
            &fragment("QUES"),
            &fragment("TION]\\ncategory: business\\nquestion: Wh"),
            &fragment("ich?\\nrequired: true\\n[/USER_QUESTION"),
            &fragment("]"),
            &fragment(" and more"),
        ],
        expect![[r#"
            1 input_heard {}
            1-5+1 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}"#]],
    );
}

#[test]
fn a_tool_ends_a_message() {
    check(
        &[
            &fragment("[INVOKE:PO]\\nana"),
            &fragment("lyse"),
            TOOL_USE,
            &fragment("[ERROR]\\ntype: fatal\\n"),
            TOOL_USE,
            &fragment("message: too late\\n[/ERROR]\\nREADY:T1"),
            &fragment(".3"),
            r#"{"type":"result","status":"success"}"#,
        ],
        expect![[r#"
            1 input_heard {}
            1-2+1 invoke {"ended_by":"message","target":"PO","task":"analyse","trust":"speech"}
            4 fault {"details":"ERROR was never closed","ended_by":"message","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\n","reason":"unclosed","recovery":"notify_user","severity":"fault","tag":"ERROR","trust":"speech","type":"fatal"}
            6-7 ready {"ended_by":"line","groups":[["T1.3"]],"trust":"speech"}
            8 end {"status":"success"}"#]],
    );
}

/// What is no event says nothing about messages.
#[test]
fn log_lines_do_not_end_a_message() {
    check(
        &[&fragment("[STEP_"), "Loaded cached credentials.", "", &fragment("COMPLETE]")],
        expect![[r#"
            1 input_heard {}
            1-4+1 step_complete {"ended_by":"stream","trust":"speech"}"#]],
    );
}

/// A line that is too long comes between the beginning of a tag and its end.
#[test]
fn no_two_items_have_one_place() {
    let settings =
        Settings { limits: Limits { line_bytes: 120, ..Limits::default() }, ..Settings::default() };
    let events = [fragment("WAIT\\n[STEP_"), "x".repeat(121), fragment("COMPLETE]")];
    let items = parse(Cli::Gemini, &settings, events.join("\n").as_bytes(), usize::MAX);
    let places: BTreeSet<_> = items.iter().map(|item| (item.offset, item.index)).collect();
    assert_eq!(places.len(), items.len(), "{items:?}");
}

#[test]
fn ends() {
    check(
        &[
            r#"{"type":"result","status":"error","error":{"message":"request a quota increase"},"stats":{"input_tokens":0}}"#,
        ],
        expect![[r#"
            1 rate_limit {"message":"request a quota increase","retrying":false}
            1+1 usage {"input_tokens":0,"tokens_span":"process"}
            1+2 end {"reason":"request a quota increase","status":"error"}"#]],
    );
    check(
        &[r#"{"type":"result","status":"error","error":{"message":"no such model"}}"#],
        expect![[r#"1 end {"reason":"no such model","status":"error"}"#]],
    );
    check(
        &[r#"{"type":"result","status":"cancelled"}"#],
        expect![[r#"1 end {"reason":"cancelled","status":"aborted"}"#]],
    );
    check(
        &[&fragment("[ASK_USER]\\nthe stream ends without a word")],
        expect![[r#"
            1 input_heard {}
            1+1 ask_user {"ended_by":"stream","options":[],"question":"the stream ends without a word","trust":"speech","type":"text"}"#]],
    );
}

#[test]
fn an_event_that_nobody_knows_does_not_end_a_message() {
    check(
        &[&fragment("[STEP_COMPLETE]\\nsumm"), r#"{"type":"heartbeat"}"#, &fragment("ary: s\\n"), TOOL_USE],
        expect![[r#"
            1 input_heard {}
            1-3+1 step_complete {"ended_by":"message","summary":"s","trust":"speech"}"#]],
    );
}

#[test]
fn half_a_character_loses_no_event() {
    check(
        &[&fragment("Nice \\ud83d"), &fragment("\\ude00\\nWAIT\\n")],
        expect![[r#"
            1 input_heard {}
            2 wait {"ended_by":"line","trust":"speech"}"#]],
    );
}

#[test]
fn a_line_of_many_fragments_is_too_long_at_last() {
    let settings =
        Settings { limits: Limits { line_bytes: 150, ..Limits::default() }, ..Settings::default() };
    let stream = [&fragment("CUSTOM:x:")[..], &fragment("0123456789012345678901234567890123456789")]
        .into_iter()
        .chain([&fragment("0123456789012345678901234567890123456789")[..]; 4])
        .chain([&fragment("0123456789\\nWAIT\\n")[..]])
        .collect::<Vec<_>>()
        .join("\n");
    let items = parse(Cli::Gemini, &settings, stream.as_bytes(), usize::MAX);
    assert_eq!(
        items.iter().map(|item| item.what.kind()).collect::<Vec<_>>(),
        ["input_heard", "fault", "wait"]
    );
}
