//! The time of day, for people: how long ago something was, and when. The only module that looks at a clock.

use std::{
    mem::MaybeUninit,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::words::{Key, Words};

/// Now, in UTC milliseconds.
#[expect(clippy::disallowed_methods, reason = "what is shown depends on when somebody looks")]
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How long something has lasted, in its largest unit.
pub(crate) fn span(words: Words, ms: u64) -> String {
    let seconds = ms / 1000;
    let (key, n) = match seconds {
        0..60 => (Key::Seconds, seconds),
        60..3600 => (Key::Minutes, seconds / 60),
        3600..172_800 => (Key::Hours, seconds / 3600),
        _ => (Key::Days, seconds / 86_400),
    };
    words.say(key, &[("n", &n)])
}

/// How long ago something was. A clock that was set back makes it now.
pub(crate) fn since(words: Words, at_ms: u64) -> String {
    span(words, now_ms().saturating_sub(at_ms))
}

/// A point in time as a person here would say it: with the date, unless it is today.
pub(crate) fn local(at_ms: u64) -> String {
    let (Some(at), Some(now)) = (local_time(at_ms), local_time(now_ms())) else {
        return at_ms.to_string();
    };
    let day = |it: &libc::tm| (it.tm_year, it.tm_yday);
    let time = format!("{:02}:{:02}:{:02}", at.tm_hour, at.tm_min, at.tm_sec);
    if day(&at) == day(&now) {
        time
    } else {
        format!("{:04}-{:02}-{:02} {time}", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday)
    }
}

/// A point in time as machines write it: UTC, to the millisecond.
pub(crate) fn iso(at_ms: u64) -> String {
    format!("{}.{:03}Z", ostler_orchestrate::stamp(at_ms), at_ms % 1000)
}

/// The day of a point in time, as a person here would say it.
pub(crate) fn date(at_ms: u64) -> String {
    local_time(at_ms).map_or_else(
        || at_ms.to_string(),
        |at| format!("{:04}-{:02}-{:02}", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday),
    )
}

/// How far the clock on the wall here is ahead of UTC.
pub(crate) fn offset_s() -> i64 {
    local_time(now_ms()).map_or(0, |time| time.tm_gmtoff)
}

/// When a day begins here that is named as 2026-11-16.
#[expect(unsafe_code, reason = "only the C library knows the zone that the user lives in")]
pub(crate) fn day_begins_ms(date: &str) -> Option<u64> {
    let mut parts = date.split('-').map(|part| part.parse::<i32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_date =
        parts.next().is_none() && year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
    let mut time = local_time(0).filter(|_| is_date)?;
    (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, month - 1, day);
    (time.tm_hour, time.tm_min, time.tm_sec, time.tm_isdst) = (0, 0, 0, -1);
    // SAFETY: the pointer is to a value of this function, which outlives the call.
    let seconds = unsafe { libc::mktime(&raw mut time) };
    u64::try_from(seconds).ok()?.checked_mul(1000)
}

/// The clock on the wall here at that point in time.
#[expect(unsafe_code, reason = "only the C library knows the zone that the user lives in")]
fn local_time(at_ms: u64) -> Option<libc::tm> {
    let seconds = libc::time_t::try_from(at_ms / 1000).ok()?;
    let mut time = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are to values of this function, and a non-null answer says that `time` was filled in.
    unsafe {
        let filled = libc::localtime_r(&raw const seconds, time.as_mut_ptr());
        (!filled.is_null()).then(|| time.assume_init())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn a_span_is_said_in_its_largest_unit() {
        let words = Words::new(Language::En);
        for (ms, said) in [
            (0, "0 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (3_599_000, "59 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(span(words, ms), said);
        }
        assert_eq!(span(Words::new(Language::Ko), 240_000), "4분");
    }

    #[test]
    fn a_day_begins_at_midnight() {
        let begins = day_begins_ms("2026-11-16").expect("a date");
        assert_eq!(local(begins), if local(begins).len() > 8 { "2026-11-16 00:00:00" } else { "00:00:00" });
        for no in ["", "7d", "2026-13-01", "2026-11", "2026-11-16-1", "11/16/2026"] {
            assert_eq!(day_begins_ms(no), None, "{no}");
        }
    }

    #[test]
    fn a_time_of_today_needs_no_date() {
        assert_eq!(local(now_ms()).len(), "14:05:00".len());
        assert_eq!(local(86_400_000).len(), "1970-01-02 14:05:00".len());
    }
}
