//! Sessions as a list: one line each, in columns.

use ostler_server::api::SessionView;

use crate::{
    clock,
    screen::{Cell, Screen, Style, one_line},
    status,
    words::{Key, Words},
};

/// With a line of headings.
pub(crate) fn table(words: Words, screen: Screen, sessions: &[SessionView]) -> String {
    let headings = [
        Key::ColumnId,
        Key::ColumnStatus,
        Key::ColumnSince,
        Key::ColumnBlockedBy,
        Key::ColumnAgent,
        Key::ColumnProject,
        Key::ColumnTitle,
    ];
    let head = headings.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
    let rows: Vec<Vec<Cell>> =
        std::iter::once(head).chain(sessions.iter().map(|session| row(words, session))).collect();
    screen.columns(&rows)
}

/// Without, each session as text of its own.
pub(crate) fn list(words: Words, screen: Screen, sessions: &[SessionView]) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = sessions.iter().map(|session| row(words, session)).collect();
    screen.rows(&rows)
}

/// Its id, and what a person calls it.
pub(crate) fn label(session: &SessionView) -> String {
    named(&session.id, session.name.as_deref())
}

/// The same of a session of which only that is known.
pub(crate) fn named(id: &str, name: Option<&str>) -> String {
    name.map_or_else(|| id.to_owned(), |name| format!("{id} {}", one_line(name)))
}

fn row(words: Words, session: &SessionView) -> Vec<Cell> {
    let (status, style) = status::said(words, session);
    vec![
        Cell::new(&label(session)),
        Cell::styled(style, &status),
        // Since when nobody has had anything for it is not what this counts.
        Cell::new(&if session.idle { String::new() } else { clock::since(words, session.since_ms) }),
        Cell::new(&session.blocked_by.join(" ")),
        Cell::new(&session.agent),
        Cell::new(&session.project.name),
        Cell::new(&session.title),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;
    use crate::words::Language;

    /// A session in that state.
    pub(crate) fn session(id: &str, status: &str, title: &str, outcome: &Value) -> SessionView {
        serde_json::from_value(json!({
            "id": id, "run": "r_1", "title": title, "agent": "claude", "status": status,
            "project": { "id": "p_1", "name": "shop-app", "root": "/x", "git": true },
            "since_ms": clock::now_ms() - 245_000, "directory": "/x", "worktree": null, "pid": 7,
            "blocked_by": if status.starts_with("waiting") { vec!["q_7"] } else { vec![] },
            "launches": [], "conversation": null, "resumable": true, "usage": {}, "attempts": 0,
            "outcome": outcome, "created_at_ms": 0, "ended_at_ms": null,
        }))
        .expect("the form of a session")
    }

    #[test]
    fn every_state_has_a_word_and_a_shape() {
        let done = json!({"outcome": "completed", "verified": true});
        let word = json!({"outcome": "completed", "verified": false});
        let sessions = [
            session("s_1", "active", "fix the flaky test", &Value::Null),
            session("s_2", "waiting_permission", "로그인 고치기", &Value::Null),
            session("s_3", "paused", "x", &Value::Null),
            session("s_4", "interrupted", "x", &Value::Null),
            session("s_5", "completed", "x", &done),
            session("s_16", "completed", "x", &word),
            session("s_17", "from_the_future", "x", &Value::Null),
        ];
        expect![[r#"
            ID    STATUS              SINCE  WAITS FOR  AGENT   PROJECT   WHAT
            s_1   ● working           4 min             claude  shop-app  fix the flaky test
            s_2   ◆ waiting for you   4 min  q_7        claude  shop-app  로그인 고치기
            s_3   ‖ paused            4 min             claude  shop-app  x
            s_4   ⚡ interrupted      4 min             claude  shop-app  x
            s_5   ✓ done              4 min             claude  shop-app  x
            s_16  ✓ done, unverified  4 min             claude  shop-app  x
            s_17  from_the_future     4 min             claude  shop-app  x
        "#]]
        .assert_eq(&table(Words::new(Language::En), Screen::plain(), &sessions));
    }
}
