//! The block dialect.

use expect_test::expect;
use ostler_protocol::{
    Item, What,
    reply::{QuestionAnswer, Reply},
};
use serde_json::json;

use super::{check, parse};

#[test]
fn dependencies() {
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: api_key\n\
         name: OPENAI_API_KEY\n\
         description: OpenAI API key for GPT-4 integration\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"OpenAI API key for GPT-4 integration","name":"OPENAI_API_KEY","required":true,"type":"api_key"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: env_variable\n\
         name: DATABASE_URL\n\
         description: PostgreSQL connection string\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"PostgreSQL connection string","name":"DATABASE_URL","required":true,"type":"env_variable"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: service\n\
         name: stripe\n\
         description: Payment processing via Stripe\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"Payment processing via Stripe","name":"stripe","required":true,"type":"service"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: file\n\
         name: logo.png\n\
         description: Company logo for the app\n\
         required: false\n\
         default: placeholder.png\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"default":"placeholder.png","description":"Company logo for the app","name":"logo.png","required":false,"type":"file"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: permission\n\
         name: file_system_write\n\
         description: Permission to write files to disk\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"Permission to write files to disk","name":"file_system_write","required":true,"type":"permission"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: package\n\
         name: @supabase/supabase-js\n\
         description: Supabase client library\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"dependency_request {"description":"Supabase client library","name":"@supabase/supabase-js","required":true,"type":"package"}"#
        ]],
    );
}

#[test]
fn a_dependency_as_console_log_prints_it() {
    check(
        "\n\
         [DEPENDENCY_REQUEST]\n\
         type: api_key\n\
         name: STRIPE_SECRET_KEY\n\
         description: Stripe API secret key for payment processing\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n\
         \n",
        expect![[
            r#"dependency_request {"description":"Stripe API secret key for payment processing","name":"STRIPE_SECRET_KEY","required":true,"type":"api_key"}"#
        ]],
    );
}

#[test]
fn questions() {
    check(
        "[USER_QUESTION]\n\
         category: business\n\
         question: What is your preferred revenue model?\n\
         options:\n\
         \x20 - Subscription (monthly/yearly)\n\
         \x20 - Freemium (free + paid tiers)\n\
         \x20 - One-time purchase\n\
         \x20 - Ad-supported\n\
         default: Subscription (monthly/yearly)\n\
         required: true\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"business","default":"Subscription (monthly/yearly)","options":["Subscription (monthly/yearly)","Freemium (free + paid tiers)","One-time purchase","Ad-supported"],"question":"What is your preferred revenue model?","required":true}"#
        ]],
    );
    check(
        "[USER_QUESTION]\n\
         category: clarification\n\
         question: Should users be able to edit their profiles?\n\
         options:\n\
         \x20 - Yes, full editing\n\
         \x20 - Yes, limited fields only\n\
         \x20 - No, read-only\n\
         required: true\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"clarification","options":["Yes, full editing","Yes, limited fields only","No, read-only"],"question":"Should users be able to edit their profiles?","required":true}"#
        ]],
    );
    check(
        "[USER_QUESTION]\n\
         category: choice\n\
         question: Which database would you prefer?\n\
         options:\n\
         \x20 - PostgreSQL (recommended for production)\n\
         \x20 - MySQL\n\
         \x20 - SQLite (for simplicity)\n\
         default: PostgreSQL (recommended for production)\n\
         required: true\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"choice","default":"PostgreSQL (recommended for production)","options":["PostgreSQL (recommended for production)","MySQL","SQLite (for simplicity)"],"question":"Which database would you prefer?","required":true}"#
        ]],
    );
    check(
        "[USER_QUESTION]\n\
         category: confirmation\n\
         question: Proceed with generating authentication system using Supabase Auth?\n\
         options:\n\
         \x20 - Yes\n\
         \x20 - No, use a different auth system\n\
         default: Yes\n\
         required: true\n\
         [/USER_QUESTION]\n",
        expect![[
            r#"user_question {"category":"confirmation","default":"Yes","options":["Yes","No, use a different auth system"],"question":"Proceed with generating authentication system using Supabase Auth?","required":true}"#
        ]],
    );
}

#[test]
fn a_question_as_console_log_prints_it() {
    check(
        "\n\
         [USER_QUESTION]\n\
         category: business\n\
         question: What is your preferred revenue model?\n\
         options:\n\
         \x20 - Subscription (monthly/yearly)\n\
         \x20 - Freemium (free + paid tiers)\n\
         \x20 - One-time purchase\n\
         default: Subscription (monthly/yearly)\n\
         required: true\n\
         [/USER_QUESTION]\n\
         \n",
        expect![[
            r#"user_question {"category":"business","default":"Subscription (monthly/yearly)","options":["Subscription (monthly/yearly)","Freemium (free + paid tiers)","One-time purchase"],"question":"What is your preferred revenue model?","required":true}"#
        ]],
    );
}

