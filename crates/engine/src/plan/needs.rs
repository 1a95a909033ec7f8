//! The value of a key for dependencies: ids, ranges, phases, notes, and words about something else.

use alloc::vec::Vec;

use ostler_protocol::task_name::IdForm;

use super::{
    id::{self, Id, Word, digits},
    id_range::{self, IdRange},
    phase::PhaseStep,
};

/// Something that stands in the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// A task.
    Id(Id<'a>),
    /// A task if the file has ids of that kind, and the words around it.
    Maybe(Id<'a>, &'a [u8]),
    /// Several tasks.
    Range(IdRange<'a>),
    /// All of a phase.
    Phase(PhaseStep),
    /// All of a phase, if the file calls its phases milestones, and the words around it.
    Milestone(PhaseStep, &'a [u8]),
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
    /// What was found before the item.
    item_found: usize,
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
    let item_found = found.len();
    let mut scan =
        Scan { value, at: 0, item: 0, item_found, words_end: None, item_has_id: false, has_id: false, found };
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
    while let Word::Id(id) = id::word(rest)
        && id.is_plain()
        && !is_phases(id.written)
    {
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
        let words = strip(self.value.get(self.item..end).unwrap_or_default());
        if !self.item_has_id && !is_nothing(words) {
            self.found.push(Found::External(words));
        }
        for found in &mut self.found[self.item_found..] {
            if let Found::Maybe(_, around) | Found::Milestone(_, around) = found {
                *around = words;
            }
        }
        self.item_found = self.found.len();
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
            Word::Id(id) if is_phases(id.written) => {
                let last = id.written.iter().rposition(|&byte| byte == b'P').unwrap_or_default();
                self.at += last + 1;
                self.phases(&rest[last + 1..]);
            }
            // `ENV-001-ENV-005` has the form of an id, and `1단계` begins like one.
            Word::Id(id) if id.form != IdForm::Number || !is_counted(&rest[id.written.len()..]) => {
                self.at += id.written.len();
                self.take_id();
                match id_range::twice(id.written) {
                    Some(range) => self.found.push(Found::Range(range)),
                    None => self.range_or_id(id),
                }
            }
            Word::Alike(word) => {
                self.at += word.len();
                self.take_id();
                let range = id_range::within(word).map(|range| range.map(Found::Range));
                self.found.push(match range {
                    Some(Ok(range)) => range,
                    Some(Err(())) => Found::NotARange(word),
                    None => Found::NotAnId(word),
                });
            }
            Word::Id(_) | Word::Other => match id_range::within(id::run(rest)) {
                // `1.1-1.3` and `1-3`, not "1-3 days" or `2024-01-01`.
                Some(Ok(range)) if range.first.name.contains(&b'.') || self.is_item(id::run(rest)) => {
                    self.at += id::run(rest).len();
                    self.take_id();
                    self.found.push(Found::Range(range));
                }
                _ => self.other_word(),
            },
        }
    }

    /// Whether a word is all that the item has.
    fn is_item(&self, word: &[u8]) -> bool {
        let before = strip(self.value.get(self.item..self.at).unwrap_or_default());
        let behind = self.value[self.at + word.len()..].trim_ascii_start();
        before.is_empty() && behind.first().is_none_or(|byte| matches!(byte, b',' | b';' | b']' | b'('))
    }

    fn push_id(&mut self, id: Id<'a>) {
        self.found.push(if id.is_plain() { Found::Id(id) } else { Found::Maybe(id, id.written) });
    }

    fn take_id(&mut self) {
        self.item_has_id = true;
        self.has_id = true;
    }

    /// `T7` followed by `~ T11`, `.. 11` and the like is a range.
    fn range_or_id(&mut self, id: Id<'a>) {
        let behind = &self.value[self.at..];
        if matches!(behind.first(), None | Some(b',' | b']')) {
            return self.push_id(id);
        }
        let Some((spaced, mark, length)) = range_mark(behind) else { return self.push_id(id) };
        let next = &behind[length..];
        let word = id::run(next);
        // "T1.2 - T1.1's model is used" is a note, not a range.
        let after = next[word.len()..].trim_ascii_start();
        let ends = after.first().is_none_or(|byte| matches!(byte, b',' | b';' | b')' | b']' | b'('));
        let is_end = Id::parse(word).is_some() || digits(word) == word.len();
        let is_note = match mark {
            Mark::Sign => false,
            Mark::Dash => spaced && !ends || !is_end,
            Mark::Word => !is_end,
        };
        if word.is_empty() || is_note {
            return self.push_id(id);
        }
        self.at += length + word.len();
        let written = &self.value[self.at - length - word.len() - id.written.len()..self.at];
        let range = IdRange::new(id, word);
        self.found.push(range.map_or(Found::NotARange(written), Found::Range));
    }

    fn other_word(&mut self) {
        let rest = &self.value[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        self.at += length;
        if word.eq_ignore_ascii_case(b"phase") || word.eq_ignore_ascii_case(b"phases") {
            let number = behind.trim_ascii_start();
            if number.first().is_some_and(u8::is_ascii_digit) {
                self.at = self.value.len() - number.len();
                self.phases(number);
            }
        } else if word[0] == b'P' && word.len() > 1 && digits(&word[1..]) == word.len() - 1 {
            self.at -= word.len() - 1;
            self.phases(&rest[1..]);
        } else if word[0] == b'M' && word.len() > 1 && digits(&word[1..]) == word.len() - 1 {
            self.at -= word.len() - 1;
            self.milestone(&rest[1..]);
        } else if word.eq_ignore_ascii_case(b"and") {
            self.end_item(self.at - length);
            self.item = self.at;
        } else if digits(word) == word.len() && behind.starts_with("단계".as_bytes()) {
            self.phase(word);
        }
    }

    /// `1`, `0.5`, or `0-2`, which is all up to the last of them.
    fn phases(&mut self, text: &'a [u8]) {
        let mut number = &text[..PhaseStep::length(text)];
        let mut length = number.len();
        let mark = text[length..].strip_prefix(b"-").or_else(|| text[length..].strip_prefix(b"~"));
        if let Some(behind) = mark.map(|behind| behind.strip_prefix(b"P").unwrap_or(behind))
            && digits(behind) > 0
        {
            number = &behind[..PhaseStep::length(behind)];
            length = text.len() - behind.len() + number.len();
        }
        self.at += length;
        self.phase(number);
    }

    fn phase(&mut self, number: &'a [u8]) {
        self.take_id();
        self.found.push(PhaseStep::parse(number).map_or(Found::PhaseNumber(number), Found::Phase));
    }

    fn milestone(&mut self, text: &'a [u8]) {
        let number = &text[..PhaseStep::length(text)];
        self.at += number.len();
        self.take_id();
        let phase = PhaseStep::parse(number);
        self.found.push(phase.map_or(Found::PhaseNumber(number), |phase| Found::Milestone(phase, number)));
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
                let number = self.value[self.at..].trim_ascii_start();
                if matches!(korean, "페이즈" | "단계") && digits(number) > 0 {
                    self.at = self.value.len() - number.len();
                    return self.phases(number);
                }
                if is_and && self.item_has_id {
                    self.end_item(self.at);
                    self.item = self.at;
                }
            }
        }
    }
}

