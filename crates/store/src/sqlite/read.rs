//! The named reads, on any connection.
//!
//! An event is checked against its sum and its place as it is read: what comes out is what was written.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params, types::Type};

use super::sum;
use crate::rows::{ActionName, ActionRow, Counters, Entity, EventRow, Page, Projection, Scope, StoredReply};

/// So many bytes of events are enough at once: one may be as long as the longest prompt.
const EVENT_BYTES_MAX: usize = 1 << 20;

pub(super) fn last_seq(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?.query_row((), |row| row.get(0))
}

pub(super) fn counters(connection: &Connection) -> rusqlite::Result<Counters> {
    let highest = |entity| {
        connection
            .prepare_cached(&format!("SELECT coalesce(max(id), 0) FROM {}", table(entity)))?
            .query_row((), |row| row.get(0))
    };
    Ok(Counters {
        project: highest(Entity::Project)?,
        run: highest(Entity::Run)?,
        session: highest(Entity::Session)?,
        request: highest(Entity::Request)?,
        account: highest(Entity::Account)?,
        checkpoint: highest(Entity::Checkpoint)?,
        invocation: highest(Entity::Invocation)?,
        result: highest(Entity::Result)?,
        graph: highest(Entity::Graph)?,
        node: highest(Entity::Node)?,
        group: highest(Entity::Group)?,
    })
}

pub(super) fn live(connection: &Connection, entity: Entity) -> rusqlite::Result<Vec<Projection>> {
    connection
        .prepare_cached(&format!("{} WHERE live = 1 ORDER BY id", select(entity)))?
        .query_map((), |row| projection(entity, row))?
        .collect()
}

pub(super) fn entity(
    connection: &Connection,
    entity: Entity,
    id: u64,
) -> rusqlite::Result<Option<Projection>> {
    connection
        .prepare_cached(&format!("{} WHERE id = ?1", select(entity)))?
        .query_row([signed(id)], |row| projection(entity, row))
        .optional()
}

pub(super) fn page(connection: &Connection, page: &Page) -> rusqlite::Result<Vec<Projection>> {
    let before = page.before.map_or(i64::MAX, signed);
    let mut sql = format!("{} WHERE id < :before", select(page.entity));
    let mut values = vec![(":before", before), (":limit", page.limit.into())];
    narrow(&mut sql, &mut values, &page.scope);
    match page.live {
        // Spelt out, because only then is the index over what is live used.
        Some(true) => sql.push_str(" AND live = 1"),
        Some(false) => sql.push_str(" AND live = 0"),
        None => {}
    }
    sql.push_str(" ORDER BY id DESC LIMIT :limit");
    connection
        .prepare_cached(&sql)?
        .query_map(&*bound(&values), |row| projection(page.entity, row))?
        .collect()
}

pub(super) fn events(
    connection: &Connection,
    after: u64,
    scope: &Scope,
    limit: u32,
) -> rusqlite::Result<Vec<EventRow>> {
    let mut sql = "SELECT seq, version, at_ms, kind, project, run, session, body, sum FROM events \
                   WHERE seq > :after"
        .to_owned();
    let mut values = vec![(":after", signed(after)), (":limit", limit.into())];
    narrow(&mut sql, &mut values, scope);
    sql.push_str(" ORDER BY seq LIMIT :limit");
    let mut expected = (*scope == Scope::default()).then_some(after.saturating_add(1));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(&*bound(&values))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let event = event(row)?;
        if expected.is_some_and(|seq| seq != event.seq) {
            return Err(damaged(0, Type::Integer, format!("event {} does not follow", event.seq)));
        }
        expected = expected.map(|seq| seq + 1);
        bytes += event.body.len();
        found.push(event);
        if bytes >= EVENT_BYTES_MAX {
            break;
        }
    }
    Ok(found)
}

pub(super) fn events_before(
    connection: &Connection,
    before: u64,
    scope: &Scope,
    limit: u32,
) -> rusqlite::Result<Vec<EventRow>> {
    let mut sql = "SELECT seq, version, at_ms, kind, project, run, session, body, sum FROM events \
                   WHERE seq < :before"
        .to_owned();
    let mut values = vec![(":before", signed(before)), (":limit", limit.into())];
    narrow(&mut sql, &mut values, scope);
    sql.push_str(" ORDER BY seq DESC LIMIT :limit");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(&*bound(&values))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < EVENT_BYTES_MAX
        && let Some(row) = rows.next()?
    {
        let event = event(row)?;
        bytes += event.body.len();
        found.push(event);
    }
    Ok(found)
}

