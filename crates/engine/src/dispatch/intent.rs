//! Decides what kind of work a request asks for: by its main verbs, by what is said to be wrong, and by what it is about.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    lexicon::{Lexicon, LexiconHit},
    role::Role,
    rules::DispatchRules,
    text::{RequestText, Word, WordForm},
};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Something new.
    Feature,
    /// A fault mended.
    Bug,
    /// The same behaviour in a better shape.
    Refactor,
    /// An opinion about code that is there.
    Review,
    /// Tests written or run.
    Tests,
    /// An answer.
    Research,
    /// Anything else.
    Other,
}

/// What a verb asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VerbKind {
    Feature,
    Bug,
    Refactor,
    Review,
    Look,
    Research,
    Run,
    Change,
    Chore,
}

/// A verb that a request asks for with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MainVerb {
    pub(super) kind: VerbKind,
    pub(super) at: usize,
    pub(super) last: usize,
    /// Whether the request asks for it only if something is the case: "문제 있으면 고쳐줘".
    is_conditional: bool,
}

/// Everything that the lists find in a request.
pub(super) struct Reading<'a> {
    pub(super) text: &'a RequestText,
    pub(super) rules: &'a DispatchRules,
    pub(super) verbs: Vec<MainVerb>,
    pub(super) symptom_nouns: Vec<LexiconHit>,
    pub(super) symptom_states: Vec<LexiconHit>,
    pub(super) tests: Vec<LexiconHit>,
    pub(super) documents: Vec<LexiconHit>,
    /// Parts of the product, with the role that works on each.
    pub(super) areas: Vec<(Role, LexiconHit)>,
    /// Words that belong to an exception, and count for nothing.
    excepted: BTreeSet<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn of(text: &'a RequestText, rules: &'a DispatchRules) -> Reading<'a> {
        let excepted = rules
            .exceptions
            .find(text, &rules.nouns)
            .into_iter()
            .flat_map(|hit| hit.first..=hit.last)
            .collect();
        let mut reading = Reading {
            text,
            rules,
            verbs: Vec::new(),
            symptom_nouns: Vec::new(),
            symptom_states: Vec::new(),
            tests: Vec::new(),
            documents: Vec::new(),
            areas: Vec::new(),
            excepted,
        };
        reading.symptom_nouns = reading.hits(&rules.symptoms.nouns);
        reading.symptom_states = reading.hits(&rules.symptoms.states);
        reading.tests = reading.hits(&rules.size.tests);
        reading.documents = reading.hits(&rules.documents);
        for (role, list) in &rules.areas {
            reading.areas.extend(reading.hits(list).into_iter().map(|hit| (*role, hit)));
        }
        reading.verbs = reading.main_verbs();
        reading
    }

    /// Where the request has a phrase of a list, exceptions left out.
    pub(super) fn hits(&self, lexicon: &Lexicon) -> Vec<LexiconHit> {
        let mut hits = lexicon.find(self.text, &self.rules.nouns);
        hits.retain(|hit| !(hit.first..=hit.last).any(|at| self.excepted.contains(&at)));
        hits
    }

    /// Whether the request has a phrase of a list.
    pub(super) fn has(&self, lexicon: &Lexicon) -> bool {
        !self.hits(lexicon).is_empty()
    }

    /// Whether a sentence asks for work.
    pub(super) fn asks_for_work(&self) -> bool {
        self.text
            .sentences
            .iter()
            .any(|it| !it.is_question && self.text.words[it.words.clone()].iter().any(counts_or_names))
    }

    pub(super) fn verb_of(&self, kind: VerbKind) -> bool {
        self.verbs.iter().any(|verb| verb.kind == kind && !verb.is_conditional)
    }

    fn main_verbs(&self) -> Vec<MainVerb> {
        let verbs = &self.rules.verbs;
        let lists = [
            (VerbKind::Bug, &verbs.bug),
            (VerbKind::Review, &verbs.review),
            (VerbKind::Refactor, &verbs.refactor),
            (VerbKind::Research, &verbs.research),
            (VerbKind::Feature, &verbs.feature),
            (VerbKind::Run, &verbs.run),
            (VerbKind::Chore, &verbs.chore),
            (VerbKind::Change, &verbs.change),
            (VerbKind::Look, &verbs.look),
        ];
        let mut all: Vec<MainVerb> = Vec::new();
        for (kind, list) in lists {
            all.extend(self.hits(list).into_iter().map(|hit| MainVerb {
                kind,
                at: hit.first,
                last: hit.last,
                is_conditional: false,
            }));
        }
        all.sort_by_key(|verb| (verb.at, core::cmp::Reverse(verb.last)));
        all.dedup_by_key(|verb| verb.at);
        let mut main = Vec::new();
        for sentence in self.text.sentences.iter().filter(|it| !it.is_question) {
            let of_sentence: Vec<MainVerb> =
                all.iter().copied().filter(|verb| sentence.words.contains(&verb.at)).collect();
            main.extend(self.korean_main(&of_sentence));
            main.extend(self.latin_main(sentence.words.start, &of_sentence));
        }
        main
    }

    /// Korean: the last verb of the sentence, and each that goes on ("고치고", "구현해서").
    fn korean_main(&self, verbs: &[MainVerb]) -> Vec<MainVerb> {
        let is_done = |verb: &MainVerb| {
            self.text.words.get(verb.last + 1).is_some_and(|next| {
                ["해", "하", "부탁", "시켜", "좀"].iter().any(|it| next.text.starts_with(it))
            })
        };
        let is_korean = |verb: &MainVerb| self.text.words[verb.at].is_korean() || is_done(verb);
        let korean: Vec<MainVerb> = verbs.iter().copied().filter(is_korean).collect();
        let goes_on = |verb: &MainVerb| {
            let text = self.text.words[verb.last].text.as_str();
            ["고", "서", "며", "뒤", "후", "다음", "되", "면서", "한"].iter().any(|it| text.ends_with(it))
                || self.text.words.get(verb.last + 1).is_some_and(|next| {
                    ["후", "뒤", "다음", "및", "그리고", "하고", "후에"].iter().any(|it| next.text == *it)
                        || next.clause != self.text.words[verb.last].clause
                })
        };
        let mut main: Vec<MainVerb> = Vec::new();
        for (index, verb) in korean.iter().enumerate() {
            let is_last = index + 1 == korean.len();
            let attributive = self.is_attributive(verb);
            if is_last || (goes_on(verb) && !attributive) {
                main.push(MainVerb { is_conditional: self.is_conditional(verb), ..*verb });
            }
        }
        main
    }

    /// "구현한 코드": the verb describes a noun and asks for nothing.
    fn is_attributive(&self, verb: &MainVerb) -> bool {
        let text = self.text.words[verb.last].text.as_str();
        let next_is_time = self
            .text
            .words
            .get(verb.last + 1)
            .is_some_and(|next| ["뒤", "후", "다음", "후에", "뒤에"].contains(&next.text.as_str()));
        ["한", "된", "하는", "되는", "할", "인"].iter().any(|it| text.ends_with(it)) && !next_is_time
    }

    fn is_conditional(&self, verb: &MainVerb) -> bool {
        let clause = self.text.words[verb.at].clause;
        let before = self.text.words[..verb.at]
            .iter()
            .rev()
            .take(4)
            .filter(|word| word.clause == clause || word.clause + 1 == clause);
        before.into_iter().any(|word| {
            ["있으면", "있다면", "되면", "필요하면", "if"].iter().any(|it| word.text.ends_with(it))
        })
    }

    /// Other languages: the first verb of the sentence, and each directly after "and", "then" or a comma.
    fn latin_main(&self, from: usize, verbs: &[MainVerb]) -> Vec<MainVerb> {
        let mut main: Vec<MainVerb> = Vec::new();
        for verb in verbs.iter().filter(|verb| !self.text.words[verb.at].is_korean()) {
            let word = &self.text.words[verb.at];
            let before: Vec<&Word> = self.text.words[from..verb.at]
                .iter()
                .filter(|it| it.clause == word.clause && !it.is_negated)
                .collect();
            let gives = matches!(verb.kind, VerbKind::Review | VerbKind::Research) && before.len() <= 5;
            let opens = |text: &str| OPENERS.contains(&text) || (gives && GIVING.contains(&text));
            let is_first = before.iter().all(|it| !it.is_korean() && opens(&it.text));
            let joins =
                before.last().is_some_and(|it| ["and", "then", "also", "to"].contains(&it.text.as_str()));
            let after_want = before.last().is_some_and(|it| it.text == "to")
                && before.iter().rev().nth(1).is_some_and(|it| {
                    ["want", "need", "like", "have", "try", "going", "us", "you", "able"]
                        .contains(&it.text.as_str())
                });
            let goes_on = joins && !main.is_empty() && before.last().is_some_and(|it| it.text != "to");
            if is_first || after_want || goes_on {
                // "Make sure", "take a look" are one verb of two words; the longer one was kept.
                main.push(MainVerb { is_conditional: self.is_conditional(verb), ..*verb });
            }
        }
        // "I want a login page": the wish is the verb only if no other is.
        if main.len() > 1 {
            main.retain(|verb| !["want", "need"].contains(&self.text.words[verb.at].text.as_str()));
        }
        main
    }

    /// Whether what a verb is about is tests.
    pub(super) fn is_about_tests(&self, verb: &MainVerb) -> bool {
        self.object_has(verb, &self.tests) && !self.object_has(verb, &self.documents)
    }

    /// Whether what a verb is about is a document.
    pub(super) fn is_about_documents(&self, verb: &MainVerb) -> bool {
        let is_file = |word: &Word| {
            word.form == WordForm::File
                && [".md", ".txt", ".rst", ".adoc"].iter().any(|it| word.text.ends_with(it))
        };
        self.object_has(verb, &self.documents) || self.object_words(verb).any(is_file)
    }

    fn object_has(&self, verb: &MainVerb, hits: &[LexiconHit]) -> bool {
        let range = self.object(verb);
        // In "test results dashboard" the last word says what it is.
        let ends_elsewhere = |hit: &LexiconHit| {
            self.areas.iter().any(|(_, it)| it.first > hit.last && range.contains(&it.first))
        };
        hits.iter().any(|hit| range.contains(&hit.first) && !ends_elsewhere(hit))
    }

    fn object_words(&self, verb: &MainVerb) -> impl Iterator<Item = &Word> {
        let words = &self.text.words;
        self.object(verb).filter_map(move |at| words.get(at))
    }

    /// The words that a verb is about: in Korean those before it, up to another verb; elsewhere those after it, up to a preposition.
    fn object(&self, verb: &MainVerb) -> core::ops::Range<usize> {
        let words = &self.text.words;
        let sentence = words[verb.at].sentence;
        if words[verb.at].is_korean() {
            let floor =
                self.verbs.iter().filter(|it| it.last < verb.at).map(|it| it.last + 1).max().unwrap_or(0);
            let from = (floor..verb.at).find(|at| words[*at].sentence == sentence).unwrap_or(verb.at);
            // The last phrase before the verb is its object; a phrase with a particle of place is not.
            let start = (from..verb.at).rev().find(|at| verb.at - at > 4).map_or(from, |at| at + 1);
            return start..verb.last + 1;
        }
        let after = verb.last + 1..words.len();
        let stops = |word: &Word| {
            word.sentence != sentence
                || [
                    "for", "of", "in", "to", "on", "with", "from", "that", "which", "so", "and", "by",
                    "because", "when", "after", "before",
                ]
                .contains(&word.text.as_str())
        };
        let end = after.clone().find(|at| stops(&words[*at])).unwrap_or(words.len());
        verb.last + 1..end
    }
}

