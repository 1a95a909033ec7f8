//! Words of a skill, and where a request has them.
//!
//! Korean letters match where a word begins with them, Latin letters as a whole word in the singular or plural. Several
//! words match in a row. `_` stands for one word, whatever it is.

use std::ops::RangeInclusive;

use ostler_engine::dispatch::{RequestText, Word, WordForm};

/// A place of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhraseHit {
    pub(crate) words: RangeInclusive<usize>,
    /// What stands for `_`, without particles.
    pub(crate) blank: Option<String>,
}

enum Part {
    Blank,
    Word(Word),
}

/// Korean particles and endings that a noun may carry.
const PARTICLES: [&str; 18] = [
    "으로", "에서", "에게", "까지", "부터", "하고", "이랑", "을", "를", "이", "가", "은", "는", "의", "에",
    "과", "와", "로",
];

/// Words that name nothing, and so cannot stand for `_`.
const EMPTY: [&str; 28] = [
    "a",
    "an",
    "the",
    "with",
    "for",
    "to",
    "of",
    "and",
    "or",
    "new",
    "some",
    "add",
    "build",
    "make",
    "create",
    "implement",
    "please",
    "our",
    "my",
    "기능",
    "새",
    "새로운",
    "간단한",
    "좀",
    "하나",
    "전체",
    "이",
    "그",
];

/// Every place of a request with these words.
pub(crate) fn find(text: &RequestText, phrase: &str) -> Vec<PhraseHit> {
    let parts = parts(phrase);
    let mut hits = Vec::new();
    if parts.is_empty() {
        return hits;
    }
    for first in 0..text.words.len() {
        let Some(words) = text.words.get(first..first + parts.len()) else { break };
        let is_row = words.iter().all(|word| word.clause == words[0].clause && is_read(word));
        if !is_row || !words.iter().zip(&parts).all(|(word, part)| part.matches(word)) {
            continue;
        }
        let blank = words.iter().zip(&parts).find(|(_, part)| matches!(part, Part::Blank));
        let blank = blank.map(|(word, _)| without_particle(&word.text).to_owned());
        hits.push(PhraseHit { words: first..=first + parts.len() - 1, blank });
    }
    hits
}

/// Names of services are often written in quotation marks; code and files say something else.
fn is_read(word: &Word) -> bool {
    matches!(word.form, WordForm::Plain | WordForm::Quoted) && !word.is_negated
}

fn parts(phrase: &str) -> Vec<Part> {
    let read = |piece: &str| RequestText::read(piece).words.into_iter().map(Part::Word).collect::<Vec<_>>();
    phrase
        .split_whitespace()
        .flat_map(|piece| if piece == "_" { vec![Part::Blank] } else { read(piece) })
        .collect()
}

impl Part {
    fn matches(&self, word: &Word) -> bool {
        match self {
            Part::Blank => {
                !EMPTY.contains(&word.text.as_str()) && !EMPTY.contains(&without_particle(&word.text))
            }
            Part::Word(part) if part.is_korean() => word.text.starts_with(part.text.as_str()),
            Part::Word(part) => singular(&word.text) == singular(&part.text),
        }
    }
}

fn without_particle(word: &str) -> &str {
    let particle = PARTICLES.iter().find(|it| word.ends_with(*it) && word.len() > it.len() + 3);
    particle.map_or(word, |it| &word[..word.len() - it.len()])
}

fn singular(word: &str) -> &str {
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    if is_plural { &word[..word.len() - 1] } else { word }
}
