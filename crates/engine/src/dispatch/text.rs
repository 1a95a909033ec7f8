//! Cuts a request into sentences, clauses and words, and marks what is quoted, negated or the name of something in code.
//!
//! The rules look at words through this module alone, so a word inside back quotes, in a path or after "without" counts
//! the same way for every rule.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use super::marks::{mark_negated, mark_questions};

/// The most of a request that is read. The rest says nothing that the beginning did not.
const BYTES_MAX: usize = 16 << 10;

/// Words that put what follows behind something else.
const PREPOSITIONS: [&str; 14] = [
    "for", "after", "before", "behind", "on", "in", "of", "when", "if", "to", "from", "during", "inside",
    "while",
];

/// How many words after a preposition belong to it.
const PREPOSITION_REACH: usize = 3;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordForm {
    /// A word of the language.
    Plain,
    /// A name from code: `getUser()`, `user_id`, or anything in back quotes.
    Code,
    /// A file: `src/app.ts`, `README.md`.
    File,
    /// A word inside quotation marks.
    Quoted,
}

/// One word of a request. Latin letters and Korean letters make separate words even without a space between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case.
    pub text: String,
    /// Where the word is in the request.
    pub span: Range<usize>,
    /// What the word is.
    pub form: WordForm,
    /// The sentence, counted from zero.
    pub sentence: usize,
    /// The clause, counted from zero over the whole request.
    pub clause: usize,
    /// Whether the request says that this is not wanted.
    pub is_negated: bool,
    /// Whether no space is before the word.
    pub is_glued: bool,
}

impl Word {
    /// Whether the word can mean what it says: it is neither code, quoted nor negated.
    pub fn counts(&self) -> bool {
        self.form == WordForm::Plain && !self.is_negated
    }

    /// Whether the word is in Korean letters.
    pub fn is_korean(&self) -> bool {
        self.text.chars().next().is_some_and(is_hangul)
    }
}

/// A sentence of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its words.
    pub words: Range<usize>,
    /// Whether it asks for an answer, and not for work. "Could you add …?" asks for work.
    pub is_question: bool,
    /// Whether a question mark ends it.
    pub has_mark: bool,
}

/// A request, cut into words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestText {
    /// All words in order.
    pub words: Vec<Word>,
    /// All sentences in order.
    pub sentences: Vec<Sentence>,
}

impl RequestText {
    /// Reads a request.
    pub fn read(request: &str) -> RequestText {
        let mut end = request.len().min(BYTES_MAX);
        while !request.is_char_boundary(end) {
            end -= 1;
        }
        let mut reader = Reader::new(&request[..end]);
        reader.read();
        let mut text = reader.text;
        mark_negated(&mut text);
        mark_questions(&mut text);
        text
    }

    /// The files that the request names.
    pub fn files(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().filter(|word| word.form == WordForm::File)
    }

    /// Whether a word can be what the request asks for: it is plain and wanted, describes nothing else ("로그인한 사용자"), and
    /// no preposition puts it behind something else ("a banner for logged-in users").
    pub fn is_asked_for(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at).filter(|word| word.counts()) else { return false };
        if word.is_korean() {
            return !["한", "된", "하는", "되는", "하면", "되면", "했", "됐", "할때"].iter().any(|it| {
                word.text.contains(it) && word.text.chars().count() > 2 && !word.text.starts_with(it)
            });
        }
        let from = at.saturating_sub(PREPOSITION_REACH);
        let before = self.words[from..at].iter().filter(|it| it.clause == word.clause);
        !before.into_iter().any(|it| PREPOSITIONS.contains(&it.text.as_str()))
    }

    /// Whether more than a third of the words are Korean: texts made for this request are then Korean, too.
    pub fn is_korean(&self) -> bool {
        let korean = self.words.iter().filter(|word| word.is_korean()).count();
        korean * 3 > self.words.len()
    }
}

/// Whether a character is a Korean letter.
pub(super) fn is_hangul(character: char) -> bool {
    matches!(character, '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}')
}

/// The state of one pass over a request.
struct Reader<'a> {
    request: &'a str,
    at: usize,
    text: RequestText,
    sentence_from: usize,
    clause: usize,
    /// The closing mark of the quotation that is open, and where it opened.
    quote: Option<char>,
}

impl<'a> Reader<'a> {
    fn new(request: &'a str) -> Self {
        Reader { request, at: 0, text: RequestText::default(), sentence_from: 0, clause: 0, quote: None }
    }

