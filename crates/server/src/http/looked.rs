//! What has ended since the person last looked, and that they have looked.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use ostler_engine::SessionId;
use ostler_store::{Entity, Scope};

use super::{
    App,
    code::Code,
    extract::Body,
    pages::{Limit, Rows},
    problem::not_written,
};
use crate::{
    api::{Listed, LookedView, LoopEndsView, NewLook, OutcomeKind, Problem, SessionView},
    journal::Found,
    looked::Look,
};

/// How many sessions are shown; the others are counted.
const SHOWN_MAX: usize = 100;

/// As many as are looked at, among the newest.
const ROWS: Limit = Limit(u32::MAX);

/// The sessions that have ended since the person last looked, the latest first.
#[utoipa::path(get, path = "/looked", responses((status = 200, body = LookedView)))]
pub(super) async fn get(State(app): State<App>) -> Result<Json<LookedView>, Problem> {
    tokio::task::spawn_blocking(move || app.looked_view()).await?.map(Json)
}

/// Somebody has looked: at everything up to an event, or at the end of one session.
#[utoipa::path(post, path = "/looked", request_body = NewLook,
    responses((status = 200, body = LookedView), (status = 404, body = Problem)))]
pub(super) async fn post(
    State(app): State<App>,
    Body(new): Body<NewLook>,
) -> Result<Json<LookedView>, Problem> {
    tokio::task::spawn_blocking(move || app.look(&new)).await?.map(Json)
}

impl App {
    fn looked_view(&self) -> Result<LookedView, Problem> {
        let look = self.looked.get();
        let seq = self.driver.journal.world().last_seq;
        let rows = Rows { entity: Entity::Session, scope: Scope::default(), before: None, limit: ROWS };
        let (mut ended, _) = self.scan(rows, |row| {
            if row.live || row.seq <= look.seq {
                return Ok(None);
            }
            match crate::journal::read(row) {
                Ok(Found::Session(session)) if look.is_news(&session, row.seq) => {
                    self.session_view(session.id).map(|view| Some(view).filter(is_told))
                }
                _ => Ok(None),
            }
        })?;
        let loops = self.take_loops(&mut ended)?;
        ended.sort_by_key(|it: &SessionView| std::cmp::Reverse(it.ended_at_ms));
        let more = ended.len().saturating_sub(SHOWN_MAX) as u64;
        ended.truncate(SHOWN_MAX);
        let last_looked_at_ms = Some(look.at_ms).filter(|at_ms| *at_ms > 0);
        let mut view = LookedView { seq, last_looked_at_ms, ended, more, loops };
        view.shorten();
        Ok(view)
    }

    /// Takes the sessions of loops out of those that have ended, and counts them by their loop.
    fn take_loops(&self, ended: &mut Vec<SessionView>) -> Result<Vec<LoopEndsView>, Problem> {
        let mut loops: BTreeMap<SessionId, LoopEndsView> = BTreeMap::new();
        let mut others = Vec::with_capacity(ended.len());
        for session in ended.drain(..) {
            let id = self.session_id(&session.id)?;
            let parent =
                self.with_session(id, |world, it| world.runs.get(&it.run).and_then(|run| run.parent))?;
            let Some(parent) = parent else {
                others.push(session);
                continue;
            };
            let counts = loops.entry(parent).or_insert_with(|| LoopEndsView {
                session: parent.to_string(),
                project: session.project.name.clone(),
                done: 0,
                failed: 0,
            });
            match session.outcome.map(|it| it.outcome) {
                Some(OutcomeKind::Failed) => counts.failed += 1,
                _ => counts.done += 1,
            }
        }
        *ended = others;
        Ok(loops.into_values().collect())
    }

    fn look(&self, new: &NewLook) -> Result<LookedView, Problem> {
        if let Some(id) = &new.session {
            let session = self.session_id(id)?;
            let ended_at_ms = self.with_session(session, |_, it| it.ended_at_ms)?;
            if let Some(ended_at_ms) = ended_at_ms {
                self.looked.saw(session, ended_at_ms).map_err(|error| not_written(error.to_string()))?;
            }
        }
        if let Some(seq) = new.seq {
            let last = self.driver.journal.world().last_seq;
            if seq > last {
                let title = format!("nobody can have seen event {seq}: the last one is {last}");
                return Err(Problem::bad(Code::BadValue, title));
            }
            let before = seq.saturating_sub(1);
            let events = self.read(|reader| reader.events(before, Scope::default(), 1))?;
            let at_ms = events.first().filter(|it| it.seq == seq).map_or(0, |it| it.at_ms);
            self.looked.move_to(&Look::at(seq, at_ms)).map_err(|error| not_written(error.to_string()))?;
        }
        self.looked_view()
    }
}

/// A person has ended what was cancelled, and merged or discarded what is: that is no news.
fn is_told(session: &SessionView) -> bool {
    let is_cancelled = session.outcome.as_ref().is_some_and(|it| it.outcome == OutcomeKind::Cancelled);
    let is_settled =
        session.worktree.as_ref().is_some_and(|it| matches!(it.state.as_str(), "merged" | "discarded"));
    !is_cancelled && !is_settled
}
