//! What a program on a terminal has said, screen by screen: what stays there when it is drawn again is said once.

use alloc::{collections::BTreeMap, format};

use crate::{
    fault::Severity,
    item::{Item, What},
    screens::Screens,
};

/// How much of what was said is known again.
const SAID_MAX: usize = 256;

/// The screens of a stream, and what was said on the last of them.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) screens: Screens,
    /// How often the screen was begun anew.
    screen: u64,
    said: BTreeMap<u64, Said>,
}

/// Something that was said.
#[derive(Debug, Clone, Copy)]
struct Said {
    /// The last screen on which it stood.
    screen: u64,
    /// How often it stands there.
    count: u32,
    /// How often it stood on the screen before.
    before: u32,
}

impl Drawn {
    /// The screen is begun anew.
    pub(crate) fn begin(&mut self) {
        self.screen += 1;
    }

    /// Takes something that was said, and tells whether it is new: not if it stood on the screen before already, as often as
    /// it has come on this one.
    pub(crate) fn is_new(&mut self, item: &Item) -> bool {
        let has_effect = match &item.what {
            What::Signal(_) => true,
            What::Fault(fault) => fault.severity() == Severity::Fault,
            What::Quoted(_) | What::Fact(_) => false,
        };
        !has_effect || self.say(sum(item))
    }

    fn say(&mut self, sum: u64) -> bool {
        let screen = self.screen;
        let next = match self.said.get(&sum) {
            Some(last) if last.screen == screen => Said { count: last.count.saturating_add(1), ..*last },
            Some(last) if last.screen + 1 == screen => Said { screen, count: 1, before: last.count },
            // It was not there in between.
            Some(_) | None => Said { screen, count: 1, before: 0 },
        };
        if self.said.len() >= SAID_MAX && !self.said.contains_key(&sum) {
            let oldest = self.said.iter().min_by_key(|(_, said)| said.screen).map(|(sum, _)| *sum);
            oldest.and_then(|oldest| self.said.remove(&oldest));
        }
        self.said.insert(sum, next);
        next.count > next.before
    }
}

/// Stands for what an item says, wherever it stands.
fn sum(item: &Item) -> u64 {
    // FNV-1a: nobody gains anything from two texts with the same sum but something that is not heard.
    let said = format!("{:?} {:?}", item.what, item.extra);
    said.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Says the same on each screen, and which of them are new.
    #[track_caller]
    fn check(screens: &[u64], expected: &[bool]) {
        let mut drawn = Drawn::default();
        let each = screens.iter().map(|screen| {
            drawn.screen = *screen;
            drawn.say(1)
        });
        assert_eq!(each.collect::<Vec<_>>(), expected, "{screens:?}");
    }

    #[test]
    fn what_stays_on_the_screen_is_said_once() {
        check(&[4, 5, 6, 7], &[true, false, false, false]);
        // A second one below it is another; both stay.
        check(&[4, 5, 5, 6, 6, 7], &[true, false, true, false, false, false]);
    }

    #[test]
    fn what_was_gone_is_said_anew() {
        check(&[4, 6], &[true, true]);
        check(&[0, 0, 0], &[true, true, true]);
    }

    #[test]
    fn what_stood_longest_ago_is_forgotten_first() {
        let mut drawn = Drawn::default();
        for sum in 0..=SAID_MAX as u64 {
            drawn.screen = sum;
            assert!(drawn.say(sum));
        }
        assert_eq!(drawn.said.len(), SAID_MAX);
        assert!(!drawn.said.contains_key(&0));
    }
}
