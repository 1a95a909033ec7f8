//! When something can be tried again, where words say so: a point in time with its zone, or a length of time.
//!
//! A time is never invented. "3:05 PM" without a zone is none, and so is a length of time that says how long
//! something took instead of how long it will take.

use alloc::string::String;

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// What lies further ahead is no time that anybody means.
const AHEAD_MS_MAX: u64 = 62 * DAY_MS;

/// How far before a time the words may stand that say what it is for.
const NEAR_BYTES: usize = 60;

/// Words by which a time is known as the one at which something can be tried again.
const CUES: [&str; 11] =
    ["retry", "again", "reset", "wait", "available", "until", "resume", "다시", "재시도", "초기화", "해제"];

/// When it is over, as the words say; nothing if they do not, or if that has passed.
pub(crate) fn named(words: &str, now_ms: u64) -> Option<u64> {
    let words: String = words.to_lowercase();
    let at = instant(&words).or_else(|| Some(now_ms.saturating_add(span(&words)?)))?;
    (at > now_ms && at - now_ms <= AHEAD_MS_MAX).then_some(at)
}

/// Whether the words say that an account has hit a limit. A number alone says nothing: it also stands in `app.rs:429`.
pub(crate) fn says_limit(words: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "rate limit",
        "rate-limit",
        "rate_limit",
        "ratelimit",
        "usage limit",
        "quota exceeded",
        "too many requests",
        "resource_exhausted",
        "사용량 한도",
        "요청 한도",
    ];
    let words = words.to_lowercase();
    SIGNS.iter().any(|sign| words.contains(sign))
}

/// Whether what stands right before this place says what a time is for.
fn is_cued(words: &str, at: usize) -> bool {
    let mut from = at.saturating_sub(NEAR_BYTES);
    while !words.is_char_boundary(from) {
        from -= 1;
    }
    let before = &words[from..at];
    // Another sentence is about something else.
    let before = before.rsplit(". ").next().unwrap_or(before);
    CUES.iter().any(|cue| before.contains(cue))
}

/// A point in time: 2026-11-16T14:05:00Z, or seconds or milliseconds since 1970.
fn instant(words: &str) -> Option<u64> {
    let starts = words.char_indices().filter(|(at, letter)| {
        letter.is_ascii_digit() && !words[..*at].ends_with(|before: char| before.is_ascii_alphanumeric())
    });
    let mut starts = starts.map(|(at, _)| at);
    starts.find_map(|at| {
        let text = &words[at..];
        let cued = is_cued(words, at) || words[..at].ends_with('|');
        date_time(text).or_else(|| since_1970(text)).filter(|_| cued)
    })
}

fn since_1970(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok()?;
    let follows_letter = text[digits..].starts_with(|next: char| next.is_ascii_alphanumeric());
    match digits {
        10 if !follows_letter => number.checked_mul(SECOND_MS),
        13 if !follows_letter => Some(number),
        _ => None,
    }
}

/// A date with a time and its zone.
fn date_time(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let field = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let is_form = marks.iter().all(|&(at, mark)| bytes.get(at) == Some(&mark));
    let divides = matches!(bytes.get(10), Some(b't' | b' '));
    if !is_form || !divides {
        return None;
    }
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let rest = &text[19..];
    let rest = rest.strip_prefix('.').map_or(rest, |it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
    let zone_minutes = zone(rest)?;
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - zone_minutes;
    u64::try_from((minutes * 60 + second) * 1000).ok()
}

/// How far ahead of UTC a zone is, in minutes.
fn zone(text: &str) -> Option<i64> {
    let text = text.trim_start();
    if text.starts_with('z') || text.starts_with("utc") || text.starts_with("gmt") {
        return Some(0);
    }
    let sign = if text.starts_with('+') { 1 } else { -1 };
    let digits = text.strip_prefix(['+', '-'])?;
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = digits.get(2..)?.trim_start_matches(':').get(..2)?.parse().ok()?;
    Some(sign * (hours * 60 + minutes))
}

/// Days since 1970. Years begin in March, so that the odd day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

/// A length of time, such as "in 1 day 2 hours", "after 30s", "retry-after: 3600", "5분 후".
fn span(words: &str) -> Option<u64> {
    let starts = words.char_indices().filter(|(at, letter)| {
        letter.is_ascii_digit()
            && !words[..*at].ends_with(|before: char| before.is_ascii_digit() || before == '.')
    });
    let mut starts = starts.map(|(at, _)| at);
    starts.find_map(|at| {
        let before = words[..at].trim_end();
        let is_header = ["retry-after:", "retry-after", "retry_after:", "retry_after", "retry_after="]
            .iter()
            .any(|name| before.ends_with(name));
        let counts =
            ["in", "after", "for", "within", "wait", "about"].iter().any(|word| before.ends_with(word));
        let (span_ms, behind) = parts(&words[at..], is_header)?;
        let goes_on =
            behind.trim_start().starts_with(['후', '뒤']) && CUES.iter().any(|cue| words.contains(cue));
        ((counts && is_cued(words, at)) || is_header || goes_on).then_some(span_ms)
    })
}

/// Numbers with their units, and what follows. A bare number counts as seconds where that is so.
fn parts(text: &str, bare_is_seconds: bool) -> Option<(u64, &str)> {
    let mut rest = text;
    let mut sum_ms: Option<u64> = None;
    loop {
        let trimmed = rest.trim_start_matches([' ', ',']);
        let trimmed = trimmed.strip_prefix("and ").unwrap_or(trimmed);
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = trimmed[..digits].parse::<u64>() else { break };
        // A fraction of a unit is waited for as a whole one.
        let behind = trimmed[digits..].strip_prefix('.');
        let (number, behind) = match behind.map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit())) {
            Some(behind) if behind.len() + 1 < trimmed.len() - digits => (number + 1, behind),
            _ => (number, &trimmed[digits..]),
        };
        let unit = behind.trim_start_matches([' ', '-']);
        let Some((unit_ms, length)) = unit_of(unit) else {
            if bare_is_seconds && sum_ms.is_none() {
                return Some((number.checked_mul(SECOND_MS)?, behind));
            }
            break;
        };
        sum_ms = Some(sum_ms.unwrap_or(0).checked_add(number.checked_mul(unit_ms)?)?);
        rest = &unit[length..];
    }
    sum_ms.map(|sum_ms| (sum_ms, rest))
}