/// How a range is written between its ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Sign,
    Dash,
    Word,
}

/// White space, a mark, white space: whether there was some on both sides, what kind it is, and the length of all.
fn range_mark(text: &[u8]) -> Option<(bool, Mark, usize)> {
    const MARKS: [(&str, Mark); 14] = [
        ("...", Mark::Sign),
        ("..", Mark::Sign),
        ("…", Mark::Sign),
        ("~", Mark::Sign),
        ("～", Mark::Sign),
        ("〜", Mark::Sign),
        ("–", Mark::Dash),
        ("—", Mark::Dash),
        ("-", Mark::Dash),
        ("부터", Mark::Word),
        ("에서", Mark::Word),
        ("to ", Mark::Word),
        ("through ", Mark::Word),
        ("thru ", Mark::Word),
    ];
    let before = text.len() - text.trim_ascii_start().len();
    let rest = &text[before..];
    let (word, mark) = MARKS.iter().find(|(word, _)| rest.starts_with(word.as_bytes()))?;
    let is_word = word.ends_with(' ');
    if rest.starts_with(b"--") || is_word && before == 0 {
        return None;
    }
    let behind = &rest[word.len()..];
    let after = behind.len() - behind.trim_ascii_start().len();
    Some((before > 0 && after > 0, *mark, before + word.len() + after))
}