    fn rest(&self) -> &'a str {
        &self.request[self.at..]
    }

    fn read(&mut self) {
        while let Some(character) = self.rest().chars().next() {
            if character == '`' {
                self.code();
            } else if self.is_quotation_mark(character) {
                self.quotation(character);
            } else if character.is_alphanumeric() || self.begins_path(character) {
                self.word(character);
            } else {
                self.mark(character);
            }
        }
        self.end_sentence(false);
    }

    /// Everything between back quotes is one name from code, or one file.
    fn code(&mut self) {
        let from = self.at;
        let ticks = self.rest().bytes().take_while(|byte| *byte == b'`').count();
        let inside = &self.rest()[ticks..];
        let close = &self.rest()[..ticks];
        let length = inside.find(close).unwrap_or(inside.len());
        let name = inside[..length].trim();
        let form = if is_file(name) { WordForm::File } else { WordForm::Code };
        self.at = (from + ticks + length + ticks).min(self.request.len());
        if !name.is_empty() {
            self.push(name.to_lowercase(), from..self.at, form);
        }
    }

    /// An apostrophe inside a word is no quotation mark, and a mark that nothing closes is none either.
    fn is_quotation_mark(&self, character: char) -> bool {
        if self.quote == Some(character) {
            return true;
        }
        let Some(close) = closing(character).filter(|_| self.quote.is_none()) else { return false };
        let after_letter = self.request[..self.at].chars().next_back().is_some_and(char::is_alphanumeric);
        let inside = &self.rest()[character.len_utf8()..];
        let is_closed = inside.find(close).is_some_and(|at| at > 0 && !inside[..at].contains('\n'));
        is_closed && !(character == '\'' && after_letter)
    }

    fn quotation(&mut self, character: char) {
        self.quote = if self.quote == Some(character) { None } else { closing(character) };
        self.at += character.len_utf8();
    }

    fn begins_path(&self, character: char) -> bool {
        let next = self.rest().chars().nth(1);
        matches!(character, '.' | '/' | '@' | '_' | '#')
            && next.is_some_and(|it| it.is_alphanumeric() || matches!(it, '.' | '/' | '_'))
            && self.request[..self.at]
                .chars()
                .next_back()
                .is_none_or(|before| before.is_whitespace() || before == '(')
    }

    /// A run of characters up to white space or punctuation, cut where the script changes.
    fn word(&mut self, first: char) {
        let from = self.at;
        if is_hangul(first) {
            let length = self.rest().find(|it| !is_hangul(it)).unwrap_or(self.rest().len());
            self.at += length;
            let text = String::from(&self.request[from..self.at]);
            self.push(text, from..self.at, WordForm::Plain);
            return;
        }
        let is_inside =
            |it: char| (it.is_alphanumeric() && !is_hangul(it)) || "_-./\\@#+'’:()[]{}<>*$=&%~".contains(it);
        let run = self.rest().find(|it| !is_inside(it)).unwrap_or(self.rest().len());
        let run = trimmed(&self.rest()[..run]);
        let whole = &self.rest()[..run];
        if is_file(whole) || is_code(whole) {
            self.at += run;
            let form = if is_file(whole) { WordForm::File } else { WordForm::Code };
            self.push(whole.to_lowercase(), from..self.at, form);
            return;
        }
        // Ordinary words: cut at everything that is no letter, digit, apostrophe, or hyphen between letters.
        let is_letter = |it: char| it.is_alphanumeric() && !is_hangul(it);
        let rest = self.rest();
        let mut length = 0;
        for (at, character) in rest.char_indices() {
            let next = rest[at + character.len_utf8()..].chars().next();
            let joins = matches!(character, '-' | '\'' | '’' | '.' | '+' | '/')
                && length > 0
                && next.is_some_and(is_letter);
            let joins = joins && (character != '/' || at <= 3) && (character != '.' || is_dotted(rest, at));
            let belongs = is_letter(character) || joins || character == '_' || (character == '@' && at == 0);
            if !belongs {
                break;
            }
            length = at + character.len_utf8();
        }
        self.at += length.max(first.len_utf8());
        let text = self.request[from..self.at].to_lowercase().replace('’', "'");
        self.push(text, from..self.at, WordForm::Plain);
    }

    fn push(&mut self, text: String, span: Range<usize>, form: WordForm) {
        let form = if self.quote.is_some() && form == WordForm::Plain { WordForm::Quoted } else { form };
        let is_glued = self.request[..span.start].chars().next_back().is_some_and(|it| !it.is_whitespace());
        let (sentence, clause) = (self.text.sentences.len(), self.clause);
        self.text.words.push(Word { text, span, form, sentence, clause, is_negated: false, is_glued });
    }

    fn mark(&mut self, character: char) {
        self.at += character.len_utf8();
        match character {
            '?' | '？' => self.end_sentence(true),
            '.' | '!' | '\n' | ';' | '。' | '！' | '…' => self.end_sentence(false),
            ',' | '、' | ':' | '(' | ')' | '—' | '–' | '，' | '→' | '&' => self.clause += 1,
            _ => {}
        }
    }

    fn end_sentence(&mut self, has_mark: bool) {
        let words = self.sentence_from..self.text.words.len();
        if words.is_empty() {
            // A question mark after another mark still belongs to the sentence before.
            if let Some(last) = self.text.sentences.last_mut().filter(|_| has_mark) {
                last.has_mark = true;
            }
            return;
        }
        self.sentence_from = words.end;
        self.text.sentences.push(Sentence { words, is_question: false, has_mark });
        self.clause += 1;
    }
}

