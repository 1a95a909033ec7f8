//! What an agent is told of a project: the context files' sections, within a bound.

use std::{fmt::Write as _, path::Path};

use serde::Serialize;

use crate::context_file::{ContextDirectory, ContextFile, ContextLanguage, ContextSection, ContextState};

/// How much an agent is told, in tokens.
pub const CONTEXT_TOKENS_MAX: usize = 2000;

/// The files that an agent is told of, in the order in which sections count.
const FILES: [ContextFile; 3] = [ContextFile::TechStack, ContextFile::Conventions, ContextFile::Preferences];

/// What an agent is told, and what was left out.
#[derive(Debug, Default, Serialize)]
pub struct AgentContext {
    /// The text; empty if the files say nothing.
    pub text: String,
    /// How long it is in tokens, estimated on the safe side.
    pub tokens: usize,
    /// Sections that did not fit: file and heading.
    pub left_out: Vec<LeftOutSection>,
    /// Files that could not be read, with why.
    pub unread: Vec<String>,
}

/// A section that an agent is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutSection {
    /// Its file.
    pub file: ContextFile,
    /// Its heading.
    pub heading: String,
}

impl AgentContext {
    /// That of a project, by the files in its root.
    pub fn of(root: &Path) -> AgentContext {
        let directory = ContextDirectory::of(root);
        let mut context = AgentContext::default();
        let mut sections = Vec::new();
        let mut language = None;
        for file in FILES {
            match directory.read(file) {
                Ok(document) if document.state == ContextState::Filled => {
                    language = language.or(document.language);
                    sections.extend(document.sections().into_iter().map(|section| (file, section)));
                }
                Ok(_) => {}
                Err(error) => context.unread.push(error.to_string()),
            }
        }
        context.write(&sections, language.unwrap_or(ContextLanguage::En));
        context
    }

    /// Takes whole sections as long as they fit, with room for the note about the others.
    fn write(&mut self, sections: &[(ContextFile, ContextSection)], language: ContextLanguage) {
        if sections.is_empty() {
            return;
        }
        let mut text = introduction(language).to_owned();
        let room = CONTEXT_TOKENS_MAX - estimated_tokens(note(language));
        let mut shown = None;
        for (file, section) in sections {
            let mut part = String::new();
            if shown != Some(file) {
                // Writing to text does not fail.
                write!(part, "\n### {}\n", file.title()).ok();
            }
            write!(part, "\n#### {}\n{}\n", section.heading, section.lines.join("\n")).ok();
            if estimated_tokens(&text) + estimated_tokens(&part) <= room {
                text.push_str(&part);
                shown = Some(file);
            } else {
                self.left_out.push(LeftOutSection { file: *file, heading: section.heading.clone() });
            }
        }
        if !self.left_out.is_empty() {
            text.push_str(note(language));
        }
        self.tokens = estimated_tokens(&text);
        self.text = text;
    }
}

fn introduction(language: ContextLanguage) -> &'static str {
    match language {
        ContextLanguage::Ko => {
            "## Persistent Context\n\n이 프로젝트에 대해 기록된 사실입니다(.claude/memory/context). 코드와 다르면 코드가 맞습니다.\n"
        }
        ContextLanguage::En => {
            "## Persistent Context\n\nWhat is on record about this project (.claude/memory/context). Where the code says \
             otherwise, the code is right.\n"
        }
    }
}

fn note(language: ContextLanguage) -> &'static str {
    match language {
        ContextLanguage::Ko => {
            "\n(길어서 뺀 절이 있습니다. 필요하면 .claude/memory/context의 파일을 읽으세요.)\n"
        }
        ContextLanguage::En => {
            "\n(Sections were left out because of their length. Read the files in .claude/memory/context if you need them.)\n"
        }
    }
}

/// How many tokens a text is, estimated on the safe side: which tokenizer a model has is not known.
pub fn estimated_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = 0;
    let mut previous = None;
    for letter in text.chars() {
        let kind = kind(letter);
        let is_next = previous == Some(kind);
        run = if is_next { run + 1 } else { 1 };
        tokens += match kind {
            // Long words are cut into parts of a few letters.
            Kind::Letter => usize::from(run % 3 == 1),
            Kind::Digit | Kind::Mark | Kind::Line | Kind::Hangul => 1,
            Kind::Space => usize::from(run % 4 == 0),
            Kind::Other => letter.len_utf8(),
        };
        previous = Some(kind);
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Line,
    Mark,
    Hangul,
    Other,
}

fn kind(letter: char) -> Kind {
    match letter {
        'a'..='z' | 'A'..='Z' => Kind::Letter,
        '0'..='9' => Kind::Digit,
        ' ' | '\t' => Kind::Space,
        '\n' | '\r' => Kind::Line,
        '!'..='~' => Kind::Mark,
        '가'..='힣' => Kind::Hangul,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests;