/// The unit that a text begins with, and its length in bytes.
fn unit_of(text: &str) -> Option<(u64, usize)> {
    for (word, unit_ms) in [("시간", HOUR_MS), ("초", SECOND_MS), ("분", MINUTE_MS), ("일", DAY_MS)] {
        if text.starts_with(word) {
            return Some((unit_ms, word.len()));
        }
    }
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let unit_ms = match &text[..length] {
        "ms" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND_MS,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE_MS,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR_MS,
        "d" | "day" | "days" => DAY_MS,
        _ => return None,
    };
    Some((unit_ms, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16T00:00:00Z
    const NOW_MS: u64 = 1_794_787_200_000;

    #[test]
    fn a_time_that_is_named_is_found() {
        for (words, after_ms) in [
            ("Rate limited. Retry after 30 seconds.", 30 * SECOND_MS),
            ("please try again in 5 minutes", 5 * MINUTE_MS),
            ("Try again in 1 day 2 hours 3 minutes.", DAY_MS + 2 * HOUR_MS + 3 * MINUTE_MS),
            ("try again in 1h20m", HOUR_MS + 20 * MINUTE_MS),
            ("Please retry in 12.5s", 13 * SECOND_MS),
            ("429: {\"retry-after\": 3600}", 0),
            ("HTTP 429, retry-after: 3600", HOUR_MS),
            ("the limit resets at 2026-11-16T14:05:00Z", 14 * HOUR_MS + 5 * MINUTE_MS),
            ("resets at 2026-11-16T14:05:00.250+09:00", 5 * HOUR_MS + 5 * MINUTE_MS),
            ("resets 2026-11-16 01:00:00 UTC", HOUR_MS),
            ("Claude AI usage limit reached|1794790800", HOUR_MS),
            ("reset at 1794790800123", HOUR_MS + 123),
            ("한도를 넘었습니다. 5분 후 다시 시도하세요", 5 * MINUTE_MS),
            ("2시간 30분 뒤에 초기화됩니다", 2 * HOUR_MS + 30 * MINUTE_MS),
        ] {
            let expected = (after_ms > 0).then_some(NOW_MS + after_ms);
            assert_eq!(named(words, NOW_MS), expected, "{words}");
        }
    }

    #[test]
    fn none_is_invented() {
        for words in [
            "",
            "You've hit your usage limit. Try again at 3:05 PM.",
            "resets 3pm (Asia/Seoul)",
            "connection timed out after 30 seconds",
            "The tests failed after 3 hours. I will try again.",
            "app.rs:429 in 3 files",
            "try again in a while",
            "order 1794790800 failed",
            "resets at 2026-11-16T14:05:00",
            "reset at 2020-01-01T00:00:00Z",
            "try again in 9999 days",
            "try again in 99999999999999999999 seconds",
            "retry in 18446744073709551615 days",
            "resets at 2026-99-16T14:05:00Z",
            "다시 시도하세요",
        ] {
            assert_eq!(named(words, NOW_MS), None, "{words}");
        }
    }

    #[test]
    fn a_limit_is_known_by_words_not_by_numbers() {
        for words in
            ["API rate limit exceeded", "429 Too Many Requests", "Usage limit reached", "사용량 한도 초과"]
        {
            assert!(says_limit(words), "{words}");
        }
        for words in ["app.rs:429", "error 429", "the limit of the array", "speed limit"] {
            assert!(!says_limit(words), "{words}");
        }
    }
}