/// Words that may be before the verb of an order.
const OPENERS: [&str; 40] = [
    "please", "can", "could", "would", "will", "you", "we", "i", "let's", "lets", "want", "to", "need",
    "should", "like", "i'd", "also", "now", "just", "first", "then", "and", "have", "us", "must", "hey",
    "hi", "ok", "so", "next", "kindly", "go", "ahead", "help", "me", "quickly", "try", "finally", "let",
    "i'll",
];

/// Words before a noun that says what to do: "do a quick review".
const GIVING: [&str; 22] = [
    "do", "a", "an", "perform", "conduct", "give", "run", "code", "security", "quick", "full", "thorough",
    "the", "this", "my", "another", "make", "some", "careful", "deep", "provide", "short",
];

fn counts_or_names(word: &Word) -> bool {
    !word.is_negated
}

/// Which kind of work a request asks for, and the rule that says so.
pub(super) fn intent(reading: &Reading<'_>) -> (Intent, &'static str) {
    if !reading.asks_for_work() {
        return if reading.text.words.is_empty() || reading.text.words.iter().all(|word| word.is_negated) {
            (Intent::Other, "nothing_asked")
        } else {
            (Intent::Research, "question")
        };
    }
    let firm: Vec<&MainVerb> = reading.verbs.iter().filter(|verb| !verb.is_conditional).collect();
    let makes = |verb: &&&MainVerb| {
        matches!(verb.kind, VerbKind::Feature | VerbKind::Bug | VerbKind::Refactor | VerbKind::Change)
    };
    let is_wrong = !reading.symptom_nouns.is_empty() || !reading.symptom_states.is_empty();
    if firm.is_empty() {
        return without_verb(reading, is_wrong);
    }
    let does = |kind| reading.verb_of(kind);
    if firm.iter().all(|verb| !makes(&verb)) {
        return answers(reading, is_wrong);
    }
    // Tests and documents are what the work is about, whatever the verb is.
    let subject = |about: &dyn Fn(&MainVerb) -> bool| {
        firm.iter().filter(|verb| makes(verb) || verb.kind == VerbKind::Run).all(|verb| about(verb))
    };
    if !does(VerbKind::Bug) && subject(&|verb| reading.is_about_tests(verb)) {
        return (Intent::Tests, "tests_asked_for");
    }
    if !does(VerbKind::Bug) && subject(&|verb| reading.is_about_documents(verb)) {
        return (Intent::Other, "documents_asked_for");
    }
    if does(VerbKind::Bug) {
        return (Intent::Bug, "verb_of_mending");
    }
    if does(VerbKind::Refactor) {
        return (Intent::Refactor, "verb_of_reshaping");
    }
    if does(VerbKind::Feature) {
        return (Intent::Feature, "verb_of_making");
    }
    if is_wrong {
        return (Intent::Bug, "something_is_wrong");
    }
    if reading.has(&reading.rules.shape) {
        return (Intent::Refactor, "verb_of_reshaping");
    }
    (Intent::Feature, "verb_of_changing")
}

