//! The form of the database, as numbered steps from nothing to the newest one.
//!
//! Each step is one transaction that also raises the version in the file's header, so that a crash leaves the form
//! before or the form after it. A step that has been released is never edited: the next one mends it.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::store::{CREATED_AT_MS, SCHEMA_VERSION};

/// The newest version.
pub(super) const NEWEST: u32 = 8;

/// The steps; the first leads to version 1.
const MIGRATIONS: [&str; NEWEST as usize] = [
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
    include_str!("../migrations/0006.sql"),
    include_str!("../migrations/0007.sql"),
    include_str!("../migrations/0008.sql"),
];

/// Says in the file's header whose database it is: "Ostl".
const APPLICATION: i32 = 0x4f73_746c;

/// What a file's header says about its form.
pub(super) enum Form {
    /// Another program's database.
    Foreign,
    /// Ours, in this version; 0 when it is still empty.
    Version(u32),
}

/// Reads the form without touching any table.
pub(super) fn form(connection: &Connection) -> rusqlite::Result<Form> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let version = number("user_version")?;
    match (number("application_id")?, u32::try_from(version)) {
        (APPLICATION, Ok(version)) => Ok(Form::Version(version)),
        _ => Ok(Form::Foreign),
    }
}

/// Makes an empty database ours.
pub(super) fn claim(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION)
}

/// Takes the steps that are missing.
pub(super) fn migrate(connection: &mut Connection, from: u32, now_ms: u64) -> rusqlite::Result<()> {
    for (step, number) in MIGRATIONS.iter().zip(1..=NEWEST).skip(from as usize) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction
            .execute("INSERT INTO migrations (number, at_ms) VALUES (?1, ?2)", params![number, now_ms])?;
        let mut set = transaction.prepare(
            "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
        )?;
        set.execute(params![SCHEMA_VERSION, number.to_string()])?;
        if number == 1 {
            set.execute(params![CREATED_AT_MS, now_ms.to_string()])?;
        }
        drop(set);
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}
