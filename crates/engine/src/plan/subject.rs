//! What a heading, an item or a cell is about: marks, a phase, an id, and a title.

use ostler_protocol::task_name::IdForm;

use super::{
    id::{self, Id, Word},
    phase::PhaseStep,
};

/// How a task is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Not at all.
    None,
    /// As open.
    Open,
    /// As done.
    Done,
    /// As both.
    Both,
}

/// What it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About<'a> {
    /// One task.
    Task(Id<'a>),
    /// It begins like an id and is none, or names several.
    Alike(&'a [u8]),
    /// Anything else.
    Other,
}

/// The beginning of a heading, an item or a cell.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own: none follows from another")]
pub(super) struct Subject<'a> {
    pub(super) about: About<'a>,
    /// What stands in its box.
    pub(super) boxed: Option<&'a [u8]>,
    /// Whether it has a ✅.
    pub(super) ticked: bool,
    /// The phase that it names.
    pub(super) phase: Option<Result<PhaseStep, &'a [u8]>>,
    /// Whether the phase is called a milestone, a sprint or a stage.
    pub(super) is_milestone: bool,
    /// Whether a colon, a dash, brackets or emphasis set the id off from what follows.
    pub(super) is_set_off: bool,
    /// `[P]`.
    pub(super) parallel: bool,
    pub(super) title: &'a [u8],
}

const TICK: &[u8] = "✅".as_bytes();

