//! The value of a key for dependencies: ids, ranges, phases, notes, and words about something else.

use alloc::vec::Vec;

use super::id::{self, Id, Word, digits, number_of};

/// Something that stands in the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// A task.
    Id(Id<'a>),
    /// The first task of a range, and the number of the last.
    Range(Id<'a>, u32),
    /// All of a phase.
    Phase(u32),
    /// A task that is named in a note.
    Noted(Id<'a>),
    /// Words that are no task.
    External(&'a [u8]),
    /// It begins like an id and is none.
    NotAnId(&'a [u8]),
    /// A range in which more than the last number differs.
    NotARange(&'a [u8]),
    /// A number that no phase can have.
    PhaseNumber(&'a [u8]),
}

/// Where the scan is, and what the item so far has.
struct Scan<'a, 'b> {
    value: &'a [u8],
    at: usize,
    item: usize,
    /// Where the words of the item end, if a note began since.
    words_end: Option<usize>,
    item_has_id: bool,
    has_id: bool,
    found: &'b mut Vec<Found<'a>>,
}

/// Reads a value; what is found is added.
pub(super) fn read<'a>(value: &'a [u8], found: &mut Vec<Found<'a>>) {
    let value = value.trim_ascii();
    if value.len() < 8 && strip(value).eq_ignore_ascii_case(b"n/a") {
        return;
    }
    if read_plain(value, found) {
        return;
    }
    let mut scan = Scan { value, at: 0, item: 0, words_end: None, item_has_id: false, has_id: false, found };
    while scan.at < scan.value.len() {
        scan.step();
    }
    scan.end_item(value.len());
}

/// Ids with commas between them, as most values are; nothing is added if there is anything else.
fn read_plain<'a>(value: &'a [u8], found: &mut Vec<Found<'a>>) -> bool {
    let known = found.len();
    let inside = value.strip_prefix(b"[").and_then(|value| value.strip_suffix(b"]"));
    let mut rest = inside.unwrap_or(value);
    while let Word::Id(id) = id::word(rest) {
        found.push(Found::Id(id));
        rest = match &rest[id.written.len()..] {
            [] => return true,
            [b',', behind @ ..] => behind.trim_ascii_start(),
            _ => break,
        };
    }
    found.truncate(known);
    false
}

impl<'a> Scan<'a, '_> {
    fn step(&mut self) {
        let rest = &self.value[self.at..];
        match rest[0] {
            b',' | b';' | b'/' | b'&' | b'+' | b'|' => {
                self.end_item(self.at);
                self.at += 1;
                self.item = self.at;
            }
            b'(' => self.parenthesis(),
            b'-' if self.is_dash(1) => self.note_to_end(),
            byte if byte.is_ascii_alphanumeric() => self.word(),
            byte if byte.is_ascii() => self.at += 1,
            _ => self.wide(),
        }
    }

    /// Ends the item before `end`: words without an id are about something else.
    fn end_item(&mut self, end: usize) {
        let end = self.words_end.take().unwrap_or(end).max(self.item);
        if !self.item_has_id {
            let words = strip(&self.value[self.item..end]);
            if !is_nothing(words) {
                self.found.push(Found::External(words));
            }
        }
        self.item_has_id = false;
        self.item = self.value.len();
    }

    /// Notes in parentheses; the item may go on behind them.
    fn parenthesis(&mut self) {
        let rest = &self.value[self.at..];
        let mut depth = 0_usize;
        let end = rest.iter().position(|byte| {
            depth = match byte {
                b'(' => depth + 1,
                b')' => depth - 1,
                _ => depth,
            };
            depth == 0
        });
        let length = end.map_or(rest.len(), |end| end + 1);
        self.note(&rest[1..end.unwrap_or(rest.len())]);
        self.words_end.get_or_insert(self.at);
        self.at += length;
    }

    /// A dash with white space around it, behind something that counts.
    fn is_dash(&self, length: usize) -> bool {
        let before = self.at == 0 || self.value[self.at - 1].is_ascii_whitespace();
        let behind = self.value.get(self.at + length).is_none_or(u8::is_ascii_whitespace);
        self.has_id && before && behind
    }

    fn note_to_end(&mut self) {
        let rest = &self.value[self.at..];
        self.note(rest);
        self.words_end.get_or_insert(self.at);
        self.at = self.value.len();
    }

    /// Looks for ids in a note; code is not looked at.
    fn note(&mut self, note: &'a [u8]) {
        for part in note.split(|&byte| byte == b'`').step_by(2) {
            let mut at = 0;
            while at < part.len() {
                let run = id::run(&part[at..]);
                if let Some(id) = Id::parse(run) {
                    self.found.push(Found::Noted(id));
                }
                at += run.len().max(1);
            }
        }
    }

    /// A word of letters and digits.
    fn word(&mut self) {
        let rest = &self.value[self.at..];
        match id::word(rest) {
            Word::Id(id) => {
                self.at += id.written.len();
                self.take_id();
                self.range_or_id(id);
            }
            Word::Alike(word) => {
                self.at += word.len();
                self.take_id();
                self.found.push(inner_range(word).unwrap_or(Found::NotAnId(word)));
            }
            Word::Other => self.other_word(),
        }
    }

    fn take_id(&mut self) {
        self.item_has_id = true;
        self.has_id = true;
    }

    /// `T7` followed by `~ T11`, `.. 11` and the like is a range.
    fn range_or_id(&mut self, id: Id<'a>) {
        let behind = &self.value[self.at..];
        if matches!(behind.first(), None | Some(b',' | b']')) {
            return self.found.push(Found::Id(id));
        }
        let Some((spaced, is_dash, length)) = range_mark(behind) else {
            return self.found.push(Found::Id(id));
        };
        let next = &behind[length..];
        let digits_only = digits(next);
        let word = match id::word(next) {
            Word::Id(last) => last.written,
            _ if digits_only > 0 => &next[..digits_only],
            _ => return self.found.push(Found::Id(id)),
        };
        // "T1.2 - T1.1's model is used" is a note, not a range.
        let after = next[word.len()..].trim_ascii_start();
        let ends = after.first().is_none_or(|byte| matches!(byte, b',' | b';' | b')' | b']' | b'('));
        if is_dash && spaced && !ends {
            return self.found.push(Found::Id(id));
        }
        self.at += length + word.len();
        let written = &self.value[self.at - length - word.len() - id.written.len()..self.at];
        self.found.push(range(id, word).unwrap_or(Found::NotARange(written)));
    }

    fn other_word(&mut self) {
        let rest = &self.value[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        self.at += length;
        if word.eq_ignore_ascii_case(b"phase") {
            let number = behind.trim_ascii_start();
            if number.first().is_some_and(u8::is_ascii_digit) {
                self.at = self.value.len() - number.len();
                self.phases(number);
            }
        } else if word[0] == b'P' && word.len() > 1 && digits(&word[1..]) == word.len() - 1 {
            self.at -= word.len() - 1;
            self.phases(&rest[1..]);
        } else if word.eq_ignore_ascii_case(b"and") {
            self.end_item(self.at - length);
            self.item = self.at;
        } else if digits(word) == word.len() && behind.starts_with("단계".as_bytes()) {
            self.phase(word);
        }
    }

    /// `1`, or `0-2`, which is all up to the last of them.
    fn phases(&mut self, text: &'a [u8]) {
        let mut number = &text[..digits(text)];
        let mut length = number.len();
        if let Some(behind) = text[length..].strip_prefix(b"-").or(text[length..].strip_prefix(b"~"))
            && digits(behind) > 0
        {
            number = &behind[..digits(behind)];
            length += 1 + number.len();
        }
        self.at += length;
        self.phase(number);
    }

    fn phase(&mut self, number: &'a [u8]) {
        self.take_id();
        self.found.push(number_of(number).map_or(Found::PhaseNumber(number), Found::Phase));
    }

    /// A letter beyond ASCII: other commas, dashes and parentheses, or a word.
    fn wide(&mut self) {
        let rest = &self.value[self.at..];
        // A look at a few letters: to look at all that follows, at each of them, would take for ever.
        let text = rest[..rest.len().min(64)].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let Some(letter) = text.chars().next() else {
            self.at += 1;
            return;
        };
        let length = letter.len_utf8();
        match letter {
            '、' | '，' | '·' | '；' => {
                self.end_item(self.at);
                self.at += length;
                self.item = self.at;
            }
            '–' | '—' if self.is_dash(length) => self.note_to_end(),
            '（' => {
                let end = rest.windows(length).position(|part| part == "）".as_bytes()).unwrap_or(rest.len());
                self.note(&rest[length..end]);
                self.words_end.get_or_insert(self.at);
                self.at += end;
            }
            _ => {
                let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                let korean = word.split(|c: char| c.is_ascii()).next().unwrap_or_default();
                let is_and = matches!(korean, "및" | "와" | "과" | "그리고");
                self.at += korean.len().max(length);
                if is_and && self.item_has_id {
                    self.end_item(self.at);
                    self.item = self.at;
                }
            }
        }
    }
}

/// White space, a mark, white space: whether there was some, whether it is a dash, and the length of all.
fn range_mark(text: &[u8]) -> Option<(bool, bool, usize)> {
    let before = text.len() - text.trim_ascii_start().len();
    let rest = &text[before..];
    let (length, is_dash) = if rest.starts_with(b"...") {
        (3, false)
    } else if rest.starts_with(b"..") {
        (2, false)
    } else if rest.starts_with(b"~") {
        (1, false)
    } else if rest.starts_with("–".as_bytes()) || rest.starts_with("—".as_bytes()) {
        (3, true)
    } else if rest.starts_with(b"-") && !rest.starts_with(b"--") {
        (1, true)
    } else {
        return None;
    };
    let behind = &rest[length..];
    let after = behind.len() - behind.trim_ascii_start().len();
    Some((before > 0 && after > 0, is_dash, before + length + after))
}

/// A word such as `T7-T11`, `T7-11` or `T7..T11`, in which the mark is part of the word.
fn inner_range(word: &[u8]) -> Option<Found<'_>> {
    (1..word.len()).find_map(|at| {
        let length = match &word[at..] {
            [b'-', ..] => 1,
            [b'.', b'.', b'.', ..] => 3,
            [b'.', b'.', ..] => 2,
            _ => return None,
        };
        let first = Id::parse(&word[..at])?;
        let last = &word[at + length..];
        let is_end = Id::parse(last).is_some() || digits(last) == last.len();
        is_end.then(|| range(first, last).unwrap_or(Found::NotARange(word)))
    })
}

/// The range from an id to the id or number at its end.
fn range<'a>(first: Id<'a>, last: &[u8]) -> Option<Found<'a>> {
    let start = number_at_end(first.name);
    let (prefix, number) = first.name.split_at(start);
    let last_number = if digits(last) == last.len() {
        last
    } else {
        let last = Id::parse(last)?.name;
        // `P2-R1-T1~T3` repeats only the end of the id.
        let segment = prefix.iter().rposition(|&byte| byte == b'-').map_or(0, |dash| dash + 1);
        last.strip_prefix(prefix).or_else(|| last.strip_prefix(&prefix[segment..]))?
    };
    let (number, last_number) = (number_of(number)?, number_of(last_number)?);
    (number <= last_number).then_some(Found::Range(first, last_number))
}

/// Where the last number of an id begins.
pub(super) fn number_at_end(id: &[u8]) -> usize {
    id.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1)
}

