//! Marks in a request what is not wanted, and which sentences ask for an answer only.

use super::text::{RequestText, Sentence, Word, WordForm};

/// Korean words after which the words before them are not wanted.
const NEGATES_BEFORE: [&str; 22] = [
    "말고",
    "말아",
    "마세요",
    "마라",
    "마요",
    "빼고",
    "빼놓고",
    "제외",
    "없이",
    "아니라",
    "아니고",
    "대신",
    "마",
    "말고는",
    "말것",
    "말 것",
    "금지",
    "필요없",
    "않아도",
    "않고",
    "않게",
    "아닌",
];

/// English words after which the words that follow are not wanted.
const NEGATES_AFTER: [&str; 12] =
    ["don't", "dont", "without", "except", "never", "avoid", "excluding", "skip", "no", "not", "nor", "omit"];

/// Subjects: "users don't see it" tells of a fault, "don't touch it" forbids something.
const SUBJECTS_END: [&str; 7] = ["please", "but", "and", "just", "also", "so", "then"];

/// Words that end what a negation covers.
const NEGATION_ENDS: [&str; 8] = ["but", "just", "only", "and", "instead", "then", "use", "add"];

/// The most words that one negation covers.
const NEGATED_MAX: usize = 6;

/// Verbs whose negation tells of a fault: "does not work".
const FAULT_VERBS: [&str; 4] = ["does", "do", "did", "is"];

pub(super) fn mark_negated(text: &mut RequestText) {
    for at in 0..text.words.len() {
        let word = &text.words[at];
        if word.form != WordForm::Plain {
            continue;
        }
        if word.is_korean() {
            if negates_before(&text.words, at) {
                mark_before(&mut text.words, at);
            }
        } else if negates_after(&text.words, at) {
            mark_after(&mut text.words, at);
        } else if ["instead", "rather"].contains(&word.text.as_str())
            && follows(&text.words, at, &["of", "than"])
        {
            mark_after(&mut text.words, at + 1);
        }
    }
}

fn negates_before(words: &[Word], at: usize) -> bool {
    let text = words[at].text.as_str();
    if at == 0 {
        return false;
    }
    // "아닌데" and "하지 않아요" tell of a fault; "필요 없" and "안 해도" forbid.
    let is_needless = words[at - 1].text == "필요" && text.starts_with('없');
    let is_free = words[at - 1].text == "안" && text.starts_with("해도");
    let is_plain = NEGATES_BEFORE.iter().any(|it| match *it {
        "마" => text == "마" || text == "말",
        "않게" | "아닌" => text == *it,
        it => text.starts_with(it),
    });
    // "실패하지 않게 고쳐줘" wants something; only "하지 않고" leaves something out.
    let is_suffix = ["하지마", "지마세요", "지말고", "지마", "지말아"].iter().any(|it| text.ends_with(it))
        && text.chars().count() > 2;
    is_needless || is_free || is_suffix || (is_plain && text != "않게" && text != "아닌")
}

/// Marks the phrase before a Korean negation: back to the clause's beginning, or to a word that closes another phrase.
fn mark_before(words: &mut [Word], at: usize) {
    let clause = words[at].clause;
    let own =
        ["하지마", "지마세요", "지말고", "지마", "지말아"].iter().any(|it| words[at].text.ends_with(it))
            && words[at].text.chars().count() > 2;
    words[at].is_negated = true;
    let mut from = at;
    for _ in 0..NEGATED_MAX {
        let Some(before) = from.checked_sub(1).filter(|it| words[*it].clause == clause) else { break };
        if before + 1 < at && closes_phrase(&words[before].text) && !own {
            break;
        }
        words[before].is_negated = true;
        from = before;
    }
}

/// Whether a Korean word ends a phrase that a later negation does not cover: a verb that goes on, or a subject.
fn closes_phrase(text: &str) -> bool {
    ["하고", "해서", "그리고", "하되", "하면서", "지만", "는데", "고", "만", "면"]
        .iter()
        .any(|it| text.ends_with(it))
        && text.chars().count() > 1
}

