//! Lists that can grow: a page of bounded length, and a link to the next one.
//!
//! There is one form: `limit` says how many, the answer is an array, and its `Link` header leads on. A cursor is the id
//! of what was seen last, so that nothing is skipped or comes twice when something is added meanwhile.

use std::fmt;

use axum::{
    Json,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use ostler_store::{Entity, Page, Projection, Scope};
use serde::{Deserialize, Serialize};

use super::App;
use crate::api::{Listed, Problem};

/// The longest page.
const LIMIT_MAX: u32 = 1000;

/// How much of a history is shown, if nothing is said.
pub(super) const OF_HISTORY: Limit = Limit(50);

/// How much is shown of what is open or not over: all of it, in practice.
pub(super) const OF_NOW: Limit = Limit(LIMIT_MAX);

/// How many rows are looked at for one page. Where a filter finds little, the page is short and there is a next one.
const ROWS_MAX: usize = 2_000;

/// How many rows are read at once, so that nobody waits long for the reader.
const ROWS_AT_ONCE: u32 = 100;

/// How many are wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
pub(super) struct Limit(pub(super) u32);

impl TryFrom<u32> for Limit {
    type Error = String;

    fn try_from(number: u32) -> Result<Limit, String> {
        if (1..=LIMIT_MAX).contains(&number) {
            Ok(Limit(number))
        } else {
            Err(format!("a page has between 1 and {LIMIT_MAX}"))
        }
    }
}

/// A page of a list.
pub(super) struct Paged<T> {
    items: Vec<T>,
    link: Option<String>,
}

impl<T: Listed> Paged<T> {
    /// A page, and the cursor of the next one: the name of the parameter, and the last id of this one. Long texts are cut.
    pub(super) fn new(
        mut items: Vec<T>,
        list: &List<'_>,
        next: Option<(&str, impl fmt::Display)>,
    ) -> Paged<T> {
        let link = next.map(|(name, id)| {
            let kept = list.query.unwrap_or_default().split('&');
            let is_cursor = |pair: &&str| matches!(pair.split('=').next(), Some("before" | "after" | ""));
            let mut query: Vec<String> = kept.filter(|pair| !is_cursor(pair)).map(str::to_owned).collect();
            query.push(format!("{name}={id}"));
            format!("</api/v1{}?{}>; rel=\"next\"", list.path, query.join("&"))
        });
        items.iter_mut().for_each(Listed::shorten);
        Paged { items, link }
    }
}

/// The list that was asked for, as it stands in the address.
pub(super) struct List<'a> {
    /// The path, below the interface.
    pub(super) path: &'a str,
    /// What stands behind the question mark.
    pub(super) query: Option<&'a str>,
}

impl<T: Serialize> IntoResponse for Paged<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.items).into_response();
        // An address that came over HTTP can go into a header; what cannot is a page without a next one.
        if let Some(link) = self.link.and_then(|link| HeaderValue::from_str(&link).ok()) {
            response.headers_mut().insert(header::LINK, link);
        }
        response
    }
}

/// Which rows are gone through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) entity: Entity,
    pub(super) scope: Scope,
    pub(super) before: Option<u64>,
    pub(super) limit: Limit,
}

impl App {
    /// Goes through what is kept, newest first, and gives what is shown of it and the last id that was looked at, if
    /// there is more.
    pub(super) fn scan<T>(
        &self,
        rows: Rows,
        mut show: impl FnMut(&Projection) -> Result<Option<T>, Problem>,
    ) -> Result<(Vec<T>, Option<u64>), Problem> {
        let Rows { entity, scope, mut before, limit } = rows;
        let (wanted, mut seen, mut shown) = (limit.0 as usize, 0, Vec::new());
        loop {
            let page = Page { entity, scope, live: None, before, limit: ROWS_AT_ONCE };
            let found = self.read(|reader| reader.page(&page))?;
            for row in &found {
                // There is one more: whoever wants it goes on behind the last.
                if shown.len() >= wanted || seen >= ROWS_MAX {
                    return Ok((shown, before));
                }
                (before, seen) = (Some(row.id), seen + 1);
                shown.extend(show(row)?);
            }
            if found.len() < ROWS_AT_ONCE as usize {
                return Ok((shown, None));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Paged};
    use crate::api::ProjectSummary;

    #[test]
    fn a_link_keeps_what_was_asked_and_moves_on() {
        let link =
            |query, next| Paged::new(Vec::<ProjectSummary>::new(), &List { path: "/runs", query }, next).link;
        assert_eq!(link(None, None::<(&str, &str)>), None);
        assert_eq!(
            link(None, Some(("before", "r_3"))).as_deref(),
            Some("</api/v1/runs?before=r_3>; rel=\"next\"")
        );
        assert_eq!(
            link(Some("before=r_9&project=p_1&&limit=2"), Some(("before", "r_3"))).as_deref(),
            Some("</api/v1/runs?project=p_1&limit=2&before=r_3>; rel=\"next\"")
        );
    }
}
