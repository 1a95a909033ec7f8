//! Search of what all sessions printed, newest first, as far as one answer may go.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use axum::{Json, extract::State};
use ostler_engine::{
    SessionId,
    session::{Launch, Session},
};
use ostler_shim::{ERR, OUT};
use ostler_store::{Entity, Scope};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::Query,
    log_search::{LogSearch, search_turn, wanted},
    output,
    pages::{Limit, Rows},
};
use crate::{
    agent_log,
    api::{OutputStream, Problem, SearchHitView, SearchView},
    journal::Found,
};

/// How many lines are given, if nothing is said, and at most.
const HITS_DEFAULT: usize = 50;
const HITS_MAX: usize = 1_000;

/// The most that is read for one answer.
const BYTES_MAX: u64 = 256 << 20;

/// The most that is read of one log; its newest part counts.
const LOG_BYTES_MAX: u64 = 128 << 20;

/// How many sessions are looked up at once.
const SESSIONS_AT_ONCE: Limit = Limit(50);

/// What to search for.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    /// What a line has to have, letters in any case; several texts with line ends between them, all of which it has to
    /// have.
    #[param(min_length = 1, max_length = 1000)]
    text: String,
    /// How many lines are given at most; 50, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Only in this session: its id, its run's or its name.
    session: Option<String>,
    /// Only in sessions older than this one.
    #[param(value_type = Option<String>, pattern = "^s_[0-9]{1,18}$")]
    before: Option<SessionId>,
}

/// Searches the logs of all sessions, newest session first. What a CLI prints as events is searched as a person reads it.
#[utoipa::path(get, path = "/search", params(SearchQuery),
    responses((status = 200, body = SearchView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn search(
    State(app): State<App>,
    Query(query): Query<SearchQuery>,
) -> Result<Json<SearchView>, Problem> {
    let wanted = wanted(&query.text)?;
    let limit = query.limit.unwrap_or(HITS_DEFAULT);
    if !(1..=HITS_MAX).contains(&limit) {
        return Err(Problem::bad(Code::BadQuery, format!("a search gives 1 to {HITS_MAX} lines")));
    }
    let only = query.session.as_deref().map(|id| app.session_id(id)).transpose()?;
    let turn = search_turn().await;
    let searching = move || {
        // Kept here: a client that goes away does not end what reads for it.
        let _turn = turn;
        let mut search = Search { wanted, limit, bytes_left: BYTES_MAX, view: SearchView::default() };
        match only {
            Some(id) => search.session(&app, &app.with_session(id, |_, session| session.clone())?)?,
            None => search.all(&app, query.before.map(|id| id.0))?,
        }
        Ok(Json(search.view))
    };
    tokio::task::spawn_blocking(searching).await?
}

/// A search that goes through sessions.
struct Search {
    wanted: Vec<String>,
    limit: usize,
    bytes_left: u64,
    view: SearchView,
}

impl Search {
    fn all(&mut self, app: &App, mut before: Option<u64>) -> Result<(), Problem> {
        loop {
            let rows =
                Rows { entity: Entity::Session, scope: Scope::default(), before, limit: SESSIONS_AT_ONCE };
            let (sessions, next) = app.scan(rows, |row| match crate::journal::read(row) {
                Ok(Found::Session(session)) => Ok(Some(session)),
                _ => Ok(None),
            })?;
            for session in &sessions {
                if self.is_full() {
                    self.view.before = before.map(|id| SessionId(id).to_string());
                    return Ok(());
                }
                self.session(app, session)?;
                before = Some(session.id.0);
            }
            match next {
                Some(next) => before = Some(next),
                None => return Ok(()),
            }
        }
    }

    fn is_full(&self) -> bool {
        self.view.hits.len() >= self.limit || self.bytes_left == 0
    }

    fn session(&mut self, app: &App, session: &Session) -> Result<(), Problem> {
        self.view.sessions += 1;
        // The newest process first, so that what is left out is the oldest.
        for launch in session.launches.iter().rev() {
            for stream in [OutputStream::Out, OutputStream::Err] {
                if !self.is_full() {
                    self.log(app, session, launch, stream)?;
                }
            }
        }
        Ok(())
    }

    fn log(
        &mut self,
        app: &App,
        session: &Session,
        launch: &Launch,
        stream: OutputStream,
    ) -> Result<(), Problem> {
        let (log, table) = match stream {
            OutputStream::Out => (OUT, output::table(session)),
            OutputStream::Err => (ERR, None),
        };
        let path = app.driver.home.launch(session.id, launch.number).join(log);
        let mut search = LogSearch::new(self.wanted.clone(), self.limit - self.view.hits.len());
        let file = match output::open_log(&path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(()),
            // No process keeps a search from the logs of others by replacing one.
            Err(problem) if problem.kind == Code::LogReplaced.as_str() => return Ok(()),
            Err(problem) => return Err(problem),
        };
        let (unread, read) = agent_log::last_bytes(file, self.bytes_left.min(LOG_BYTES_MAX))
            .and_then(|(offset, log)| Ok((offset, search.read(log, table, offset)?)))
            .map_err(|error| Problem::internal(format!("the log cannot be read: {error}")))?;
        self.bytes_left = self.bytes_left.saturating_sub(read);
        self.view.unsearched_bytes += unread;
        self.view.hits.extend(search.lines.into_iter().map(|line| SearchHitView {
            session: session.id.to_string(),
            name: session.name.as_ref().map(ToString::to_string),
            agent: session.order.agent.name.clone(),
            launch: launch.number,
            at_ms: launch.at_ms,
            stream,
            offset: line.offset,
            before: line.before,
            text: line.text,
            after: line.after,
        }));
        Ok(())
    }
}
