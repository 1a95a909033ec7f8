//! The journal from a place on: a page of it, or a stream that goes on with what happens.
//!
//! Nobody waits for a follower. Each has a task of its own and goes at its own pace; the end of the journal is shared in
//! memory, and who is behind that reads the store.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{RawQuery, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use hyper::body::Bytes;
use ostler_engine::{ProjectId, RunId, SessionId};
use ostler_store::{EventRow, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use super::{
    App,
    caller::Caller,
    code::Code,
    extract::Query,
    pages::{Limit, List, Paged},
    views,
};
use crate::{
    api::{EventView, Problem},
    journal::Happened,
    stream::channel_body,
};

/// How many events are on a page, if nothing is said.
const USUAL: Limit = Limit(500);

/// The most events that a follower takes at once. Those that it has read from the store are its own until they are sent,
/// so that a hundred who are behind hold a hundred times as many.
const AT_ONCE: u32 = 16;

/// How often a quiet stream says that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// An event may be as long as a prompt; it is sent in pieces of this length. With what the connection buffers, less
/// than 1 MiB is on its way to a client.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// How many pieces wait for a client.
const PIECES_MAX: usize = 4;

/// How often a page of events is read on where a filter has found little.
const PASSES_MAX: u32 = 20;

/// The most kinds that can be asked for.
const KINDS_MAX: usize = 40;

/// How the kinds of those events begin that name a secret.
const SECRETS: &str = "secret.";

/// Which events.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// Those behind this one.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    after: Option<u64>,
    /// Those before this one, newest first. Not together with `after` or `follow`.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    before: Option<u64>,
    /// At most so many; 500, if nothing is said. A page may be shorter where events are long.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Of this session.
    #[param(value_type = Option<String>, pattern = "^s_[0-9]{1,18}$")]
    session: Option<SessionId>,
    /// Of this run.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    run: Option<RunId>,
    /// Of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// Of these kinds, with commas between them: `request.opened`, or `request.` for all that begin so.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    kind: Option<Kinds>,
    /// Whether to go on with what happens, as server-sent events.
    follow: bool,
}

/// Kinds of events, or what they begin with.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Kinds(Vec<String>);

impl TryFrom<String> for Kinds {
    type Error = String;

    fn try_from(text: String) -> Result<Kinds, String> {
        let kinds: Vec<String> = text.split(',').map(str::to_owned).collect();
        if kinds.len() > KINDS_MAX {
            return Err(format!("at most {KINDS_MAX} kinds can be asked for"));
        }
        let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let is_kind = |kind: &&String| {
            kind.split_once('.')
                .is_some_and(|(noun, verb)| !noun.is_empty() && is_word(noun) && is_word(verb))
        };
        match kinds.iter().find(|kind| !is_kind(kind)) {
            Some(wrong) => Err(format!(
                "'{wrong}' is no kind of event such as 'request.opened', and no beginning such as 'request.'"
            )),
            None => Ok(Kinds(kinds)),
        }
    }
}

/// Which events a client wants, and what of them it may see.
#[derive(Debug, Clone)]
struct Filter {
    scope: Scope,
    kinds: Option<Kinds>,
    /// Whether it may see which secrets there are.
    sees_names: bool,
}

impl Filter {
    fn wants(&self, row: &EventRow) -> bool {
        let Scope { project, run, session } = self.scope;
        let is_in = |wanted: Option<u64>, there: Option<u64>| wanted.is_none() || wanted == there;
        is_in(project, row.project) && is_in(run, row.run) && is_in(session, row.session) && self.is_kind(row)
    }

    fn is_kind(&self, row: &EventRow) -> bool {
        let is_meant =
            |kind: &String| *kind == row.kind || (kind.ends_with('.') && row.kind.starts_with(kind));
        self.kinds.as_ref().is_none_or(|kinds| kinds.0.iter().any(is_meant))
    }