fn closing(character: char) -> Option<char> {
    match character {
        '"' | '\'' => Some(character),
        '“' => Some('”'),
        '‘' => Some('’'),
        '「' => Some('」'),
        '『' => Some('』'),
        '《' => Some('》'),
        _ => None,
    }
}

/// The length of a run without the punctuation of the sentence at its end.
fn trimmed(run: &str) -> usize {
    let mut end = run.trim_end_matches(['.', ':', '\'', '’', '-', '+', '=', '&', '*', '~']).len();
    while run[..end].ends_with([')', ']', '}', '>']) && !run[..end].contains(['(', '[', '{', '<']) {
        end -= 1;
    }
    end.max(run.chars().next().map_or(0, char::len_utf8))
}

/// A dot joins a word only in names such as `next.js` and in numbers.
fn is_dotted(rest: &str, at: usize) -> bool {
    let after = &rest[at + 1..];
    let before_digit = rest[..at].ends_with(|it: char| it.is_ascii_digit());
    after.starts_with("js")
        || after.starts_with("io")
        || (before_digit && after.starts_with(|it: char| it.is_ascii_digit()))
}

/// Endings of the files that people name in requests.
const ENDINGS: [&str; 46] = [
    "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "rs", "go", "java", "kt", "rb", "php", "cs", "c", "h",
    "cpp", "hpp", "swift", "css", "scss", "html", "vue", "svelte", "md", "json", "yaml", "yml", "toml",
    "sql", "sh", "txt", "env", "xml", "lock", "prisma", "graphql", "proto", "ipynb", "dart", "ex", "exs",
    "scala", "tf", "cfg", "ini",
];

/// Whether a word names a file or directory.
fn is_file(word: &str) -> bool {
    let name = word.trim_end_matches(|it: char| it.is_ascii_digit() || it == ':');
    let has_ending = name.rsplit_once('.').is_some_and(|(before, ending)| {
        !before.is_empty() && !before.ends_with('.') && ENDINGS.contains(&ending.to_lowercase().as_str())
    });
    let is_library = [
        "next.js",
        "node.js",
        "vue.js",
        "express.js",
        "three.js",
        "d3.js",
        "chart.js",
        "nuxt.js",
        "nest.js",
        "socket.io",
        "react.js",
    ]
    .contains(&word.to_lowercase().as_str());
    if is_library || word.contains("://") || word.contains(char::is_whitespace) {
        return false;
    }
    let is_path = word.matches('/').count() >= 2
        || word.starts_with("./")
        || (word.contains('/') && (has_ending || word.ends_with('/')));
    let is_known = ["dockerfile", "makefile", ".gitignore", ".env", ".dockerignore", ".editorconfig"]
        .contains(&word.to_lowercase().as_str());
    (has_ending || is_path || (is_known && word.starts_with('.'))) && !word.ends_with("()")
}

/// Whether a word is a name from code: it has an underscore, a call, or a capital letter in its middle.
fn is_code(word: &str) -> bool {
    if word.starts_with('/') && word.len() > 1 {
        return true;
    }
    if word.contains("://") || word.contains("()") || word.contains("::") || word.contains("->") {
        return true;
    }
    let letters = || word.chars().filter(|it| it.is_alphabetic());
    if word.contains('_') && letters().next().is_some() {
        return true;
    }
    if word.starts_with('@') || word.starts_with('#') || word.starts_with('$') {
        return word.len() > 1;
    }
    // `getUser`, `UserCard`; `OAuth`, `GitHub` and `PostgreSQL` are names of the world, and the lists decide about them.
    let begins_low = word.chars().next().is_some_and(char::is_lowercase);
    let has_capital = word.chars().skip(1).any(char::is_uppercase);
    let is_plain = word.chars().all(char::is_alphanumeric);
    is_plain && begins_low && has_capital && !KNOWN.contains(&word.to_lowercase().as_str())
}

/// Names with a capital letter in their middle that are no code.
const KNOWN: [&str; 6] = ["ios", "macos", "iphone", "ipad", "grpc", "npm"];
