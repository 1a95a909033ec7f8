//! What the document calls tables, for whoever reads the database, and the commands that print the same.

use ostler_server::api::InvocationStatus;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::{office, results, seat, wait_for_call};
use crate::support::World;

/// Asks before it brings anything.
const ASKING: &str = r#"read -r head; read -r task; read -r context
printf '[ASK_USER]\n질문: 어느 쪽인가요?\n타입: selection\n옵션: ["가", "나"]\n[/ASK_USER]\n'; read -r answer
printf '[DELIVER_RESULT:%s]\ntype: json\ncontent: {"answer": "%s"}\n[/DELIVER_RESULT]\n' "$(name_in "$head")" "$answer"
sleep 600"#;

/// The names as they stand in the document, and in its order.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("office_agents", &["id", "office_id", "name", "session_id", "status"]),
    (
        "user_questions",
        &[
            "id",
            "agent_id",
            "office_id",
            "question_type",
            "question",
            "options",
            "status",
            "expires_at",
            "response",
            "expires_at_ms",
        ],
    ),
    (
        "agent_invocations",
        &["id", "office_id", "caller_agent_id", "callee_agent_id", "reason", "context", "status"],
    ),
    (
        "agent_results",
        &[
            "id",
            "office_id",
            "from_agent_id",
            "to_agent_id",
            "result_type",
            "content_type",
            "content",
            "status",
        ],
    ),
];