    /// Whether an event is shown as it stands.
    fn is_open(&self, row: &EventRow) -> bool {
        self.sees_names || !row.kind.starts_with(SECRETS)
    }

    /// An event as the client may see it: that a secret was kept or removed is no secret, its name may be.
    fn shown(&self, row: &EventRow) -> EventView {
        let mut event = views::event(row);
        if !self.is_open(row)
            && let Some(name) = event.body.get_mut("secret")
        {
            *name = Value::Null;
        }
        event
    }
}

/// One message of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document needs its form; it is written line by line")]
pub(super) struct StreamedEvent {
    /// Its place in the journal; `hello` has none.
    id: Option<String>,
    /// Its kind, or `hello`.
    event: String,
    /// The event as JSON, or where the stream stands.
    data: String,
}

/// What happened: a page, or with `follow` a stream of server-sent events that begins with where it stands.
#[utoipa::path(get, path = "/events",
    params(Which, ("Last-Event-ID" = Option<u64>, Header, maximum = 9_007_199_254_740_991_u64, description = "The last event that was seen; counts before `after`.")),
    responses((status = 200, content(([EventView] = "application/json"), (StreamedEvent = "text/event-stream")))))]
pub(super) async fn events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let scope = app.scope(which.project, which.run, which.session)?;
    let filter = Filter { scope, kinds: which.kind, sees_names: caller.sees_names() };
    if let Some(before) = which.before {
        if which.follow || which.after.is_some() {
            return Err(Problem::bad(Code::BadQuery, "`before` goes back, `after` and `follow` go on")
                .hint("Ask for one of them."));
        }
        let list = List { path: "/events", query: query.as_deref() };
        return app.events_back(before, &filter, which.limit.unwrap_or(USUAL), &list);
    }
    let last_id = headers.get("last-event-id").map(|value| {
        let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| {
            Problem::bad(Code::BadQuery, "Last-Event-ID is no place in the journal")
                .hint("Send the `id` of the last event that came, or none.")
        })
    });
    let after = last_id.transpose()?.or(which.after).unwrap_or(0);
    if !which.follow {
        let list = List { path: "/events", query: query.as_deref() };
        return app.events_page(after, &filter, which.limit.unwrap_or(USUAL), &list);
    }
    let (pieces, body) = mpsc::channel(PIECES_MAX);
    tokio::spawn(Follower { app, after, filter, pieces }.follow());
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, channel_body(body)).into_response())
}

impl App {
    /// A page of events, newest first.
    fn events_back(
        &self,
        mut before: u64,
        filter: &Filter,
        limit: Limit,
        list: &List<'_>,
    ) -> Result<Response, Problem> {
        let mut found: Vec<EventView> = Vec::new();
        let mut is_more = true;
        for _ in 0..PASSES_MAX {
            let wanted = limit.0 - u32::try_from(found.len()).unwrap_or(limit.0);
            let rows = self.read(|reader| reader.events_before(before, filter.scope, wanted))?;
            before = rows.last().map_or(before, |last| last.seq);
            is_more = !rows.is_empty() && before > 1;
            found.extend(rows.iter().filter(|row| filter.is_kind(row)).map(|row| filter.shown(row)));
            if !is_more || found.len() >= limit.0 as usize {
                break;
            }
        }
        Ok(Paged::new(found, list, is_more.then_some(("before", before))).into_response())
    }

    fn events_page(
        &self,
        mut after: u64,
        filter: &Filter,
        limit: Limit,
        list: &List<'_>,
    ) -> Result<Response, Problem> {
        let mut found: Vec<EventView> = Vec::new();
        let mut is_more = true;
        // What nobody asked for is passed over, for so long.
        for _ in 0..PASSES_MAX {
            let wanted = limit.0 - u32::try_from(found.len()).unwrap_or(limit.0);
            let rows = self.read(|reader| reader.events(after, filter.scope, wanted))?;
            after = rows.last().map_or(after, |last| last.seq);
            is_more = !rows.is_empty() && after < self.driver.journal.world().last_seq;
            found.extend(rows.iter().filter(|row| filter.is_kind(row)).map(|row| filter.shown(row)));
            if !is_more || found.len() >= limit.0 as usize || filter.kinds.is_none() {
                break;
            }
        }
        Ok(Paged::new(found, list, is_more.then_some(("after", after))).into_response())
    }
}

