//! Sessions of `claude --output-format stream-json`.

use expect_test::{Expect, expect};
use ostler_protocol::stream::Cli;

fn check(events: &[&str], expect: Expect) {
    super::check(Cli::Claude, events, expect);
}

const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s1","model":"opus","claude_code_version":"2.1.197"}"#;

#[test]
fn a_session() {
    check(
        &[
            INIT,
            r#"{"type":"user","message":{"role":"user","content":"Print\n<question>"}}"#,
            r#"{"type":"assistant","message":{"model":"opus","content":[{"type":"text","text":"Like this:\n```\n<question>\n```\nNow:\n<question>\nthanks"}]},"parent_tool_use_id":null}"#,
            r#"{"type":"assistant","message":{"model":"opus","content":[{"type":"tool_use","name":"Bash","input":{"command":"cat README"}}]},"parent_tool_use_id":null}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"Title\n<question>\n"}]},"parent_tool_use_id":null,"tool_use_result":{"stdout":"<question>"}}"#,
            r#"{"type":"assistant","message":{"model":"opus","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"<question>","total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":20}}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"s1","model":"opus","version":"2.1.197"}
            2 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"prompt","trust":"quoted"}
            3 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"fence","trust":"quoted"}
            3+1 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            5 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"tool_output","trust":"quoted"}
            7 usage {"cost_span":"conversation","cost_usd":0.5,"input_tokens":10,"output_tokens":20,"tokens_span":"turn"}
            7+1 end {"status":"success"}"#]],
    );
}

#[test]
fn several_in_one_event_are_numbered() {
    check(
        &[
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"<question>\n<question>"},{"type":"text","text":"READY:T1.3\n=== PHASE 1 COMPLETE ==="}]}}"#,
        ],
        expect![[r#"
            1 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            1+1 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            1+2 ready {"ended_by":"line","groups":[["T1.3"]],"trust":"speech"}
            1+3 phase_complete {"documents":[],"ended_by":"message","phase":1,"trust":"speech"}"#]],
    );
}

#[test]
fn a_message_ends_what_is_open() {
    check(
        &[
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[INVOKE:PO]\nanalyse"},{"type":"text","text":"not part of it"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[ERROR]\ntype: fatal"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"message: too late\n[/ERROR]"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"```\nnever closed"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"WAIT"}]}}"#,
        ],
        expect![[r#"
            1 invoke {"ended_by":"message","target":"PO","task":"analyse","trust":"speech"}
            2 fault {"details":"ERROR was never closed","ended_by":"message","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\n","reason":"unclosed","recovery":"notify_user","severity":"fault","tag":"ERROR","trust":"speech","type":"fatal"}
            5 wait {"ended_by":"line","trust":"speech"}"#]],
    );
}

#[test]
fn sub_agents_are_quoted() {
    check(
        &[
            r#"{"type":"user","message":{"content":[{"type":"text","text":"<question>"}]},"parent_tool_use_id":"toolu_1"}"#,
            r#"{"type":"assistant","message":{"model":"haiku","content":[{"type":"text","text":"<question>"}]},"parent_tool_use_id":"toolu_1"}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"<question>"}]}]},"tool_use_result":{"agentId":"a4"}}"#,
        ],
        expect![[r#"
            1 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"prompt","trust":"quoted"}
            2 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"sub_agent","trust":"quoted"}
            3 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"sub_agent","trust":"quoted"}"#]],
    );
}

#[test]
fn permission_and_limits() {
    check(
        &[
            INIT,
            r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch x"},"description":"touch x"}}"#,
            r#"{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":600,"error_status":429,"error":"rate_limit"}"#,
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794767169,"rateLimitType":"five_hour"}}"#,
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error\n<question>"}]},"parent_tool_use_id":null,"error":"rate_limit"}"#,
            r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error"}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"s1","model":"opus","version":"2.1.197"}
            2 permission_request {"description":"touch x","input":{"command":"touch x"},"request_id":"r1","tool":"Bash"}
            3 rate_limit {"retry_after_ms":600,"retrying":true}
            4 rate_limit {"message":"five_hour","reset_at_ms":1794767169000,"retrying":false}
            5 rate_limit {"message":"API Error\n[USER_QUESTION]\ncategory: business\nquestion: Which?\nrequired: true\n[/USER_QUESTION]","retrying":false}
            6 end {"reason":"API Error","status":"error"}"#]],
    );
}

#[test]
fn other_ends() {
    check(
        &[
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}"#,
        ],
        expect![[r#"1 end {"reason":"aborted_tools","status":"aborted"}"#]],
    );
    check(
        &[r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#],
        expect![[r#"1 end {"reason":"error_max_turns","status":"error"}"#]],
    );
}

#[test]
fn a_session_that_changes_is_told_once_each() {
    check(
        &[INIT, INIT, r#"{"type":"system","subtype":"init","session_id":"s2","model":"opus"}"#],
        expect![[r#"
            1 agent_session {"id":"s1","model":"opus","version":"2.1.197"}
            3 agent_session {"id":"s2","model":"opus"}"#]],
    );
}

/// A message that comes during a tool: the queue has it, the request has it, the model replies.
#[test]
fn an_input_is_heard_when_the_model_replies_after_it_was_taken() {
    let life = |input: &str, state: &str| {
        format!(r#"{{"type":"command_lifecycle","command_uuid":"{input}","state":"{state}","uuid":"x"}}"#)
    };
    let says = |text: &str, model: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"model":"{model}","content":[{{"type":"text","text":"{text}"}}]}},"parent_tool_use_id":{parent}}}"#
        )
    };
    let events = [
        life("a", "queued"),
        life("a", "started"),
        says("<question>", "opus", "null"),
        life("b", "queued"),
        life("c", "queued"),
        says("Still the turn before.", "opus", "null"),
        life("b", "started"),
        life("c", "started"),
        life("c", "started"),
        says("A sub-agent.", "opus", r#""toolu_1""#),
        says("API Error", "<synthetic>", "null"),
        says("Now.", "opus", "null"),
        life("b", "completed"),
        says("Once is enough.", "opus", "null"),
        life("d", "started"),
    ];
    check(
        &events.each_ref().map(String::as_str),
        expect![[r#"
        3 input_heard {"id":"a"}
        3+1 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
        12 input_heard {"id":"b"}
        12+1 input_heard {"id":"c"}"#]],
    );
}
