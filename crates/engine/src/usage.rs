//! What was used, summed up from what CLIs report. They report different spans: the call of a model, a turn, a
//! process, a conversation; what a report says again is not counted again.
//!
//! Money is counted in billionths of a US dollar, so that sums are exact. A CLI that states no cost has none, unless
//! the user has given prices.

use alloc::{collections::BTreeMap, string::String};
use core::time::Duration;

use ostler_protocol::fact::{Span, Usage};
use serde::{Deserialize, Serialize};

/// So much time is summed up in one figure: every zone of the world begins its days at a quarter of an hour.
pub const QUARTER_MS: u64 = 15 * 60_000;

/// What was used. What nobody reported is `None`; no token is counted in two of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// Tokens sent, without those of the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received, without those of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens spent on reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Cost in billionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nusd: Option<u64>,
}

/// Where the counters of a CLI stand that say again what they said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Meter {
    /// Of the process.
    pub process: Used,
    /// Of the conversation.
    pub conversation: Used,
}

/// What a million tokens cost, in thousandths of a US dollar: that many billionths each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Price {
    /// Sent.
    pub input: u64,
    /// Received, and spent on reasoning.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// Prices by the beginning of a model's name.
pub type Prices = BTreeMap<String, Price>;

impl Used {
    /// Whether nothing was reported.
    pub fn is_nothing(&self) -> bool {
        *self == Used::default()
    }

    /// All tokens, if any figure was reported.
    pub fn tokens(&self) -> Option<u64> {
        let figures = self.figures();
        let tokens = figures[..5].iter().copied().flatten();
        tokens.reduce(u64::saturating_add)
    }

    /// The cost in US dollars.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost_nusd.map(|cost| Duration::from_nanos(cost).as_secs_f64())
    }

    /// Adds what else was used.
    pub fn add(&mut self, other: &Used) {
        for (place, more) in self.places().into_iter().zip(other.figures()) {
            if let Some(more) = more {
                *place = Some(place.unwrap_or(0).saturating_add(more));
            }
        }
    }

    fn of(report: &Usage) -> Used {
        Used {
            input_tokens: report.input_tokens,
            output_tokens: report.output_tokens,
            cache_read_tokens: report.cache_read_tokens,
            cache_write_tokens: report.cache_write_tokens,
            reasoning_tokens: report.reasoning_tokens,
            cost_nusd: report.cost_usd.and_then(nusd),
        }
    }

    fn figures(&self) -> [Option<u64>; 6] {
        [
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
            self.cost_nusd,
        ]
    }

    fn places(&mut self) -> [&mut Option<u64>; 6] {
        [
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.cache_read_tokens,
            &mut self.cache_write_tokens,
            &mut self.reasoning_tokens,
            &mut self.cost_nusd,
        ]
    }
}

impl Meter {
    /// What a report adds to what was known before it.
    pub(crate) fn read(&mut self, report: &Usage) -> Used {
        let tokens = report.tokens_span.unwrap_or(Span::Process);
        let cost = report.cost_span.unwrap_or(Span::Process);
        let spans = [tokens, tokens, tokens, tokens, tokens, cost];
        let mut used = Used::of(report);
        let [process, conversation] = [self.process.places(), self.conversation.places()];
        let counters = process.into_iter().zip(conversation);
        for ((figure, span), (process, conversation)) in used.places().into_iter().zip(spans).zip(counters) {
            *figure = match span {
                Span::Step | Span::Turn => *figure,
                Span::Process => since(process, *figure),
                Span::Conversation => since(conversation, *figure),
            };
        }
        used
    }
}

/// How much more a counter shows than before. One that shows less is not believed: a CLI that gave up at once may
/// report nothing where it reported a sum before.
fn since(counter: &mut Option<u64>, shows: Option<u64>) -> Option<u64> {
    let (before, now) = (counter.unwrap_or(0), shows?);
    *counter = Some(now.max(before));
    Some(now.saturating_sub(before))
}

