//! The paths that a task declares. Two tasks that change the same file must not run together, so what joins several paths
//! has to be known, and what may be several counts as each of them.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use super::needs::is_nothing;

/// How far braces are looked at for their end.
const BRACES_BYTES_MAX: usize = 1024;

/// What parts one path from the next, wherever it stands.
const MARKS: [&str; 8] = ["→", "->", "=>", ",", ";", "、", "，", "；"];

/// Words that join two paths, as they join two dependencies.
const JOINTS: [&str; 8] = ["and", "or", "&", "+", "|", "·", "및", "그리고"];

/// Words that do so behind a path too.
const PARTICLES: [&str; 4] = ["와", "과", "및", "그리고"];

/// The paths of a value: `a` → `b`; a, b; a and b.
pub(super) fn paths(value: &str) -> Vec<String> {
    let value = value.trim();
    // One path, as most values are.
    if value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-' | b'*'))
    {
        return one(value).into_iter().collect();
    }
    let value = without_brackets(value);
    let is_quoted = value.contains('`');
    let mut found = Vec::new();
    let mut parts = value.split('`').enumerate().peekable();
    while let Some((at, part)) = parts.next() {
        // What is quoted is one path, or several with commas; a quotation that never ends is none.
        if at % 2 == 1 && parts.peek().is_some() {
            found.extend(split(part, &[", ", "; "]).into_iter().filter_map(|path| one(&path)));
        } else {
            plain(part, is_quoted, &mut found);
        }
    }
    found
}

/// Paths outside of backticks.
fn plain(text: &str, is_quoted: bool, found: &mut Vec<String>) {
    for item in split(&without_notes(text), &MARKS).iter().flat_map(|item| joined(item)) {
        let words: Vec<&str> = item.split_whitespace().collect();
        // Beside what is quoted stand words, and now and then a path.
        if !is_quoted || (words.len() == 1 && is_alike(words[0])) {
            found.extend(one(&item));
        }
        // It may be a path with white space in it, or several, or one and a word about it: all of them count.
        if words.len() > 1 {
            found.extend(words.into_iter().filter(|word| is_alike(word)).filter_map(one));
        }
    }
}

/// A path without what stands around it; none if it says that there is none.
fn one(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'']);
    let sentence = text.strip_suffix('.').filter(|before| before.ends_with(char::is_alphanumeric));
    let path = sentence.unwrap_or(text);
    let is_none = is_nothing(path.as_bytes()) || path.eq_ignore_ascii_case("n/a");
    (!is_none).then(|| path.to_string())
}

/// Whether a word can hardly be anything but a path.
fn is_alike(word: &str) -> bool {
    let is_name = |at: usize| {
        let (before, behind) = (&word[..at], &word[at + 1..]);
        before.ends_with(char::is_alphanumeric) && behind.starts_with(char::is_alphanumeric)
    };
    // A part of braces with white space in them is none.
    if word.matches('{').count() != word.matches('}').count() {
        return false;
    }
    word.len() > 1 && word.contains(['/', '*']) || word.match_indices('.').any(|(at, _)| is_name(at))
}

/// `[a, b]`, without the brackets if they belong together: `[id]/a.ts` is a path.
fn without_brackets(value: &str) -> &str {
    let Some(inside) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) else {
        return value;
    };
    let mut depth = 1_usize;
    let is_pair = inside.bytes().all(|byte| {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        depth > 0
    });
    if is_pair { inside } else { value }
}

/// Without what is said in parentheses behind a path; `app/(auth)/a.ts` and `(auth)/a.ts` are paths.
fn without_notes(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(open) = rest.find(['(', '（']) {
        let (before, note) = rest.split_at(open);
        kept.push_str(before);
        let length = note_length(note);
        let behind = &note[length..];
        let is_note = (before.is_empty() || before.ends_with(char::is_whitespace) || note.starts_with('（'))
            && !behind.starts_with('/');
        kept.push_str(if is_note { " " } else { &note[..length] });
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

/// How far a parenthesis reaches: to the one that closes it, or to the end.
fn note_length(note: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in note.char_indices() {
        match letter {
            '(' | '（' => depth += 1,
            ')' | '）' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + letter.len_utf8();
        }
    }
    note.len()
}

/// Cut at each of these marks, but not in braces: `{lib,src}/a.rs` is one path.
fn split(text: &str, marks: &[&str]) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let mark = marks.iter().find(|mark| rest.starts_with(**mark));
        let braces = if letter == '{' { braces(rest) } else { 0 };
        let taken = mark.map_or_else(|| braces.max(letter.len_utf8()), |mark| mark.len());
        if mark.is_some() {
            items.push(mem::take(&mut item));
        } else {
            item.push_str(&rest[..taken]);
        }
        at += taken;
    }
    items.push(item);
    items
}

