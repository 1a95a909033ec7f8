//! The keys by which something is said about a task, in English and Korean.

use ostler_agents::nearest;

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Needs,
    Owner,
    Files,
    Verify,
    Risk,
    Priority,
    Meta,
    Worktree,
    Parallel,
    Phase,
    Criteria,
}

/// The longest key that is looked at.
const KEY_BYTES_MAX: usize = 48;

/// Words that a key for dependencies can be mistyped from. Short ones are left out: too much is near to them.
const NEEDS_WORDS: [&str; 7] =
    ["depends", "depends on", "dependencies", "dependency", "requires", "blocked by", "prerequisites"];

/// The Korean words for every key.
const KOREAN: &[(Key, &str)] = &[
    (Key::Needs, "의존성"),
    (Key::Needs, "의존"),
    (Key::Owner, "담당"),
    (Key::Files, "파일"),
    (Key::Needs, "선행"),
    (Key::Needs, "선행 작업"),
    (Key::Needs, "선행작업"),
    (Key::Needs, "선행 태스크"),
    (Key::Needs, "선행태스크"),
    (Key::Needs, "선행 조건"),
    (Key::Needs, "선행조건"),
    (Key::Owner, "담당자"),
    (Key::Verify, "검증"),
    (Key::Risk, "위험"),
    (Key::Risk, "위험도"),
    (Key::Risk, "리스크"),
    (Key::Priority, "우선순위"),
    (Key::Worktree, "워크트리"),
    (Key::Parallel, "병렬"),
    (Key::Parallel, "병렬 가능"),
    (Key::Parallel, "병렬 실행"),
    (Key::Parallel, "병렬 실행 가능"),
    (Key::Phase, "단계"),
    (Key::Phase, "페이즈"),
    (Key::Criteria, "완료 조건"),
    (Key::Criteria, "인수 조건"),
    (Key::Criteria, "수용 기준"),
];

/// Every word for every key, in lower case, by its first letter.
fn words(first: u8) -> &'static [(Key, &'static str)] {
    match first {
        b'a' => &[
            (Key::Needs, "after"),
            (Key::Owner, "agent"),
            (Key::Owner, "assignee"),
            (Key::Criteria, "acceptance criteria"),
            (Key::Criteria, "acceptance"),
        ],
        b'b' => &[
            (Key::Needs, "blocked by"),
            (Key::Needs, "blocked_by"),
            (Key::Needs, "blocked-by"),
            (Key::Needs, "blocked on"),
        ],
        b'c' => &[(Key::Criteria, "criteria")],
        b'd' => &[
            (Key::Needs, "deps"),
            (Key::Needs, "dep"),
            (Key::Needs, "depends"),
            (Key::Needs, "depends on"),
            (Key::Needs, "depends_on"),
            (Key::Needs, "depends-on"),
            (Key::Needs, "dependson"),
            (Key::Needs, "dependencies"),
            (Key::Needs, "dependency"),
        ],
        b'f' => &[(Key::Files, "files"), (Key::Files, "file")],
        b'm' => &[(Key::Meta, "meta")],
        b'n' => &[(Key::Needs, "needs")],
        b'o' => &[(Key::Owner, "owner")],
        b'p' => &[
            (Key::Needs, "prerequisite"),
            (Key::Needs, "prerequisites"),
            (Key::Needs, "prereq"),
            (Key::Needs, "prereqs"),
            (Key::Needs, "predecessor"),
            (Key::Needs, "predecessors"),
            (Key::Priority, "priority"),
            (Key::Parallel, "parallel"),
            (Key::Parallel, "parallel with"),
            (Key::Phase, "phase"),
        ],
        b'r' => &[(Key::Needs, "requires"), (Key::Risk, "risk")],
        b'v' => &[(Key::Verify, "verify"), (Key::Verify, "verification")],
        b'w' => &[
            (Key::Needs, "waits for"),
            (Key::Needs, "waits on"),
            (Key::Needs, "waiting for"),
            (Key::Needs, "waiting on"),
            (Key::Needs, "wait for"),
            (Key::Needs, "wait on"),
            (Key::Worktree, "worktree"),
        ],
        128.. => KOREAN,
        _ => &[],
    }
}