impl Price {
    /// What something cost at this price, in billionths of a US dollar.
    pub(crate) fn of(&self, used: &Used) -> Option<u64> {
        let prices = [self.input, self.output, self.cache_read, self.cache_write, self.output];
        let tokens = used.figures();
        let costs =
            tokens.into_iter().zip(prices).filter_map(|(tokens, price)| Some(tokens?.saturating_mul(price)));
        costs.reduce(u64::saturating_add)
    }
}

/// The price of a model: the longest name that it begins with counts.
pub fn price<'a>(prices: &'a Prices, model: &str) -> Option<&'a Price> {
    let fitting = prices.iter().filter(|(name, _)| model.starts_with(name.as_str()));
    fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
}

/// US dollars in billionths. A `Duration` refuses what is negative, too large or no number.
pub fn nusd(cost_usd: f64) -> Option<u64> {
    let cost = Duration::try_from_secs_f64(cost_usd).ok()?;
    u64::try_from(cost.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tokens: u64, cost_usd: f64, tokens_span: Span, cost_span: Span) -> Usage {
        Usage {
            input_tokens: Some(tokens),
            cost_usd: Some(cost_usd),
            tokens_span: Some(tokens_span),
            cost_span: Some(cost_span),
            ..Usage::default()
        }
    }

    fn sum(meter: &mut Meter, reports: &[Usage]) -> (Option<u64>, Option<u64>) {
        let mut used = Used::default();
        for report in reports {
            used.add(&meter.read(report));
        }
        (used.input_tokens, used.cost_nusd)
    }

    #[test]
    fn each_span_is_counted_once() {
        for (tokens, cost, expected) in [
            (Span::Turn, Span::Conversation, (Some(35), Some(500_000_000))),
            (Span::Step, Span::Step, (Some(35), Some(1_000_000_000))),
            (Span::Process, Span::Process, (Some(20), Some(500_000_000))),
            (Span::Conversation, Span::Turn, (Some(20), Some(1_000_000_000))),
        ] {
            let reports =
                [report(5, 0.1, tokens, cost), report(10, 0.4, tokens, cost), report(20, 0.5, tokens, cost)];
            assert_eq!(sum(&mut Meter::default(), &reports), expected, "{tokens:?} {cost:?}");
        }
    }

    #[test]
    fn a_counter_that_falls_back_is_not_counted_twice() {
        let mut meter = Meter::default();
        let says = |tokens, cost| report(tokens, cost, Span::Conversation, Span::Conversation);
        let reports = [says(10, 0.5), says(0, 0.0), says(12, 0.75)];
        assert_eq!(sum(&mut meter, &reports), (Some(12), Some(750_000_000)));
    }

    #[test]
    fn a_price_is_found_by_the_beginning_of_a_name() {
        let cheap = Price { input: 1_000, output: 5_000, cache_read: 100, cache_write: 1_250 };
        let dear = Price { input: 15_000, ..cheap };
        let prices = Prices::from([("claude".into(), cheap), ("claude-opus".into(), dear)]);
        assert_eq!(price(&prices, "claude-opus-4-8"), Some(&dear));
        assert_eq!(price(&prices, "claude-haiku"), Some(&cheap));
        assert_eq!(price(&prices, "gpt"), None);
        let used = Used {
            input_tokens: Some(1_000_000),
            output_tokens: Some(100),
            reasoning_tokens: Some(100),
            cache_read_tokens: Some(10),
            ..Used::default()
        };
        // 15 dollars, 200 tokens at 5 dollars a million, and ten from the cache.
        assert_eq!(dear.of(&used), Some(15_000_000_000 + 1_000_000 + 1_000));
        assert_eq!(dear.of(&Used::default()), None);
        assert_eq!(used.tokens(), Some(1_000_210));
    }

    #[test]
    fn money_is_exact() {
        assert_eq!(nusd(0.00055), Some(550_000));
        assert_eq!(nusd(-1.0), None);
        assert_eq!(nusd(f64::NAN), None);
        assert_eq!(nusd(1e300), None);
        assert_eq!(Used { cost_nusd: Some(550_000), ..Used::default() }.cost_usd(), Some(0.00055));
    }
}
