//! Ranges of ids: `T7-T11`, `P2-R1-T1~T3`, `P2-S1-V ~ P2-S5-V`. Exactly one number differs.

use super::id::{Id, digits, number_of};

/// Several ids, of which one number counts from that of the first up to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdRange<'a> {
    pub(super) first: Id<'a>,
    /// Where the number that counts begins in the name of the first, and where it ends.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) last: u32,
}

impl<'a> IdRange<'a> {
    /// The range from an id to a word: an id of the same form, the end of one, or a number.
    pub(super) fn new(first: Id<'a>, last: &[u8]) -> Option<IdRange<'a>> {
        let ((start, end), last) = place(&first, last)?;
        IdRange::counted(first, (start, end), last)
    }

    fn counted(first: Id<'a>, (start, end): (usize, usize), last: &[u8]) -> Option<IdRange<'a>> {
        let (from, last) = (number_of(&first.name[start..end])?, number_of(last)?);
        (from <= last).then_some(IdRange { first, start, end, last })
    }
}

/// Where the number that counts is in the name of an id, and what it is at the end of the range.
fn place<'b>(first: &Id<'_>, last: &'b [u8]) -> Option<((usize, usize), &'b [u8])> {
    let name = first.name;
    if digits(last) == last.len() {
        let end = name.iter().rposition(u8::is_ascii_digit)? + 1;
        let start = name[..end].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
        return Some(((start, end), last));
    }
    let last = Id::parse(last).map_or(last, |last| last.name);
    // `P2-R1-T1~T3` repeats only the end of the id.
    let parts = name.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(dash, _)| dash + 1);
    core::iter::once(0).chain(parts).find_map(|from| {
        let (number, last) = difference(&name[from..], last)?;
        Some(((from + number.0, from + number.1), last))
    })
}

/// Whether a word would be a range if its ends changed places: `T5~T1`.
pub(super) fn is_backwards(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let first = word.iter().position(|byte| !is_part(byte)).unwrap_or(word.len());
    let last = word.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    halves(word).chain(core::iter::once((&word[..first], &word[last..]))).any(|(first, last)| {
        let Some(first) = Id::parse(first) else { return false };
        let Some(((start, end), last)) = place(&first, last) else { return false };
        number_of(&first.name[start..end]) > number_of(last)
    })
}

/// A word such as `T7-T11`, `T7-11` or `T7..T11`, in which the mark is part of the word: the range, or an error if it
/// begins and ends like one and is none.
pub(super) fn within(word: &[u8]) -> Option<Result<IdRange<'_>, ()>> {
    halves(word).find_map(|(first, last)| {
        let first = Id::parse(first)?;
        let is_end = Id::parse(last).is_some() || digits(last) == last.len();
        is_end.then(|| IdRange::new(first, last).ok_or(()))
    })
}

/// `ENV-001-ENV-005`: a word that has the form of an id, and says one of them twice.
pub(super) fn twice(word: &[u8]) -> Option<IdRange<'_>> {
    halves(word).find_map(|(first, last)| {
        let first = Id::parse(first)?;
        let is_whole = difference(first.name, Id::parse(last)?.name).is_some();
        IdRange::new(first, last).filter(|_| is_whole)
    })
}

/// What stands before and behind each dash or row of points.
fn halves(word: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    (1..word.len()).filter_map(|at| {
        let length = match &word[at..] {
            [b'-', ..] => 1,
            [b'.', b'.', b'.', ..] => 3,
            [b'.', b'.', ..] => 2,
            _ => return None,
        };
        Some((&word[..at], &word[at + length..]))
    })
}

/// The only number in which two texts differ: where it is in the first, and what it is in the second.
fn difference<'b>(one: &[u8], other: &'b [u8]) -> Option<((usize, usize), &'b [u8])> {
    let (mut at, mut there) = (0, 0);
    let mut found = None;
    while at < one.len() && there < other.len() {
        let (count, counted) = (digits(&one[at..]), digits(&other[there..]));
        if count > 0 && counted > 0 {
            let (number, theirs) = (&one[at..at + count], &other[there..there + counted]);
            if number != theirs && found.replace(((at, at + count), theirs)).is_some() {
                return None;
            }
            (at, there) = (at + count, there + counted);
        } else if one[at] == other[there] {
            (at, there) = (at + 1, there + 1);
        } else {
            return None;
        }
    }
    let is_over = at == one.len() && there == other.len();
    // Two that are the same are a range of one.
    let last =
        || one.iter().rposition(u8::is_ascii_digit).map(|end| (end + 1 - digits_before(one, end), end + 1));
    is_over.then(|| found.or_else(|| last().map(|it| (it, &other[it.0..it.1])))).flatten()
}

/// How many digits end at a place.
fn digits_before(text: &[u8], end: usize) -> usize {
    text[..=end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, last: &str, expected: Option<(&str, u32)>) {
        let range = IdRange::new(Id::parse(first.as_bytes()).expect("an id"), last.as_bytes());
        let found =
            range.map(|it| (core::str::from_utf8(&it.first.name[it.start..it.end]).unwrap(), it.last));
        assert_eq!(found, expected, "{first} {last}");
    }

    #[test]
    fn one_number_differs() {
        check("T7", "T11", Some(("7", 11)));
        check("T1.2", "5", Some(("2", 5)));
        check("P2-R1-T1", "T3", Some(("1", 3)));
        check("P2-S1-V", "P2-S5-V", Some(("1", 5)));
        check("P2-S1-V", "S5-V", Some(("1", 5)));
        check("P2-S1-V", "4", Some(("1", 4)));
        check("ENV-001", "ENV-005", Some(("001", 5)));
        check("1.1", "1.4", Some(("1", 4)));
        check("T1.1", "T1.1", Some(("1", 1)));
        check("P2-S1-V", "P3-S5-V", None);
        check("T1.3", "T2.2", None);
        check("T6", "T4", None);
        check("T16A", "T16C", None);
    }

    #[test]
    fn words_that_hold_two_ids() {
        assert!(twice(b"ENV-001-ENV-005").is_some());
        assert!(twice(b"P2-R1-T1-P2-R1-T3").is_some());
        assert_eq!(twice(b"P2-R1-T2"), None);
        assert_eq!(within(b"T1.3-T2.2"), Some(Err(())));
        assert_eq!(within(b"T1.x"), None);
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_told_apart() {
        for word in ["T1.5~T1.1", "T5 ~ T1", "T11-T7", "T11..T7", "T1.5 to T1.1", "P2-R1-T3~T1"] {
            assert!(is_backwards(word.as_bytes()), "{word}");
        }
        for word in ["T1.1~T1.5", "T1.1~T2.5", "T5~P3", "T7"] {
            assert!(!is_backwards(word.as_bytes()), "{word}");
        }
    }
}
