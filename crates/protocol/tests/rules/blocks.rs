//! The block dialect beyond the examples: values over lines, lists, defaults, odd but valid input.

use expect_test::expect;

use crate::check;

#[test]
fn a_value_goes_on_where_it_is_indented() {
    check(
        "  [ERROR]\n  type: fatal\n  message: boom\n  details: Error: x\n      at a (b.js:1)\n\n        at c: d\n  recovery: notify_user\n  [/ERROR]\n",
        expect![[
            r#"0..131 error by "closing_tag" {"details":"Error: x\nat a (b.js:1)\n\n  at c: d","message":"boom","recovery":"notify_user","type":"fatal"}"#
        ]],
    );
}

/// The text of an error goes on until a line names another field of the block. Elsewhere an unknown key is kept apart.
#[test]
fn the_text_of_an_error_needs_no_indentation() {
    check(
        "[ERROR]\ntype: fatal\nmessage: the build failed\nerror: expected `;`\nerror: cannot find value `x`\n\nFor more information, see the log.\nRecovery: notify_user\nattempt: 2\n[/ERROR]\n",
        expect![[
            r#"0..172 error by "closing_tag" {"extra":{"attempt":"2"},"message":"the build failed\nerror: expected `;`\nerror: cannot find value `x`\n\nFor more information, see the log.","recovery":"notify_user","type":"fatal","warnings":[{"code":"unknown_key","field":"attempt"}]}"#
        ]],
    );
    check(
        "    [ERROR]\n    type: fatal\n    details: first\nless indented\n        deeper\n    message: boom\n    recovery: notify_user\n    [/ERROR]\n",
        expect![[
            r#"0..132 error by "closing_tag" {"details":"first\nless indented\n        deeper","message":"boom","recovery":"notify_user","type":"fatal"}"#
        ]],
    );
    check(
        "[ERROR]\ntype: fatal\nmessage: one\nmessage: two\n[/ERROR]\n",
        expect![[
            r#"0..54 fault by "closing_tag" {"details":"ERROR has field 'message' twice","field":"message","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\nmessage: one\nmessage: two\n[/ERROR]","reason":"duplicate_key","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}"#
        ]],
    );
    check(
        "[ERROR]\ntype: fatal\nno field\nmessage: boom\n[/ERROR]\n",
        expect![[
            r#"0..51 fault by "closing_tag" {"details":"ERROR has a line that is not 'key: value': 'no field'","field":"no field","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\nno field\nmessage: boom\n[/ERROR]","reason":"not_key_value","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}"#
        ]],
    );
}

#[test]
fn lists_in_every_form() {
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: [a, 'b, c', \"d\"]\nrequired: true\n[/USER_QUESTION]",
        expect![[
            r#"0..102 user_question by "closing_tag" {"category":"choice","options":["a","b, c","d"],"question":"Q","required":true}"#
        ]],
    );
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions:\n- a\n- b: c\nrequired: true\n[/USER_QUESTION]",
        expect![[
            r#"0..96 user_question by "closing_tag" {"category":"choice","options":["a","b: c"],"question":"Q","required":true}"#
        ]],
    );
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: [\n  a,\n  b\n]\nrequired: true\n[/USER_QUESTION]",
        expect![[
            r#"0..98 user_question by "closing_tag" {"category":"choice","options":["a","b"],"question":"Q","required":true}"#
        ]],
    );
}

#[test]
fn the_default_is_always_an_option() {
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: [Yes, No]\ndefault: yes\nrequired: false\n[/USER_QUESTION]",
        expect![[
            r#"0..109 user_question by "closing_tag" {"category":"choice","default":"Yes","options":["Yes","No"],"question":"Q","required":false}"#
        ]],
    );
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: [a]\ndefault: b\nrequired: false\n[/USER_QUESTION]",
        expect![[
            r#"0..101 user_question by "closing_tag" {"category":"choice","default":"b","options":["a","b"],"question":"Q","required":false,"warnings":[{"code":"default_added","field":"default"}]}"#
        ]],
    );
    check(
        "[USER_QUESTION]\ncategory: business\nquestion: Q\ndefault: b\nrequired: false\n[/USER_QUESTION]",
        expect![[
            r#"0..90 user_question by "closing_tag" {"category":"business","default":"b","options":[],"question":"Q","required":false}"#
        ]],
    );
}

#[test]
fn a_confirmation_is_yes_or_no() {
    check(
        "[USER_QUESTION]\ncategory: confirmation\nquestion: Go?\nrequired: true\n[/USER_QUESTION]",
        expect![[
            r#"0..84 user_question by "closing_tag" {"category":"confirmation","options":["Yes","No"],"question":"Go?","required":true}"#
        ]],
    );
}

#[test]
fn what_is_odd_is_told() {
    check(
        "[USER_QUESTION]\nCategory: Business\nquestion: Q\nmood: good\n[/USER_QUESTION]",
        expect![[
            r#"0..74 user_question by "closing_tag" {"category":"business","extra":{"mood":"good"},"options":[],"question":"Q","required":true,"warnings":[{"code":"assumed","field":"required"},{"code":"unknown_key","field":"mood"}]}"#
        ]],
    );
    check(
        "[ERROR]\ntype: fatal\nmessage: m\nrecovery: pause_and_retry\n[/ERROR]",
        expect![[
            r#"0..65 error by "closing_tag" {"message":"m","recovery":"notify_user","type":"fatal","warnings":[{"code":"replaced","field":"recovery"}]}"#
        ]],
    );
    check(
        "[ERROR]\ntype: recoverable\nmessage: m\n[/ERROR]",
        expect![[
            r#"0..45 error by "closing_tag" {"message":"m","recovery":"notify_user","type":"recoverable","warnings":[{"code":"assumed","field":"recovery"}]}"#
        ]],
    );
}

#[test]
fn numbers_stay_as_they_were_written() {
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: [3.9, 3.10]\ndefault: 3.10\nrequired: true\n[/USER_QUESTION]",
        expect![[
            r#"0..111 user_question by "closing_tag" {"category":"choice","default":"3.10","options":["3.9","3.10"],"question":"Q","required":true}"#
        ]],
    );
}

#[test]
fn no_indent_costs_a_letter() {
    check(
        "[ERROR]\ntype: fatal\nmessage: m\ndetails: a\n  b\n\u{3000}c\n \u{a0}d\nrecovery: notify_user\n[/ERROR]",
        expect![[
            r#"0..86 error by "closing_tag" {"details":"a\nb\n　c\n d","message":"m","recovery":"notify_user","type":"fatal"}"#
        ]],
    );
}
