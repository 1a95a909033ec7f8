//! The office dialect beyond the examples: what belongs to which field, and where a message ends.

use expect_test::expect;
use ostler_protocol::item::EndedBy;

use crate::check;

#[test]
fn keys_in_either_language_and_lines_without() {
    check(
        "[ASK_USER]\nquestion： 어느 쪽?\n더 설명\nType: Selection\n옵션:\n  - A\n  - B's\nContext: c1\nc2\n",
        expect![[
            r#"0..98 ask_user by "stream" {"context":"c1\nc2","options":["A","B's"],"question":"어느 쪽?\n더 설명","type":"selection"}"#
        ]],
    );
    check(
        "[ASK_USER]\n어느 쪽으로 할까요?\n타입: selection\n",
        expect![[
            r#"0..56 ask_user by "stream" {"options":[],"question":"어느 쪽으로 할까요?","type":"text","warnings":[{"code":"replaced","field":"type"}]}"#
        ]],
    );
    check(
        "[ASK_USER]\n먼저 읽어 주세요.\n질문: q\n컨텍스트: c\n",
        expect![[
            r#"0..61 ask_user by "stream" {"context":"먼저 읽어 주세요.\nc","options":[],"question":"q","type":"text"}"#
        ]],
    );
}

#[test]
fn the_context_takes_all_that_follows() {
    check(
        "[INVOKE:PO]\n\n첫 줄\n  둘째 줄\n\ncontext: 같은 줄\n타입: 이것도\n\n",
        expect![[
            r#"0..73 invoke by "stream" {"context":"같은 줄\n타입: 이것도","target":"PO","task":"첫 줄\n  둘째 줄"}"#
        ]],
    );
}

#[test]
fn a_result_keeps_its_form() {
    check(
        "[DELIVER_RESULT:PO]\n내용: 첫 줄\n  들여쓴 줄\n타입: markdown\n타입: 본문\n",
        expect![[
            r#"0..83 deliver_result by "stream" {"content":"첫 줄\n  들여쓴 줄\n타입: 본문","result_type":"markdown","target":"PO"}"#
        ]],
    );
    check(
        "[DELIVER_RESULT:PO]\n타입: json\n{\n  \"type\": 1\n}\n",
        expect![[
            r#"0..48 deliver_result by "stream" {"content":"{\n  \"type\": 1\n}","result_type":"json","target":"PO"}"#
        ]],
    );
    check(
        "[DELIVER_RESULT:PO]\n그냥 결과\n내용: 도 본문\n",
        expect![[
            r#"0..52 deliver_result by "stream" {"content":"그냥 결과\n내용: 도 본문","result_type":"message","target":"PO"}"#
        ]],
    );
}

