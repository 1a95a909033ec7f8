//! What was used: sums over all sessions that were ever run, read from the store.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::collections::{BTreeMap, BTreeSet};

use axum::{Json, extract::State};
use ostler_engine::{
    ProjectId, SessionId,
    run::Run,
    session::Session,
    usage::{QUARTER_MS, Used},
};
use ostler_store::{Entity, Page, Scope};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{App, code::Code, extract::Query};
use crate::{
    api::{BudgetView, Problem, UsageReport, UsageRow, UsageView},
    journal::Found,
};

/// How many sessions are read at once, so that nobody waits long for the reader.
const PAGE: u32 = 100;

const DAY_MS: i64 = 24 * 60 * 60_000;

/// What is to be summed up.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsageQuery {
    /// By what: `session`, `run`, `project` (the default), `agent`, `account` or `day`.
    by: Option<String>,
    /// Only what was reported since then, in UTC milliseconds, to a quarter of an hour.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    since_ms: Option<u64>,
    /// For days: how far the clock of whoever asks is ahead of UTC, in seconds.
    #[param(value_type = Option<i64>, minimum = -86_400, maximum = 86_400)]
    offset_s: i64,
}

/// By what sums are made.
#[derive(Debug, Clone, Copy)]
enum By {
    Session,
    Run,
    Project,
    Agent,
    Account,
    Day,
}

/// What was used.
#[utoipa::path(get, path = "/usage", params(UsageQuery),
    responses((status = 200, body = UsageReport), (status = 400, body = Problem)))]
