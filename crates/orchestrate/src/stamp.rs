//! Times as these files write them: UTC, to the second.

const DAY_S: u64 = 86_400;

/// `2026-01-21T10:00:00`, without a zone.
pub(crate) fn stamp(at_ms: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn known_times() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00");
        assert_eq!(stamp(951_782_400_000), "2000-02-29T00:00:00");
        assert_eq!(stamp(1_768_989_600_999), "2026-01-21T10:00:00");
        assert_eq!(stamp(1_798_761_599_000), "2026-12-31T23:59:59");
    }
}
