//! How far a run may go before a person is asked: what `ostler run` and `ostler phases run` have in common.

use std::time::Duration;

use clap::Args;
use ostler_server::config::{parse_cost, parse_duration, parse_tokens};

use crate::{
    error::{Error, Message},
    help::heading,
    usage_error::BadValue,
    words::Key,
};

#[derive(Args)]
#[command(next_help_heading = heading::LIMITS)]
pub(crate) struct Limits {
    /// Ask whether to go on after so much work: 90s, 10m, 2h.
    #[arg(long = "max-time", value_name = "DURATION", value_parser = duration)]
    time: Option<Duration>,
    /// Ask whether to go on after so many US dollars: 5, 2.50.
    #[arg(long = "max-cost", value_name = "DOLLARS", value_parser = cost)]
    cost: Option<u64>,
    /// Ask whether to go on after so many tokens: 200000, 200k, 1.5m.
    #[arg(long = "max-tokens", value_name = "N", value_parser = tokens)]
    tokens: Option<u64>,
}

impl Limits {
    /// In seconds.
    pub(crate) fn time_s(&self, command: &'static str) -> Result<Option<u64>, Error> {
        limit_s(self.time, command)
    }

    /// In US dollars.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        self.cost.map(|cost| Duration::from_nanos(cost).as_secs_f64())
    }

    pub(crate) fn tokens(&self) -> Option<u64> {
        self.tokens
    }
}

/// A limit in whole seconds; none at all is no limit.
pub(crate) fn limit_s(time: Option<Duration>, command: &'static str) -> Result<Option<u64>, Error> {
    if time.is_some_and(|time| time.is_zero()) {
        return Err(Error::Usage { message: Message::new(Key::NoTimeAtAll), command });
    }
    Ok(time.map(|time| time.as_secs().max(1)))
}

pub(crate) fn duration(text: &str) -> Result<Duration, BadValue> {
    parse_duration(text).map_err(|_| BadValue::new(Key::WhyDuration))
}

fn cost(text: &str) -> Result<u64, BadValue> {
    parse_cost(text).map_err(|_| BadValue::new(Key::WhyCost))
}

fn tokens(text: &str) -> Result<u64, BadValue> {
    parse_tokens(text).map_err(|_| BadValue::new(Key::WhyTokens))
}
