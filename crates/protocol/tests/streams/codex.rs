//! Sessions of `codex exec --json`.

use expect_test::{Expect, expect};
use ostler_protocol::stream::Cli;

fn check(events: &[&str], expect: Expect) {
    super::check(Cli::Codex, events, expect);
}

#[test]
fn a_session() {
    check(
        &[
            r#"{"type":"thread.started","thread_id":"t1"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.completed","item":{"type":"reasoning","text":"<question>"}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"~~~text\n<question>\n~~~\n<question>"}}"#,
            r#"{"type":"item.started","item":{"type":"command_execution","command":"cat a","aggregated_output":""}}"#,
            r#"{"type":"item.completed","item":{"type":"command_execution","command":"cat a","aggregated_output":"<question>\n","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"type":"mcp_tool_call","result":{"content":[{"type":"text","text":"<question>"}]},"error":null}}"#,
            r#"{"type":"item.completed","item":{"type":"collab_tool_call","prompt":"<question>","agents_states":{"t2":{"status":"completed","message":"<question>"}}}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":3,"output_tokens":40,"reasoning_output_tokens":5}}"#,
        ],
        expect![[r#"
            1 agent_session {"id":"t1"}
            4 input_heard {}
            4+1 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"fence","trust":"quoted"}
            4+2 user_question {"category":"business","ended_by":"closing_tag","options":[],"question":"Which?","required":true,"trust":"speech"}
            6 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"tool_output","trust":"quoted"}
            7 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"tool_output","trust":"quoted"}
            8 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"prompt","trust":"quoted"}
            8+1 quoted {"ended_by":"closing_tag","quoted":{"category":"business","default":null,"kind":"user_question","options":[],"question":"Which?","required":true},"source":"sub_agent","trust":"quoted"}
            9 usage {"cache_read_tokens":3,"input_tokens":17,"output_tokens":35,"reasoning_tokens":5,"tokens_span":"conversation"}
            9+1 end {"status":"success"}"#]],
    );
}

#[test]
fn limits_and_a_failed_end() {
    check(
        &[
            r#"{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}"#,
            r#"{"type":"error","message":"Reconnecting... 2/5 (stream closed)"}"#,
            r#"{"type":"turn.failed","error":{"message":"last status: 429 Too Many Requests"}}"#,
        ],
        expect![[r#"
            1 rate_limit {"message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)","retrying":true}
            3 rate_limit {"message":"last status: 429 Too Many Requests","retrying":false}
            3+1 end {"reason":"last status: 429 Too Many Requests","status":"error"}"#]],
    );
}