fn negates_after(words: &[Word], at: usize) -> bool {
    let text = words[at].text.as_str();
    let before = at
        .checked_sub(1)
        .filter(|it| words[*it].clause == words[at].clause)
        .map(|it| words[it].text.as_str());
    match text {
        "do" => follows(words, at, &["not"]) && is_start(before),
        "don't" | "dont" | "never" => is_start(before),
        "not" => {
            before.is_none_or(|it| !FAULT_VERBS.contains(&it) && (it == "but" || it == "and"))
                && !follows(words, at, &["working", "only", "work", "found", "just", "sure"])
        }
        "no" => {
            follows(words, at, &["need"])
                || follows(words, at, &["tests"])
                || follows(words, at, &["new"])
                || follows(words, at, &["changes"])
                || before == Some("with")
        }
        "skip" | "omit" | "avoid" => is_start(before) && at > 0,
        it => NEGATES_AFTER.contains(&it),
    }
}

/// Whether a negation at this place forbids: nothing but a word like "please" is before it in its clause.
fn is_start(before: Option<&str>) -> bool {
    before.is_none_or(|it| SUBJECTS_END.contains(&it))
}

fn follows(words: &[Word], at: usize, wanted: &[&str]) -> bool {
    words.get(at + 1).is_some_and(|it| wanted.contains(&it.text.as_str()))
}

fn mark_after(words: &mut [Word], at: usize) {
    let (clause, sentence) = (words[at].clause, words[at].sentence);
    words[at].is_negated = true;
    for word in words.iter_mut().skip(at + 1).take(NEGATED_MAX) {
        let is_end =
            NEGATION_ENDS.contains(&word.text.as_str()) || word.clause != clause || word.sentence != sentence;
        if is_end || word.is_korean() {
            break;
        }
        word.is_negated = true;
    }
}

/// Korean endings that ask for work, also with a question mark.
const ASKS_FOR_WORK: [&str; 34] = [
    "해줘",
    "해주세요",
    "해줄래",
    "해주라",
    "줄래",
    "주실래요",
    "주세요",
    "주실",
    "해라",
    "하세요",
    "하자",
    "부탁",
    "만들어",
    "고쳐",
    "바꿔줘",
    "해봐",
    "해놔",
    "달라",
    "줘",
    "줘요",
    "주라",
    "줄 수",
    "해야",
    "바랍니다",
    "바람",
    "해둬",
    "시켜",
    "하십시오",
    "합시다",
    "보자",
    "필요해",
    "필요합니다",
    "싶어",
    "싶습니다",
];

/// Korean endings and words that ask for an answer.
const ASKS_FOR_ANSWER: [&str; 40] = [
    "뭐야",
    "뭐지",
    "뭔가요",
    "뭐예요",
    "뭔지",
    "뭐가",
    "뭘까",
    "무엇",
    "무슨",
    "인가요",
    "인가",
    "나요",
    "은가요",
    "는가요",
    "까요",
    "을까",
    "일까",
    "할까",
    "될까",
    "습니까",
    "ㅂ니까",
    "입니까",
    "합니까",
    "됩니까",
    "왜",
    "어떻게",
    "어디",
    "언제",
    "누가",
    "어느",
    "어떤",
    "얼마",
    "몇",
    "건가",
    "거야",
    "건지",
    "는지",
    "던가",
    "냐",
    "니?",
];

/// Verbs of answering: what is asked for is an answer, not work.
const ANSWER_VERBS: [&str; 13] = [
    "알려",
    "설명",
    "가르쳐",
    "말해",
    "대답",
    "답해",
    "궁금",
    "이해",
    "알고",
    "보고",
    "요약",
    "비교",
    "추천",
];

/// English words that begin a question.
const OPENERS: [&str; 14] = [
    "what", "what's", "whats", "why", "how", "how's", "which", "who", "where", "where's", "when", "whose",
    "what're", "whether",
];

const AUXILIARIES: [&str; 21] = [
    "is",
    "are",
    "does",
    "do",
    "did",
    "was",
    "were",
    "has",
    "have",
    "should",
    "can",
    "could",
    "would",
    "will",
    "may",
    "might",
    "isn't",
    "aren't",
    "doesn't",
    "shouldn't",
    "am",
];

