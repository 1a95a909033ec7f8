//! The form of what is said: JSON-RPC 2.0, one message per line, in the versions of the protocol that clients speak.
//!
//! Until 2025-11-25 a client begins with `initialize`, and a version is agreed on. Since 2026-07-28 there is no
//! beginning: each request names its version, and results carry a type.

use std::io::{self, Write};

use serde_json::{Value, json};

/// The versions that begin with `initialize`, newest first.
const AGREED: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The version that each request names.
const NAMED: &str = "2026-07-28";

/// Where a request names its version.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// For how long a client may believe that the tools are the same. They never change.
const CACHED_MS: u64 = 24 * 60 * 60 * 1000;

/// No JSON.
const NOT_JSON: i32 = -32700;
/// JSON, but no request.
const NO_REQUEST: i32 = -32600;
/// An unknown method.
pub(super) const NO_METHOD: i32 = -32601;
/// A request that makes no sense.
pub(super) const BAD_PARAMS: i32 = -32602;
/// A version that is not spoken here.
const BAD_VERSION: i32 = -32022;

/// How results look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// As agreed on at the beginning.
    Agreed,
    /// As the request says.
    Named,
}

/// What a client can send.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// It wants a reply.
    Request {
        /// Its name for it.
        id: Value,
        /// What it wants.
        method: String,
        /// With what.
        params: Value,
    },
    /// It does not.
    Notification {
        /// What happened.
        method: String,
        /// With what.
        params: Value,
    },
}

impl Era {
    /// The one that a request belongs to, or the version that is not spoken here.
    pub(super) fn of(params: &Value) -> Result<Era, String> {
        match params["_meta"].get(VERSION_KEY).map(|version| version.as_str().unwrap_or_default()) {
            None => Ok(Era::Agreed),
            Some(NAMED) => Ok(Era::Named),
            Some(other) => Err(other.to_owned()),
        }
    }
}

/// Reads a line. An error is what to reply; what answers nothing that was asked is passed over.
pub(super) fn incoming(line: &[u8]) -> Result<Option<Incoming>, Value> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut message: Value = serde_json::from_slice(line)
        .map_err(|problem| error(&Value::Null, NOT_JSON, &format!("this is no JSON: {problem}")))?;
    let id = message.get("id").cloned();
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    match (message["method"].as_str(), id) {
        (Some(method), Some(id)) if id.is_string() || id.is_number() => {
            Ok(Some(Incoming::Request { id, method: method.to_owned(), params }))
        }
        (Some(method), None) => Ok(Some(Incoming::Notification { method: method.to_owned(), params })),
        // A reply to something that was never asked.
        (None, Some(_)) if message.get("result").or(message.get("error")).is_some() => Ok(None),
        _ => Err(error(&Value::Null, NO_REQUEST, "this is no request")),
    }
}

/// The reply to `initialize`: the client's version if it is spoken here, else the newest.
pub(super) fn initialized(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    let version = AGREED.into_iter().find(|version| *version == wanted).unwrap_or(AGREED[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

/// The reply to `server/discover`.
pub(super) fn discovered() -> Value {
    let versions: Vec<&str> = [NAMED].into_iter().chain(AGREED).collect();
    cached(
        Era::Named,
        json!({
            "supportedVersions": versions,
            "capabilities": { "tools": {} },
            "instructions": INSTRUCTIONS,
            "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
        }),
    )
}

/// What a client may tell its model.
const INSTRUCTIONS: &str = "Asks the person who looks after this session, and waits for the answer.";

fn server_info() -> Value {
    json!({ "name": "ostler", "title": "Ostler", "version": env!("CARGO_PKG_VERSION") })
}

/// With the word for how long it holds, where the version has one.
pub(super) fn cached(era: Era, mut result: Value) -> Value {
    if era == Era::Named {
        result["ttlMs"] = json!(CACHED_MS);
        result["cacheScope"] = json!("private");
    }
    result
}

/// What a tool has to say.
pub(super) fn said(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// A reply.
pub(super) fn result(id: &Value, era: Era, mut result: Value) -> Value {
    if era == Era::Named {
        result["resultType"] = json!("complete");
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A refusal.
pub(super) fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The refusal of a version.
pub(super) fn unsupported(id: &Value, requested: &str) -> Value {
    let mut reply = error(id, BAD_VERSION, "this version of the protocol is not spoken here");
    reply["error"]["data"] = json!({ "supported": [NAMED], "requested": requested });
    reply
}

/// Something that nobody asked for.
pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Writes a message on a line of its own.
pub(super) fn write(message: &Value) -> io::Result<()> {
    let mut line = message.to_string();
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_agreed_on_or_the_newest_is_offered() {
        let version =
            |wanted: &str| initialized(&json!({ "protocolVersion": wanted }))["protocolVersion"].clone();
        assert_eq!(version("2025-03-26"), "2025-03-26");
        assert_eq!(version("1999-01-01"), "2025-11-25");
        assert_eq!(version(NAMED), "2025-11-25", "that one has no beginning");
    }

    #[test]
    fn a_version_is_named_or_refused() {
        let params = |version: &str| json!({ "_meta": { VERSION_KEY: version } });
        assert_eq!(Era::of(&json!({})), Ok(Era::Agreed));
        assert_eq!(Era::of(&params(NAMED)), Ok(Era::Named));
        assert_eq!(Era::of(&params("2030-01-01")), Err("2030-01-01".to_owned()));
        let refused = unsupported(&json!(7), "2030-01-01");
        assert_eq!(refused["error"]["data"]["supported"], json!([NAMED]));
    }

    #[test]
    fn what_is_no_request_is_refused_or_passed_over() {
        assert_eq!(incoming(b" \n"), Ok(None));
        assert_eq!(incoming(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(None));
        assert_eq!(incoming(b"{").expect_err("no JSON")["error"]["code"], NOT_JSON);
        assert_eq!(incoming(b"[]").expect_err("no request")["error"]["code"], NO_REQUEST);
        assert_eq!(
            incoming(br#"{"id":null,"method":"ping"}"#).expect_err("no id")["error"]["code"],
            NO_REQUEST
        );
        let heard = incoming(br#"{"id":"a","method":"ping"}"#);
        let ping = Incoming::Request { id: json!("a"), method: "ping".to_owned(), params: Value::Null };
        assert_eq!(heard, Ok(Some(ping)));
    }
}
