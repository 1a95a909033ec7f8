//! What the server counts of itself, without locks: whoever is counted does not wait for who reads.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How many there are at the moment.
#[derive(Debug, Default)]
pub(crate) struct Present(AtomicU64);

/// Somebody who is counted, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Counted<'a>(&'a Present);

impl Present {
    pub(crate) fn begin(&self) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self)
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long things took, in steps.
#[derive(Debug)]
pub(crate) struct Times {
    /// How many took no longer than each step; the last is for those that took longer than any.
    steps: [AtomicU64; STEPS_US.len() + 1],
    sum_us: AtomicU64,
}

/// The steps, in microseconds: from an answer out of memory to a disk that hangs.
pub(crate) const STEPS_US: [u64; 12] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000];

impl Times {
    pub(crate) const fn new() -> Times {
        Times { steps: [const { AtomicU64::new(0) }; STEPS_US.len() + 1], sum_us: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let step = STEPS_US.partition_point(|step| *step < us);
        self.steps[step].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// How many took no longer than each step, then how many there are, and how long all took together.
    pub(crate) fn read(&self) -> (Vec<u64>, Duration) {
        let mut sum = 0;
        let up_to = |step: &AtomicU64| {
            sum += step.load(Ordering::Relaxed);
            sum
        };
        let counts = self.steps.iter().map(up_to).collect();
        (counts, Duration::from_micros(self.sum_us.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_from_its_step_on() {
        let times = Times::new();
        for us in [0, 250, 251, 20_000_000] {
            times.add(Duration::from_micros(us));
        }
        let (counts, sum) = times.read();
        assert_eq!((counts[0], counts[1], counts[11], counts[12]), (2, 3, 3, 4));
        assert_eq!(sum, Duration::from_micros(20_000_501));
    }

    #[test]
    fn who_is_gone_is_not_counted() {
        let present = Present::default();
        let one = present.begin();
        drop(present.begin());
        assert_eq!(present.count(), 1);
        drop(one);
        assert_eq!(present.count(), 0);
    }
}