/// Rows of a view, each as its columns in words. The server goes on writing meanwhile.
pub(super) fn rows(world: &World, query: &str) -> Vec<Vec<String>> {
    let file = world.home.join("journal.sqlite");
    let store = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("it can be read");
    let mut found = store.prepare(query).expect("there is such a view");
    let columns = found.column_count();
    let mut rows = found.query([]).expect("rows");
    let mut all = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let value = |column| match row.get::<_, rusqlite::types::Value>(column).expect("a value") {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Integer(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        all.push((0..columns).map(value).collect());
    }
    all
}

fn said(world: &World, arguments: &[&str]) -> Value {
    let output = world.ostler(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_tables_of_the_document_are_views_that_anybody_can_query() {
    let world = office(&[("기획자", ASKING)]);
    for (view, columns) in COLUMNS {
        let found = rows(&world, &format!("SELECT name FROM pragma_table_info('{view}') ORDER BY cid"));
        assert_eq!(found.concat(), columns, "{view}");
    }
    // Whoever has not been called yet is an agent of the office, too.
    let first = world.bash("true");
    world.status(&first, "completed");
    let agents = "SELECT id, office_id, name, session_id, status FROM office_agents";
    assert_eq!(rows(&world, agents), [["p_1/기획자", "p_1", "기획자", "Null", "resting"]]);
    let caller = world.bash(
        "printf '[INVOKE:기획자]\\n골라 주세요\\n컨텍스트: 급함\\n[/INVOKE]\\n'; read -r a; read -r b; read -r end; echo \"$b\"",
    );
    let seat = seat(&world, "기획자").id;
    let request = world.asked(&seat);
    let asked = "SELECT id, agent_id, office_id, question_type, question, options, status, response FROM user_questions";
    let question = |status: &str, response: &str| {
        let agent = "p_1/기획자";
        [&request.id, agent, "p_1", "selection", "어느 쪽인가요?", "[\"가\",\"나\"]", status, response]
            .map(str::to_owned)
            .to_vec()
    };
    assert_eq!(rows(&world, asked), [question("pending", "Null")]);
    let times = rows(&world, "SELECT expires_at, expires_at_ms FROM user_questions").concat();
    let listed = &said(&world, &["office", "questions", "--json"])[0];
    assert_eq!(listed["expires_at"], times[0], "the command and the view agree");
    assert_eq!(listed["expires_at_ms"].to_string(), times[1]);
    let (seconds, parts) = times[0].split_once('.').expect("milliseconds");
    assert_eq!(
        (seconds.len(), parts),
        (19, format!("{}Z", &times[1][times[1].len() - 3..]).as_str()),
        "{times:?}"
    );
    // What it has said may be known before it is known to have read.
    wait_for_call(&world, 1, InvocationStatus::InProgress);
    assert_eq!(rows(&world, "SELECT status FROM agent_invocations"), [["in_progress"]]);
    assert_eq!(
        rows(&world, "SELECT id, office_id, name, session_id, status FROM office_agents"),
        [["p_1/기획자", "p_1", "기획자", &seat, "active"]]
    );
    // Whoever is to answer sees who asks, and not only which agent that is.
    for list in [["inbox"].as_slice(), &["office", "questions"]] {
        let listed = String::from_utf8(world.ostler(list).stdout).expect("text");
        assert!(listed.contains(&format!("{}  기획자", request.id)), "{listed}");
    }
    world.answer(&request.id, "2");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller).lines().last(), Some("{\"answer\": \"나\"}"));
    wait_for_call(&world, 1, InvocationStatus::Completed);
    world.wait_for("that it is read", |world| results(world)[0].delivered.then_some(()));
    assert_eq!(rows(&world, asked), [question("answered", "나")]);
    assert_eq!(
        rows(&world, "SELECT * FROM agent_invocations"),
        [["i_1", "p_1", &format!("p_1/{caller}"), "p_1/기획자", "골라 주세요", "급함", "completed"]]
    );
    assert_eq!(
        rows(&world, "SELECT * FROM agent_results"),
        [[
            "d_1",
            "p_1",
            "p_1/기획자",
            &format!("p_1/{caller}"),
            "json",
            "application/json",
            "{\"answer\": \"나\"}",
            "delivered"
        ]]
    );

    // The commands say the same, under the same names.
    for (command, view) in
        [("questions", "user_questions"), ("invocations", "agent_invocations"), ("results", "agent_results")]
    {
        let Value::Array(printed) = said(&world, &["--json", "office", command]) else { panic!("a list") };
        let columns = COLUMNS.iter().find(|(name, _)| *name == view).expect("a view").1;
        let mut names: Vec<&str> =
            printed[0].as_object().expect("a row").keys().map(String::as_str).collect();
        let mut expected = columns.to_vec();
        expected.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, expected, "{command}");
        let in_words = |column: &&str| match &printed[0][*column] {
            Value::String(text) => text.clone(),
            Value::Null => "Null".to_owned(),
            other => other.to_string(),
        };
        let printed: Vec<String> = columns.iter().map(in_words).collect();
        assert_eq!(rows(&world, &format!("SELECT * FROM {view}")), [printed], "{command}");
    }
    let between = |pair: &str| -> Vec<Value> {
        world.get(&format!("/projects/p_1/office/results?between={pair}")).expect("a list")
    };
    assert_eq!(between(&format!("%EA%B8%B0%ED%9A%8D%EC%9E%90,{caller}")).len(), 1);
    assert_eq!(between(&format!("{caller},%EA%B8%B0%ED%9A%8D%EC%9E%90")).len(), 1);
    assert_eq!(between(&format!("{caller},PO")).len(), 0);
    world.refused_get("/projects/p_1/office/results?between=PO");
    world.verify();
}

#[test]
fn a_question_of_somebody_who_ends_is_cancelled_and_a_call_of_theirs_too() {
    let world = office(&[("PO", ASKING)]);
    let caller = world.bash("printf '[INVOKE:PO]\\nx\\ncontext: y\\n[/INVOKE]\\n'; sleep 600");
    let seat = seat(&world, "PO").id;
    world.asked(&seat);
    world.wish(&caller, "cancel");
    wait_for_call(&world, 1, InvocationStatus::Cancelled);
    world.wish(&seat, "cancel");
    world.status(&seat, "cancelled");
    assert_eq!(rows(&world, "SELECT status FROM agent_invocations"), [["cancelled"]]);
    assert_eq!(rows(&world, "SELECT status FROM user_questions"), [["cancelled"]]);
    assert_eq!(rows(&world, "SELECT status FROM office_agents"), [["resting"]]);
}
