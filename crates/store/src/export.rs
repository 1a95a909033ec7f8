//! An event as one line of JSON, for people and programs outside Ostler: the form that events have everywhere.
//!
//! The body is checked to be an object, because a line that is no JSON would spoil the file for whoever reads it.

use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::rows::EventRow;

/// Writes one event and a newline.
pub(crate) fn line(event: &EventRow, out: &mut dyn Write) -> io::Result<()> {
    let EventRow { seq, version, at_ms, kind, project, run, session, body } = event;
    serde_json::from_str::<Map<String, Value>>(body)?;
    let name = |letter: char, id: &Option<u64>| {
        id.map_or_else(|| "null".to_owned(), |id| format!("\"{letter}_{id}\""))
    };
    write!(out, "{{\"seq\":{seq},\"v\":{version},\"at\":{at_ms},\"kind\":")?;
    serde_json::to_writer(&mut *out, kind)?;
    let (project, run, session) = (name('p', project), name('r', run), name('s', session));
    write!(out, ",\"project\":{project},\"run\":{run},\"session\":{session}")?;
    let fields = body.trim().trim_start_matches('{').trim_start();
    out.write_all(if fields == "}" { b"" } else { b"," })?;
    // In JSON a line break can only stand between tokens, where a space means the same.
    for (index, piece) in fields.split(['\n', '\r']).enumerate() {
        out.write_all(if index == 0 { b"" } else { b" " })?;
        out.write_all(piece.as_bytes())?;
    }
    out.write_all(b"\n")
}
