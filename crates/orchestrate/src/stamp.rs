//! Times as these files write them: UTC, to the second.

const DAY_S: u64 = 86_400;

/// `2026-01-21T10:00:00`, without a zone.
pub fn stamp(at_ms: u64) -> String {
    let seconds = at_ms / 1000;
    let (year, month, day) = date(seconds / DAY_S);
    let of_day = seconds % DAY_S;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// The date of a day since 1970, counted in cycles of 400 years that begin in March.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let cycle = day / 146_097;
    let of_cycle = day % 146_097;
    let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + cycle * 400 + u64::from(month <= 2), month, of_month)
}

/// Reads what [`stamp`] writes, also with a zone that says UTC, or with parts of a second.
pub(crate) fn read_stamp(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let text = text.split_once('.').map_or(text, |(whole, _)| whole);
    let (date, time) = text.split_once('T').or_else(|| text.split_once(' '))?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_real = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let of_day = hour * 3600 + minute * 60 + second;
    is_real.then(|| (day_of(year, month, day) * DAY_S + of_day) * 1000)
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let mut parts = text.split(between).map(|part| part.parse().ok());
    let found = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(found)
}

/// The day since 1970 of a date, the other way round than [`date`].
fn day_of(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let of_cycle_year = year % 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let of_cycle = of_cycle_year * 365 + of_cycle_year / 4 - of_cycle_year / 100 + of_year;
    (year / 400 * 146_097 + of_cycle).saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::{read_stamp, stamp};

    #[test]
    fn known_times() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00");
        assert_eq!(stamp(951_782_400_000), "2000-02-29T00:00:00");
        assert_eq!(stamp(1_768_989_600_999), "2026-01-21T10:00:00");
        assert_eq!(stamp(1_798_761_599_000), "2026-12-31T23:59:59");
    }

    #[test]
    fn what_was_written_reads_back() {
        for at_ms in (0..40_000).map(|day| day * 86_400_000 + 45_296_000) {
            assert_eq!(read_stamp(&stamp(at_ms)), Some(at_ms), "{}", stamp(at_ms));
        }
        assert_eq!(read_stamp("2026-01-21 10:00:00.123Z"), Some(1_768_989_600_000));
        for wrong in
            ["", "2026-01-21", "2026-01-21T10:00", "1969-01-01T00:00:00", "2026-00-01T00:00:00", "aTb"]
        {
            assert_eq!(read_stamp(wrong), None, "{wrong}");
        }
    }
}