impl<'a> Subject<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Subject<'a> {
        let mut subject = Subject {
            about: About::Other,
            boxed: None,
            ticked: false,
            phase: None,
            is_milestone: false,
            is_set_off: false,
            parallel: false,
            title: text,
        };
        let mut rest = text.trim_ascii();
        while let Some(behind) = subject.prefix(rest) {
            rest = behind.trim_ascii_start();
            if let About::Task(_) = subject.about {
                break;
            }
        }
        if subject.about == About::Other {
            rest = subject.word(rest);
        }
        subject.title = rest;
        subject.finish_title();
        subject
    }

    /// Takes one thing that may stand before an id.
    fn prefix(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        match *rest.first()? {
            b'[' => self.bracket(rest),
            b'*' | b'_' | b'`' => {
                self.is_set_off |= self.boxed.is_none() || rest.starts_with(b"**") || rest[0] == b'`';
                Some(&rest[1..])
            }
            // An id, as a rule.
            b'T' if rest.get(1).is_some_and(u8::is_ascii_digit) => None,
            b'T' | b't' => task_word(rest),
            b'P' | b'p' | b'M' | b'm' | b'S' | b's' | b'0'..=b'9' => self.phase_word(rest),
            first if first.is_ascii() => None,
            _ => self.symbol(rest).or_else(|| self.phase_word(rest)).or_else(|| task_word(rest)),
        }
    }

    /// A box, an id in brackets, or a tag.
    fn bracket(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let end = rest.iter().take(64).position(|&byte| byte == b']')?;
        let (inside, behind) = (&rest[1..end], &rest[end + 1..]);
        if let Some(id) = Id::parse(inside.trim_ascii()).filter(|id| id.form != IdForm::Number) {
            self.about = About::Task(id);
            self.is_set_off = true;
            let link = behind
                .strip_prefix(b"(")
                .and_then(|link| Some(&link[link.iter().position(|&it| it == b')')? + 1..]));
            return Some(link.unwrap_or(behind));
        }
        // Any other link is text.
        if behind.starts_with(b"(") {
            return None;
        }
        let is_short = inside.len() <= 1
            || inside.len() <= 4
                && core::str::from_utf8(inside).is_ok_and(|inside| inside.chars().count() == 1);
        let is_tag = inside.first().is_some_and(u8::is_ascii_uppercase) && inside != b"X";
        if is_short && !is_tag && self.boxed.is_none() {
            self.boxed = Some(inside);
        } else if inside == b"P" {
            self.parallel = true;
        } else {
            return None;
        }
        Some(behind)
    }

    /// A letter that is no letter, such as an emoji.
    fn symbol(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let head = &rest[..rest.len().min(4)];
        let letter = head.utf8_chunks().next()?.valid().chars().next()?;
        if letter.is_alphanumeric() {
            return None;
        }
        self.ticked |= letter == '✅';
        Some(&rest[letter.len_utf8()..])
    }

    /// `Phase 1,` and its like before an id; only the first one counts.
    fn phase_word(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        if self.phase.is_some() {
            return None;
        }
        let (phase, is_milestone, behind) = phase_at(rest)?;
        self.phase = Some(phase);
        self.is_milestone = is_milestone;
        Some(separated(behind))
    }

    /// The id, or what looks like one. Gives what stands behind.
    fn word(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match id::word(rest) {
            Word::Id(id) => {
                let behind = &rest[id.written.len()..];
                let next = trim_start(behind);
                let several = next.starts_with(b",") || next.starts_with(b"~") || next.starts_with(b"..");
                if !ends_number(id, behind) || several && !id.is_plain() && self.boxed.is_none() {
                    return rest;
                }
                self.is_set_off |= is_separator(next) || is_separator(behind.trim_ascii_start());
                self.about = if several { About::Alike(id.written) } else { About::Task(id) };
                behind
            }
            Word::Alike(word) => {
                self.about = About::Alike(word);
                &rest[word.len()..]
            }
            Word::Other => rest,
        }
    }

    /// Takes the id for a part of the title: it is none where it stands.
    pub(super) fn demote(&mut self, text: &'a [u8]) {
        if let About::Task(Id { written, .. }) | About::Alike(written) = self.about {
            let start = written.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
            self.title = text.get(start..).unwrap_or(text).trim_ascii();
            self.about = About::Other;
        }
    }

    /// A title without the phase in parentheses that it begins with.
    pub(super) fn without_phase(title: &'a [u8]) -> &'a [u8] {
        let inside = title.strip_prefix(b"(").or_else(|| title.strip_prefix(b"["));
        let behind = inside.and_then(phase_at).map(|(_, _, behind)| behind);
        behind
            .and_then(|behind| behind.strip_prefix(b")").or_else(|| behind.strip_prefix(b"]")))
            .map_or(title, separated)
    }

    /// The phase that a part in parentheses or brackets names: `Set up (Phase 1)`, `M0.5 (Phase 0.5): Clean up`.
    pub(super) fn phase_in_brackets(text: &'a [u8]) -> Option<PhaseStep> {
        let open = text.iter().enumerate().filter(|(_, byte)| matches!(byte, b'(' | b'['));
        open.map(|(at, _)| text[at + 1..].trim_ascii_start()).find_map(|inside| {
            let (phase, is_milestone, behind) = phase_at(inside)?;
            let is_whole = matches!(behind.trim_ascii_start().first(), Some(b')' | b']' | b',' | b':'));
            phase.ok().filter(|_| !is_milestone && is_whole)
        })
    }

    /// Takes marks and tags away from both ends of the title.
    fn finish_title(&mut self) {
        if self.about != About::Other {
            self.title = separated(trim_start(self.title));
        }
        while let Some(behind) = self.title.strip_prefix(b"[P]").or_else(|| {
            self.ticked |= self.title.starts_with(TICK);
            self.title.strip_prefix(TICK)
        }) {
            self.parallel |= self.title.starts_with(b"[P]");
            self.title = behind.trim_ascii_start();
        }
        self.parallel |= has_parallel_tag(self.title);
        let mut title = self.title.trim_ascii_end();
        while let Some(before) = title.strip_suffix(TICK).or_else(|| title.strip_suffix(b"*")) {
            self.ticked |= title.ends_with(TICK);
            title = before.trim_ascii_end();
        }
        self.title = title;
    }

    /// What box and tick say together.
    pub(super) fn mark(&self) -> Mark {
        match (self.boxed.map(is_done_box), self.ticked) {
            (None, false) => Mark::None,
            (Some(true), _) | (None, true) => Mark::Done,
            (Some(false), false) => Mark::Open,
            (Some(false), true) => Mark::Both,
        }
    }

    /// A letter in its box that nobody knows.
    pub(super) fn unknown_letter(&self) -> Option<&'a [u8]> {
        self.boxed.filter(|inside| !is_done_box(inside) && !inside.trim_ascii().is_empty())
    }
}

fn is_done_box(inside: &[u8]) -> bool {
    matches!(inside, b"x" | b"X") || ["✅", "✓", "✔"].iter().any(|mark| mark.as_bytes() == inside)
}