#[test]
fn phases() {
    check("=== PHASE 1 COMPLETE ===\n", expect![[r#"phase_complete {"documents":[],"phase":1}"#]]);
    check(
        "=== PHASE 1 COMPLETE ===\n\
         Phase: Planning\n\
         Documents created:\n\
         - docs/planning/01_idea.md\n\
         - docs/planning/02_market.md\n\
         - docs/planning/03_users.md\n\
         - docs/planning/04_features.md\n\
         - docs/planning/05_flows.md\n\
         - docs/planning/06_screens.md\n\
         - docs/planning/07_backend.md\n\
         - docs/planning/08_tech.md\n\
         - docs/planning/09_roadmap.md\n",
        expect![[
            r#"phase_complete {"documents":["docs/planning/01_idea.md","docs/planning/02_market.md","docs/planning/03_users.md","docs/planning/04_features.md","docs/planning/05_flows.md","docs/planning/06_screens.md","docs/planning/07_backend.md","docs/planning/08_tech.md","docs/planning/09_roadmap.md"],"name":"Planning","phase":1}"#
        ]],
    );
}

#[test]
fn a_phase_ends_at_the_first_line_that_does_not_fit() {
    check(
        "=== PHASE 1 COMPLETE ===\n\
         Phase: Planning\n\
         Documents created:\n\
         - docs/planning/01_idea.md\n\
         - docs/planning/02_market.md\n\
         Waiting for review.\n\
         - docs/planning/09_roadmap.md\n",
        expect![[
            r#"phase_complete {"documents":["docs/planning/01_idea.md","docs/planning/02_market.md"],"name":"Planning","phase":1}"#
        ]],
    );
}

#[test]
fn errors() {
    check(
        "[ERROR]\n\
         type: recoverable\n\
         message: Rate limit exceeded\n\
         details: API rate limit hit, will retry after cooldown\n\
         recovery: pause_and_retry\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"API rate limit hit, will retry after cooldown","message":"Rate limit exceeded","recovery":"pause_and_retry","type":"recoverable"}"#
        ]],
    );
    check(
        "[ERROR]\n\
         type: fatal\n\
         message: Invalid guide document structure\n\
         details: guide/planning/01_idea.md is missing required sections\n\
         recovery: checkpoint_and_fail\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"guide/planning/01_idea.md is missing required sections","message":"Invalid guide document structure","recovery":"checkpoint_and_fail","type":"fatal"}"#
        ]],
    );
}

