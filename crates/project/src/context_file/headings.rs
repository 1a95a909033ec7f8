//! The names and headings of the four context files. They are data that other programs read, so they stay as they are.

use serde::Serialize;

use super::{is_content, without_comments};

/// One of the four context files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextFile {
    /// How far the project is.
    ProjectState,
    /// What it is made with.
    TechStack,
    /// How its code is written.
    Conventions,
    /// What the person at work likes.
    Preferences,
}

/// The language of headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextLanguage {
    /// Korean, as in the template of document 004.
    Ko,
    /// English.
    En,
}

/// The headings of one file in Korean and English, in their order.
type Headings = &'static [(&'static str, &'static str)];

const PROJECT_STATE: Headings = &[
    ("현재 상태", "Current State"),
    ("완료된 기능", "Completed Features"),
    ("진행 중인 기능", "Features in Progress"),
    ("알려진 이슈", "Known Issues"),
    ("다음 작업 후보", "Next Candidates"),
];

const TECH_STACK: Headings = &[
    ("Frontend", "Frontend"),
    ("Backend", "Backend"),
    ("Database", "Database"),
    ("AI/ML (해당시)", "AI/ML (if any)"),
    ("Infrastructure", "Infrastructure"),
    ("Package Manager", "Package Manager"),
];

const CONVENTIONS: Headings = &[
    ("파일 구조", "File Structure"),
    ("API 설계", "API Design"),
    ("컴포넌트 패턴", "Component Patterns"),
    ("에러 처리", "Error Handling"),
    ("테스트", "Testing"),
    ("Git", "Git"),
];

const PREFERENCES: Headings = &[
    ("코딩 스타일", "Coding Style"),
    ("네이밍", "Naming"),
    ("UI/UX 선호", "UI/UX Preferences"),
    ("라이브러리 선호", "Library Preferences"),
    ("기타", "Other"),
];

impl ContextFile {
    /// All four, in the order in which they are read.
    pub const ALL: [ContextFile; 4] = [
        ContextFile::ProjectState,
        ContextFile::TechStack,
        ContextFile::Conventions,
        ContextFile::Preferences,
    ];

    /// Its name on disk.
    pub fn name(self) -> &'static str {
        match self {
            ContextFile::ProjectState => "project-state.md",
            ContextFile::TechStack => "tech-stack.md",
            ContextFile::Conventions => "conventions.md",
            ContextFile::Preferences => "preferences.md",
        }
    }

    /// Its first heading, the same in both languages.
    pub fn title(self) -> &'static str {
        match self {
            ContextFile::ProjectState => "Project State",
            ContextFile::TechStack => "Tech Stack Decisions",
            ContextFile::Conventions => "Coding Conventions",
            ContextFile::Preferences => "User Preferences",
        }
    }

    /// Its other headings in a language, in their order.
    pub fn headings(self, language: ContextLanguage) -> impl Iterator<Item = &'static str> {
        self.pairs().iter().map(move |(korean, english)| match language {
            ContextLanguage::Ko => *korean,
            ContextLanguage::En => *english,
        })
    }

    fn pairs(self) -> Headings {
        match self {
            ContextFile::ProjectState => PROJECT_STATE,
            ContextFile::TechStack => TECH_STACK,
            ContextFile::Conventions => CONVENTIONS,
            ContextFile::Preferences => PREFERENCES,
        }
    }

    /// The language of the headings of a text; none if it is no such file. Headings that are the same in both count for
    /// the other lines of the file.
    pub(super) fn language_of(self, text: &str) -> Option<ContextLanguage> {
        let plain = without_comments(text);
        let title = plain.lines().find_map(|line| line.strip_prefix("# "))?.trim();
        if title != self.title() {
            return None;
        }
        let headings: Vec<&str> =
            plain.lines().filter_map(|line| line.strip_prefix("## ")).map(str::trim).collect();
        let is_of = |language| {
            let known: Vec<&str> = self.headings(language).collect();
            headings.iter().filter(|heading| known.contains(heading)).count()
        };
        let (korean, english) = (is_of(ContextLanguage::Ko), is_of(ContextLanguage::En));
        if korean == 0 && english == 0 && !is_bare_ai(&headings) {
            return None;
        }
        let has_hangul = plain.lines().filter(|line| is_content(line)).any(has_hangul);
        match korean.cmp(&english) {
            std::cmp::Ordering::Greater => Some(ContextLanguage::Ko),
            std::cmp::Ordering::Equal if has_hangul => Some(ContextLanguage::Ko),
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal => Some(ContextLanguage::En),
        }
    }
}

impl ContextLanguage {
    /// The lines below the first heading of `project-state.md` before anything was done.
    pub(super) fn initial_state(self) -> [&'static str; 3] {
        match self {
            ContextLanguage::Ko => {
                ["- **Phase**: 초기 설정 전", "- **마지막 작업**: -", "- **마지막 세션**: -"]
            }
            ContextLanguage::En => ["- **Phase**: not set up", "- **Last work**: -", "- **Last session**: -"],
        }
    }
}

/// Filled files of the template call the section plainly `AI/ML`.
fn is_bare_ai(headings: &[&str]) -> bool {
    headings.contains(&"AI/ML")
}

fn has_hangul(line: &str) -> bool {
    line.chars().any(|letter| ('가'..='힣').contains(&letter))
}