/// Without white space, brackets and emphasis around it.
fn strip(words: &[u8]) -> &[u8] {
    let is_outside = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'*' | b'_' | b'`' | b'.' | b'"' | b'\'')
    };
    let start = words.iter().position(|byte| !is_outside(byte)).unwrap_or(words.len());
    let end = words.iter().rposition(|byte| !is_outside(byte)).map_or(start, |at| at + 1);
    &words[start..end]
}

/// What people write where there is nothing.
pub(super) fn is_nothing(words: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(words) else { return false };
    text.chars().all(|c| matches!(c, '-' | '–' | '—' | ' '))
        || ["none", "na", "nil", "null", "no", "nothing"].iter().any(|it| text.eq_ignore_ascii_case(it))
        || matches!(text, "없음" | "무" | "해당 없음" | "해당없음")
}

#[cfg(test)]
mod tests {
    use std::{format, string::String};

    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &str) {
        let mut found = Vec::new();
        read(value.as_bytes(), &mut found);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said: Vec<String> = found
            .iter()
            .map(|found| match found {
                Found::Id(id) => text(id.name),
                Found::Range(id, last) => format!("{}..{last}", text(id.name)),
                Found::Phase(number) => format!("phase {number}"),
                Found::Noted(id) => format!("noted {}", text(id.name)),
                Found::External(words) => format!("external {}", text(words)),
                Found::NotAnId(word) => format!("no id {}", text(word)),
                Found::NotARange(word) => format!("no range {}", text(word)),
                Found::PhaseNumber(word) => format!("no phase {}", text(word)),
            })
            .collect();
        assert_eq!(said.join("; "), expected, "{value}");
    }

    #[test]
    fn ids() {
        check("T1.1", "T1.1");
        check("T1.1, T1.2", "T1.1; T1.2");
        check("[T1.1, T1.2]", "T1.1; T1.2");
        check("`T1.1`, **T1.2**", "T1.1; T1.2");
        check("[T1.1](#t11), T1.2.", "T1.1; T1.2");
        check("T1.1 and T1.2", "T1.1; T1.2");
        check("T1.1 및 T1.2", "T1.1; T1.2");
        check("T1.1과 T1.2", "T1.1; T1.2");
        check("T1.1 완료 후", "T1.1");
        check("T1.1 T1.2", "T1.1; T1.2");
        check("P1-T1.3、P2-R1-T2", "T1.3; P2-R1-T2");
        check("\"T1.1\", 'T1.2'", "T1.1; T1.2");
    }

    #[test]
    fn nothing() {
        for value in
            ["", "-", "–", "none", "None", "없음", "[]", "n/a", "N/A", "none (start here)", "`-`", "없음."]
        {
            check(value, "");
        }
    }

    #[test]
    fn ranges() {
        check("T7-T11", "T7..11");
        check("T7 ~ T11, T3", "T7..11; T3");
        check("T7–T11", "T7..11");
        check("T7 - T11", "T7..11");
        check("T7..T11", "T7..11");
        check("T1.2-5", "T1.2..5");
        check("T008-T012", "T008..12");
        check("P2-R1-T1~T3", "P2-R1-T1..3");
        check("P2-R1-T1~P2-R1-T3", "P2-R1-T1..3");
        check("T2, T4-T6, Epic 3", "T2; T4..6; external Epic 3");
        check("T1.3-T2.2", "no range T1.3-T2.2");
        check("T6-T4", "no range T6-T4");
        check("T1.2 - T1.1의 모델 사용", "T1.2; noted T1.1");
    }

    #[test]
    fn phases() {
        check("Phase 1", "phase 1");
        check("Phase 1 완료, T2.1", "phase 1; T2.1");
        check("P1", "phase 1");
        check("phase 0-2", "phase 2");
        check("1단계 완료", "phase 1");
        check("Phase 99999999999", "no phase 99999999999");
    }

    #[test]
    fn notes() {
        check("T1.1, T1.2 - notes", "T1.1; T1.2");
        check("P2-R1-T1 (Mock: `mocks/T9.9.ts`)", "P2-R1-T1");
        check("T1.1 (after T1.2)", "T1.1; noted T1.2");
        check("T1.1（T1.2 이후）, T1.3", "T1.1; noted T1.2; T1.3");
        check("T1.1 — then T1.4", "T1.1; noted T1.4");
        check("T1.1 (never closed T1.2", "T1.1; noted T1.2");
    }

    #[test]
    fn what_is_no_id() {
        check("Epic 3", "external Epic 3");
        check("Redis, Postgres 16", "external Redis; external Postgres 16");
        check("T1.x", "no id T1.x");
        check("t1.3", "no id t1.3");
        check("T1-T3-T5", "no id T1-T3-T5");
        check("T1.2.3.4", "no id T1.2.3.4");
    }
}
