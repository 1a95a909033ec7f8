//! Each rule of each built-in table, on lines modelled on what the CLIs print, and on lines that nobody prints.

use alloc::{format, string::String, vec::Vec};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

/// Decodes one line and shows what was heard, one thing per line; `+` marks a fragment.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(cli: Cli, line: &str, expect: Expect) {
    let event = serde_json::from_str(line).expect("a line of JSON");
    let heard: Vec<String> = decode(&Table::builtin(cli), &event).into_iter().map(show).collect();
    expect.assert_eq(&heard.join("\n"));
}

fn show(heard: Heard) -> String {
    match heard {
        Heard::Text { provenance, text, fragment, .. } => {
            format!("{provenance:?}{} {text:?}", if fragment { "+" } else { "" })
        }
        Heard::Fact(fact) => {
            let mut fields = json!(fact);
            if let Value::Object(fields) = &mut fields {
                fields.retain(|_, value| !value.is_null());
            }
            format!("{} {fields}", fact.kind())
        }
        Heard::MessageEnd => String::from("message ends"),
    }
}

mod claude {
    use super::*;

    fn check(line: &str, expect: Expect) {
        super::check(Cli::Claude, line, expect);
    }

    #[test]
    fn session() {
        check(
            r#"{"type":"system","subtype":"init","session_id":"s1","model":"opus","claude_code_version":"2.1.197"}"#,
            expect![[r#"agent_session {"id":"s1","model":"opus","version":"2.1.197"}"#]],
        );
        check(
            r#"{"type":"system","subtype":"init","session_id":"s1"}"#,
            expect![[r#"agent_session {"id":"s1"}"#]],
        );
        check(r#"{"type":"system","subtype":"init","model":"opus"}"#, expect![""]);
        check(r#"{"type":"system","subtype":"status","session_id":"s1","model":"opus"}"#, expect![""]);
    }

    #[test]
    fn speech() {
        check(
            r#"{"type":"assistant","message":{"model":"opus","content":[{"type":"text","text":"one"},{"type":"thinking","thinking":"hm"},{"type":"tool_use","name":"Bash","input":{"text":"no"}},{"type":"text","text":"two\n"}]},"parent_tool_use_id":null}"#,
            expect![[r#"
                Speech "one"
                Speech "two\n""#]],
        );
        check(
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"no model"}]}}"#,
            expect![[r#"Speech "no model""#]],
        );
        check(
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},"parent_tool_use_id":null}"#,
            expect![""],
        );
    }

    #[test]
    fn what_is_said_twice_is_heard_once() {
        check(
            r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}},"parent_tool_use_id":null}"#,
            expect![""],
        );
        check(
            r#"{"type":"result","subtype":"success","is_error":false,"result":"a b c"}"#,
            expect![[r#"end {"status":"success"}"#]],
        );
    }

    #[test]
    fn sub_agents() {
        check(
            r#"{"type":"assistant","message":{"model":"haiku","content":[{"type":"text","text":"from below"}]},"parent_tool_use_id":"toolu_1"}"#,
            expect![[r#"SubAgent "from below""#]],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"text","text":"sub prompt"}]},"parent_tool_use_id":"toolu_1"}"#,
            expect![[r#"Prompt "sub prompt""#]],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"last words"},{"type":"text","text":"agentId: a4"}]}]},"parent_tool_use_id":null,"tool_use_result":{"agentId":"a4"}}"#,
            expect![[r#"SubAgent "last words\nagentId: a4""#]],
        );
    }

    #[test]
    fn tools() {
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"slept","is_error":false}]},"tool_use_result":{"stdout":"slept"}}"#,
            expect![[r#"ToolOutput "slept""#]],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]},{"type":"tool_result","content":"c"}]},"tool_use_result":"Error: c"}"#,
            expect![[r#"
                ToolOutput "a\nb"
                ToolOutput "c""#]],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"text","text":"and go on"},{"type":"tool_result","content":"x"}]}}"#,
            expect![[r#"
                Prompt "and go on"
                ToolOutput "x""#]],
        );
    }

    #[test]
    fn prompt() {
        check(
            r#"{"type":"user","message":{"role":"user","content":"do it"}}"#,
            expect![[r#"Prompt "do it""#]],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"text","text":"do"},{"type":"text","text":"it"}]}}"#,
            expect![[r#"Prompt "do\nit""#]],
        );
    }

    #[test]
    fn permission() {
        check(
            r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"description":"list"}}"#,
            expect![[
                r#"permission_request {"description":"list","input":{"command":"ls"},"request_id":"r1","tool":"Bash"}"#
            ]],
        );
        check(
            r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#,
            expect![[r#"permission_request {"request_id":"r1","tool":"Bash"}"#]],
        );
        check(
            r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}"#,
            expect![""],
        );
        check(
            r#"{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#,
            expect![""],
        );
        check(
            r#"{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}"#,
            expect![""],
        );
    }

    #[test]
    fn limits() {
        check(
            r#"{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":553.9,"error_status":429,"error":"rate_limit"}"#,
            expect![[r#"rate_limit {"retry_after_ms":553,"retrying":true}"#]],
        );
        check(
            r#"{"type":"system","subtype":"api_retry","retry_delay_ms":500,"error_status":500,"error":"server_error"}"#,
            expect![""],
        );
        check(
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: (429)"}]},"parent_tool_use_id":null,"error":"rate_limit"}"#,
            expect![[r#"rate_limit {"message":"API Error: (429)","retrying":false}"#]],
        );
        check(
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794767169,"rateLimitType":"five_hour"}}"#,
            expect![[r#"rate_limit {"message":"five_hour","reset_at_ms":1794767169000,"retrying":false}"#]],
        );
        check(
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794767169,"isUsingOverage":true}}"#,
            expect![""],
        );
        check(
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1794767169}}"#,
            expect![""],
        );
    }

    #[test]
    fn end() {
        check(
            r#"{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.00055,"usage":{"input_tokens":10,"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"output_tokens":20},"terminal_reason":"completed"}"#,
            expect![[r#"
                usage {"cache_read_tokens":2,"cache_write_tokens":1,"cost_span":"conversation","cost_usd":0.00055,"input_tokens":10,"output_tokens":20,"tokens_span":"turn"}
                end {"status":"success"}"#]],
        );
        check(
            r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: (429)","terminal_reason":"completed"}"#,
            expect![[r#"end {"reason":"API Error: (429)","status":"error"}"#]],
        );
        check(
            r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#,
            expect![[r#"end {"reason":"error_max_turns","status":"error"}"#]],
        );
        check(
            r#"{"type":"result","subtype":"error_during_execution","is_error":false}"#,
            expect![[r#"end {"reason":"error_during_execution","status":"error"}"#]],
        );
        check(
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}"#,
            expect![[r#"end {"reason":"aborted_tools","status":"aborted"}"#]],
        );
        check(r#"{"type":"result"}"#, expect![[r#"end {"status":"error"}"#]]);
    }
}

mod codex {
    use super::*;

    fn check(line: &str, expect: Expect) {
        super::check(Cli::Codex, line, expect);
    }

    #[test]
    fn session() {
        check(r#"{"type":"thread.started","thread_id":"t1"}"#, expect![[r#"agent_session {"id":"t1"}"#]]);
        check(r#"{"type":"thread.started","thread_id":7}"#, expect![""]);
        check(r#"{"type":"turn.started"}"#, expect![""]);
    }

    #[test]
    fn speech() {
        check(
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"Hello."}}"#,
            expect![[r#"Speech "Hello.""#]],
        );
        check(r#"{"type":"item.started","item":{"type":"agent_message","text":"Hel"}}"#, expect![""]);
        check(r#"{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}"#, expect![""]);
        check(r#"{"type":"item.completed","item":{"type":"error","message":"no metadata"}}"#, expect![""]);
    }

    #[test]
    fn tools() {
        check(
            r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls","aggregated_output":"a\nb\n","exit_code":0}}"#,
            expect![[r#"ToolOutput "a\nb\n""#]],
        );
        check(
            r#"{"type":"item.started","item":{"type":"command_execution","command":"ls","aggregated_output":""}}"#,
            expect![""],
        );
        check(
            r#"{"type":"item.completed","item":{"type":"mcp_tool_call","server":"s","tool":"ask","result":{"content":[{"type":"text","text":"blue"},{"type":"image"}]},"error":null}}"#,
            expect![[r#"ToolOutput "blue""#]],
        );
        check(
            r#"{"type":"item.completed","item":{"type":"mcp_tool_call","result":null,"error":{"message":"timed out"}}}"#,
            expect![[r#"ToolOutput "timed out""#]],
        );
    }

    #[test]
    fn sub_agents() {
        check(
            r#"{"type":"item.completed","item":{"type":"collab_tool_call","tool":"wait","prompt":"look","agents_states":{"t2":{"status":"completed","message":"seen"},"t3":{"status":"running","message":null}}}}"#,
            expect![[r#"
                Prompt "look"
                SubAgent "seen""#]],
        );
    }

    #[test]
    fn limits() {
        check(
            r#"{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}"#,
            expect![[
                r#"rate_limit {"message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)","retrying":true}"#
            ]],
        );
        check(
            r#"{"type":"error","message":"last status: 429 Too Many Requests"}"#,
            expect![[r#"rate_limit {"message":"last status: 429 Too Many Requests","retrying":false}"#]],
        );
        check(
            r#"{"type":"error","message":"Reconnecting... 1/5 (stream closed at app.rs:429)"}"#,
            expect![""],
        );
        check(
            r#"{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again at 3:05 PM."}}"#,
            expect![[r#"
                rate_limit {"message":"You've hit your usage limit. Try again at 3:05 PM.","retrying":false}
                end {"reason":"You've hit your usage limit. Try again at 3:05 PM.","status":"error"}"#]],
        );
    }

    #[test]
    fn end() {
        check(
            r#"{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":3,"cache_write_input_tokens":4,"output_tokens":40,"reasoning_output_tokens":5}}"#,
            expect![[r#"
                usage {"cache_read_tokens":3,"cache_write_tokens":4,"input_tokens":13,"output_tokens":35,"reasoning_tokens":5,"tokens_span":"conversation"}
                end {"status":"success"}"#]],
        );
        check(
            r#"{"type":"turn.failed","error":{"message":"panic at app.rs:429"}}"#,
            expect![[r#"end {"reason":"panic at app.rs:429","status":"error"}"#]],
        );
    }
}

mod gemini {
    use super::*;

    fn check(line: &str, expect: Expect) {
        super::check(Cli::Gemini, line, expect);
    }

    #[test]
    fn session() {
        check(
            r#"{"type":"init","session_id":"s1","model":"gemini-2.5-flash"}"#,
            expect![[r#"agent_session {"id":"s1","model":"gemini-2.5-flash"}"#]],
        );
    }

    #[test]
    fn speech() {
        check(
            r#"{"type":"message","role":"assistant","content":"\n[USER","delta":true}"#,
            expect![[r#"Speech+ "\n[USER""#]],
        );
        check(r#"{"type":"message","role":"assistant","content":"whole"}"#, expect![[r#"Speech "whole""#]]);
        check(
            r#"{"type":"message","role":"assistant","content":"whole","delta":false}"#,
            expect![[r#"Speech "whole""#]],
        );
        check(r#"{"type":"message","role":"assistant","content":"","delta":true}"#, expect![""]);
    }

    #[test]
    fn prompt_and_tools() {
        check(r#"{"type":"message","role":"user","content":"hello"}"#, expect![[r#"Prompt "hello""#]]);
        check(
            r#"{"type":"tool_use","tool_name":"run","parameters":{"output":"no"}}"#,
            expect!["message ends"],
        );
        check(
            r#"{"type":"tool_result","tool_id":"t","status":"success","output":"done"}"#,
            expect![[r#"ToolOutput "done""#]],
        );
        check(
            r#"{"type":"tool_result","status":"error","error":{"type":"x","message":"no such file"}}"#,
            expect![[r#"ToolOutput "no such file""#]],
        );
    }

    #[test]
    fn end() {
        check(
            r#"{"type":"result","status":"success","stats":{"total_tokens":30,"input_tokens":10,"output_tokens":20,"cached":4}}"#,
            expect![[r#"
                usage {"cache_read_tokens":4,"input_tokens":6,"output_tokens":20,"tokens_span":"process"}
                end {"status":"success"}"#]],
        );
        check(
            r#"{"type":"result","status":"error","error":{"message":"[API Error: 429]\nrequest a quota increase"},"stats":{"input_tokens":0}}"#,
            expect![[r#"
                rate_limit {"message":"[API Error: 429]\nrequest a quota increase","retrying":false}
                usage {"input_tokens":0,"tokens_span":"process"}
                end {"reason":"[API Error: 429]\nrequest a quota increase","status":"error"}"#]],
        );
        check(
            r#"{"type":"result","status":"error","error":{"message":"panic at app.rs:429"}}"#,
            expect![[r#"end {"reason":"panic at app.rs:429","status":"error"}"#]],
        );
        check(
            r#"{"type":"result","status":"cancelled"}"#,
            expect![[r#"end {"reason":"cancelled","status":"aborted"}"#]],
        );
        check(r#"{"type":"result"}"#, expect![[r#"end {"status":"error"}"#]]);
    }
}

mod opencode {
    use super::*;

    fn check(line: &str, expect: Expect) {
        super::check(Cli::Opencode, line, expect);
    }

    #[test]
    fn session_and_speech() {
        check(
            r#"{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}"#,
            expect![[r#"agent_session {"id":"ses_1"}"#]],
        );
        check(
            r#"{"type":"text","sessionID":"ses_1","part":{"text":"Hello."}}"#,
            expect![[r#"
                agent_session {"id":"ses_1"}
                Speech "Hello.""#]],
        );
        check(r#"{"type":"reasoning","part":{"text":"hm"}}"#, expect![""]);
    }

    #[test]
    fn tools() {
        check(
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","output":"a\n"}}}"#,
            expect![[r#"ToolOutput "a\n""#]],
        );
        check(
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","error":"rejected"}}}"#,
            expect![[r#"ToolOutput "rejected""#]],
        );
        check(
            r#"{"type":"tool_use","part":{"tool":"task","state":{"output":"from below"}}}"#,
            expect![[r#"SubAgent "from below""#]],
        );
    }

    #[test]
    fn end() {
        check(
            r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":10,"output":20,"reasoning":1,"cache":{"write":2,"read":3}},"cost":0.5}}"#,
            expect![[r#"
                usage {"cache_read_tokens":3,"cache_write_tokens":2,"cost_span":"step","cost_usd":0.5,"input_tokens":10,"output_tokens":20,"reasoning_tokens":1,"tokens_span":"step"}
                end {"status":"success"}"#]],
        );
        check(
            r#"{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":10,"output":20}}}"#,
            expect![[
                r#"usage {"cost_span":"step","input_tokens":10,"output_tokens":20,"tokens_span":"step"}"#
            ]],
        );
        check(
            r#"{"type":"step_finish","part":{"reason":"length"}}"#,
            expect![[r#"end {"reason":"length","status":"error"}"#]],
        );
        check(
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}}"#,
            expect![[r#"
                ToolOutput "The user rejected permission to use this specific tool call."
                end {"reason":"The user rejected permission to use this specific tool call.","status":"error"}"#]],
        );
        check(
            r#"{"type":"error","error":{"name":"MessageAbortedError","data":{"message":"stopped"}}}"#,
            expect![[r#"end {"reason":"stopped","status":"aborted"}"#]],
        );
        check(
            r#"{"type":"error","error":{"name":"UnknownError"}}"#,
            expect![[r#"end {"reason":"UnknownError","status":"error"}"#]],
        );
    }

    #[test]
    fn limits() {
        check(
            r#"{"type":"error","error":{"name":"APIError","data":{"message":"slow down","statusCode":429,"responseHeaders":{"retry-after":"1"}}}}"#,
            expect![[r#"
                rate_limit {"message":"slow down","retry_after_ms":1000,"retrying":false}
                end {"reason":"slow down","status":"error"}"#]],
        );
        check(
            r#"{"type":"error","error":{"data":{"statusCode":429,"responseHeaders":{"retry-after":"2","retry-after-ms":"1500"}}}}"#,
            expect![[r#"
                rate_limit {"retry_after_ms":1500,"retrying":false}
                end {"status":"error"}"#]],
        );
        check(
            r#"{"type":"error","error":{"data":{"statusCode":429,"responseHeaders":{"retry-after":"Sun, 15 Nov 2026 18:54:33 GMT"}}}}"#,
            expect![[r#"
                rate_limit {"retrying":false}
                end {"status":"error"}"#]],
        );
        check(
            r#"{"type":"error","error":{"data":{"message":"app.rs:429","statusCode":500}}}"#,
            expect![[r#"end {"reason":"app.rs:429","status":"error"}"#]],
        );
    }
}

mod malformed {
    use super::*;

    #[test]
    fn what_is_no_event_gives_nothing() {
        for cli in Cli::ALL {
            for line in [
                "null",
                "true",
                "429",
                "\"text\"",
                "[]",
                "{}",
                r#"[{"type":"text"}]"#,
                r#"{"type":["text"]}"#,
            ] {
                check(cli, line, expect![""]);
            }
        }
    }

    #[test]
    fn wrong_types_are_absent() {
        check(Cli::Claude, r#"{"type":"assistant","message":[{"type":"text","text":"x"}]}"#, expect![""]);
        check(Cli::Claude, r#"{"type":"assistant","message":{"content":"x"}}"#, expect![""]);
        check(
            Cli::Claude,
            r#"{"type":"assistant","message":{"content":[null,7,[],{"type":"text"},{"type":"text","text":["x"]}]}}"#,
            expect![""],
        );
        check(Cli::Claude, r#"{"type":"user","message":null}"#, expect![""]);
        check(
            Cli::Claude,
            r#"{"type":"result","subtype":["success"],"is_error":"no","usage":[],"total_cost_usd":"1"}"#,
            expect![[r#"end {"status":"error"}"#]],
        );
        check(Cli::Codex, r#"{"type":"item.completed","item":[{"type":"agent_message"}]}"#, expect![""]);
        check(Cli::Codex, r#"{"type":"error","message":{"text":"429 Too Many Requests"}}"#, expect![""]);
        check(
            Cli::Gemini,
            r#"{"type":"message","role":"assistant","content":["x"],"delta":"true"}"#,
            expect![""],
        );
        check(Cli::Opencode, r#"{"type":"text","sessionID":null,"part":"x"}"#, expect![""]);
    }

    #[test]
    fn senseless_figures_are_absent() {
        check(
            Cli::Claude,
            r#"{"type":"result","subtype":"success","total_cost_usd":-1,"usage":{"input_tokens":-1,"output_tokens":1.5,"cache_read_input_tokens":1e30,"cache_creation_input_tokens":7}}"#,
            expect![[r#"
                usage {"cache_write_tokens":7,"cost_span":"conversation","output_tokens":1,"tokens_span":"turn"}
                end {"status":"success"}"#]],
        );
        check(
            Cli::Claude,
            r#"{"type":"system","subtype":"api_retry","error":"rate_limit","retry_delay_ms":-5}"#,
            expect![[r#"rate_limit {"retrying":true}"#]],
        );
        check(
            Cli::Claude,
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}"#,
            expect![[r#"rate_limit {"retrying":false}"#]],
        );
    }
}
