//! Lines, escapes, carriage returns, white space, places.

use expect_test::expect;

use crate::check;

#[test]
fn escapes_do_not_hide_a_tag() {
    check(
        "\x1b[1m[STEP_\x1b[0mCOMPLETE]\x1b]8;;x\x07\x1b[K\n\u{9b}32m요약: 끝\x1b(B\n",
        expect![[r#"0..53 step_complete by "stream" {"summary":"끝"}"#]],
    );
}

#[test]
fn a_newline_ends_an_escape_that_has_no_end() {
    check(
        "\x1b]0;title without an end\nWAIT\n\x1bPdcs\nALL_DONE\n\x1b[31\nWAIT\n",
        expect![[r#"
        25..29 wait by "line" {}
        36..44 all_done by "line" {}
        50..54 wait by "line" {}"#]],
    );
}

#[test]
fn a_bell_or_nul_before_a_tag_shows_nothing() {
    check(
        "\x07WAIT\n\0\x08ALL_DONE\x7f\n",
        expect![[r#"
        0..5 wait by "line" {}
        6..17 all_done by "line" {}"#]],
    );
}

#[test]
fn a_return_begins_the_line_again() {
    check(
        "10%\r50%\rWAIT\nWAIT\r100%\nWAIT\r\x1b[K\n",
        expect![[r#"
        0..12 wait by "line" {}
        23..31 wait by "line" {}"#]],
    );
}

#[test]
fn line_ends_of_every_system() {
    check(
        "[STEP_COMPLETE]\r\nok\r\r\n[/STEP_COMPLETE]\r\nWAIT\r\n",
        expect![[r#"
        0..38 step_complete by "closing_tag" {"summary":"ok"}
        40..45 wait by "line" {}"#]],
    );
}

#[test]
fn white_space_may_stand_around_a_tag() {
    check(
        "\u{feff} \t[STEP_COMPLETE]\u{3000}\n[/STEP_COMPLETE]\n\u{a0}WAIT \u{2028}\n",
        expect![[r#"
            0..40 step_complete by "closing_tag" {}
            41..51 wait by "line" {}"#]],
    );
}

#[test]
fn a_tag_stands_alone_on_its_line() {
    check(
        "I print [STEP_COMPLETE]\n[STEP_COMPLETE] now\n> [STEP_COMPLETE]\n`[STEP_COMPLETE]`\n",
        expect![[""]],
    );
}

#[test]
fn a_closing_tag_counts_at_its_bracket() {
    check(
        "[ASK_USER]\nHow?\n  [/ASK_USER] WAIT\nsay [/ASK_USER]\nWAIT",
        expect![[r#"
        0..29 ask_user by "closing_tag" {"options":[],"question":"How?","type":"text"}
        51..55 wait by "line" {}"#]],
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let items = crate::parse(b"[STEP_COMPLETE]\na\xffb\xe3\x80\xc2\n", &ostler_protocol::Settings::default());
    expect![[r#"0..22 step_complete by "stream" {"summary":"a�b��"}"#]].assert_eq(&crate::show(&items));
}

#[test]
fn fences_mean_nothing_on_raw_output() {
    check("```\nWAIT\n```\n", expect![[r#"4..8 wait by "line" {}"#]]);
}

#[test]
fn an_opening_tag_ends_a_block_that_is_open() {
    check(
        "[ERROR]\ntype: fatal\n[USER_QUESTION]\ncategory: business\nquestion: Q\n[/USER_QUESTION]\n",
        expect![[r#"
            0..19 fault by "next_tag" {"details":"ERROR was never closed","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\n","reason":"unclosed","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}
            20..83 user_question by "closing_tag" {"category":"business","options":[],"question":"Q","required":true,"warnings":[{"code":"assumed","field":"required"}]}"#]],
    );
}

#[test]
fn a_closing_tag_of_another_block_is_a_mistake() {
    check(
        "[ERROR]\ntype: fatal\n[/USER_QUESTION]\nmessage: m\n[/ERROR]\n",
        expect![[
            r#"0..36 fault by "wrong_tag" {"details":"ERROR was closed by 'USER_QUESTION'","field":"USER_QUESTION","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\n[/USER_QUESTION]","reason":"mismatched","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}"#
        ]],
    );
}

#[test]
fn a_closing_tag_alone_is_text() {
    check("[/ERROR]\n[/ASK_USER]\n", expect![[""]]);
}
