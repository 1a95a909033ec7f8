//! The four context files of a project: their headings in two languages, whether they say anything yet, and how they are
//! read and written.
//!
//! A file whose headings are not ours belongs to somebody else, and is never written.

mod disk;
mod headings;

use std::{fmt, io, path::PathBuf};

use ostler_files::UnusableFile;
use serde::Serialize;

pub use disk::{ContextDirectory, write_new_file};
pub use headings::{ContextFile, ContextLanguage};

/// The longest context file that is read.
pub const CONTEXT_BYTES_MAX: u64 = 256 << 10;

/// How much a context file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// There is none.
    Missing,
    /// It has its headings, and nothing below them but examples in comments.
    Template,
    /// It says something.
    Filled,
    /// Its headings are not ours.
    Foreign,
}

/// A context file as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextDocument {
    /// Which one.
    pub file: ContextFile,
    /// All of it; empty if there is none.
    pub text: String,
    /// How much it says.
    pub state: ContextState,
    /// The language of its headings; none if it has none of ours.
    pub language: Option<ContextLanguage>,
}

/// A section of a context file, without comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSection {
    /// Its heading, without `## `.
    pub heading: String,
    /// Its lines that say something.
    pub lines: Vec<String>,
}

/// A context file cannot be read or written. The old one, if there was one, is as it was.
#[derive(Debug)]
pub enum ContextFileError {
    /// Something else is in its place, such as a link, a directory or a pipe; or it is too large.
    Unusable {
        /// Where.
        path: PathBuf,
        /// What is there.
        what: UnusableFile,
    },
    /// It is not text.
    NotText {
        /// Where.
        path: PathBuf,
    },
    /// Its headings are not ours, so it is not written.
    Foreign {
        /// Where.
        path: PathBuf,
    },
    /// Somebody else has written it meanwhile.
    Changed {
        /// Where.
        path: PathBuf,
    },
    /// The system refused.
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Display for ContextFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContextFileError::Unusable { path, what } => write!(f, "cannot use '{}': {what}", path.display()),
            ContextFileError::NotText { path } => write!(f, "'{}' is not valid UTF-8", path.display()),
            ContextFileError::Foreign { path } => write!(
                f,
                "'{}' has other headings than a context file of Ostler; it was left alone",
                path.display()
            ),
            ContextFileError::Changed { path } => {
                write!(f, "'{}' was changed by another program meanwhile; it was left alone", path.display())
            }
            ContextFileError::Io { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
        }
    }
}

impl std::error::Error for ContextFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ContextFileError::Io { source, .. } => Some(source),
            ContextFileError::Unusable { what, .. } => Some(what),
            ContextFileError::NotText { .. }
            | ContextFileError::Foreign { .. }
            | ContextFileError::Changed { .. } => None,
        }
    }
}

impl ContextDocument {
    /// What a text is as that file.
    pub fn of_text(file: ContextFile, text: String) -> ContextDocument {
        let language = file.language_of(&text);
        let state = if text.trim().is_empty() {
            ContextState::Missing
        } else if language.is_none() {
            ContextState::Foreign
        } else if says_something(file, &text) {
            ContextState::Filled
        } else {
            ContextState::Template
        };
        ContextDocument { file, text, state, language }
    }

    /// Its sections that say something.
    pub fn sections(&self) -> Vec<ContextSection> {
        let mut sections: Vec<ContextSection> = Vec::new();
        for line in without_comments(&self.text).lines() {
            let line = line.trim_end();
            if let Some(heading) = line.strip_prefix("## ") {
                sections.push(ContextSection { heading: heading.trim().to_owned(), lines: Vec::new() });
            } else if is_content(line)
                && let Some(section) = sections.last_mut()
            {
                section.lines.push(line.to_owned());
            }
        }
        sections.retain(|section| !section.lines.is_empty());
        sections
    }
}

/// A text without `<!-- … -->`. A comment that does not end is none.
pub(crate) fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once("<!--") {
        let Some((_, after)) = behind.split_once("-->") else { break };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Whether a line says something, and is no heading, quotation or rule.
fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with('>') && line != "---"
}

fn says_something(file: ContextFile, text: &str) -> bool {
    let text = without_comments(text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| is_content(line)).collect();
    let is_initial =
        |language: ContextLanguage| file == ContextFile::ProjectState && lines == language.initial_state();
    !(lines.is_empty() || is_initial(ContextLanguage::Ko) || is_initial(ContextLanguage::En))
}

#[cfg(test)]
mod tests;