/// `Phase 1`, `P1`, `Phase 0.5`, `페이즈 1`, `1단계`, `M1` or `Sprint 2` at the beginning of a text: the phase, whether it is
/// called a milestone or the like, and what stands behind.
#[expect(clippy::type_complexity, reason = "three parts that nobody else needs together")]
fn phase_at(rest: &[u8]) -> Option<(Result<PhaseStep, &[u8]>, bool, &[u8])> {
    let begins =
        |word: &&str| rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    let phase = ["phase", "페이즈", "단계"].into_iter().find(begins);
    let milestone = ["milestone", "sprint", "stage", "마일스톤", "스프린트"].into_iter().find(begins);
    let named = phase.or(milestone);
    let number = match named {
        Some(word) => rest[word.len()..].trim_ascii_start(),
        None => rest.strip_prefix(b"P").or_else(|| rest.strip_prefix(b"M")).unwrap_or(rest),
    };
    let (number, behind) = number.split_at(PhaseStep::length(number));
    let is_korean = rest.first().is_some_and(u8::is_ascii_digit);
    let behind = if is_korean { behind.strip_prefix("단계".as_bytes())? } else { behind };
    let goes_on = behind.first().is_some_and(u8::is_ascii_alphanumeric)
        || behind.first() == Some(&b'.') && behind.get(1).is_some_and(u8::is_ascii_digit);
    let is_id =
        named.is_none() && behind.first() == Some(&b'-') && behind.get(1).is_some_and(|it| *it != b' ');
    // `M1 Mac` is no milestone.
    let is_letter = named.is_none() && rest.first() == Some(&b'M');
    let next = behind.trim_ascii_start();
    let is_apart = next.is_empty() || next.starts_with(b"(") || is_separator(next);
    if number.is_empty() || goes_on || is_id || is_letter && !is_apart {
        return None;
    }
    let is_milestone = milestone.is_some() || is_letter;
    Some((PhaseStep::parse(number).ok_or(number), is_milestone, behind))
}

/// Whether a text begins with what sets an id off from its title.
fn is_separator(text: &[u8]) -> bool {
    ["- ", ":", ". ", ")", "：", "–", "—"].iter().any(|mark| text.starts_with(mark.as_bytes()))
}

/// Whether a number is the whole of a word that counts: `1.1 x` and `1. x`, not `1.5%`, `3 x` or `2024: x`.
fn ends_number(id: Id<'_>, behind: &[u8]) -> bool {
    if id.form != IdForm::Number {
        return true;
    }
    let is_space = |at: usize| behind.get(at).is_none_or(u8::is_ascii_whitespace);
    match behind.first() {
        None => id.written.contains(&b'.'),
        Some(b'.' | b')') => is_space(1),
        Some(b':') => id.written.contains(&b'.') && is_space(1),
        Some(byte) => byte.is_ascii_whitespace() && id.written.contains(&b'.'),
    }
}

/// `[US1] [P] …`: a tag among tags.
fn has_parallel_tag(mut title: &[u8]) -> bool {
    while title.starts_with(b"[") {
        let Some(end) = title.iter().take(32).position(|&byte| byte == b']') else { return false };
        if &title[1..end] == b"P" {
            return true;
        }
        title = title[end + 1..].trim_ascii_start();
    }
    false
}

/// The word "Task" before an id.
fn task_word(rest: &[u8]) -> Option<&[u8]> {
    let words: [&[u8]; 3] = [b"task", "태스크".as_bytes(), "작업".as_bytes()];
    let word =
        words.iter().find(|word| rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word))?;
    let behind = &rest[word.len()..];
    let separator = behind.first()?;
    (separator.is_ascii_whitespace() || matches!(separator, b':' | b'#'))
        .then(|| behind[1..].trim_ascii_start())
}

/// Without emphasis and closing brackets at the beginning.
fn trim_start(mut text: &[u8]) -> &[u8] {
    while let Some((b'*' | b'_' | b'`' | b']' | b' ' | b'\t', rest)) = text.split_first() {
        text = rest;
    }
    text
}

/// Behind a colon, a dash or whatever parts an id from its title.
fn separated(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let behind = match text.first() {
        Some(b':' | b',' | b'.' | b')' | b'-') => &text[1..],
        Some(first) if !first.is_ascii() => {
            ["：", "–", "—", "·"].iter().find_map(|mark| text.strip_prefix(mark.as_bytes())).unwrap_or(text)
        }
        _ => text,
    };
    let behind = behind.trim_ascii_start();
    // Emphasis that ends behind the separator goes; emphasis within the title stays.
    match behind.strip_prefix(b"**") {
        Some(rest) if !has_pair(rest) => rest.trim_ascii_start(),
        _ => behind,
    }
}

fn has_pair(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"**")
}