/// Somebody who follows the journal.
struct Follower {
    app: App,
    /// The last event that was looked at.
    after: u64,
    filter: Filter,
    pieces: mpsc::Sender<Result<Bytes, Infallible>>,
}

/// The client is gone, or the journal cannot be read: the stream ends, and whoever is there comes back.
struct Over;

impl Follower {
    async fn follow(mut self) {
        let counts = Arc::clone(&self.app.counts);
        let _counted = counts.followers.begin();
        // The end of a stream says nothing: the client comes back with the last id that it has seen.
        self.run().await.err();
    }

    async fn run(&mut self) -> Result<Infallible, Over> {
        let mut changed = self.app.driver.journal.watch();
        let seq = *changed.borrow_and_update();
        // Who comes from beyond the end has seen another journal; it hears what happens from now on.
        self.after = self.after.min(seq);
        let hello = json!({ "seq": seq, "after": self.after, "server": self.app.server_id() });
        self.send(format!("event: hello\ndata: {hello}\n\n").into()).await?;
        let mut sent = self.after;
        loop {
            let committed = *changed.borrow_and_update();
            let (happened, looked_at) = self.behind(committed).await?;
            for it in happened.into_iter().filter(|it| self.filter.wants(&it.row)) {
                sent = it.row.seq;
                let sent = |row: &EventRow| piece(&self.filter.shown(row));
                // What all see alike is made once.
                let piece = if self.filter.is_open(&it.row) { it.piece(sent) } else { sent(&it.row) };
                self.send(piece).await?;
            }
            if looked_at > self.after {
                self.after = looked_at;
                continue;
            }
            match tokio::time::timeout(HEARTBEAT, changed.changed()).await {
                Ok(woken) => woken.map_err(|_| Over)?,
                // What was passed over need not be passed over again.
                Err(_) if self.after > sent => {
                    sent = self.after;
                    self.send(format!(": still here\nid: {sent}\n\n").into()).await?;
                }
                Err(_) => self.send(Bytes::from_static(b": still here\n\n")).await?,
            }
        }
    }

    /// What happened behind the last event that was looked at, and how far that goes.
    async fn behind(&self, committed: u64) -> Result<(Vec<Arc<Happened>>, u64), Over> {
        let last = |happened: &[Arc<Happened>]| happened.last().map(|it| it.row.seq);
        if let Some(happened) = self.app.driver.journal.tail().after(self.after, AT_ONCE as usize) {
            let looked_at = last(&happened).unwrap_or(self.after);
            return Ok((happened, looked_at));
        }
        let (app, after, scope) = (self.app.clone(), self.after, self.filter.scope);
        let read = move || app.read(|reader| reader.events(after, scope, AT_ONCE));
        let rows = tokio::task::spawn_blocking(read).await.map_err(|_| Over)?.map_err(|_| Over)?;
        let happened: Vec<_> = rows.into_iter().map(|row| Arc::new(Happened::new(row))).collect();
        // Where nothing is found, what was committed before the look holds nothing that is wanted.
        let looked_at = last(&happened).unwrap_or(self.after.max(committed));
        Ok((happened, looked_at))
    }

    async fn send(&self, mut piece: Bytes) -> Result<(), Over> {
        while !piece.is_empty() {
            let part = piece.split_to(piece.len().min(PIECE_BYTES_MAX));
            self.pieces.send(Ok(part)).await.map_err(|_| Over)?;
        }
        Ok(())
    }
}

/// An event as it is sent.
fn piece(event: &EventView) -> Bytes {
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", event.seq, event.kind).into()
}
