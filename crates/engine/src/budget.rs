//! How much a run may use before a person is asked, and the amounts in which that is said.

use serde::{Deserialize, Serialize};

use crate::{request::Ask, usage::Used};

/// How much may be used. What is not limited is `None`. Time is limited apart: it passes without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// In billionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nusd_max: Option<u64>,
    /// In tokens of every kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
}

impl Budget {
    /// What a person is asked if so much was used; nothing as long as some is left.
    pub(crate) fn question(&self, used: &Used) -> Option<Ask> {
        let reached =
            |used: Option<u64>, max: Option<u64>| Some((used?, max?)).filter(|(used, max)| used >= max);
        if let Some((cost_nusd, cost_nusd_max)) = reached(used.cost_nusd, self.cost_nusd_max) {
            return Some(Ask::CostOver { cost_nusd_max, cost_nusd });
        }
        let (tokens, tokens_max) = reached(used.tokens(), self.tokens_max)?;
        Some(Ask::TokensOver { tokens_max, tokens })
    }

    /// What may be used if so much more may be used than was used by now.
    pub(crate) fn raised(self, used: &Used, ask: &Ask, by: u64) -> Budget {
        let more = |used: Option<u64>| Some(used.unwrap_or(0).saturating_add(by));
        match ask {
            Ask::CostOver { .. } => Budget { cost_nusd_max: more(used.cost_nusd), ..self },
            Ask::TokensOver { .. } => Budget { tokens_max: more(used.tokens()), ..self },
            _ => self,
        }
    }
}

/// An amount of US dollars in billionths: `5`, `2.50`, `$0.75`. Nothing at all is no amount.
pub fn cost_nusd(text: &str) -> Option<u64> {
    let text = text.trim();
    scaled(text.strip_prefix('$').unwrap_or(text), 9)
}

/// A number of tokens: `200000`, `200k`, `1.5m`.
pub fn tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.char_indices().last()? {
        (at, 'k' | 'K') => scaled(&text[..at], 3),
        (at, 'm' | 'M') => scaled(&text[..at], 6),
        _ => scaled(text, 0),
    }
}

/// A length of time in milliseconds: `90s`, `10m`, `2h`, `1d`.
pub(crate) fn time_ms(text: &str) -> Option<u64> {
    let (at, unit) = text.char_indices().last()?;
    let unit_ms: u64 = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    scaled(&text[..at], 0)?.checked_mul(unit_ms)
}

/// A decimal number that is more than nothing, with its point moved so many places to the right.
fn scaled(text: &str, places: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_empty = whole.is_empty() || (part.is_empty() && text.contains('.'));
    if is_empty || part.len() > places || !is_number(whole) || !is_number(part) {
        return None;
    }
    let zeros = core::iter::repeat_n('0', places - part.len());
    let digits: alloc::string::String = whole.chars().chain(part.chars()).chain(zeros).collect();
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        for (text, nusd) in [("5", 5_000_000_000), ("2.50", 2_500_000_000), (" $0.000000001", 1)] {
            assert_eq!(cost_nusd(text), Some(nusd), "{text}");
        }
        for text in ["", "$", "0", "0.0", "-1", "1,5", "1e3", ".5", "5.", "0.0000000001", "99999999999999"] {
            assert_eq!(cost_nusd(text), None, "{text}");
        }
        for (text, number) in [("200000", 200_000), ("200k", 200_000), ("1.5m", 1_500_000), ("2M", 2_000_000)]
        {
            assert_eq!(tokens(text), Some(number), "{text}");
        }
        for text in ["", "k", "1.5", "0", "1.2345k", "ten", "10b"] {
            assert_eq!(tokens(text), None, "{text}");
        }
        assert_eq!(
            ["90s", "10m", "2h", "1d"].map(time_ms),
            [90, 600, 7_200, 86_400].map(|s| Some(s * 1_000))
        );
        assert_eq!(["", "90", "0s", "1.5h", "한"].map(time_ms), [None; 5]);
    }

    #[test]
    fn what_is_reached_is_asked_about() {
        let used =
            Used { input_tokens: Some(8), output_tokens: Some(2), cost_nusd: Some(5), ..Used::default() };
        let budget = |cost_nusd_max, tokens_max| Budget { cost_nusd_max, tokens_max };
        assert_eq!(budget(None, None).question(&used), None);
        assert_eq!(budget(Some(6), Some(11)).question(&used), None);
        let cost = Ask::CostOver { cost_nusd_max: 5, cost_nusd: 5 };
        let tokens = Ask::TokensOver { tokens_max: 9, tokens: 10 };
        assert_eq!(budget(Some(5), Some(9)).question(&used), Some(cost.clone()));
        assert_eq!(budget(Some(6), Some(9)).question(&used), Some(tokens.clone()));
        assert_eq!(budget(Some(5), None).question(&Used::default()), None, "nobody says what it cost");
        assert_eq!(budget(Some(5), Some(9)).raised(&used, &cost, 3), budget(Some(8), Some(9)));
        assert_eq!(budget(Some(6), Some(9)).raised(&used, &tokens, 3), budget(Some(6), Some(13)));
    }
}
