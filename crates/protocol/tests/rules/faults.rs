//! Messages that cannot be understood: what is said about them, and that reading goes on.

use expect_test::{Expect, expect};
use ostler_protocol::{Settings, What};

/// The sentence that each fault gives.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(input: &str, expect: Expect) {
    let items = crate::parse(format!("{input}\nWAIT\n").as_bytes(), &Settings::default());
    let said = items.iter().map(|item| match &item.what {
        What::Fault(fault) => fault.details(),
        what => what.kind().to_string(),
    });
    expect.assert_eq(&said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_field_is_missing() {
    check(
        "[DEPENDENCY_REQUEST]\nname: K\ndescription: d\nrequired: true\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
            DEPENDENCY_REQUEST missing required field 'type'
            wait"#]],
    );
    check(
        "[DEPENDENCY_REQUEST]\ntype: file\nname:\ndescription: d\nrequired: true\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
            DEPENDENCY_REQUEST missing required field 'name'
            wait"#]],
    );
    check(
        "[DEPENDENCY_REQUEST]\ntype: file\nname: K\ndescription: d\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
        DEPENDENCY_REQUEST missing required field 'required'
        wait"#]],
    );
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\nrequired: true\n[/USER_QUESTION]",
        expect![[r#"
        USER_QUESTION missing required field 'options'
        wait"#]],
    );
    check(
        "[USER_QUESTION]\n[/USER_QUESTION]",
        expect![[r#"
        USER_QUESTION missing required field 'category'
        wait"#]],
    );
    check(
        "[ERROR]\ntype: fatal\n[/ERROR]",
        expect![[r#"
        ERROR missing required field 'message'
        wait"#]],
    );
    check(
        "[ASK_USER]\n타입: text\n[/ASK_USER]",
        expect![[r#"
        ASK_USER missing required field 'question'
        wait"#]],
    );
    check(
        "[INVOKE:PO]\n컨텍스트: c\n[/INVOKE]",
        expect![[r#"
        INVOKE missing required field 'task'
        wait"#]],
    );
    check(
        "[INVOKE]\nwho?\n[/INVOKE]",
        expect![[r#"
        INVOKE missing required field 'target'
        wait"#]],
    );
    check(
        "[DELIVER_RESULT:PO]\n타입: json\n[/DELIVER_RESULT]",
        expect![[r#"
        DELIVER_RESULT missing required field 'content'
        wait"#]],
    );
}

#[test]
fn a_value_is_unknown() {
    check(
        "[DEPENDENCY_REQUEST]\ntype: key\nname: K\ndescription: d\nrequired: true\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
            DEPENDENCY_REQUEST has an unknown value in field 'type'
            wait"#]],
    );
    check(
        "[DEPENDENCY_REQUEST]\ntype: file\nname: K\ndescription: d\nrequired: maybe\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
            DEPENDENCY_REQUEST has an unknown value in field 'required'
            wait"#]],
    );
    check(
        "[USER_QUESTION]\ncategory: idle\nquestion: Q\n[/USER_QUESTION]",
        expect![[r#"
        USER_QUESTION has an unknown value in field 'category'
        wait"#]],
    );
    check(
        "[ERROR]\ntype: fatal\nmessage: m\nrecovery: pray\n[/ERROR]",
        expect![[r#"
        ERROR has an unknown value in field 'recovery'
        wait"#]],
    );
    check(
        "[ASK_USER]\n질문: q\n타입: oral\n[/ASK_USER]",
        expect![[r#"
        ASK_USER has an unknown value in field 'type'
        wait"#]],
    );
    check(
        "[DELIVER_RESULT:PO]\n타입: song\n내용: x\n[/DELIVER_RESULT]",
        expect![[r#"
        DELIVER_RESULT has an unknown value in field 'type'
        wait"#]],
    );
}

#[test]
fn the_form_is_wrong() {
    check(
        "[USER_QUESTION]\nWhich colour?\n[/USER_QUESTION]",
        expect![[r#"
        USER_QUESTION has a line that is not 'key: value': 'Which colour?'
        wait"#]],
    );
    check(
        "[ERROR]\ntype: fatal\nTYPE: fatal\nmessage: m\n[/ERROR]",
        expect![[r#"
        ERROR has field 'type' twice
        wait"#]],
    );
    check(
        "[ERROR]\nmood: a\nmood: b\n[/ERROR]",
        expect![[r#"
        ERROR has field 'mood' twice
        wait"#]],
    );
    check(
        "[USER_QUESTION]\ncategory: choice\nquestion: Q\noptions: a or b\n[/USER_QUESTION]",
        expect![[r#"
        USER_QUESTION has a list that cannot be read in field 'options'
        wait"#]],
    );
    check(
        "[ASK_USER]\n질문: q\n옵션: ['a', 'b\n[/ASK_USER]",
        expect![[r#"
        ASK_USER has a list that cannot be read in field 'options'
        wait"#]],
    );
    check(
        "TASK_ID:T1.3\nMETA:{broken",
        expect![[r#"
        TASK_ID has invalid JSON in field 'META'
        wait"#]],
    );
    check(
        "[ERROR]\ntype: fatal\n[/DEPENDENCY_REQUEST]",
        expect![[r#"
        ERROR was closed by 'DEPENDENCY_REQUEST'
        wait"#]],
    );
    check(
        "[ERROR]\ntype: fatal\n[STEP_COMPLETE]\n[/STEP_COMPLETE]",
        expect![[r#"
        ERROR was never closed
        step_complete
        wait"#]],
    );
    check("[ERROR]\ntype: fatal", expect!["ERROR was never closed"]);
}

#[test]
fn a_fault_is_shown_as_a_fatal_error() {
    let items = crate::parse(b"[ERROR]\n[/ERROR]", &Settings::default());
    let Some(What::Fault(fault)) = items.first().map(|item| &item.what) else { panic!("{items:?}") };
    let shown = serde_json::to_string(&fault.as_error()).expect("an error has only text");
    expect![[r#"{"type":"fatal","message":"Invalid protocol format","details":"ERROR missing required field 'type'","recovery":"notify_user"}"#]].assert_eq(&shown);
}
