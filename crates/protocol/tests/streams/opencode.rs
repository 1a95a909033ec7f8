//! Sessions of `opencode run --format json`.

use expect_test::{Expect, expect};
use ostler_protocol::stream::Cli;

fn check(events: &[&str], expect: Expect) {
    super::check(Cli::Opencode, events, expect);
}

#[test]
fn a_session() {
    check(
        &[
            r#"{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}"#,
            r#"{"type":"text","sessionID":"ses_1","part":{"text":"````md\n```\n<question>\n```\n````\n<question>"}}"#,
            r#"{"type":"tool_use","sessionID":"ses_1","part":{"tool":"bash","state":{"status":"completed","output":"<question>\n"}}}"#,
            r#"{"type":"tool_use","sessionID":"ses_1","part":{"tool":"task","state":{"status":"completed","output":"<question>\n"}}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"input":10,"output":20}}}"#,
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"input":10,"output":20,"reasoning":1,"cache":{"write":2,"read":3}},"cost":0.5}}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"ses_1"}
            2 input_heard {}
            2+1 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"fence","trust":"quoted"}
            2+2 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            3 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"tool_output","trust":"quoted"}
            4 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"sub_agent","trust":"quoted"}
            5 usage {"cost_span":"step","input_tokens":10,"output_tokens":20,"tokens_span":"step"}
            6 usage {"cache_read_tokens":3,"cache_write_tokens":2,"cost_span":"step","cost_usd":0.5,"input_tokens":10,"output_tokens":20,"reasoning_tokens":1,"tokens_span":"step"}
            6+1 end {"status":"success"}"#]],
    );
}

#[test]
fn other_ends() {
    check(
        &[
            r#"{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"slow down","statusCode":429,"responseHeaders":{"retry-after":"1"}}}}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"ses_1"}
            1+1 rate_limit {"message":"slow down","retry_after_ms":1000,"retrying":false}
            1+2 end {"reason":"slow down","status":"error"}"#]],
    );
    check(
        &[r#"{"type":"step_finish","part":{"reason":"length"}}"#],
        expect![[r#"1 end {"reason":"length","status":"error"}"#]],
    );
    check(
        &[r#"{"type":"error","error":{"name":"MessageAbortedError","data":{"message":"stopped"}}}"#],
        expect![[r#"1 end {"reason":"stopped","status":"aborted"}"#]],
    );
}