/// Words that mean dependencies before a colon, and may mean anything elsewhere: "a blocked account".
fn needs_before_colon(first: u8) -> &'static [&'static str] {
    match first {
        b'b' => &["blocked", "blocker", "blockers", "builds on", "begins after"],
        b'c' => &["comes after"],
        b'd' => &["depend on", "depends upon", "dependent on"],
        b'f' => &["follows"],
        b'm' => &["must follow", "must come after"],
        b'n' => &["needs task", "needs tasks"],
        b'p' => &["preceded by", "pre-requisite", "pre-requisites", "pre-req", "pre-reqs"],
        b'r' => &["requires task", "requires tasks", "required tasks", "run after", "runs after"],
        b's' => &["start after", "starts after"],
        b'u' => &["upstream", "upstream task", "upstream tasks", "unblocked by"],
        b'w' => &["wait", "waits", "waiting"],
        128.. => &[
            "선행 과제",
            "선행과제",
            "의존 작업",
            "의존작업",
            "의존 태스크",
            "의존 관계",
            "의존관계",
            "이전 작업",
            "이전작업",
            "이전 태스크",
            "이전태스크",
            "전제",
            "전제 조건",
            "전제조건",
            "종속성",
            "블로커",
            "대기",
            "대기 작업",
            "대기 태스크",
            "대기 대상",
        ],
        _ => &[],
    }
}

/// Words that name a state where they head a column, and dependencies elsewhere.
pub(super) const STATES: [&str; 4] = ["wait", "waits", "waiting", "대기"];

/// Signs that stand before what has to be done first, as words do.
const NEEDS_SIGNS: [&str; 5] = ["⛔", "🔒", "🚫", "⏳", "⌛"];

/// What may follow a sign to have it drawn in colour.
const COLOUR: &str = "\u{fe0f}";

/// What stands behind a sign for dependencies at the beginning of a text.
pub(super) fn after_sign(text: &[u8]) -> Option<&[u8]> {
    let behind = NEEDS_SIGNS.iter().find_map(|sign| text.strip_prefix(sign.as_bytes()))?;
    Some(behind.strip_prefix(COLOUR.as_bytes()).unwrap_or(behind))
}

/// Whether a text ends in a sign for dependencies.
pub(super) fn ends_in_sign(text: &[u8]) -> bool {
    let text = text.strip_suffix(COLOUR.as_bytes()).unwrap_or(text);
    NEEDS_SIGNS.iter().any(|sign| text.ends_with(sign.as_bytes()))
}

/// What only keys for dependencies have in them. A key with one of these that is not known is an error where ids follow.
const NEEDS_STEMS: [&str; 13] = [
    "depend",
    "deps",
    "prereq",
    "pre-req",
    "predecess",
    "blocked",
    "blocker",
    "upstream",
    "require",
    "선행",
    "의존",
    "전제",
    "종속",
];

/// What turns such a key round: those who wait for this task.
const REVERSE: [&str; 7] = ["dependents", "required by", "depended", " for", "후행", "후속", "피의존"];

/// Every word for dependencies.
fn needs_words() -> impl Iterator<Item = &'static str> {
    let all = b"abdnprw\x80".iter().flat_map(|first| words(*first));
    all.filter(|(key, _)| *key == Key::Needs).map(|(_, word)| *word)
}

/// A line `key: value`, if it has that form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
}

const WIDE_COLON: &[u8] = "：".as_bytes();
const WIDE_COLON_START: u8 = WIDE_COLON[0];

/// The first colon of either kind, where a letter that begins like a wide one stands before it.
fn wide_colon(head: &[u8], from: usize) -> Option<(usize, usize)> {
    (from..head.len()).find_map(|at| match &head[at..] {
        [b':', ..] => Some((at, at + 1)),
        rest if rest.starts_with(WIDE_COLON) => Some((at, at + WIDE_COLON.len())),
        _ => None,
    })
}

/// Reads `key: value`, `**key**: value`, `**key:** value`.
pub(super) fn pair(content: &[u8]) -> Option<Pair<'_>> {
    let head = &content[..content.len().min(KEY_BYTES_MAX)];
    // A key is short, so that a plain loop has it first.
    let colon = head.iter().position(|byte| matches!(*byte, b':' | WIDE_COLON_START))?;
    let (end, behind) = if head[colon] == b':' { (colon, colon + 1) } else { wide_colon(head, colon)? };
    let key = trim(&content[..end]);
    let mut value = &content[behind..];
    // The emphasis of the key may end behind its colon.
    if content.starts_with(b"**") && !content[..end].ends_with(b"**") {
        value = value.strip_prefix(b"**").unwrap_or(value);
    }
    (!key.is_empty()).then_some(Pair { key, value: value.trim_ascii() })
}

impl Key {
    /// The key of a word, whatever its case.
    pub(super) fn of(word: &[u8]) -> Option<Key> {
        // Most words are no key: the first letter tells.
        let first = word.first()?.to_ascii_lowercase();
        let known = words(first);
        let exact = known.iter().find(|(_, known)| word == known.as_bytes());
        let found =
            exact.or_else(|| known.iter().find(|(_, known)| word.eq_ignore_ascii_case(known.as_bytes())));
        let is_needs =
            || needs_before_colon(first).iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
        let is_sign = || first >= 128 && after_sign(word).is_some_and(<[u8]>::is_empty);
        found.map(|(key, _)| *key).or_else(|| (is_needs() || is_sign()).then_some(Key::Needs))
    }