pub(super) async fn usage(
    State(app): State<App>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<UsageReport>, Problem> {
    if query.offset_s.saturating_mul(1000).saturating_abs() > DAY_MS {
        return Err(Problem::bad(Code::BadQuery, "no clock is more than a day ahead of UTC"));
    }
    tokio::task::spawn_blocking(move || app.usage(&query)).await.map_err(Problem::from)?.map(Json)
}

pub(super) fn view(used: &Used) -> UsageView {
    UsageView {
        tokens: used.tokens(),
        input_tokens: used.input_tokens,
        output_tokens: used.output_tokens,
        cache_read_tokens: used.cache_read_tokens,
        cache_write_tokens: used.cache_write_tokens,
        reasoning_tokens: used.reasoning_tokens,
        cost_usd: used.cost_usd(),
    }
}

/// How much a run may use.
pub(super) fn budget(run: &Run) -> BudgetView {
    BudgetView {
        cost_usd_max: run.budget.cost_nusd_max.map(dollars),
        tokens_max: run.budget.tokens_max,
        time_s_max: run.terms.time_ms_max.map(|time| time / 1000),
    }
}

/// US dollars.
pub(super) fn dollars(nusd: u64) -> f64 {
    Used { cost_nusd: Some(nusd), ..Used::default() }.cost_usd().unwrap_or_default()
}

/// A sum in the making.
#[derive(Debug, Default)]
struct Sum {
    name: String,
    budget: BudgetView,
    used: Used,
    sessions: BTreeSet<SessionId>,
    without_cost: BTreeSet<SessionId>,
}

impl Sum {
    fn add(&mut self, session: SessionId, used: &Used) {
        self.used.add(used);
        self.sessions.insert(session);
        if used.cost_nusd.is_none() {
            self.without_cost.insert(session);
        }
    }

    fn row(&self, key: &str) -> UsageRow {
        UsageRow {
            key: key.to_owned(),
            name: self.name.clone(),
            sessions: self.sessions.len() as u64,
            sessions_without_cost: self.without_cost.len() as u64,
            usage: view(&self.used),
            budget: self.budget.clone(),
        }
    }
}

impl App {
    fn usage(&self, query: &UsageQuery) -> Result<UsageReport, Problem> {
        let word = query.by.as_deref().unwrap_or("project");
        let by = by(word)?;
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        let mut total = Sum::default();
        let mut before = None;
        loop {
            let page =
                Page { entity: Entity::Session, scope: Scope::default(), live: None, before, limit: PAGE };
            let rows = self.read(|reader| reader.page(&page))?;
            for row in &rows {
                let Ok(Found::Session(session)) = crate::journal::read(row) else { continue };
                let since_ms = query.since_ms.unwrap_or(0);
                let wanted = session.used_at.iter().filter(|(at, _)| **at + QUARTER_MS > since_ms);
                for (&at_ms, used) in wanted {
                    let (key, name) = self.key(by, &session, at_ms, query.offset_s);
                    let budget = || self.budget(by, &session);
                    let sum =
                        sums.entry(key).or_insert_with(|| Sum { name, budget: budget(), ..Sum::default() });
                    sum.add(session.id, used);
                    total.add(session.id, used);
                }
            }
            before = rows.last().map(|row| row.id);
            if rows.len() < PAGE as usize {
                break;
            }
        }
        let mut rows: Vec<UsageRow> = sums.iter().map(|(key, sum)| sum.row(key)).collect();
        if !matches!(by, By::Day) {
            let most = |row: &UsageRow| {
                let cost = ostler_engine::usage::nusd(row.usage.cost_usd.unwrap_or(0.0));
                (std::cmp::Reverse(cost), std::cmp::Reverse(row.usage.tokens))
            };
            rows.sort_by_cached_key(most);
        }
        Ok(UsageReport { by: word.to_owned(), since_ms: query.since_ms, rows, total: total.row("") })
    }

    /// What a part of what a session used is counted under, and what a person calls that.
    fn key(&self, by: By, session: &Session, at_ms: u64, offset_s: i64) -> (String, String) {
        let agent = || session.order.agent.name.clone();
        match by {
            By::Session => (session.id.to_string(), agent()),
            By::Run => (session.run.to_string(), self.run_title(session)),
            By::Project => (session.project.to_string(), self.project_name(session.project)),
            By::Agent => (agent(), agent()),
            By::Account => {
                let account = session.order.account.clone().unwrap_or_default();
                (account.clone(), account)
            }
            By::Day => {
                let day = date(at_ms, offset_s);
                (day.clone(), day)
            }
        }
    }

    /// What the run of a session may use, where that is what is summed up.
    fn budget(&self, by: By, session: &Session) -> BudgetView {
        let run = matches!(by, By::Session | By::Run).then(|| self.run_view(session.run).ok());
        run.flatten().map(|run| run.budget).unwrap_or_default()
    }

    fn run_title(&self, session: &Session) -> String {
        self.run_view(session.run).map(|run| run.title).unwrap_or_default()
    }

    fn project_name(&self, id: ProjectId) -> String {
        self.driver.journal.world().projects.get(&id).map(|it| it.name.clone()).unwrap_or_default()
    }
}

fn by(word: &str) -> Result<By, Problem> {
    Ok(match word {
        "session" => By::Session,
        "run" => By::Run,
        "project" => By::Project,
        "agent" => By::Agent,
        "account" => By::Account,
        "day" => By::Day,
        _ => {
            let title = format!("'{word}' is nothing by which usage can be summed up");
            let hint = "It is session, run, project, agent, account or day.";
            return Err(Problem::bad(Code::BadBy, title).hint(hint));
        }
    })
}

/// The date somewhere, such as 2026-11-16.
fn date(at_ms: u64, offset_s: i64) -> String {
    let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX).saturating_add(offset_s.saturating_mul(1000));
    let (year, month, day) = civil(at_ms.div_euclid(DAY_MS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970. Years begin in March, so that the odd day comes last, and 400
/// of them always have the same number of days.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let since_march_0000 = days.saturating_add(719_468);
    let era = since_march_0000.div_euclid(DAYS_OF_400_YEARS);
    let day_of_era = since_march_0000.rem_euclid(DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_somebody_is() {
        assert_eq!(date(0, 0), "1970-01-01");
        assert_eq!(date(1_794_767_169_000, 0), "2026-11-15");
        assert_eq!(date(1_794_767_169_000, 9 * 3600), "2026-11-16");
        assert_eq!(date(951_782_400_000, 0), "2000-02-29");
        assert_eq!(date(951_782_400_000, -1), "2000-02-28");
        assert_eq!(date(4_102_444_799_999, 0), "2099-12-31");
    }
}
