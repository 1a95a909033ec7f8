//! The thin dialect.

use expect_test::expect;
use ostler_protocol::{Item, What, thin::Thin};
use serde_json::json;

use super::{check, parse};

#[test]
fn requests_to_the_resolver() {
    check(
        "RESOLVE_NEXT\n\
         RESOLVE_NEXT:PHASE:2\n\
         RESOLVE_NEXT:FORCE\n\
         RESOLVE_NEXT:PHASE:2:FORCE\n",
        expect![[r#"
            resolve_next {"force":false}
            resolve_next {"force":false,"phase":2}
            resolve_next {"force":true}
            resolve_next {"force":true,"phase":2}"#]],
    );
}

#[test]
fn replies_of_the_resolver() {
    check(
        "READY:T1.3,T1.4,T1.5\n\
         PHASE_DONE:1\n\
         ALL_DONE\n\
         WAIT\n",
        expect![[r#"
            ready {"groups":[["T1.3","T1.4","T1.5"]]}
            phase_done {"phase":1}
            all_done {}
            wait {}"#]],
    );
    check("READY:T1.3,T1.4|T1.5,T1.6\n", expect![[r#"ready {"groups":[["T1.3","T1.4"],["T1.5","T1.6"]]}"#]]);
    check(
        "READY:T1.3.2,P1-T1.4,P2-R1-T2,P4-S1-V,T014\n",
        expect![[r#"ready {"groups":[["T1.3.2","T1.4","P2-R1-T2","P4-S1-V","T014"]]}"#]],
    );
}

#[test]
fn errors() {
    check(
        "ERROR:TASKS_NOT_FOUND\n\
         ERROR:CIRCULAR_DEP:T1.3->T1.4->T1.3\n\
         ERROR:MISSING_DEP:T1.5->T9.9\n\
         ERROR:PARSE_FAIL:TASKS.md:41: no id\n\
         ERROR:STATE_CORRUPT\n\
         ERROR:BLOCKED:T1.3,T1.4\n\
         ERROR:STATE_LOCKED\n",
        expect![[r#"
            thin_error {"code":"TASKS_NOT_FOUND"}
            thin_error {"code":"CIRCULAR_DEP","detail":"T1.3->T1.4->T1.3"}
            thin_error {"code":"MISSING_DEP","detail":"T1.5->T9.9"}
            thin_error {"code":"PARSE_FAIL","detail":"TASKS.md:41: no id"}
            thin_error {"code":"STATE_CORRUPT"}
            thin_error {"code":"BLOCKED","detail":"T1.3,T1.4"}
            thin_error {"code":"STATE_LOCKED"}"#]],
    );
}

#[test]
fn tasks() {
    check("TASK_ID:T1.3", expect![[r#"task {"id":"T1.3"}"#]]);
    check(
        "TASK_ID:T1.3\n\
         WORKTREE:worktree/phase-1-auth\n",
        expect![[r#"task {"id":"T1.3","worktree":"worktree/phase-1-auth"}"#]],
    );
    check(
        r#"TASK_ID:T1.3
META:{"priority":"high","timeout":300}
"#,
        expect![[r#"task {"id":"T1.3","meta":{"priority":"high","timeout":300}}"#]],
    );
    check(
        r#"TASK_ID:T1.3
WORKTREE:worktree/phase-1-auth
META:{"timeout":300}
TASK_ID:T1.4
"#,
        expect![[r#"
            task {"id":"T1.3","meta":{"timeout":300},"worktree":"worktree/phase-1-auth"}
            task {"id":"T1.4"}"#]],
    );
    check(
        "TASK_ID:T1.3\n\
         META:{oops\n",
        expect![[
            r#"fault {"details":"TASK_ID has invalid JSON in field 'META'","field":"META","message":"Invalid protocol format","raw":"TASK_ID:T1.3\nMETA:{oops\n","reason":"invalid_json","recovery":"notify_user","severity":"fault","tag":"TASK_ID","type":"fatal"}"#
        ]],
    );
}

#[test]
fn replies_of_the_executor() {
    check(
        "DONE:T1.3\n\
         FAIL:T2.5:Redis connection refused\n\
         FAIL:T1.5:Connection timeout\n",
        expect![[r#"
            done {"id":"T1.3","meta":{}}
            fail {"id":"T2.5","meta":{},"reason":"Redis connection refused"}
            fail {"id":"T1.5","meta":{},"reason":"Connection timeout"}"#]],
    );
    check(
        "DONE:T1.3:elapsed=120s:tests=15\n\
         FAIL:T1.3:elapsed=300s:retries=10:Redis connection refused\n",
        expect![[r#"
            done {"id":"T1.3","meta":{"elapsed":"120s","tests":"15"}}
            fail {"id":"T1.3","meta":{"elapsed":"300s","retries":"10"},"reason":"Redis connection refused"}"#]],
    );
}

#[test]
fn custom_messages() {
    check(
        "CUSTOM:PRIORITY:T1.3  # 우선순위 상향 요청\n\
         CUSTOM:SKIP:T1.5      # Task 건너뛰기 요청\n\
         CUSTOM:RETRY:T1.3     # 수동 재시도 요청\n\
         CUSTOM:type:payload\n\
         CUSTOM:NOTE:see #12\n",
        expect![[r#"
            custom {"payload":"T1.3","type":"PRIORITY"}
            custom {"payload":"T1.5","type":"SKIP"}
            custom {"payload":"T1.3","type":"RETRY"}
            custom {"payload":"payload","type":"type"}
            custom {"payload":"see #12","type":"NOTE"}"#]],
    );
}

#[test]
fn a_reason_has_a_hundred_characters_at_most() {
    let items = parse(&format!("FAIL:T1.3:{}\n", "가".repeat(101)));
    let [Item { what: What::Signal(signal), .. }] = &items[..] else { panic!("one signal: {items:?}") };
    assert_eq!(json!(signal)["reason"], json!("가".repeat(100)));
}

/// The log stamps each line, so that nothing in it is a message.
#[test]
fn log_lines_are_text() {
    check(
        "[2026-01-21T10:00:00] RESOLVE_NEXT\n\
         [2026-01-21T10:00:01] READY:T1.3,T1.4\n\
         [2026-01-21T10:00:02] EXECUTE:T1.3\n\
         [2026-01-21T10:02:30] DONE:T1.3\n",
        expect![[""]],
    );
}

#[test]
fn conversations_told_by_somebody_are_text() {
    check(
        r#"Main → Resolver: RESOLVE_NEXT
Resolver → Main: READY:T1.3,T1.4
Main → Executor: TASK_ID:T2.5
Executor → Main: FAIL:T2.5:Redis connection refused
← DONE:T1.3
Task(prompt="TASK_ID:T1.3") →
"#,
        expect![[""]],
    );
}

#[test]
fn lines_that_only_resemble_are_text_unless_they_seem_to_ask() {
    check(
        "ERROR:root:x\n\
         ERROR:reason\n\
         DONE: build\n\
         DONE:\n\
         WAITING\n\
         WAIT for it\n\
         READY: set, go\n\
         READY\n\
         ALL_DONE!\n\
         PHASE_DONE:one\n\
         RESOLVE_NEXT:2\n\
         TASK_ID:x\n\
         CUSTOM:\n\
         FAIL: 3 tests\n\
         ready:T1.3\n",
        expect![[r#"
            fault {"details":"RESOLVE_NEXT is followed by what cannot be understood","message":"Invalid protocol format","raw":"RESOLVE_NEXT:2","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"RESOLVE_NEXT","type":"fatal"}
            fault {"details":"TASK_ID is followed by what cannot be understood","message":"Invalid protocol format","raw":"TASK_ID:x","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"TASK_ID","type":"fatal"}
            fault {"details":"CUSTOM is followed by what cannot be understood","message":"Invalid protocol format","raw":"CUSTOM:","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"CUSTOM","type":"fatal"}"#]],
    );
}

#[test]
fn every_message_is_written_as_it_is_read() {
    for message in [
        "RESOLVE_NEXT",
        "RESOLVE_NEXT:PHASE:2:FORCE",
        "READY:T1.3,T1.4|T1.5,T1.6",
        "PHASE_DONE:1",
        "ALL_DONE",
        "WAIT",
        "ERROR:CIRCULAR_DEP:T1.3->T1.4->T1.3",
        "TASK_ID:T1.3\nWORKTREE:worktree/phase-1-auth\nMETA:{\"priority\":\"high\",\"timeout\":300}",
        "DONE:T1.3:elapsed=120s:tests=15",
        "FAIL:T1.3:elapsed=300s:retries=10:Redis connection refused",
        "CUSTOM:SKIP:T1.5",
    ] {
        assert_eq!(Thin::parse(message).map(|thin| thin.to_string()).as_deref(), Some(message));
    }
}
