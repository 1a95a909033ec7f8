//! Ids of tasks in raw text, without copying them. The grammar is that of [`ostler_protocol::task_name`].

use ostler_protocol::task_name::{self, IdForm, TaskName};
pub(super) use ostler_protocol::task_name::{digits, numbers};

use super::phase::PhaseStep;

/// A word at the beginning of a text that is an id, or looks as if it was meant to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// An id.
    Id(Id<'a>),
    /// It begins like an id and is none.
    Alike(&'a [u8]),
    /// Any other word, or none.
    Other,
}

/// An id and how it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id<'a> {
    /// As it is known: without the phase that only names it again.
    pub(super) name: &'a [u8],
    /// As it stands there.
    pub(super) written: &'a [u8],
    pub(super) form: IdForm,
}

impl<'a> Id<'a> {
    /// Reads a whole word.
    pub(super) fn parse(written: &'a [u8]) -> Option<Id<'a>> {
        task_name::read(written).map(|TaskName { name, form }| Id { name, written, form })
    }

    /// Whether only somebody writes it who means a task.
    pub(super) fn is_plain(self) -> bool {
        self.form == IdForm::Plain
    }

    /// The phase that the id names: the `n` of `Pn-…` or `Mn-…`, else that of `Tn.m` or `n.m`; `Err` for a number beyond
    /// all phases.
    pub(super) fn phase(self) -> Result<Option<PhaseStep>, ()> {
        let number = match (self.form, self.written) {
            (IdForm::Plain, [b'P', after @ ..]) => return PhaseStep::parse(after).map(Some).ok_or(()),
            (IdForm::Word, [b'M', after @ ..]) if digits(after) > 0 => {
                return PhaseStep::parse(after).map(Some).ok_or(());
            }
            (IdForm::Word, _) => return Ok(None),
            (IdForm::Number, name) => &name[..digits(name)],
            (IdForm::Plain, name) => {
                let end = 1 + digits(&name[1..]);
                if name.get(end) != Some(&b'.') {
                    return Ok(None);
                }
                &name[1..end]
            }
        };
        number_of(number).map(|number| Some(PhaseStep { number, step: 0 })).ok_or(())
    }
}

/// What ids of one kind have in common: the letters before the first number; nothing for numbers alone.
pub(super) fn family(name: &[u8]) -> &[u8] {
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    &name[..letters]
}

/// The word at the beginning of a text.
pub(super) fn word(text: &[u8]) -> Word<'_> {
    match text.first() {
        Some(b'T') => {
            // Most ids are of this form, and what stands behind them belongs to no id.
            let length = 1 + numbers(&text[1..]);
            let ends = !text.get(length).is_some_and(|byte| is_part(*byte));
            if (2..=task_name::ID_BYTES_MAX).contains(&length) && ends {
                let written = &text[..length];
                return Word::Id(Id { name: written, written, form: IdForm::Plain });
            }
        }
        Some(first) if first.is_ascii_alphanumeric() => {}
        _ => return Word::Other,
    }
    let written = run(text);
    match Id::parse(written) {
        Some(id) => Word::Id(id),
        None if is_alike(written) => Word::Alike(written),
        None => Word::Other,
    }
}

/// The letters at the beginning that may belong to an id.
pub(super) fn run(text: &[u8]) -> &[u8] {
    let mut end = text.iter().position(|byte| !is_part(*byte)).unwrap_or(text.len());
    while end > 0 && matches!(text[end - 1], b'.' | b'-' | b'_') {
        end -= 1;
    }
    &text[..end]
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// A number of phases or of a range.
pub(super) fn number_of(text: &[u8]) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u32, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// `T1xy`, `t1.3`, `P2-?`: nobody writes this by chance where ids stand.
fn is_alike(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    let count = digits(rest);
    match first {
        b'T' | b't' => count > 0,
        b'P' | b'p' => count > 0 && rest.get(count) == Some(&b'-'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_the_beginning() {
        let id = |text: &'static str| match word(text.as_bytes()) {
            Word::Id(id) => core::str::from_utf8(id.name).unwrap(),
            Word::Alike(_) => "alike",
            Word::Other => "other",
        };
        assert_eq!(id("T1.3: x"), "T1.3");
        assert_eq!(id("T1.3. x"), "T1.3");
        assert_eq!(id("T1.3 - x"), "T1.3");
        assert_eq!(id("T1.3과"), "T1.3");
        assert_eq!(id("T16A: x"), "T16A");
        assert_eq!(id("P1-T1.3"), "T1.3");
        assert_eq!(id("P2-T1.3_"), "P2-T1.3");
        assert_eq!(id("ENV-001과"), "ENV-001");
        assert_eq!(id("1.1 x"), "1.1");
        for alike in ["T1.x", "t1.3", "T1_2", "T1-x", "T1.2.3.4", "T7-T11", "P2-x1"] {
            assert_eq!(id(alike), "alike", "{alike}");
        }
        for other in ["Title", "TS", "P1", "Phase", "v1.1", ""] {
            assert_eq!(id(other), "other", "{other}");
        }
    }

    #[test]
    fn phases_of_ids() {
        let phase = |text: &str| Id::parse(text.as_bytes()).unwrap().phase();
        let of = |number, step| Ok(Some(PhaseStep { number, step }));
        assert_eq!(phase("T1.3"), of(1, 0));
        assert_eq!(phase("T014"), Ok(None));
        assert_eq!(phase("P2-R1-T2"), of(2, 0));
        assert_eq!(phase("P3-T1.3"), of(3, 0));
        assert_eq!(phase("P0.5-T1"), of(0, 5));
        assert_eq!(phase("M2-T1"), of(2, 0));
        assert_eq!(phase("ENV-001"), Ok(None));
        assert_eq!(phase("1.2"), of(1, 0));
        assert_eq!(phase("T99999999999.1"), Err(()));
    }

    #[test]
    fn families() {
        for (name, expected) in [("ENV-001", "ENV"), ("TASK-C01", "TASK"), ("M1-T2", "M"), ("1.2", "")] {
            assert_eq!(family(name.as_bytes()), expected.as_bytes(), "{name}");
        }
    }
}
