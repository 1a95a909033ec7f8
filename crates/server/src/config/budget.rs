//! `[budget]`: how much a run may use before a person is asked, where nobody says otherwise. Of two files the smaller
//! amount counts: a repository cannot have more spent than its user wants.

use std::fmt;

use ostler_engine::budget::{self, Budget};
use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};

/// How much may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budgets {
    /// Cost and tokens.
    pub used: Budget,
    /// Seconds of work.
    pub time_s_max: Option<u64>,
}

/// Text that is no amount, or says nothing at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAmount {
    text: String,
    what: &'static str,
}

/// The table as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetTable {
    cost: Option<Spanned<toml::Value>>,
    tokens: Option<Spanned<toml::Value>>,
    time: Option<Spanned<toml::Value>>,
}

/// An amount of US dollars, such as `2.50`, in billionths.
pub fn parse_cost(text: &str) -> Result<u64, InvalidAmount> {
    let what = "amount of US dollars such as `2.50`";
    budget::cost_nusd(text).ok_or_else(|| InvalidAmount { text: text.to_owned(), what })
}

/// A number of tokens, such as `200k`.
pub fn parse_tokens(text: &str) -> Result<u64, InvalidAmount> {
    let what = "number of tokens such as `200k`";
    budget::tokens(text).ok_or_else(|| InvalidAmount { text: text.to_owned(), what })
}

fn parse_time(text: &str) -> Result<u64, InvalidAmount> {
    let seconds = parse_duration(text).ok().map(|time| time.as_secs());
    let what = "length of time such as `2h`";
    seconds.filter(|it| *it > 0).ok_or_else(|| InvalidAmount { text: text.to_owned(), what })
}

impl BudgetTable {
    /// Takes what it says into what was said before.
    pub(super) fn take(self, source: &Source, before: &mut Budgets) -> Result<(), ConfigError> {
        type Parse = fn(&str) -> Result<u64, InvalidAmount>;
        let used = &mut before.used;
        let parts: [(_, _, Parse); 3] = [
            (&mut used.cost_nusd_max, self.cost, parse_cost),
            (&mut used.tokens_max, self.tokens, parse_tokens),
            (&mut before.time_s_max, self.time, parse_time),
        ];
        for (place, value, parse) in parts {
            let Some(value) = value else { continue };
            let text = match value.get_ref() {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let said = parse(&text).map_err(|error| source.wrong(value.span(), error.to_string(), None))?;
            *place = Some(place.map_or(said, |before| before.min(said)));
        }
        Ok(())
    }
}

impl fmt::Display for InvalidAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}", self.text, self.what)
    }
}

impl std::error::Error for InvalidAmount {}
