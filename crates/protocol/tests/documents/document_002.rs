//! The block dialect in the form of its second description.

use expect_test::expect;

use super::check;

#[test]
fn a_dependency() {
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: api_key\n\
         name: OPENAI_API_KEY\n\
         description: Required for AI features\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"Required for AI features","name":"OPENAI_API_KEY","required":true,"type":"api_key"}"#
        ]],
    );
}

#[test]
fn a_question_without_required() {
    check(
        "[USER_QUESTION]\n\
         category: business\n\
         question: What revenue model?\n\
         options: [Subscription, Ads]\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"business","options":["Subscription","Ads"],"question":"What revenue model?","required":true,"warnings":[{"code":"assumed","field":"required"}]}"#
        ]],
    );
    check(
        "[USER_QUESTION]\n\
         category: choice\n\
         question: What revenue model?\n\
         options: [...]\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"choice","options":["..."],"question":"What revenue model?","required":true,"warnings":[{"code":"assumed","field":"required"}]}"#
        ]],
    );
    check(
        "[USER_QUESTION]\n\
         category: choice\n\
         question: What revenue model?\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"fault {"details":"USER_QUESTION missing required field 'options'","field":"options","message":"Invalid protocol format","raw":"[USER_QUESTION]\ncategory: choice\nquestion: What revenue model?\n[/USER_QUESTION]","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"USER_QUESTION","type":"fatal"}"#
        ]],
    );
}

#[test]
fn errors_without_recovery() {
    check(
        "[ERROR]\n\
         type: execution_failed\n\
         message: Error description\n\
         details: Details\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"Details","message":"Error description","recovery":"notify_user","type":"recoverable","warnings":[{"code":"assumed","field":"recovery"}]}"#
        ]],
    );
    check(
        "[ERROR]\n\
         type: validation_error\n\
         message: Error description\n\
         details: Details\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"Details","message":"Error description","recovery":"notify_user","type":"fatal","warnings":[{"code":"assumed","field":"recovery"}]}"#
        ]],
    );
}

#[test]
fn a_phase_as_completed() {
    check(
        "=== PHASE 1 COMPLETE ===\n\
         Completed: Phase 1 (Planning)\n\
         Documents created:\n\
         - docs/planning/01_idea.md\n\
         - ...\n",
        expect![[
            r#"phase_complete {"documents":["docs/planning/01_idea.md","..."],"name":"Phase 1 (Planning)","phase":1}"#
        ]],
    );
}

#[test]
fn a_form_is_not_a_message() {
    check(
        "[USER_QUESTION]\n\
         category: business | clarification | choice\n\
         question: What revenue model?\n\
         options: [...]\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"fault {"details":"USER_QUESTION has an unknown value in field 'category'","field":"category","message":"Invalid protocol format","raw":"[USER_QUESTION]\ncategory: business | clarification | choice\nquestion: What revenue model?\noptions: [...]\n[/USER_QUESTION]","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"USER_QUESTION","type":"fatal"}"#
        ]],
    );
}
