//! Lists of words and phrases, and where a request has them.

use alloc::{borrow::ToOwned, collections::BTreeSet, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{RequestText, Word, is_hangul};

/// Particles that a Korean word may carry behind itself.
const PARTICLES: [&str; 26] = [
    "을", "를", "이", "가", "은", "는", "도", "만", "로", "으로", "의", "에", "과", "와", "랑", "이랑",
    "하고", "에서", "까지", "부터", "에도", "들", "들을", "좀", "에는", "인",
];

/// Where a request has a phrase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LexiconHit {
    /// The first word.
    pub(super) first: usize,
    /// The last word.
    pub(super) last: usize,
    /// The phrase as the list has it.
    pub(super) phrase: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PhrasePart {
    /// Korean letters anywhere inside a word.
    Inside(String),
    /// Korean letters with which a word begins.
    Begins(String),
    /// Korean letters that are a whole word, but for a particle.
    Whole(String),
    /// The stem of a Latin word.
    Stem(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    source: String,
    parts: Vec<PhrasePart>,
}

/// A list of words and phrases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lexicon {
    phrases: Vec<Phrase>,
}

impl Lexicon {
    /// Where the request has a phrase of this list, in the order of its words. `nouns` may stand before a word without a space.
    pub(super) fn find(&self, text: &RequestText, nouns: &BTreeSet<String>) -> Vec<LexiconHit> {
        let mut hits = Vec::new();
        for first in 0..text.words.len() {
            for phrase in &self.phrases {
                let last = first + phrase.parts.len() - 1;
                let Some(words) = text.words.get(first..=last) else { continue };
                let is_row = words.iter().all(|word| word.clause == words[0].clause && word.counts());
                if is_row && words.iter().zip(&phrase.parts).all(|(word, part)| part.matches(word, nouns)) {
                    hits.push(LexiconHit { first, last, phrase: phrase.source.clone() });
                }
            }
        }
        hits
    }

    /// The Korean words of this list, without marks.
    pub(super) fn korean(&self) -> impl Iterator<Item = &str> {
        self.phrases.iter().filter(|phrase| phrase.parts.len() == 1).filter_map(|phrase| {
            match &phrase.parts[0] {
                PhrasePart::Begins(text) | PhrasePart::Whole(text) => Some(text.as_str()),
                PhrasePart::Inside(_) | PhrasePart::Stem(_) => None,
            }
        })
    }

    /// Adds the phrases of another list.
    pub(super) fn extend(&mut self, other: Lexicon) {
        self.phrases.extend(other.phrases);
    }
}

impl PhrasePart {
    fn matches(&self, word: &Word, nouns: &BTreeSet<String>) -> bool {
        match self {
            PhrasePart::Inside(part) => word.text.contains(part.as_str()),
            PhrasePart::Begins(part) => begins(&word.text, part, nouns),
            PhrasePart::Whole(part) => word
                .text
                .strip_prefix(part.as_str())
                .is_some_and(|rest| rest.is_empty() || PARTICLES.contains(&rest)),
            PhrasePart::Stem(part) => !word.is_korean() && stem(&word.text) == *part,
        }
    }
}

/// Whether a word begins with these letters, or has them directly after a noun that some list has: `회원가입페이지`.
fn begins(word: &str, part: &str, nouns: &BTreeSet<String>) -> bool {
    word.match_indices(part).any(|(at, _)| at == 0 || nouns.contains(&word[..at]))
}

/// The form in which the forms of a Latin word are the same: "adding" and "adds" are "add".
pub(super) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    if word.len() < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 2) {
        stem = rest.to_owned() + "y";
    } else if let Some(rest) = word
        .strip_suffix("es")
        .filter(|rest| rest.ends_with(['x', 'z', 's']) || rest.ends_with("ch") || rest.ends_with("sh"))
    {
        rest.clone_into(&mut stem);
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is") {
        stem.pop();
    }
    let endings = ["ing", "ed"];
    if let Some(ending) = endings.iter().find(|it| stem.ends_with(*it) && stem.len() > it.len() + 2) {
        stem.truncate(stem.len() - ending.len());
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let mut last_two = stem.chars().rev();
    if let (Some(last), Some(before)) = (last_two.next(), last_two.next())
        && last == before
        && stem.len() > 3
    {
        stem.pop();
    }
    stem
}

impl From<Vec<String>> for Lexicon {
    fn from(sources: Vec<String>) -> Lexicon {
        let phrases = sources.into_iter().filter_map(|source| {
            let parts = parts(&source);
            (!parts.is_empty()).then_some(Phrase { source, parts })
        });
        Lexicon { phrases: phrases.collect() }
    }
}

/// The parts of a phrase. Every part but the last one is a whole word.
fn parts(source: &str) -> Vec<PhrasePart> {
    let read = RequestText::read(source.trim_start_matches('~'));
    let count = read.words.len();
    let part = |(at, word): (usize, &Word)| {
        if !word.text.starts_with(is_hangul) {
            return PhrasePart::Stem(stem(&word.text));
        }
        let is_last = at + 1 == count;
        match (source.starts_with('~') && at == 0, is_last && !source.ends_with(' ')) {
            (true, _) => PhrasePart::Inside(word.text.clone()),
            (false, true) => PhrasePart::Begins(word.text.clone()),
            (false, false) => PhrasePart::Whole(word.text.clone()),
        }
    };
    read.words.iter().enumerate().map(part).collect()
}

impl<'de> Deserialize<'de> for Lexicon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Lexicon::from(Vec::<String>::deserialize(deserializer)?))
    }
}

impl Serialize for Lexicon {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.phrases.iter().map(|phrase| phrase.source.clone()))
    }
}
