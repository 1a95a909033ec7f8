//! Ids of tasks in raw text, without copying them. They are those of [`ostler_protocol::name::TaskId`].

/// The longest id, as the protocol has it.
const ID_BYTES_MAX: usize = 64;

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
}

impl<'a> Id<'a> {
    /// Reads a whole word.
    pub(super) fn parse(written: &'a [u8]) -> Option<Id<'a>> {
        if written.len() > ID_BYTES_MAX {
            return None;
        }
        if is_dotted(written) {
            return Some(Id { name: written, written });
        }
        let after = written.strip_prefix(b"P")?;
        let digits = digits(after);
        let rest = after[digits..].strip_prefix(b"-")?;
        if digits == 0 {
            return None;
        }
        if is_dotted(rest) && rest.contains(&b'.') {
            return Some(Id { name: rest, written });
        }
        rest.split(|&byte| byte == b'-').all(is_letters_with_number).then_some(Id { name: written, written })
    }

    /// The phase that the id names: the `n` of `Pn-…`, else that of `Tn.m`; `Err` for a number beyond all phases.
    pub(super) fn phase(self) -> Result<Option<u32>, ()> {
        let number = match self.written.strip_prefix(b"P") {
            Some(after) => &after[..digits(after)],
            None => {
                let end = 1 + digits(&self.name[1..]);
                if self.name.get(end) != Some(&b'.') {
                    return Ok(None);
                }
                &self.name[1..end]
            }
        };
        number_of(number).map(Some).ok_or(())
    }
}

/// The word at the beginning of a text.
pub(super) fn word(text: &[u8]) -> Word<'_> {
    if !text.first().is_some_and(|first| matches!(first, b'T' | b'P' | b't' | b'p')) {
        return Word::Other;
    }
    // Most ids are of this form, and what stands behind them belongs to no id.
    let length = dotted(text);
    if (1..=ID_BYTES_MAX).contains(&length) && !text.get(length).is_some_and(|byte| is_part(*byte)) {
        let written = &text[..length];
        return Word::Id(Id { name: written, written });
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
    while end > 0 && matches!(text[end - 1], b'.' | b'-') {
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

/// How many digits stand at the beginning.
pub(super) fn digits(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len())
}

/// `T1`, `T1.3` or `T1.3.2`.
fn is_dotted(text: &[u8]) -> bool {
    !text.is_empty() && dotted(text) == text.len()
}

/// How long such an id at the beginning is; 0 if there is none.
fn dotted(text: &[u8]) -> usize {
    if text.first() != Some(&b'T') {
        return 0;
    }
    let (mut end, mut next) = (0, 1);
    for _ in 0..3 {
        let count = digits(&text[next..]);
        if count == 0 {
            break;
        }
        end = next + count;
        if text.get(end) != Some(&b'.') {
            break;
        }
        next = end + 1;
    }
    end
}

/// `R1`, `T2` or `V`.
fn is_letters_with_number(text: &[u8]) -> bool {
    let letters = text.iter().position(|byte| !byte.is_ascii_uppercase()).unwrap_or(text.len());
    letters > 0 && digits(&text[letters..]) == text.len() - letters
}

/// `T1x`, `t1.3`, `P2-?`: nobody writes this by chance where ids stand.
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
    use std::string::ToString;

    use ostler_protocol::name::TaskId;

    use super::*;

    #[test]
    fn the_same_ids_as_the_protocol_has() {
        let words = [
            "T1.3",
            "T1.3.2",
            "T014",
            "T7",
            "P2-R1-T2",
            "P4-S1-V",
            "P0-T3",
            "P1-T1.3",
            "P12-T1",
            "",
            "T",
            "1.3",
            "T1.",
            "T1.2.3.4",
            "t1.3",
            "P-T1",
            "P1-",
            "P1--T1",
            "P1-t1",
            "P1-T1.2.3",
            "P1-AB12-C",
            "P1-1",
            "PP-T1",
        ];
        for word in words {
            let known = word.parse::<TaskId>().map(|id| id.to_string()).ok();
            let ours =
                Id::parse(word.as_bytes()).map(|id| core::str::from_utf8(id.name).unwrap().to_string());
            assert_eq!(ours, known, "{word}");
        }
    }

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
        assert_eq!(id("P1-T1.3"), "T1.3");
        for alike in ["T1.x", "t1.3", "T1_2", "T1-x", "T1.2.3.4", "T7-T11", "P2-x1"] {
            assert_eq!(id(alike), "alike", "{alike}");
        }
        for other in ["Title", "TS", "P1", "Phase", "1.1", ""] {
            assert_eq!(id(other), "other", "{other}");
        }
    }

    #[test]
    fn phases_of_ids() {
        let phase = |text: &str| Id::parse(text.as_bytes()).unwrap().phase();
        assert_eq!(phase("T1.3"), Ok(Some(1)));
        assert_eq!(phase("T014"), Ok(None));
        assert_eq!(phase("P2-R1-T2"), Ok(Some(2)));
        assert_eq!(phase("P3-T1.3"), Ok(Some(3)));
        assert_eq!(phase("T99999999999.1"), Err(()));
    }
}