#[test]
fn errors_as_the_catch_example_prints_them() {
    check(
        "\n\
         [ERROR]\n\
         type: recoverable\n\
         message: Rate limit exceeded\n\
         details: Claude API rate limit hit (40000 tokens/min)\n\
         recovery: pause_and_retry\n\
         [/ERROR]\n\
         \x20   \n",
        expect![[
            r#"error {"details":"Claude API rate limit hit (40000 tokens/min)","message":"Rate limit exceeded","recovery":"pause_and_retry","type":"recoverable"}"#
        ]],
    );
    check(
        "\n\
         [ERROR]\n\
         type: fatal\n\
         message: boom\n\
         details: Error: boom\n\
         \x20   at run (/app/index.js:10:7)\n\
         \x20   at main (/app/index.js:20:3)\n\
         recovery: checkpoint_and_fail\n\
         [/ERROR]\n\
         \x20   \n",
        expect![[
            r#"error {"details":"Error: boom\nat run (/app/index.js:10:7)\nat main (/app/index.js:20:3)","message":"boom","recovery":"checkpoint_and_fail","type":"fatal"}"#
        ]],
    );
    check(
        "    [ERROR]\n\
         \x20   type: fatal\n\
         \x20   message: indented as a whole\n\
         \x20   recovery: notify_user\n\
         \x20   [/ERROR]\n",
        expect![[r#"error {"message":"indented as a whole","recovery":"notify_user","type":"fatal"}"#]],
    );
}

/// Node's message for a missing module has several lines, and none of them is indented.
#[test]
fn a_message_of_several_lines_as_the_catch_example_prints_it() {
    check(
        "\n\
         [ERROR]\n\
         type: fatal\n\
         message: Cannot find module './missing'\n\
         Require stack:\n\
         - /app/index.js\n\
         details: Error: Cannot find module './missing'\n\
         Require stack:\n\
         - /app/index.js\n\
         \x20   at Module._load (node:internal/modules/cjs/loader:1038:27) {\n\
         \x20 code: 'MODULE_NOT_FOUND',\n\
         }\n\
         recovery: checkpoint_and_fail\n\
         [/ERROR]\n\
         \x20   \n",
        expect![[
            r#"error {"details":"Error: Cannot find module './missing'\nRequire stack:\n- /app/index.js\n    at Module._load (node:internal/modules/cjs/loader:1038:27) {\n  code: 'MODULE_NOT_FOUND',\n}","message":"Cannot find module './missing'\nRequire stack:\n- /app/index.js","recovery":"checkpoint_and_fail","type":"fatal"}"#
        ]],
    );
}

/// It is itself a valid message, and what a fault says of itself.
#[test]
fn the_report_of_a_failed_validation() {
    check(
        "[ERROR]\n\
         type: fatal\n\
         message: Invalid protocol format\n\
         details: DEPENDENCY_REQUEST missing required field 'type'\n\
         recovery: notify_user\n\
         [/ERROR]\n",
        expect![[
            r#"error {"details":"DEPENDENCY_REQUEST missing required field 'type'","message":"Invalid protocol format","recovery":"notify_user","type":"fatal"}"#
        ]],
    );
}

/// What the document has the manager report for a block without a type.
#[test]
fn a_fault_reports_itself_like_the_document() {
    let items = parse("[DEPENDENCY_REQUEST]\nname: KEY\n[/DEPENDENCY_REQUEST]\n");
    let [Item { what: What::Fault(fault), .. }] = &items[..] else { panic!("one fault: {items:?}") };
    expect![[r#"{"details":"DEPENDENCY_REQUEST missing required field 'type'","message":"Invalid protocol format","recovery":"notify_user","type":"fatal"}"#]].assert_eq(&json!(fault.as_error()).to_string());
}

#[test]
fn every_rule_of_validation_has_its_fault() {
    check(
        "[ERROR]\n\
         type: fatal\n\
         message: never closed\n",
        expect![[
            r#"fault {"details":"ERROR was never closed","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\nmessage: never closed\n","reason":"unclosed","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: api_key\n\
         name: KEY\n\
         description: no word of the list\n\
         required: perhaps\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"fault {"details":"DEPENDENCY_REQUEST has an unknown value in field 'required'","field":"required","message":"Invalid protocol format","raw":"[DEPENDENCY_REQUEST]\ntype: api_key\nname: KEY\ndescription: no word of the list\nrequired: perhaps\n[/DEPENDENCY_REQUEST]","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"DEPENDENCY_REQUEST","type":"fatal"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: database\n\
         name: KEY\n\
         description: no type of the list\n\
         required: true\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"fault {"details":"DEPENDENCY_REQUEST has an unknown value in field 'type'","field":"type","message":"Invalid protocol format","raw":"[DEPENDENCY_REQUEST]\ntype: database\nname: KEY\ndescription: no type of the list\nrequired: true\n[/DEPENDENCY_REQUEST]","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"DEPENDENCY_REQUEST","type":"fatal"}"#
        ]],
    );
    check(
        "[ERROR]\n\
         type: fatal\n\
         something else\n\
         [/ERROR]\n",
        expect![[
            r#"fault {"details":"ERROR has a line that is not 'key: value': 'something else'","field":"something else","message":"Invalid protocol format","raw":"[ERROR]\ntype: fatal\nsomething else\n[/ERROR]","reason":"not_key_value","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}"#
        ]],
    );
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: api_key\n\
         name: KEY\n\
         description: required is required\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"fault {"details":"DEPENDENCY_REQUEST missing required field 'required'","field":"required","message":"Invalid protocol format","raw":"[DEPENDENCY_REQUEST]\ntype: api_key\nname: KEY\ndescription: required is required\n[/DEPENDENCY_REQUEST]","reason":"missing_field","recovery":"notify_user","severity":"fault","tag":"DEPENDENCY_REQUEST","type":"fatal"}"#
        ]],
    );
}

/// The forms at the head of each section name all their values at once.
#[test]
fn a_form_is_not_a_message() {
    check(
        "[DEPENDENCY_REQUEST]\n\
         type: api_key | env_variable | service | file | permission | package\n\
         name: DEPENDENCY_NAME\n\
         description: Human-readable description\n\
         required: true | false\n\
         default: default_value (optional)\n\
         [/DEPENDENCY_REQUEST]\n",
        expect![[
            r#"fault {"details":"DEPENDENCY_REQUEST has an unknown value in field 'type'","field":"type","message":"Invalid protocol format","raw":"[DEPENDENCY_REQUEST]\ntype: api_key | env_variable | service | file | permission | package\nname: DEPENDENCY_NAME\ndescription: Human-readable description\nrequired: true | false\ndefault: default_value (optional)\n[/DEPENDENCY_REQUEST]","reason":"unknown_value","recovery":"notify_user","severity":"fault","tag":"DEPENDENCY_REQUEST","type":"fatal"}"#
        ]],
    );
    check("=== PHASE N COMPLETE ===\n", expect![[""]]);
}

#[test]
fn the_answer() {
    let answer = "{\n  \"type\": \"question_answer\",\n  \"questionId\": \"q_abc123\",\n  \"answer\": \"Subscription (monthly/yearly)\"\n}";
    let expected = Reply::QuestionAnswer(QuestionAnswer {
        question_id: "q_abc123".to_string(),
        answer: Some("Subscription (monthly/yearly)".to_string()),
        option: None,
    });
    assert_eq!(Reply::decode(answer).expect("the document's answer"), expected);
    expect![[r#"
        {"type":"question_answer","questionId":"q_abc123","answer":"Subscription (monthly/yearly)"}
    "#]]
    .assert_eq(&expected.encode());
}
