//! Whether the machine does nothing else. A storm asserts how long something takes only then.

use std::{fs, path::PathBuf, thread, time::Duration};

use crate::error::Error;

/// How long the processors are watched.
const WATCHED: Duration = Duration::from_secs(3);

/// Other work may take up to one part in so many of all processors.
const BUSY_PART: u64 = 8;

/// Processor time since the machine was started, in ticks of all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessorTime {
    all: u64,
    busy: u64,
}

/// Watches the processors for a moment.
pub(super) fn is_idle() -> Result<bool, Error> {
    let before = read()?;
    thread::sleep(WATCHED);
    Ok(is_idle_between(before, read()?))
}

fn is_idle_between(before: ProcessorTime, after: ProcessorTime) -> bool {
    let (all, busy) = (after.all.saturating_sub(before.all), after.busy.saturating_sub(before.busy));
    busy.saturating_mul(BUSY_PART) <= all
}

fn read() -> Result<ProcessorTime, Error> {
    let path = PathBuf::from("/proc/stat");
    let text = fs::read_to_string(&path).map_err(|source| Error::Read { path, source })?;
    Ok(parse(&text))
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal. What follows is contained in the first two.
fn parse(text: &str) -> ProcessorTime {
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|it| it.parse().ok()).collect();
    let all = ticks.iter().sum();
    let unused: u64 = ticks.iter().skip(3).take(2).sum();
    ProcessorTime { all, busy: all - unused }
}

#[cfg(test)]
mod tests {
    use super::{ProcessorTime, is_idle_between, parse};

    #[test]
    fn waiting_for_a_disk_is_no_work_and_steal_is() {
        let found = parse("cpu  10 1 5 100 20 0 2 7 3 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
        assert_eq!(found, ProcessorTime { all: 145, busy: 25 });
    }

    #[test]
    fn an_eighth_of_the_processors_may_be_used() {
        let at = |all, busy| ProcessorTime { all, busy };
        assert!(is_idle_between(at(1000, 500), at(1600, 575)));
        assert!(!is_idle_between(at(1000, 500), at(1600, 576)));
    }
}
