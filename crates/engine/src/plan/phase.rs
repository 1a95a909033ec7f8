//! The place of a phase: its number, and a step within it for `Phase 0.5`.
//!
//! `Phase 0.5` comes after `Phase 0` and before `Phase 1`. It is part of phase 0, whose number the wire and the state have,
//! and begins when everything before it in that phase is settled.

use super::id::{digits, number_of};

/// A phase, or a step of it. Steps are ordered by their number: 1.2 comes before 1.10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PhaseStep {
    pub(super) number: u32,
    /// 0 for the phase itself.
    pub(super) step: u32,
}

/// No phase.
pub(super) const NO_PHASE: PhaseStep = PhaseStep { number: u32::MAX, step: 0 };

impl PhaseStep {
    /// Reads `2` or `0.5` at the beginning of a text; nothing for what no phase can be.
    pub(super) fn parse(text: &[u8]) -> Option<PhaseStep> {
        let number = number_of(&text[..digits(text)]).filter(|&number| number != NO_PHASE.number)?;
        let (_, step) = PhaseStep::split(text);
        let step = if step.is_empty() { 0 } else { number_of(step)? };
        Some(PhaseStep { number, step })
    }

    /// How long `2` or `0.5` at the beginning of a text is.
    pub(super) fn length(text: &[u8]) -> usize {
        let (number, step) = PhaseStep::split(text);
        if step.is_empty() { number.len() } else { number.len() + 1 + step.len() }
    }

    fn split(text: &[u8]) -> (&[u8], &[u8]) {
        let (number, behind) = text.split_at(digits(text));
        let step = behind.strip_prefix(b".").unwrap_or_default();
        (number, &step[..digits(step)])
    }
}
