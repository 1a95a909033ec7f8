//! Dependencies that no key with a colon names: in a title, and in lines such as `depends on T1.1`.

use core::ops::Range;

use ostler_protocol::task_name::IdForm;

use super::{
    draft::{Named, Note},
    id::{self, Id, Word},
    key::{self, Key, trim},
    reader::{At, Reader},
    task::Span,
};

/// What stands before dependencies in a title, whether or not it begins a sentence.
pub(super) const NEEDS_WORDS: &[u8] = b"epends on ";

/// What Korean puts behind the task that has to be done first.
const BEHIND: [&str; 12] = [
    "완료 이후",
    "완료 후",
    "완료후",
    "이후",
    "후에",
    "다음에",
    "에 의존",
    "의존",
    "필요",
    "완료 대기",
    "완료대기",
    "대기",
];

/// What may stand before an id, the longer one first.
const TASK: [&str; 4] = ["tasks", "task", "태스크", "작업"];

/// Parts of a title that are apart from it: how they begin, and how they end.
const GROUPS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("（", "）")];

/// Ids within a title.
struct Run<'a> {
    /// Where they begin.
    at: usize,
    /// They, and what stands between them.
    ids: &'a [u8],
    /// Whether a word says that they come first.
    is_first: bool,
    /// Whether nothing else follows in the title.
    is_last: bool,
}

impl<'a> Reader<'a> {
    /// `(depends on T012)`, `[deps: T012]`, `…, after T012` and `… <- T012`; other ids in a title are only mentioned.
    pub(super) fn title_needs(&mut self, at: At, entry: u32, title: &'a [u8]) {
        let mut start = 0;
        let mut is_read = false;
        while let Some((open, inside, end)) = group(title, start) {
            is_read = is_read || self.plain_needs(at, entry, title, start..open);
            if let Some(value) = value_of(inside) {
                if end == title.len() {
                    let before = title[..open].trim_ascii_end();
                    self.draft.entries[entry as usize].title = Span::of(self.text, before);
                }
                self.needs(at, entry, value);
            } else if let Some(value) = self.plain_value(inside, 0..inside.len()) {
                self.needs(at, entry, value);
            } else {
                self.mentions_in(at, entry, inside, Named::Title);
            }
            start = end;
        }
        if !is_read {
            self.plain_needs(at, entry, title, start..title.len());
        }
    }

    /// What a part of a title outside of parentheses says. Whether all up to the end of the title was read.
    fn plain_needs(&mut self, at: At, entry: u32, title: &'a [u8], part: Range<usize>) -> bool {
        if let Some(value) = self.plain_value(title, part.clone()) {
            self.needs(at, entry, value);
            return true;
        }
        // Within a sentence it may be about something else, and somebody should look at it.
        for run in runs(title, part) {
            let named = if run.is_first { Named::Title } else { Named::Words };
            self.mentions_in(at, entry, run.ids, named);
        }
        false
    }

    /// The dependencies that begin in a part of a text and go on to its end.
    fn plain_value(&self, text: &'a [u8], part: Range<usize>) -> Option<&'a [u8]> {
        if let Some(found) = self.needs_words.find(&text[part.clone()]) {
            return Some(&text[part.start + found + NEEDS_WORDS.len()..]);
        }
        runs(text, part).find(|run| run.is_first && run.is_last).map(|run| &text[run.at..])
    }

    /// The ids in a line of a task that says nothing about it in words that are known.
    pub(super) fn named_in_line(&mut self, at: At, line: &'a [u8]) {
        let Some(entry) = self.current() else { return };
        for run in runs(line, 0..line.len()) {
            self.mentions_in(at, entry, run.ids, Named::Words);
        }
    }

    fn mentions_in(&mut self, at: At, entry: u32, inside: &'a [u8], named: Named) {
        let words = inside.split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'-'));
        for id in words.filter_map(|word| Id::parse(id::run(word))) {
            let span = Span::of(self.text, id.name);
            let is_again = |last: &Note| {
                (last.line, last.named) == (at.number, named) && last.id.in_text(self.text) == id.name
            };
            if !self.draft.notes.last().is_some_and(is_again) {
                self.draft.notes.push(Note { entry, line: at.number, id: span, named });
            }
        }
    }
}

/// What a line such as `**Depends on** T1.1` or `T1.1 이후` names: an id has to follow at once, or it is prose.
/// Nothing but the key is a value that goes on below.
pub(super) fn without_colon(content: &[u8]) -> Option<&[u8]> {
    let is_outside = |byte: &u8| matches!(byte, b'*' | b'_' | b'`' | b' ' | b'(' | b'[');
    let content = &content[content.iter().position(|byte| !is_outside(byte))?..];
    let arrows: [&[u8]; 3] = [b"<-", b"<=", "←".as_bytes()];
    let behind = Key::after_needs(content)
        .or_else(|| arrows.iter().find_map(|arrow| content.strip_prefix(*arrow)))
        .unwrap_or(content);
    let value = skip(behind);
    let follows = || value.len() < behind.len() && is_id(value) && !is_measure(value);
    if behind.len() < content.len() && (value.is_empty() || follows()) {
        return Some(value);
    }
    // A sign may also say how far the task is that stands behind it, with its title.
    if let Some(behind) = key::after_sign(content) {
        let value = skip(behind);
        let is_all = is_id(value) && ends_title(&value[ids_length(value)..]);
        return is_all.then_some(value);
    }
    let run = runs(content, 0..content.len()).next()?;
    (run.at == 0 && run.is_first && run.is_last).then_some(content)
}

