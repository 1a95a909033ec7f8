//! An event as one line of JSON, for people and programs outside Ostler.
//!
//! The body is checked to be JSON, because a line that is not would spoil the file for whoever reads it.

use std::io::{self, Write};

use serde::de::IgnoredAny;

use crate::rows::EventRow;

/// Writes one event and a newline.
pub(crate) fn line(event: &EventRow, out: &mut dyn Write) -> io::Result<()> {
    let EventRow { seq, version, at_ms, kind, project, run, session, body } = event;
    serde_json::from_str::<IgnoredAny>(body)?;
    let number = |id: &Option<u64>| id.map_or_else(|| "null".to_owned(), |id| id.to_string());
    write!(out, "{{\"seq\":{seq},\"v\":{version},\"at\":{at_ms},\"kind\":")?;
    serde_json::to_writer(&mut *out, kind)?;
    write!(out, ",\"project\":{},\"run\":{},\"session\":{}", number(project), number(run), number(session))?;
    out.write_all(b",\"body\":")?;
    // In JSON a line break can only stand between tokens, where a space means the same.
    for (index, piece) in body.split(['\n', '\r']).enumerate() {
        out.write_all(if index == 0 { b"" } else { b" " })?;
        out.write_all(piece.as_bytes())?;
    }
    out.write_all(b"}\n")
}
