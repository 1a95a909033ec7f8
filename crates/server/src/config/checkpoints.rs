//! The table `checkpoints`: which are made, and how long they are kept.

use std::time::Duration;

use ostler_engine::checkpoint::CheckpointTerms;
use ostler_workspace::PrunePolicy;
use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};

/// The word for something that does not happen.
const NEVER: &str = "never";

const DAY: Duration = Duration::from_hours(24);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointTable {
    automatic: Option<bool>,
    every: Option<Spanned<String>>,
    file: Option<Spanned<String>>,
    untracked: Option<Spanned<String>>,
    last: Option<usize>,
    hourly: Option<Spanned<String>>,
    daily: Option<Spanned<String>>,
    discarded: Option<Spanned<String>>,
}

/// What is kept where nobody has said anything.
pub(super) const POLICY: PrunePolicy =
    PrunePolicy { last: 20, hourly: DAY, daily: Duration::from_hours(24 * 30), discarded: None };

impl CheckpointTable {
    pub(super) fn read(self, source: &Source) -> Result<(Option<CheckpointTerms>, PrunePolicy), ConfigError> {
        let wrong = |value: &Spanned<String>, message: String| source.wrong(value.span(), message, None);
        let time = |value: &Spanned<String>| match value.get_ref().as_str() {
            NEVER => Ok(None),
            text => parse_duration(text).map(Some).map_err(|error| wrong(value, error.to_string())),
        };
        let size = |value: &Spanned<String>| {
            let message = || format!("`{}` is no size such as `500K`, `32M` or `1G`", value.get_ref());
            parse_size(value.get_ref()).ok_or_else(|| wrong(value, message()))
        };
        let mut terms = CheckpointTerms::default();
        if let Some(every) = &self.every {
            terms.every_ms = time(every)?.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        }
        if let Some(file) = &self.file {
            terms.file_bytes_max = size(file)?;
        }
        if let Some(untracked) = &self.untracked {
            terms.untracked_bytes_max = size(untracked)?;
        }
        let mut policy = POLICY;
        policy.last = self.last.unwrap_or(policy.last);
        // To keep one for each hour for no time is not to keep it.
        let kept = |value: &Spanned<String>| time(value).map(Option::unwrap_or_default);
        if let Some(hourly) = &self.hourly {
            policy.hourly = kept(hourly)?;
        }
        if let Some(daily) = &self.daily {
            policy.daily = kept(daily)?;
        }
        if let Some(discarded) = &self.discarded {
            policy.discarded = time(discarded)?;
        }
        Ok((self.automatic.unwrap_or(true).then_some(terms), policy))
    }
}

/// A number of bytes: `500K`, `32M`, `1G`, or bare.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim_start() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit() {
        for (text, bytes) in [("7", 7), ("500K", 512_000), ("32M", 33_554_432), ("1 G", 1 << 30)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "1T", "-1K", "1.5M", "99999999999999999999G"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