/// `P0-P2`: phases, although it has the form of an id.
fn is_phases(word: &[u8]) -> bool {
    let mut parts = word.split(|&byte| byte == b'-');
    let is_phase = |part: Option<&[u8]>| {
        part.is_some_and(|part| {
            part.len() > 1 && part[0] == b'P' && PhaseStep::length(&part[1..]) == part.len() - 1
        })
    };
    is_phase(parts.next()) && is_phase(parts.next()) && parts.next().is_none()
}

/// Whether a number counts phases.
fn is_counted(behind: &[u8]) -> bool {
    behind.starts_with("단계".as_bytes())
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
                Found::Maybe(id, words) => format!("maybe {} of {}", text(id.name), text(words)),
                Found::Range(range) => format!("{}..{}", text(range.first.name), range.last),
                Found::Phase(PhaseStep { number, step: 0 }) => format!("phase {number}"),
                Found::Phase(PhaseStep { number, step }) => format!("phase {number}.{step}"),
                Found::Milestone(PhaseStep { number, .. }, words) => {
                    format!("milestone {number} of {}", text(words))
                }
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
    fn ids_that_may_be_other_words() {
        check("ENV-001, T1.1", "maybe ENV-001 of ENV-001; T1.1");
        check("Node-18 or later", "maybe Node-18 of Node-18 or later");
        check("1.1, 1.2", "maybe 1.1 of 1.1; maybe 1.2 of 1.2");
        check("Postgres 16.1", "maybe 16.1 of Postgres 16.1");
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
        check("T2, T4-T6, Epic 3", "T2; T4..6; maybe 3 of Epic 3");
        check("T1.3-T2.2", "no range T1.3-T2.2");
        check("T6-T4", "no range T6-T4");
        check("T1.2 - T1.1의 모델 사용", "T1.2; noted T1.1");
        check("P2-S1-V ~ P2-S5-V", "P2-S1-V..5");
        check("P2-S1-V ~ S5-V, T1", "P2-S1-V..5; T1");
        check("ENV-001-ENV-005", "ENV-001..5");
        check("ENV-001 ~ 005", "ENV-001..5");
        check("1.1-1.4", "1.1..4");
        check("1-3, 5", "1..3; maybe 5 of 5");
        check("1-3 days", "maybe 3 of 1-3 days");
        check("T1.1 … T1.3", "T1.1..3");
        check("T1.1 to T1.3", "T1.1..3");
        check("T1.1부터 T1.3까지", "T1.1..3");
        check("T1.1 ~ later", "no range T1.1 ~ later");
        check("T16A-T16C", "no range T16A-T16C");
    }

    #[test]
    fn phases() {
        check("Phase 1", "phase 1");
        check("Phase 1 완료, T2.1", "phase 1; T2.1");
        check("P1", "phase 1");
        check("phase 0-2", "phase 2");
        check("1단계 완료", "phase 1");
        check("페이즈 1, 단계 2", "phase 1; phase 2");
        check("Phase 0.5", "phase 0.5");
        check("P0-P2", "phase 2");
        check("M1", "milestone 1 of M1");
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
        check("Epic 3", "maybe 3 of Epic 3");
        check("Epic Three", "external Epic Three");
        check("Redis, Postgres 16", "external Redis; maybe 16 of Postgres 16");
        check("T1.x", "no id T1.x");
        check("t1.3", "no id t1.3");
        check("T1-T3-T5", "no id T1-T3-T5");
        check("T1.2.3.4", "no id T1.2.3.4");
    }
}
