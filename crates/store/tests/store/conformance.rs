//! What holds for every store, whatever is behind it.
//!
//! A store joins by one line at the end that says how to make an empty one.

use ostler_store::{
    ActionName, CREATED_AT_MS, Commit, CommitError, Counters, Entity, Page, Projection, SCHEMA_VERSION,
    Scope, Sqlite, Store, StoredReply,
};

use crate::support::{Folder, action, all_events, event, events, projection};

fn reply(key: &str, at_ms: u64) -> StoredReply {
    StoredReply {
        key: key.into(),
        fingerprint: "POST /runs".into(),
        at_ms,
        status: 201,
        body: r#"{"id":"r_1"}"#.into(),
    }
}

fn page(entity: Entity) -> Page {
    Page { entity, scope: Scope::default(), live: None, before: None, limit: 100 }
}

/// One project and run, and so many sessions, of which every second is over; one event.
fn with_sessions(store: &mut impl Store, count: u64) {
    let upserts = [projection(Entity::Project, 1, 1, "{}"), projection(Entity::Run, 1, 1, "{}")]
        .into_iter()
        .chain((1..=count).map(|id| Projection {
            project: Some(1),
            run: Some(1),
            live: id % 2 == 1,
            ..projection(Entity::Session, id, 1, format!(r#"{{"n":{id}}}"#))
        }))
        .collect();
    store.commit(&[Commit { events: vec![event(1, "{}")], upserts, ..Commit::default() }]).unwrap();
}

fn an_empty_store_answers(mut store: impl Store) {
    assert_eq!(store.last_seq().unwrap(), 0);
    assert_eq!(store.counters().unwrap(), Counters::default());
    assert_eq!(store.events(0, Scope::default(), 10).unwrap(), []);
    assert_eq!(store.open_actions().unwrap(), []);
    assert_eq!(store.reply("k").unwrap(), None);
    for entity in Entity::ALL {
        assert_eq!(store.live(entity).unwrap(), []);
        assert_eq!(store.page(&page(entity)).unwrap(), []);
        assert_eq!(store.entity(entity, 1).unwrap(), None);
    }
    store.commit(&[]).unwrap();
    store.commit(&[Commit::default()]).unwrap();
    assert_eq!(store.last_seq().unwrap(), 0);
    assert_eq!(store.export(&mut |event| event, &mut Vec::new()).unwrap(), 0);
}

fn what_is_committed_is_read_back(mut store: impl Store) {
    let first = Commit {
        events: vec![event(1, r#"{"a":"ünï"}"#), event(2, "{}")],
        upserts: vec![projection(Entity::Project, 7, 2, r#"{"root":"x"}"#)],
        actions: vec![action(2, 1), action(2, 0), action(1, 0)],
        done: vec![],
        reply: Some(reply("k", 5)),
    };
    let second = Commit {
        events: vec![event(3, "[1,2]")],
        done: vec![ActionName { seq: 2, index: 0 }],
        ..Commit::default()
    };
    store.commit(&[first.clone(), second.clone()]).unwrap();
    assert_eq!(store.last_seq().unwrap(), 3);
    assert_eq!(all_events(&store), [first.events, second.events].concat());
    assert_eq!(store.entity(Entity::Project, 7).unwrap(), Some(first.upserts[0].clone()));
    assert_eq!(store.open_actions().unwrap(), [action(1, 0), action(2, 1)], "in order, without those done");
    assert_eq!(store.reply("k").unwrap(), first.reply);
    assert_eq!(store.counters().unwrap(), Counters { project: 7, ..Counters::default() });
}

fn a_state_is_replaced(mut store: impl Store) {
    with_sessions(&mut store, 3);
    let changed = Projection { live: false, seq: 2, ..store.entity(Entity::Session, 1).unwrap().unwrap() };
    let upserts = vec![Projection { body: "[]".into(), ..changed }];
    store
        .commit(&[Commit { events: vec![event(2, "{}")], upserts: upserts.clone(), ..Commit::default() }])
        .unwrap();
    assert_eq!(store.entity(Entity::Session, 1).unwrap(), Some(upserts[0].clone()));
    let live: Vec<u64> = store.live(Entity::Session).unwrap().iter().map(|row| row.id).collect();
    assert_eq!(live, [3]);
    assert_eq!(store.counters().unwrap(), Counters { project: 1, run: 1, session: 3, ..Counters::default() });
}

fn pages_go_back_from_the_newest(mut store: impl Store) {
    with_sessions(&mut store, 10);
    let ids = |page: &Page| -> Vec<u64> { store.page(page).unwrap().iter().map(|row| row.id).collect() };
    let first = Page { limit: 4, ..page(Entity::Session) };
    assert_eq!(ids(&first), [10, 9, 8, 7]);
    assert_eq!(ids(&Page { before: Some(7), ..first }), [6, 5, 4, 3]);
    assert_eq!(ids(&Page { before: Some(3), ..first }), [2, 1]);
    assert_eq!(ids(&Page { before: Some(1), ..first }), [0; 0]);
    assert_eq!(ids(&Page { live: Some(true), ..first }), [9, 7, 5, 3]);
    assert_eq!(ids(&Page { live: Some(false), before: Some(6), ..first }), [4, 2]);
    let scope = Scope { project: Some(1), run: Some(1), session: None };
    assert_eq!(ids(&Page { scope, ..first }), [10, 9, 8, 7]);
    assert_eq!(ids(&Page { scope: Scope { run: Some(2), ..scope }, ..first }), [0; 0]);
    let mut all = 0;
    store
        .each_projection(&mut |_| {
            all += 1;
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(all, 12);
}

fn events_can_be_narrowed(mut store: impl Store) {
    store.commit(&[events(1..=200)]).unwrap();
    let numbers = |after, scope, limit| -> Vec<u64> {
        store.events(after, scope, limit).unwrap().iter().map(|event| event.seq).collect()
    };
    let session = Scope { session: Some(2), ..Scope::default() };
    assert_eq!(numbers(0, session, 3), [1, 4, 7]);
    assert_eq!(numbers(7, Scope { run: Some(1), project: Some(1), ..session }, 2), [10, 13]);
    assert_eq!(numbers(7, Scope { run: Some(2), ..session }, 2), [0; 0]);
    assert_eq!(numbers(198, Scope::default(), 9), [199, 200]);
    assert_eq!(numbers(200, Scope::default(), 9), [0; 0]);
    let mut seen = 0;
    store
        .each_event(&mut |event| {
            seen = event.seq;
            if seen == 150 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 150);
}

fn any_number_may_be_asked_for(mut store: impl Store) {
    with_sessions(&mut store, 2);
    let scope = Scope { run: Some(u64::MAX), ..Scope::default() };
    assert_eq!(store.events(u64::MAX, Scope::default(), u32::MAX).unwrap(), []);
    assert_eq!(store.events(0, scope, u32::MAX).unwrap(), []);
    assert_eq!(store.entity(Entity::Session, u64::MAX).unwrap(), None);
    let all = Page { before: Some(u64::MAX), limit: u32::MAX, ..page(Entity::Session) };
    assert_eq!(store.page(&all).unwrap().len(), 2);
    assert_eq!(store.page(&Page { limit: 0, ..all }).unwrap(), []);
}

fn all_or_nothing(mut store: impl Store) {
    store.commit(&[Commit { reply: Some(reply("k", 1)), ..events(1..=1) }]).unwrap();
    let upserts = vec![projection(Entity::Project, 1, 2, "{}")];
    let good = Commit { upserts, actions: vec![action(2, 0)], ..events(2..=2) };
    let nowhere = Projection { run: Some(9), ..projection(Entity::Session, 1, 2, "{}") };
    let never = ActionName { seq: 1, index: 5 };
    for (bad, expected) in [
        (Commit { done: vec![never], ..Commit::default() }, "NotOpen"),
        (Commit { reply: Some(reply("k", 2)), ..Commit::default() }, "KeyTaken"),
        (Commit { upserts: vec![nowhere], ..Commit::default() }, "Contradiction"),
        (Commit { actions: vec![action(3, 0)], ..Commit::default() }, "Contradiction"),
        (Commit { actions: vec![action(2, 0)], ..Commit::default() }, "Contradiction"),
    ] {
        let error = store.commit(&[good.clone(), bad]).unwrap_err();
        let name = match &error {
            CommitError::NotOpen { action } if *action == never => "NotOpen",
            CommitError::KeyTaken { key } if key == "k" => "KeyTaken",
            CommitError::Contradiction { .. } => "Contradiction",
            _ => "another",
        };
        assert_eq!(name, expected, "{error}");
        assert_eq!(store.last_seq().unwrap(), 1);
        assert_eq!(store.entity(Entity::Project, 1).unwrap(), None);
        assert_eq!(store.open_actions().unwrap(), []);
    }
    store.commit(&[good]).unwrap();
    assert_eq!(store.last_seq().unwrap(), 2);
}

fn an_action_is_done_once(mut store: impl Store) {
    let done = vec![ActionName { seq: 1, index: 0 }];
    let open = Commit { actions: vec![action(1, 0)], ..events(1..=1) };
    let close = Commit { done, ..Commit::default() };
    store.commit(&[open, close.clone()]).unwrap();
    assert_eq!(store.open_actions().unwrap(), []);
    assert!(matches!(store.commit(&[close]), Err(CommitError::NotOpen { .. })));
}

fn replies_are_forgotten_by_age(mut store: impl Store) {
    for (key, at_ms) in [("a", 10), ("b", 20), ("c", 30)] {
        store.commit(&[Commit { reply: Some(reply(key, at_ms)), ..Commit::default() }]).unwrap();
    }
    assert_eq!(store.prune_replies(20).unwrap(), 1);
    assert_eq!(store.reply("a").unwrap(), None);
    assert_eq!(store.reply("b").unwrap(), Some(reply("b", 20)));
}

fn facts_are_kept(mut store: impl Store) {
    assert!(store.meta(SCHEMA_VERSION).unwrap().is_some());
    assert!(store.meta(CREATED_AT_MS).unwrap().is_some());
    assert_eq!(store.meta("x").unwrap(), None);
    store.set_meta("x", "1").unwrap();
    store.set_meta("x", "2").unwrap();
    assert_eq!(store.meta("x").unwrap().as_deref(), Some("2"));
}

fn lines_of_the_export_are_json(mut store: impl Store) {
    let mut odd = event(2, "{\"a\":\n 1,\r\n \"b\":\"\\n\"}");
    odd.session = None;
    store.commit(&[Commit { events: vec![event(1, "{}"), odd], ..Commit::default() }]).unwrap();
    let mut out = Vec::new();
    assert_eq!(store.export(&mut |event| event, &mut out).unwrap(), 2);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text.lines().next().unwrap(),
        r#"{"seq":1,"v":1,"at":1800000000001,"kind":"session.heard","project":"p_1","run":"r_1","session":"s_2"}"#
    );
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[1]["a"], &lines[1]["b"]), (&1.into(), &"\n".into()));
    assert!(lines[1]["session"].is_null());
    assert_eq!(lines.len(), 2);
}

fn a_snapshot_is_readable(mut store: impl Store) {
    with_sessions(&mut store, 3);
    let mut seen = 0;
    store
        .snapshot(&mut |reads| {
            seen = reads.last_seq()? + reads.live(Entity::Session)?.len() as u64;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 3);
    store.commit(&[events(2..=2)]).unwrap();
}

fn a_gap_is_a_bug(mut store: impl Store) {
    store.commit(&[events(1..=3)]).unwrap();
    let gap = Commit { events: vec![event(4, "{}"), event(6, "{}")], ..Commit::default() };
    for wrong in [events(5..=5), events(3..=3), gap] {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.commit(&[wrong])));
        assert!(caught.is_err());
    }
    store.commit(&[events(4..=4)]).unwrap();
    assert_eq!(store.last_seq().unwrap(), 4);
}

macro_rules! conforms {
    ($name:ident, $make:expr, [$($check:ident),* $(,)?]) => {
        mod $name {
            $(#[test]
            fn $check() {
                let (_keep, store) = $make();
                super::$check(store);
            })*
        }
    };
}

fn sqlite() -> (Folder, Sqlite) {
    let folder = Folder::new("conformance");
    let store = Sqlite::open(&folder.database(), 1).unwrap();
    (folder, store)
}

conforms!(
    on_sqlite,
    super::sqlite,
    [
        an_empty_store_answers,
        what_is_committed_is_read_back,
        a_state_is_replaced,
        pages_go_back_from_the_newest,
        events_can_be_narrowed,
        any_number_may_be_asked_for,
        all_or_nothing,
        an_action_is_done_once,
        replies_are_forgotten_by_age,
        facts_are_kept,
        lines_of_the_export_are_json,
        a_snapshot_is_readable,
        a_gap_is_a_bug,
    ]
);