pub(super) fn open_actions(connection: &Connection) -> rusqlite::Result<Vec<ActionRow>> {
    connection
        .prepare_cached("SELECT seq, number, session, body FROM actions ORDER BY seq, number")?
        .query_map((), |row| {
            let name = ActionName { seq: row.get(0)?, index: row.get(1)? };
            Ok(ActionRow { name, session: row.get(2)?, body: row.get(3)? })
        })?
        .collect()
}

pub(super) fn reply(connection: &Connection, key: &str) -> rusqlite::Result<Option<StoredReply>> {
    connection
        .prepare_cached("SELECT key, fingerprint, at_ms, status, body FROM replies WHERE key = :key")?
        .query_row(named_params! { ":key": key }, stored_reply)
        .optional()
}

/// All replies behind a key, at most `limit`.
pub(super) fn replies(
    connection: &Connection,
    after: &str,
    limit: u32,
) -> rusqlite::Result<Vec<StoredReply>> {
    connection
        .prepare_cached(
            "SELECT key, fingerprint, at_ms, status, body FROM replies WHERE key > :after \
             ORDER BY key LIMIT :limit",
        )?
        .query_map(named_params! { ":after": after, ":limit": limit }, stored_reply)?
        .collect()
}

pub(super) fn meta(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// What SQLite finds wrong with the whole file, if anything.
pub(super) fn integrity(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
    if said != "ok" {
        return Ok(Some(said));
    }
    let orphan: Option<String> = connection
        .query_row("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1", (), |row| row.get(0))
        .optional()?;
    Ok(orphan.map(|table| format!("a row in {table} refers to one that is not there")))
}

pub(super) fn table(entity: Entity) -> &'static str {
    match entity {
        Entity::Project => "projects",
        Entity::Run => "runs",
        Entity::Session => "sessions",
        Entity::Request => "requests",
        Entity::Account => "accounts",
        Entity::Checkpoint => "checkpoints",
        Entity::Invocation => "invocations",
        Entity::Graph => "work_graphs",
        Entity::Node => "work_nodes",
        Entity::Group => "work_groups",
        Entity::Result => "results",
    }
}

fn select(entity: Entity) -> String {
    format!("SELECT id, project, run, session, live, seq, body FROM {}", table(entity))
}

/// Adds a condition for each that is named, and none for the others: an index serves only what it is asked for.
fn narrow(sql: &mut String, values: &mut Vec<(&'static str, i64)>, scope: &Scope) {
    let Scope { project, run, session } = scope;
    for (column, name, id) in
        [("session", ":session", session), ("run", ":run", run), ("project", ":project", project)]
    {
        if let Some(id) = id {
            write!(sql, " AND {column} = {name}").expect("a string takes any text");
            values.push((name, signed(*id)));
        }
    }
}

fn bound<'v>(values: &'v [(&'static str, i64)]) -> Vec<(&'static str, &'v dyn ToSql)> {
    values.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
}

/// A number as SQLite has it. Clients may ask for any, and there is nothing beyond what it can hold.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn projection(entity: Entity, row: &Row<'_>) -> rusqlite::Result<Projection> {
    Ok(Projection {
        entity,
        id: row.get(0)?,
        project: row.get(1)?,
        run: row.get(2)?,
        session: row.get(3)?,
        live: row.get(4)?,
        seq: row.get(5)?,
        body: row.get(6)?,
    })
}

fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let event = EventRow {
        seq: row.get(0)?,
        version: row.get(1)?,
        at_ms: row.get(2)?,
        kind: row.get(3)?,
        project: row.get(4)?,
        run: row.get(5)?,
        session: row.get(6)?,
        body: row.get(7)?,
    };
    if sum::of(&event).cast_signed() == row.get::<_, i64>(8)? {
        Ok(event)
    } else {
        Err(damaged(8, Type::Integer, format!("event {} is not what was written", event.seq)))
    }
}

fn stored_reply(row: &Row<'_>) -> rusqlite::Result<StoredReply> {
    Ok(StoredReply {
        key: row.get(0)?,
        fingerprint: row.get(1)?,
        at_ms: row.get(2)?,
        status: row.get(3)?,
        body: row.get(4)?,
    })
}

fn damaged(column: usize, kind: Type, what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, what.into())
}