const SECOND_PERSON: [&str; 4] = ["you", "we", "u", "someone"];

/// Verbs after "can you" that ask for an answer.
const TELLING: [&str; 11] = [
    "explain",
    "tell",
    "describe",
    "clarify",
    "summarize",
    "compare",
    "help",
    "see",
    "show",
    "teach",
    "remind",
];

pub(super) fn mark_questions(text: &mut RequestText) {
    for at in 0..text.sentences.len() {
        let sentence = &text.sentences[at];
        let words = &text.words[sentence.words.clone()];
        let is_question = is_question(words, sentence);
        text.sentences[at].is_question = is_question;
    }
}

fn is_question(words: &[Word], sentence: &Sentence) -> bool {
    let Some(last) = words.iter().rev().find(|word| word.form == WordForm::Plain) else {
        return sentence.has_mark;
    };
    if last.is_korean() {
        is_korean_question(words, last, sentence.has_mark)
    } else {
        is_english_question(words, sentence.has_mark)
    }
}

fn is_korean_question(words: &[Word], last: &Word, has_mark: bool) -> bool {
    let is_any = |list: &[&str]| {
        words.iter().any(|word| word.form == WordForm::Plain && list.iter().any(|it| word.text.contains(it)))
    };
    let before = words.iter().rev().filter(|word| word.form == WordForm::Plain).nth(1);
    let asks_for_work = ASKS_FOR_WORK
        .iter()
        .any(|it| last.text.ends_with(it) || last.text.contains("해줄") || last.text.contains("해 줄"))
        || (last.text.starts_with("있")
            && before.is_some_and(|it| it.text == "수")
            && is_any(&["줄", "주실"]));
    if asks_for_work {
        // "왜 느린지 알려줘" wants an answer, "왜 느린지 찾아서 고쳐줘" wants work: the verbs decide, not this.
        return false;
    }
    // "에러가 나요" tells something, "있나요" asks.
    let tells = !has_mark && last.text == "나요";
    let asks = !tells && ASKS_FOR_ANSWER.iter().any(|it| last.text.ends_with(it))
        || ANSWER_VERBS.iter().any(|it| last.text.ends_with(it));
    asks || has_mark
}

fn is_english_question(words: &[Word], has_mark: bool) -> bool {
    let mut plain = words.iter().filter(|word| word.form == WordForm::Plain).map(|word| word.text.as_str());
    let mut first = plain.next().unwrap_or_default();
    while [
        "hey", "hi", "hello", "please", "so", "and", "ok", "okay", "but", "also", "well", "btw", "quick",
        "question", "um",
    ]
    .contains(&first)
    {
        match plain.next() {
            Some(next) => first = next,
            None => return has_mark,
        }
    }
    let second = plain.next().unwrap_or_default();
    let third = plain.next().unwrap_or_default();
    if OPENERS.contains(&first) {
        // "How about adding …", "why don't we add …" propose work; so does "when X happens, do Y".
        let proposes = (first == "how" && second == "about")
            || (first == "what" && (second == "about" || second == "if"))
            || (first == "why" && ["don't", "not"].contains(&second));
        return !proposes && (has_mark || !["when", "where", "which"].contains(&first));
    }
    if AUXILIARIES.contains(&first) {
        let asks_for_work = ["can", "could", "would", "will"].contains(&first)
            && SECOND_PERSON.contains(&second)
            && !TELLING.contains(&third);
        let is_imperative = first == "do"
            && !["we", "you", "i", "they", "the", "these", "those", "our", "any", "users"].contains(&second);
        return !asks_for_work && !is_imperative && (has_mark || first != "have");
    }
    if ["let's", "lets", "i", "we", "let"].contains(&first) {
        return has_mark && !["want", "need", "like", "should", "add", "build"].contains(&second);
    }
    has_mark && !is_imperative_verb(first)
}

/// Whether a question mark after an order leaves it an order: "add login?"
fn is_imperative_verb(first: &str) -> bool {
    [
        "add",
        "fix",
        "build",
        "create",
        "make",
        "implement",
        "remove",
        "refactor",
        "write",
        "review",
        "update",
        "change",
        "delete",
        "rename",
    ]
    .contains(&first)
}