#[cfg(test)]
mod tests {
    use std::{format, string::String};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let subject = Subject::parse(text.as_bytes());
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let about = match subject.about {
            About::Task(id) => said(id.name),
            About::Alike(word) => format!("alike {}", said(word)),
            About::Other => "-".into(),
        };
        let phase = subject.phase.map_or(String::new(), |phase| match phase {
            Ok(PhaseStep { number, step: 0 }) => format!(" phase {number}"),
            Ok(PhaseStep { number, step }) => format!(" phase {number}.{step}"),
            Err(_) => " phase ?".into(),
        });
        let parallel = if subject.parallel { " parallel" } else { "" };
        assert_eq!(
            format!("{about}{phase}{parallel} {:?} | {}", subject.mark(), said(subject.title)),
            expected,
            "{text}"
        );
    }

    #[test]
    fn headings_and_items() {
        check("[ ] Phase 1, T1.3: Login page", "T1.3 phase 1 Open | Login page");
        check("[x] P2-R1-T2: Service queries", "P2-R1-T2 Done | Service queries");
        check("T1: [v0.2.x] title", "T1 None | [v0.2.x] title");
        check("[ ] T014 [P] [US1] Create it", "T014 parallel Open | [US1] Create it");
        check("[ ] T014 [US1] [P] Create it", "T014 parallel Open | [US1] [P] Create it");
        check("[ ] **T1.2**: title", "T1.2 Open | title");
        check("[ ] **T1.2: title**", "T1.2 Open | title");
        check("[ ] [T1.2] title", "T1.2 Open | title");
        check("[ ] `T1.2` - title", "T1.2 Open | title");
        check("Task T1.2: title", "T1.2 None | title");
        check("태스크 T1.2 title", "T1.2 None | title");
        check("P1-T1.3 title", "T1.3 None | title");
        check("[] T1.2", "T1.2 Open | ");
        check("[ ] ENV-001: Docker", "ENV-001 Open | Docker");
        check("[ ] **TASK-C01** - Cache", "TASK-C01 Open | Cache");
        check("[ ] 1.1 Create it", "1.1 Open | Create it");
        check("[ ] 1. Set up", "1 Open | Set up");
        check("[ ]* 2.2 Write tests", "2.2 Open | Write tests");
        check("P2-T1.1: x", "P2-T1.1 None | x");
        for other in ["1.5% less", "3 retries", "2024: a year", "2.5x faster", "UTF-8, UTF-16"] {
            check(other, &format!("- None | {other}"));
        }
    }

    #[test]
    fn marks() {
        check("✅ T1.1: a", "T1.1 Done | a");
        check("T1.1: ✅ a", "T1.1 Done | a");
        check("T1.1: a ✅", "T1.1 Done | a");
        check("[ ] T1.1: a ✅", "T1.1 Both | a");
        check("[X] T1.1: a ✅", "T1.1 Done | a");
        check("[-] T1.1: a", "T1.1 Open | a");
        check("⬜ T1.1: a", "T1.1 None | a");
        check("T1.1: show a ✅ in the list", "T1.1 None | show a ✅ in the list");
    }

    #[test]
    fn phases_in_brackets() {
        let read = |text: &str| Subject::phase_in_brackets(text.as_bytes()).map(|it| (it.number, it.step));
        assert_eq!(read("Set up (Phase 1)"), Some((1, 0)));
        assert_eq!(read("M0.5 (Phase 0.5): Clean up"), Some((0, 5)));
        assert_eq!(read("[Phase 2] Shop"), Some((2, 0)));
        assert_eq!(read("Set up (Phase 1-3)"), None);
        assert_eq!(read("Set up (see Phase 1)"), None);
    }

    #[test]
    fn groups() {
        check("Phase 2: Services", "- phase 2 None | Services");
        check("P2: Services", "- phase 2 None | Services");
        check("P2 - Services", "- phase 2 None | Services");
        check("2단계 인증", "- phase 2 None | 인증");
        check("페이즈 2: 인증", "- phase 2 None | 인증");
        check("Phase N: Polish", "- None | Phase N: Polish");
        check("Phase 0.5: Clean up", "- phase 0.5 None | Clean up");
        check("M0.5 (Phase 0.5): Clean up", "- phase 0.5 None | (Phase 0.5): Clean up");
        check("Sprint 2 - Shop", "- phase 2 None | Shop");
        check("T1.1-T1.5: Setup", "alike T1.1-T1.5 None | Setup");
        check("T1.1, T1.2: Setup", "alike T1.1 None | T1.2: Setup");
        check("T1.x: Setup", "alike T1.x None | Setup");
        check("Dependencies", "- None | Dependencies");
        check("[link](x) T1.1", "- None | [link](x) T1.1");
        check("[T1.1](#t11): title", "T1.1 None | title");
        check("", "- None | ");
    }
}
