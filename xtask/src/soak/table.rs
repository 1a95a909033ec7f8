//! The table of soak results in `docs/results.md`, between two marker comments.
//!
//! A new row replaces the old one of the same target; rows of targets that did not run stay as they are.
#![expect(clippy::disallowed_methods, reason = "a document in the working tree, not state of the product")]

use std::fs;

use super::Row;
use crate::{error::Error, process::root};

const PATH: &str = "docs/results.md";
const BEGIN: &str = "<!-- soak:begin -->\n";
const END: &str = "<!-- soak:end -->";
const HEAD: &str = "\
| target | date | commit | seconds | executions | seed | findings |
|---|---|---|---:|---:|---:|---:|
";

/// Writes the rows into the document and returns the whole table.
pub(super) fn record(rows: &[Row], date: &str, commit: &str) -> Result<String, Error> {
    let path = root().join(PATH);
    let text = fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let rows: Vec<String> = rows.iter().map(|row| row.line(date, commit)).collect();
    let Some((text, table)) = replaced(&text, &rows) else {
        return Err(Error::NoMarkers { path });
    };
    fs::write(&path, text).map_err(|source| Error::Write { path, source })?;
    Ok(table)
}

impl Row {
    fn line(&self, date: &str, commit: &str) -> String {
        let Row { target, seconds, executions, seed, findings } = self;
        format!("| {target} | {date} | {commit} | {seconds} | {executions} | {seed} | {findings} |")
    }
}

/// The document with the new rows, and its table. None when a marker is missing.
fn replaced(text: &str, new: &[String]) -> Option<(String, String)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (old, after) = rest.split_once(END)?;
    let is_new = |row: &str| new.iter().any(|new| target(new) == target(row));
    let kept = old.lines().skip(HEAD.lines().count()).filter(|row| row.starts_with('|') && !is_new(row));
    let mut rows: Vec<&str> = kept.chain(new.iter().map(String::as_str)).collect();
    rows.sort_unstable_by_key(|row| target(row));
    let mut table = HEAD.to_owned();
    for row in rows {
        table.push_str(row);
        table.push('\n');
    }
    Some((format!("{before}{BEGIN}{table}{END}{after}"), table))
}

/// The first cell of a row.
fn target(row: &str) -> &str {
    row.split('|').nth(1).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::{HEAD, replaced};

    #[test]
    fn replaces_a_row_and_keeps_the_others() {
        let before = format!("a\n<!-- soak:begin -->\n{HEAD}| b | 1 |\n| a | 1 |\n<!-- soak:end -->\nz\n");
        let (after, table) = replaced(&before, &["| b | 2 |".into(), "| c | 2 |".into()]).expect("markers");
        assert_eq!(table, format!("{HEAD}| a | 1 |\n| b | 2 |\n| c | 2 |\n"));
        assert_eq!(after, format!("a\n<!-- soak:begin -->\n{table}<!-- soak:end -->\nz\n"));
    }

    #[test]
    fn starts_an_empty_table_and_wants_both_markers() {
        let (_, table) =
            replaced("<!-- soak:begin -->\n<!-- soak:end -->", &["| a |".into()]).expect("markers");
        assert_eq!(table, format!("{HEAD}| a |\n"));
        assert!(replaced("<!-- soak:begin -->\n", &[]).is_none());
    }
}
