//! What resembles a message of any document and is none.

use expect_test::expect;

use super::check;

#[test]
fn a_log_line_is_no_tag() {
    check(
        "[ERROR] something failed\n\
         [ERROR]: code 2\n\
         [WARN] x\n\
         [error]\n\
         [/ERROR]\n\
         [ERROR\n",
        expect![[""]],
    );
}

#[test]
fn a_tag_within_a_sentence_is_text() {
    check(
        "Print [USER_QUESTION] to ask.\n\
         Then close it with [/USER_QUESTION]\n\
         Use [INVOKE:PO] for that\n\
         It says === PHASE 1 COMPLETE === at the end\n\
         - [ASK_USER]\n\
         > [ASK_USER]\n",
        expect![[""]],
    );
    check(
        "=== PHASE one COMPLETE ===\n\
         === PHASE COMPLETE ===\n\
         == PHASE 1 COMPLETE ==\n\
         === PHASE 1 COMPLETED ===\n\
         === AGENT_RESULT ===\n",
        expect![[""]],
    );
}

#[test]
fn a_tag_within_a_value_is_text() {
    check(
        "[ERROR]\n\
         type: fatal\n\
         message: the tag [/ERROR] within a line\n\
         details: [ERROR] too\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"[ERROR] too","message":"the tag [/ERROR] within a line","recovery":"notify_user","type":"fatal","warnings":[{"code":"assumed","field":"recovery"}]}"#
        ]],
    );
}