    /// What stands behind the longest word for dependencies at the beginning of a text.
    pub(super) fn after_needs(text: &[u8]) -> Option<&[u8]> {
        let first = text.first()?.to_ascii_lowercase();
        let known =
            words(first).iter().filter(|(key, _)| *key == Key::Needs).map(|(_, word)| word.as_bytes());
        let begins = |word: &&[u8]| text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
        known.filter(begins).map(<[u8]>::len).max().map(|length| &text[length..])
    }

    /// Whether a text ends in a word for dependencies.
    pub(super) fn ends_in_needs(text: &[u8]) -> bool {
        needs_words().any(|word| {
            let Some(start) = text.len().checked_sub(word.len()) else { return false };
            let is_apart = start == 0 || !text[start - 1].is_ascii_alphanumeric();
            is_apart && text[start..].eq_ignore_ascii_case(word.as_bytes())
        })
    }

    /// Whether a key that is not known can hardly mean anything but dependencies.
    pub(super) fn means_needs(word: &[u8]) -> bool {
        let Ok(word) = core::str::from_utf8(word) else { return false };
        let word = word.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
        has(&NEEDS_STEMS) && !has(&REVERSE)
    }

    /// The key for dependencies that a word was probably meant to be.
    pub(super) fn slip(word: &[u8]) -> Option<&'static str> {
        let word = core::str::from_utf8(word).ok()?.to_ascii_lowercase();
        let near = nearest(&word, NEEDS_WORDS)?;
        // What is three slips away is another word.
        (word.len().abs_diff(near.len()) <= 2).then_some(near)
    }
}

/// Whether a heading says that tasks are summed up below it.
pub(super) fn is_summary(title: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "summary",
        "overview",
        "progress",
        "status",
        "checklist",
        "index",
        "at a glance",
        "execution order",
        "요약",
        "진행",
        "현황",
        "목차",
        "체크리스트",
        "개요",
    ];
    let title = alloc::string::String::from_utf8_lossy(&title[..title.len().min(96)]).to_lowercase();
    WORDS.iter().any(|word| title.contains(word))
}

/// Without white space and emphasis at both ends.
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    let is_outside = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'*' | b'_' | b'`');
    while let Some((&first, rest)) = text.split_first()
        && is_outside(first)
    {
        text = rest;
    }
    while let Some((&last, rest)) = text.split_last()
        && is_outside(last)
    {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, key: Option<Key>, value: &str) {
        let pair = pair(line.as_bytes()).expect("a pair");
        assert_eq!((Key::of(pair.key), pair.value), (key, value.as_bytes()), "{line}");
    }

    #[test]
    fn keys_in_every_dress() {
        check("deps: [T1.1]", Some(Key::Needs), "[T1.1]");
        check("**의존성**: T1.1, T1.2", Some(Key::Needs), "T1.1, T1.2");
        check("**Depends on:** T1.1", Some(Key::Needs), "T1.1");
        check("**담당**： backend", Some(Key::Owner), "backend");
        check("Files: *.rs", Some(Key::Files), "*.rs");
        check("_Risk_: critical", Some(Key::Risk), "critical");
        check("**병렬 실행 가능**: T2.4", Some(Key::Parallel), "T2.4");
        check("**Complexity**: S", None, "S");
        assert!(pair(b"no colon here").is_none());
        assert!(pair(b": value").is_none());
    }

    #[test]
    fn keys_that_mean_dependencies() {
        for word in [
            "Prereqs",
            "Prereq",
            "Predecessors",
            "predecessor",
            "Blocked",
            "Blockers",
            "Upstream",
            "Must follow",
            "Requires tasks",
            "Waiting on",
            "선행태스크",
            "이전 작업",
            "전제 조건",
        ] {
            assert_eq!(Key::of(word.as_bytes()), Some(Key::Needs), "{word}");
        }
        for word in ["Hard dependencies", "Required", "Task prereqs", "Upstream work", "선행되는 일"] {
            assert!(Key::of(word.as_bytes()).is_none() && Key::means_needs(word.as_bytes()), "{word}");
        }
        for word in
            ["Related", "Blocks", "See", "Required by", "Prerequisite for", "Dependents", "후행 의존", "참고"]
        {
            assert!(Key::of(word.as_bytes()).is_none() && !Key::means_needs(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn slips_of_a_hand() {
        assert_eq!(Key::slip("depnds".as_bytes()), Some("depends"));
        assert_eq!(Key::slip("Dependancies".as_bytes()), Some("dependencies"));
        for other in ["related", "refs", "blocks", "next", "see also", "관련"] {
            assert_eq!(Key::slip(other.as_bytes()), None, "{other}");
        }
    }
}