#[test]
fn a_step_may_say_nothing_or_a_lot() {
    check(
        "[STEP_COMPLETE]\n[STEP_COMPLETE]\n단계: 3\n요약: 끝\n더\n",
        expect![[r#"
        0..15 step_complete by "next_tag" {}
        16..57 step_complete by "stream" {"step":"3","summary":"끝\n더"}"#]],
    );
    check(
        "[STEP_COMPLETE]\nall green\n",
        expect![[r#"0..25 step_complete by "stream" {"summary":"all green"}"#]],
    );
}

#[test]
fn a_name_that_can_be_nobodys_is_a_fault() {
    check(
        "[INVOKE:two words]\nx\n[INVOKE:]\nx\n[INVOKE: PO ]\nx\n[/INVOKE:PO]\n",
        expect![[r#"
            0..20 fault by "next_tag" {"details":"INVOKE has an unknown value in field 'target'","field":"target","message":"Invalid protocol format","raw":"[INVOKE:two words]\nx\n","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}
            21..32 fault by "next_tag" {"details":"INVOKE missing required field 'target'","field":"target","message":"Invalid protocol format","raw":"[INVOKE:]\nx\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}
            33..61 invoke by "closing_tag" {"target":"PO","task":"x"}"#]],
    );
}

#[test]
fn a_name_where_none_belongs_makes_no_tag() {
    check("[ASK_USER:me]\n[STEP_COMPLETE:x]\n", expect![[""]]);
}

#[test]
fn a_thin_line_is_text_to_whoever_has_no_thin_role() {
    check(
        "[DELIVER_RESULT:PO]\nlog:\nWAIT\nDONE:T1.3\n",
        expect![[
            r#"0..39 deliver_result by "stream" {"content":"log:\nWAIT\nDONE:T1.3","result_type":"message","target":"PO"}"#
        ]],
    );
    let settings = ostler_protocol::Settings { thin_role: true, ..ostler_protocol::Settings::default() };
    let items = crate::parse("[DELIVER_RESULT:PO]\nlog:\nWAIT\n".as_bytes(), &settings);
    expect![[r#"
        0..24 deliver_result by "next_tag" {"content":"log:","result_type":"message","target":"PO"}
        25..29 wait by "line" {}"#]]
    .assert_eq(&crate::show(&items));
}

#[test]
fn a_question_that_cannot_be_understood_is_a_fault_to_whoever_has_a_thin_role() {
    let text = "TASK_ID:\nTASK_ID:T0.1,T0.4\n  RESOLVE_NEXT:PHASE:x\nCUSTOM:SKIP\nTASK_IDS:x\nDONE:x\nTASK_ID:T1\nCUSTOM:";
    check(text, expect![[r#"80..90 task by "next_line" {"id":"T1"}"#]]);
    let settings = ostler_protocol::Settings { thin_role: true, ..ostler_protocol::Settings::default() };
    expect![[r#"
        0..8 fault by "line" {"details":"TASK_ID is followed by what cannot be understood","message":"Invalid protocol format","raw":"TASK_ID:","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"TASK_ID","type":"fatal"}
        9..26 fault by "line" {"details":"TASK_ID is followed by what cannot be understood","message":"Invalid protocol format","raw":"TASK_ID:T0.1,T0.4","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"TASK_ID","type":"fatal"}
        27..49 fault by "line" {"details":"RESOLVE_NEXT is followed by what cannot be understood","message":"Invalid protocol format","raw":"RESOLVE_NEXT:PHASE:x","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"RESOLVE_NEXT","type":"fatal"}
        50..61 fault by "line" {"details":"CUSTOM is followed by what cannot be understood","message":"Invalid protocol format","raw":"CUSTOM:SKIP","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"CUSTOM","type":"fatal"}
        80..90 task by "next_tag" {"id":"T1"}
        91..98 fault by "line" {"details":"CUSTOM is followed by what cannot be understood","message":"Invalid protocol format","raw":"CUSTOM:","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"CUSTOM","type":"fatal"}"#]].assert_eq(&crate::show(&crate::parse(text.as_bytes(), &settings)));
    let text = "[DELIVER_RESULT:PO]\nlog:\nCUSTOM:\n[USER_QUESTION]\nTASK_ID:\n[/USER_QUESTION]\n";
    expect![[r#"
        0..24 deliver_result by "next_tag" {"content":"log:","result_type":"message","target":"PO"}
        25..32 fault by "line" {"details":"CUSTOM is followed by what cannot be understood","message":"Invalid protocol format","raw":"CUSTOM:","reason":"malformed","recovery":"notify_user","severity":"fault","tag":"CUSTOM","type":"fatal"}
        33..74 fault by "closing_tag" {"details":"USER_QUESTION missing required field 'category'","extra":{"task_id":""},"field":"category","message":"Invalid protocol format","raw":"[USER_QUESTION]\nTASK_ID:\n[/USER_QUESTION]","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"USER_QUESTION","type":"fatal","warnings":[{"code":"unknown_key","field":"task_id"}]}"#]].assert_eq(&crate::show(&crate::parse(text.as_bytes(), &settings)));
}

#[test]
fn on_a_terminal_a_message_ends_with_its_screen() {
    let text = "\x1b[2J\x1b[Htitle\r\n[INVOKE:B]\r\ntask\r\n\x1b[2J\x1b[Htitle\r\n[INVOKE:B]\r\ntask\x1b[H\x1b[2J[STEP_COMPLETE]\r\nsummary: x\r\n";
    let settings = ostler_protocol::Settings { terminal: true, ..ostler_protocol::Settings::default() };
    for length in [1, 2, 7, text.len()] {
        let items = crate::parse_in_chunks(text.as_bytes(), length, &settings);
        let seen: Vec<_> = items.iter().map(|item| (item.what.kind(), item.ended_by)).collect();
        // What is drawn again is said once.
        assert_eq!(seen, [("invoke", EndedBy::Screen), ("step_complete", EndedBy::Stream)], "{length}");
    }
    // Without a terminal an escape is nothing.
    let items = crate::parse(text.as_bytes(), &ostler_protocol::Settings::default());
    let kinds = items.iter().map(|item| item.what.kind()).collect::<Vec<_>>();
    assert_eq!(kinds, ["invoke", "invoke"]);
    // A block needs its closing tag wherever it stands.
    let block = "[USER_QUESTION]\r\ncategory: business\r\n\x1b[A\x1b[Bquestion: Which?\r\nrequired: true\r\n[/USER_QUESTION]\r\n";
    let items = crate::parse(block.as_bytes(), &settings);
    assert_eq!(items.iter().map(|item| item.what.kind()).collect::<Vec<_>>(), ["user_question"]);
}

#[test]
fn keys_of_what_was_pasted_are_not_the_message_s() {
    check(
        "[INVOKE:ops]\nCheck this:\nbuild:\n  context: .\n```\ncontext: fenced\n```\ncontext: real\n",
        expect![[
            r#"0..82 invoke by "stream" {"context":"real","target":"ops","task":"Check this:\nbuild:\n  context: .\n```\ncontext: fenced\n```"}"#
        ]],
    );
    check(
        "[ASK_USER]\nIs this right?\n  type: object\n",
        expect![[
            r#"0..40 ask_user by "stream" {"options":[],"question":"Is this right?\n  type: object","type":"text"}"#
        ]],
    );
    check(
        "[DELIVER_RESULT:PO]\ncontent: schema\n  type: json\n",
        expect![[
            r#"0..48 deliver_result by "stream" {"content":"schema\n  type: json","result_type":"message","target":"PO"}"#
        ]],
    );
    check(
        "  [INVOKE:ops]\n  All of it indented\n  context: counts\n",
        expect![[
            r#"0..53 invoke by "stream" {"context":"counts","target":"ops","task":"  All of it indented"}"#
        ]],
    );
}

#[test]
fn a_list_may_have_blank_lines_and_long_items() {
    check(
        "[ASK_USER]\nquestion: q\noptions:\n- a\n\n- b\n  goes on\n- c\nand this is free\n",
        expect![[
            r#"0..71 ask_user by "stream" {"context":"and this is free","options":["a","b goes on","c"],"question":"q","type":"text"}"#
        ]],
    );
    check(
        "[ASK_USER]\nquestion: q\noptions: ['a',\n 'b']\nfree\n",
        expect![[
            r#"0..48 ask_user by "stream" {"context":"free","options":["a","b"],"question":"q","type":"text"}"#
        ]],
    );
}
