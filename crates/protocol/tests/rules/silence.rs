//! What silence ends on raw output, and after how long.

use std::time::Duration;

use expect_test::{Expect, expect};
use ostler_protocol::{EndedBy, Format, Parser, Settings};

/// Pushes text, is silent, pushes more, and shows what had been said before the rest came.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(before: &str, silence_ms: u64, behind: &str, expect: Expect) {
    let mut parser = Parser::new(Format::Text, Settings::default());
    parser.push(before.as_bytes());
    let at_once: Vec<_> = parser.by_ref().collect();
    parser.silent_for(Duration::from_millis(silence_ms));
    let after_silence: Vec<_> = parser.by_ref().collect();
    parser.push(behind.as_bytes());
    parser.finish();
    let later: Vec<_> = parser.collect();
    let shown = [at_once, after_silence, later].map(|items| crate::show(&items));
    expect.assert_eq(&shown.join("\n---\n"));
}

#[test]
fn an_office_message_waits_300_ms() {
    check(
        "[STEP_COMPLETE]\n요약: 끝\n",
        299,
        "more\n",
        expect![[r#"

        ---

        ---
        0..32 step_complete by "stream" {"summary":"끝\nmore"}"#]],
    );
    check(
        "[STEP_COMPLETE]\n요약: 끝\n",
        300,
        "more\n",
        expect![[r#"

        ---
        0..27 step_complete by "silence" {"summary":"끝"}
        ---
    "#]],
    );
}

#[test]
fn an_announcement_waits_250_ms() {
    check(
        "=== PHASE 1 COMPLETE ===\nDocuments created:\n- a.md\n",
        249,
        "- b.md\n",
        expect![[r#"

        ---

        ---
        0..57 phase_complete by "stream" {"documents":["a.md","b.md"],"phase":1}"#]],
    );
    check(
        "=== PHASE 1 COMPLETE ===\nDocuments created:\n- a.md\n",
        250,
        "- b.md\n",
        expect![[r#"

        ---
        0..50 phase_complete by "silence" {"documents":["a.md"],"phase":1}
        ---
    "#]],
    );
}

#[test]
fn a_task_waits_250_ms() {
    check(
        "TASK_ID:T1.3\n",
        249,
        "WORKTREE:w\n",
        expect![[r#"

        ---

        ---
        0..23 task by "stream" {"id":"T1.3","worktree":"w"}"#]],
    );
    check(
        "TASK_ID:T1.3\n",
        250,
        "WORKTREE:w\n",
        expect![[r#"

        ---
        0..12 task by "silence" {"id":"T1.3"}
        ---
    "#]],
    );
}

#[test]
fn a_block_waits_30_s() {
    check(
        "[ERROR]\ntype: fatal\n",
        29_999,
        "message: m\n[/ERROR]",
        expect![[r#"

        ---

        ---
        0..39 error by "closing_tag" {"message":"m","recovery":"notify_user","type":"fatal","warnings":[{"code":"assumed","field":"recovery"}]}"#]],
    );
    check(
        "[ERROR]\ntype: fatal\n",
        30_000,
        "message: m\n[/ERROR]",
        expect![[r#"

            ---
            0..19 fault by "silence" {"details":"ERROR was never closed","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\n","reason":"unclosed","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}
            ---
        "#]],
    );
}

#[test]
fn a_prompt_without_a_newline_counts() {
    check(
        "[ASK_USER]\n질문: 이름은? ",
        300,
        "",
        expect![[r#"

        ---
        0..30 ask_user by "silence" {"options":[],"question":"이름은?","type":"text"}
        ---
    "#]],
    );
    check(
        "[STEP_COMPLETE]",
        300,
        " now\n",
        expect![[r#"

        ---
        0..15 step_complete by "silence" {}
        ---
    "#]],
    );
}

#[test]
fn a_thin_line_needs_its_newline() {
    check(
        "DONE:T1",
        60_000,
        ".3\n",
        expect![[r#"

        ---

        ---
        0..9 done by "line" {"id":"T1.3","meta":{}}"#]],
    );
    check(
        "WAIT",
        60_000,
        "ING\n",
        expect![[r#"

        ---

        ---
    "#]],
    );
}

#[test]
fn plain_output_waits_for_nothing() {
    let mut parser = Parser::new(Format::Text, Settings::default());
    for text in ["", "plain", " and more\n", "[ERROR] in a log\n", "[USER_QUESTION"] {
        parser.push(text.as_bytes());
        assert_eq!(parser.patience(), None, "{text}");
    }
}

#[test]
fn a_structured_stream_knows_no_silence() {
    let table = ostler_protocol::stream::Table::builtin(ostler_protocol::stream::Cli::Gemini);
    for ended_by in [EndedBy::Stream, EndedBy::CutOff] {
        let mut parser = Parser::new(Format::Structured(table.clone()), Settings::default());
        parser.push(
            b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"[STEP_COMPLETE]\\n\",\"delta\":true}\n",
        );
        assert_eq!(parser.patience(), None);
        assert_eq!(parser.next().map(|item| item.what.kind()), Some("input_heard"));
        parser.silent_for(Duration::from_mins(1));
        assert_eq!(parser.next(), None);
        if ended_by == EndedBy::CutOff {
            parser.cut_off();
        } else {
            parser.finish();
        }
        assert_eq!(parser.next().map(|item| item.ended_by), Some(ended_by));
    }
}

#[test]
fn what_a_killed_process_was_saying_is_cut_off() {
    let mut parser = Parser::new(Format::Text, Settings::default());
    parser.push(b"[DELIVER_RESULT:PO]\ncontent: half of");
    parser.cut_off();
    let item = parser.next().expect("it was begun");
    assert_eq!((item.what.kind(), item.ended_by), ("deliver_result", EndedBy::CutOff));
}