/// A request whose verbs change nothing: an answer, a review, a run of tests, a chore.
fn answers(reading: &Reading<'_>, is_wrong: bool) -> (Intent, &'static str) {
    let does = |kind| reading.verb_of(kind);
    if does(VerbKind::Review) {
        return (Intent::Review, "verb_of_reviewing");
    }
    if does(VerbKind::Research) {
        return (Intent::Research, "verb_of_answering");
    }
    if does(VerbKind::Run) && !reading.tests.is_empty() {
        return (Intent::Tests, "tests_asked_for");
    }
    if does(VerbKind::Look) {
        if !reading.tests.is_empty() && !is_wrong {
            return (Intent::Tests, "tests_asked_for");
        }
        return if is_wrong {
            (Intent::Bug, "something_is_wrong")
        } else {
            (Intent::Review, "verb_of_looking")
        };
    }
    if reading.has(&reading.rules.size.large) || reading.has(&reading.rules.size.product) {
        return (Intent::Feature, "large");
    }
    (Intent::Other, "chore")
}

/// A request without a verb: "로그인이 안 돼요", "dark mode", "리뷰".
fn without_verb(reading: &Reading<'_>, is_wrong: bool) -> (Intent, &'static str) {
    if is_wrong {
        return (Intent::Bug, "something_is_wrong");
    }
    if !reading.tests.is_empty() {
        return (Intent::Tests, "tests_named");
    }
    if reading.has(&reading.rules.size.architecture) {
        return (Intent::Review, "architecture_named");
    }
    let is_known = reading.areas.iter().any(|(role, _)| *role != Role::Executor);
    if is_known
        || reading.has(&reading.rules.size.large)
        || reading.has(&reading.rules.size.product)
        || reading.has(&reading.rules.design)
    {
        return (Intent::Feature, "subject_named");
    }
    (Intent::Other, "nothing_known")
}

impl Intent {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Intent::Feature => "feature",
            Intent::Bug => "bug",
            Intent::Refactor => "refactor",
            Intent::Review => "review",
            Intent::Tests => "tests",
            Intent::Research => "research",
            Intent::Other => "other",
        }
    }
}

/// The request's words of one kind, for a sentence that explains a rule.
pub(super) fn quoted(hits: &[LexiconHit], text: &RequestText) -> String {
    let mut words: Vec<&str> =
        hits.iter().flat_map(|hit| hit.first..=hit.last).map(|at| text.words[at].text.as_str()).collect();
    words.dedup();
    words.truncate(4);
    words.join(", ")
}