/// What stands behind "depends on" and its like, or before "이후".
fn value_of(inside: &[u8]) -> Option<&[u8]> {
    let inside = trim(inside);
    if let Some(behind) = Key::after_needs(inside) {
        let value = behind.trim_ascii_start();
        if !value.is_empty() && (behind.len() > value.len() || value.starts_with(b":")) {
            return Some(value.strip_prefix(b":").unwrap_or(value));
        }
    }
    without_colon(inside).filter(|value| !value.is_empty())
}

/// The next part that is apart from the title: where it begins, what is in it, and where the title goes on.
fn group(title: &[u8], from: usize) -> Option<(usize, &[u8], usize)> {
    let (at, (open, close)) =
        memchr::memchr3_iter(b'(', b'[', "（".as_bytes()[0], &title[from..]).find_map(|at| {
            let group = GROUPS.iter().find(|(open, _)| title[from + at..].starts_with(open.as_bytes()))?;
            Some((from + at, group))
        })?;
    let inside = &title[at + open.len()..];
    let end = memchr::memmem::find(inside, close.as_bytes());
    let next = end.map_or(title.len(), |end| at + open.len() + end + close.len());
    Some((at, &inside[..end.unwrap_or(inside.len())], next))
}

/// All ids of a part of a title.
fn runs(title: &[u8], part: Range<usize>) -> impl Iterator<Item = Run<'_>> {
    let mut from = part.start;
    core::iter::from_fn(move || {
        let run = run(title, from, part.end)?;
        from = run.at + run.ids.len();
        Some(run)
    })
}

/// The next ids between two places of a title.
fn run(title: &[u8], from: usize, to: usize) -> Option<Run<'_>> {
    let at = (from..to).find(|&at| {
        matches!(title[at], b'A'..=b'Z' | b'0'..=b'9')
            && (at == 0
                || !title[at - 1].is_ascii_alphanumeric() && !matches!(title[at - 1], b'.' | b'-' | b'_')
                || title[..at].ends_with(b"<-"))
            && is_id(&title[at..])
    })?;
    let ids = &title[at..at + ids_length(&title[at..])];
    let behind = title[at + ids.len()..].trim_ascii_start();
    let last = BEHIND.iter().find_map(|word| behind.strip_prefix(word.as_bytes()));
    let rest = last.unwrap_or(behind);
    let is_last = ends_title(rest);
    Some(Run { at, ids, is_first: last.is_some() || is_behind_word(&title[..at]), is_last })
}

/// Whether nothing but parts that are apart from a title follow.
fn ends_title(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.is_empty() || GROUPS.iter().any(|(open, _)| rest.starts_with(open.as_bytes()))
}

/// Whether a text ends in a word for dependencies or an arrow.
fn is_behind_word(before: &[u8]) -> bool {
    let between = |text: &[u8]| text.iter().rposition(|byte| !is_between(*byte)).map_or(0, |at| at + 1);
    let (mut words, mut signs) = before.split_at(between(before));
    let task = TASK.iter().find(|word| !signs.is_empty() && ends_in(words, word));
    if let Some(word) = task {
        words = &words[..words.len() - word.len()];
        (words, signs) = words.split_at(between(words));
    }
    let is_arrow = words.ends_with("←".as_bytes())
        || key::ends_in_sign(words)
        || words.ends_with(b"<") && matches!(signs.first(), Some(b'-' | b'='));
    is_arrow || !signs.is_empty() && Key::ends_in_needs(words)
}

/// Without what may stand between a word for dependencies and the first id.
fn skip(text: &[u8]) -> &[u8] {
    let signs = |text: &[u8]| text.iter().position(|byte| !is_between(*byte)).unwrap_or(text.len());
    let mut value = &text[signs(text)..];
    // `Deps → T1.1`, `deps -> T1.1`.
    while let Some(behind) = value.strip_prefix("→".as_bytes()).or_else(|| value.strip_prefix(b">")) {
        value = &behind[signs(behind)..];
    }
    let begins =
        |word: &&str| value.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()));
    let behind = TASK.iter().find(|word| begins(word)).map(|word| &value[word.len()..]);
    behind.filter(|behind| signs(behind) > 0).map_or(value, |behind| &behind[signs(behind)..])
}

/// `1.5 seconds`: a number that goes on with a word.
fn is_measure(value: &[u8]) -> bool {
    value[0].is_ascii_digit() && ids_length(value) < value.len()
}

fn ends_in(text: &[u8], word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    start.is_some_and(|start| text[start..].eq_ignore_ascii_case(word.as_bytes()))
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'*' | b'_' | b'`' | b':' | b'=' | b'-' | b'[' | b'"' | b'#')
}

/// An id, or what only somebody writes who means one. `t3.medium` is a machine.
fn is_id(text: &[u8]) -> bool {
    match id::word(text) {
        // A number alone is hardly ever a task in a sentence.
        Word::Id(id) => id.form != IdForm::Number || id.name.contains(&b'.'),
        Word::Alike(word) => word[0].is_ascii_uppercase(),
        Word::Other => false,
    }
}

/// How far ids and what joins them reach.
fn ids_length(text: &[u8]) -> usize {
    const JOINTS: [&str; 14] = [",", ";", "/", "&", "+", "~", "-", "–", "…", "`", "*", "]", ".", "、"];
    const WORDS: [&str; 6] = ["and", "or", "및", "와", "과", "그리고"];
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if is_id(rest) {
            at += id::run(rest).len().max(1);
            end = at;
        } else if rest[0].is_ascii_whitespace() {
            at += 1;
        } else if let Some(joint) = JOINTS.iter().find(|joint| rest.starts_with(joint.as_bytes())) {
            at += joint.len();
        } else if let Some(word) = WORDS.iter().find(|word| rest.starts_with(word.as_bytes())) {
            at += word.len();
        } else {
            break;
        }
    }
    // Signs behind the last id belong to it only if nothing follows them.
    if at == text.len() { at } else { end }
}
