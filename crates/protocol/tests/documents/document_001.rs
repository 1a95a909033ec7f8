//! The office dialect.

use expect_test::expect;

use super::check;

#[test]
fn the_documents_own_tests() {
    check(
        "[ASK_USER]\n\
         질문: 로그인 방식을 선택해주세요\n\
         타입: selection\n\
         옵션: ['이메일', '소셜', 'SSO']",
        expect![[
            r#"ask_user {"options":["이메일","소셜","SSO"],"question":"로그인 방식을 선택해주세요","type":"selection"}"#
        ]],
    );
    check(
        "[INVOKE:PO]\n\
         요구사항 분석을 진행해주세요.\n\
         컨텍스트: 로그인 기능 구현",
        expect![[
            r#"invoke {"context":"로그인 기능 구현","target":"PO","task":"요구사항 분석을 진행해주세요."}"#
        ]],
    );
}

/// The document's own pattern would swallow the second.
#[test]
fn two_calls_in_a_row() {
    check(
        "[INVOKE:PO]\n\
         요구사항 분석\n\
         [INVOKE:QA]\n\
         테스트 작성\n\
         컨텍스트:\n\
         로그인\n\
         회원가입\n",
        expect![[r#"
            invoke {"target":"PO","task":"요구사항 분석"}
            invoke {"context":"로그인\n회원가입","target":"QA","task":"테스트 작성"}"#]],
    );
}

#[test]
fn one_of_each() {
    check(
        "[ASK_USER]\n\
         질문: 로그인 방식을 선택해주세요\n\
         타입: selection\n\
         옵션: ['이메일', '소셜', 'SSO']\n\
         [INVOKE:PO]\n\
         요구사항 분석을 진행해주세요.\n\
         컨텍스트: 로그인 기능 구현\n\
         [DELIVER_RESULT:PO]\n\
         타입: markdown\n\
         내용: # 결과\n\
         [STEP_COMPLETE]\n\
         단계: 2\n\
         요약: 분석 완료\n",
        expect![[r##"
            ask_user {"options":["이메일","소셜","SSO"],"question":"로그인 방식을 선택해주세요","type":"selection"}
            invoke {"context":"로그인 기능 구현","target":"PO","task":"요구사항 분석을 진행해주세요."}
            deliver_result {"content":"# 결과","result_type":"markdown","target":"PO"}
            step_complete {"step":"2","summary":"분석 완료"}"##]],
    );
}

#[test]
fn coloured() {
    check(
        "\x1b[1;36m[INVOKE:PO]\x1b[0m\r\n\
         \x1b[32m요구사항 분석\x1b[0m\r\n\
         ",
        expect![[r#"invoke {"target":"PO","task":"요구사항 분석"}"#]],
    );
    check(
        "\u{9b}1m[ASK_USER]\u{9b}0m\n\
         \x1b]8;;http://a\x1b\\질문\x1b]8;;\x07: 왜?\n\
         ",
        expect![[r#"ask_user {"options":[],"question":"왜?","type":"text"}"#]],
    );
    check(
        "\x1b[2K\x1b[1G\x1b[38;5;208m[DELIVER_RESULT:\x1b[1mPO\x1b[0m]\n\
         내용: \x1b(Bok\n\
         ",
        expect![[r#"deliver_result {"content":"ok","result_type":"message","target":"PO"}"#]],
    );
}

#[test]
fn options() {
    check(
        r#"[ASK_USER]
question: Sure?
type: selection
options: ['I don't know', "it's fine", 'O'Brien']
"#,
        expect![[
            r#"ask_user {"options":["I don't know","it's fine","O'Brien"],"question":"Sure?","type":"selection"}"#
        ]],
    );
    check(
        "[ASK_USER]\n\
         질문: 무엇?\n\
         타입: selection\n\
         옵션:\n\
         \x20 - 첫째\n\
         \x20 - 둘째, 셋째\n",
        expect![[r#"ask_user {"options":["첫째","둘째, 셋째"],"question":"무엇?","type":"selection"}"#]],
    );
    check(
        "[ASK_USER]\n\
         question: Sure?\n\
         options: ['a', 'b\n",
        expect![[
            r#"fault {"details":"ASK_USER has a list that cannot be read in field 'options'","field":"options","message":"Invalid protocol format","raw":"[ASK_USER]\nquestion: Sure?\noptions: ['a', 'b\n","reason":"unreadable_list","recovery":"notify_user","severity":"fault","tag":"ASK_USER","type":"fatal"}"#
        ]],
    );
    check(
        "[ASK_USER]\n\
         question: Sure?\n\
         type: selection\n",
        expect![[
            r#"ask_user {"options":[],"question":"Sure?","type":"text","warnings":[{"code":"replaced","field":"type"}]}"#
        ]],
    );
}

#[test]
fn questions() {
    check(
        "[ASK_USER]\n\
         질문: Test?\n\
         타입: text",
        expect![[r#"ask_user {"options":[],"question":"Test?","type":"text"}"#]],
    );
    check(
        "[ASK_USER]\n\
         이대로 진행할까요?\n",
        expect![[r#"ask_user {"options":[],"question":"이대로 진행할까요?","type":"text"}"#]],
    );
    check(
        "[ASK_USER]\n\
         질문: 배포할까요?\n\
         타입: confirmation\n\
         컨텍스트: 스테이징 통과\n",
        expect![[
            r#"ask_user {"context":"스테이징 통과","options":[],"question":"배포할까요?","type":"confirmation"}"#
        ]],
    );
    check(
        "[ASK_USER]\n\
         타입: riddle\n\
         질문: ?\n",
        expect![[
            r#"fault {"details":"ASK_USER has an unknown value in field 'type'","field":"type","message":"Invalid protocol format","raw":"[ASK_USER]\n타입: riddle\n질문: ?\n","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"ASK_USER","type":"fatal"}"#
        ]],
    );
    check(
        "[ASK_USER]\n\
         타입: text\n",
        expect![[
            r#"fault {"details":"ASK_USER missing required field 'question'","field":"question","message":"Invalid protocol format","raw":"[ASK_USER]\n타입: text\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"ASK_USER","type":"fatal"}"#
        ]],
    );
}

#[test]
fn context_of_a_call() {
    check(
        "[INVOKE:PO]\n\
         task\n\
         context: first\n\
         second\n",
        expect![[r#"invoke {"context":"first\nsecond","target":"PO","task":"task"}"#]],
    );
    check(
        "[INVOKE:PO]\n\
         한 줄\n\
         컨텍스트:\n\
         둘째 줄부터\n",
        expect![[r#"invoke {"context":"둘째 줄부터","target":"PO","task":"한 줄"}"#]],
    );
    check(
        "[INVOKE:PO]\n\
         컨텍스트: 작업이 없음\n",
        expect![[
            r#"fault {"details":"INVOKE missing required field 'task'","field":"task","message":"Invalid protocol format","raw":"[INVOKE:PO]\n컨텍스트: 작업이 없음\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}"#
        ]],
    );
}

#[test]
fn names() {
    check(
        "[INVOKE:백엔드-개발자]\n\
         하나\n\
         [INVOKE:dev_2.1]\n\
         둘\n\
         [INVOKE:Élodie]\n\
         셋\n",
        expect![[r#"
            invoke {"target":"백엔드-개발자","task":"하나"}
            invoke {"target":"dev_2.1","task":"둘"}
            invoke {"target":"Élodie","task":"셋"}"#]],
    );
    check(
        "[INVOKE:two words]\n\
         no\n\
         [INVOKE:]\n\
         no\n\
         [INVOKE]\n\
         no\n\
         [DELIVER_RESULT:a/b]\n\
         no\n",
        expect![[r#"
            fault {"details":"INVOKE has an unknown value in field 'target'","field":"target","message":"Invalid protocol format","raw":"[INVOKE:two words]\nno\n","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}
            fault {"details":"INVOKE missing required field 'target'","field":"target","message":"Invalid protocol format","raw":"[INVOKE:]\nno\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}
            fault {"details":"INVOKE missing required field 'target'","field":"target","message":"Invalid protocol format","raw":"[INVOKE]\nno\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"INVOKE","type":"fatal"}
            fault {"details":"DELIVER_RESULT has an unknown value in field 'target'","field":"target","message":"Invalid protocol format","raw":"[DELIVER_RESULT:a/b]\nno\n","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"DELIVER_RESULT","type":"fatal"}"#]],
    );
}

#[test]
fn results() {
    check(
        "[DELIVER_RESULT:PO]\n\
         타입: github_issue\n\
         내용: #12\n",
        expect![[r##"deliver_result {"content":"#12","result_type":"github_issue","target":"PO"}"##]],
    );
    check(
        "[DELIVER_RESULT:PO]\n\
         타입: markdown\n\
         내용: # 제목\n\
         본문\n\
         \n\
         끝\n",
        expect![[
            r##"deliver_result {"content":"# 제목\n본문\n\n끝","result_type":"markdown","target":"PO"}"##
        ]],
    );
    check(
        r#"[DELIVER_RESULT:PO]
타입: json
내용: {"a": 1}
"#,
        expect![[r#"deliver_result {"content":"{\"a\": 1}","result_type":"json","target":"PO"}"#]],
    );
    check(
        "[DELIVER_RESULT:PO]\n\
         type: file_path\n\
         content: docs/a.md\n",
        expect![[r#"deliver_result {"content":"docs/a.md","result_type":"file_path","target":"PO"}"#]],
    );
    check(
        "[DELIVER_RESULT:PO]\n\
         그냥 글\n\
         두 줄\n",
        expect![[r#"deliver_result {"content":"그냥 글\n두 줄","result_type":"message","target":"PO"}"#]],
    );
    check(
        "[DELIVER_RESULT:PO]\n\
         타입: poem\n\
         내용: x\n",
        expect![[
            r#"fault {"details":"DELIVER_RESULT has an unknown value in field 'type'","field":"type","message":"Invalid protocol format","raw":"[DELIVER_RESULT:PO]\n타입: poem\n내용: x\n","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"DELIVER_RESULT","type":"fatal"}"#
        ]],
    );
    check(
        "[DELIVER_RESULT:PO]\n\
         타입: json\n",
        expect![[
            r#"fault {"details":"DELIVER_RESULT missing required field 'content'","field":"content","message":"Invalid protocol format","raw":"[DELIVER_RESULT:PO]\n타입: json\n","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"DELIVER_RESULT","type":"fatal"}"#
        ]],
    );
}

#[test]
fn steps() {
    check("[STEP_COMPLETE]\n", expect!["step_complete {}"]);
    check(
        "[STEP_COMPLETE]\n\
         step: 3\n\
         summary: built\n\
         and tested\n",
        expect![[r#"step_complete {"step":"3","summary":"built\nand tested"}"#]],
    );
    check(
        "[STEP_COMPLETE]\n\
         끝났습니다\n",
        expect![[r#"step_complete {"summary":"끝났습니다"}"#]],
    );
}

#[test]
fn closing_tags_are_accepted() {
    check(
        "[INVOKE:PO]\n\
         하나\n\
         [/INVOKE:PO] 뒤\n\
         [INVOKE:QA]\n\
         둘\n\
         [/INVOKE]\n\
         글\n\
         [ASK_USER]\n\
         왜?\n\
         [/ASK_USER]\n\
         글\n",
        expect![[r#"
            invoke {"target":"PO","task":"하나"}
            invoke {"target":"QA","task":"둘"}
            ask_user {"options":[],"question":"왜?","type":"text"}"#]],
    );
}