/// How far the braces at the beginning of a text reach; nothing if they are never closed.
fn braces(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(BRACES_BYTES_MAX) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    0
}

/// Cut where words join two paths.
fn joined(item: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item_so_far = String::new();
    let mut words = item.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if JOINTS.iter().chain(&PARTICLES).any(|joint| word.eq_ignore_ascii_case(joint)) {
            items.push(mem::take(&mut item_so_far));
            continue;
        }
        let particle = PARTICLES.iter().find_map(|it| word.strip_suffix(it)).filter(|path| {
            // Behind a word of the same letters it may be the end of that word.
            words.peek().is_some() && path.ends_with(|letter: char| letter.is_ascii())
        });
        if !item_so_far.is_empty() {
            item_so_far.push(' ');
        }
        item_so_far.push_str(particle.unwrap_or(word));
        if particle.is_some() {
            items.push(mem::take(&mut item_so_far));
        }
    }
    items.push(item_so_far);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &[&str]) {
        assert_eq!(paths(value), expected, "{value}");
    }

    #[test]
    fn one_path() {
        check("src/a.rs", &["src/a.rs"]);
        check("`docs/my notes.md`", &["docs/my notes.md"]);
        check("{lib,src}/a.rs", &["{lib,src}/a.rs"]);
        check("src/{a, b}.rs", &["src/{a, b}.rs"]);
        check("app/(auth)/a.ts", &["app/(auth)/a.ts"]);
        check("[id]/a.ts", &["[id]/a.ts"]);
        check("src/a.rs.", &["src/a.rs"]);
        check("my notes", &["my notes"]);
        check("docs/결과", &["docs/결과"]);
        check("`docs/a and b.md`", &["docs/a and b.md"]);
        check("src/a.rs (new, see docs/x.md)", &["src/a.rs"]);
    }

    #[test]
    fn several() {
        let both = ["src/b.rs", "src/c.rs"];
        for value in [
            "src/b.rs, src/c.rs",
            "src/b.rs,src/c.rs",
            "src/b.rs; src/c.rs",
            "src/b.rs and src/c.rs",
            "src/b.rs, and src/c.rs",
            "src/b.rs AND src/c.rs",
            "src/b.rs or src/c.rs",
            "src/b.rs & src/c.rs",
            "src/b.rs + src/c.rs",
            "src/b.rs → src/c.rs",
            "src/b.rs -> src/c.rs",
            "src/b.rs 및 src/c.rs",
            "src/b.rs 그리고 src/c.rs",
            "src/b.rs와 src/c.rs",
            "src/b.rs과 src/c.rs",
            "src/b.rs、src/c.rs",
            "[src/b.rs, src/c.rs]",
            "[\"src/b.rs\", \"src/c.rs\"]",
            "`src/b.rs` and `src/c.rs`",
            "`src/b.rs`, src/c.rs",
            "src/b.rs and `src/c.rs`",
            "`src/b.rs, src/c.rs`",
            "`src/b.rs` (new), and then src/c.rs",
            "src/b.rs (new) and src/c.rs (old)",
            "src/b.rs（새 파일） 및 src/c.rs",
        ] {
            check(value, &both);
        }
        check("{lib,src}/a.rs, docs/x.md", &["{lib,src}/a.rs", "docs/x.md"]);
        check("Makefile and Dockerfile", &["Makefile", "Dockerfile"]);
        check("src/{a, src/b.rs", &["src/{a", "src/b.rs"]);
    }

    #[test]
    fn what_may_be_several_counts_as_each() {
        check("src/b.rs src/c.rs", &["src/b.rs src/c.rs", "src/b.rs", "src/c.rs"]);
        check("src/b.rs - the page", &["src/b.rs - the page", "src/b.rs"]);
        check("docs/결과 정리.md", &["docs/결과 정리.md", "docs/결과", "정리.md"]);
    }

    #[test]
    fn nothing() {
        for value in ["", "-", "none", "None", "없음", "n/a", "[]", "``", "–"] {
            check(value, &[]);
        }
    }
}
