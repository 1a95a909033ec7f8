//! The text of the four context files, from what was detected and what a person said.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    context_file::{ContextFile, ContextLanguage},
    detection::{StackDetection, StackFinding},
    technology::StackSection,
};

/// How far a project is, as a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectStatus {
    /// Nothing was built yet.
    New,
    /// It is being built.
    InProgress,
    /// It is being rebuilt.
    Refactoring,
}

/// What a person says about a project, beside what its files say.
#[derive(Debug, Clone)]
pub struct ContextAnswers {
    /// How far it is.
    pub status: ProjectStatus,
    /// What it is for; none if nobody said.
    pub purpose: Option<String>,
    /// What it is to be made with, where its files say nothing yet.
    pub planned_stack: Option<String>,
    /// Which candidate is meant, where there are several.
    pub choices: BTreeMap<(StackSection, String), String>,
    /// The day, as `2026-11-19`.
    pub today: String,
}

/// The sections of `tech-stack.md`, in their order.
const TECH_STACK: [StackSection; 6] = [
    StackSection::Frontend,
    StackSection::Backend,
    StackSection::Database,
    StackSection::Ai,
    StackSection::Infrastructure,
    StackSection::PackageManager,
];

/// The text of a context file. Sections about which nothing is known hold a comment, which is no content.
pub fn context_draft(
    file: ContextFile,
    language: ContextLanguage,
    detection: &StackDetection,
    answers: &ContextAnswers,
) -> String {
    let drafter = Drafter { language, detection, answers };
    let bodies: Vec<Vec<String>> = match file {
        ContextFile::ProjectState => drafter.project_state(),
        ContextFile::TechStack => drafter.tech_stack(),
        ContextFile::Conventions => drafter.conventions(),
        ContextFile::Preferences => drafter.preferences(),
    };
    let mut text = format!("# {}\n", file.title());
    let mut bodies = bodies.into_iter();
    for heading in file.headings(language) {
        // Writing to text does not fail.
        write!(text, "\n## {heading}\n").ok();
        let body = bodies.next().unwrap_or_default();
        if body.is_empty() {
            text.push_str(drafter.unknown());
        }
        for line in body {
            writeln!(text, "- {line}").ok();
        }
    }
    text
}

struct Drafter<'a> {
    language: ContextLanguage,
    detection: &'a StackDetection,
    answers: &'a ContextAnswers,
}

impl Drafter<'_> {
    fn say(&self, korean: &'static str, english: &'static str) -> &'static str {
        if self.language == ContextLanguage::Ko { korean } else { english }
    }

    fn unknown(&self) -> &'static str {
        self.say("<!-- 아직 알려진 것이 없습니다 -->\n", "<!-- nothing is known yet -->\n")
    }

    fn project_state(&self) -> Vec<Vec<String>> {
        let phase = match self.answers.status {
            ProjectStatus::New => self.say("시작 단계", "Just begun"),
            ProjectStatus::InProgress => self.say("개발 진행 중", "In development"),
            ProjectStatus::Refactoring => self.say("리팩토링", "Refactoring"),
        };
        let work = self.say("프로젝트 초기 설정", "Project setup");
        let mut lines = vec![
            format!("**Phase**: {phase}"),
            format!("**{}**: {work}", self.say("마지막 작업", "Last work")),
            format!("**{}**: {}", self.say("마지막 세션", "Last session"), self.answers.today),
        ];
        if let Some(purpose) = self.answers.purpose.as_deref().and_then(one_line) {
            lines.push(format!("**{}**: {purpose}", self.say("목적", "Purpose")));
        }
        vec![lines]
    }

    fn tech_stack(&self) -> Vec<Vec<String>> {
        let mut bodies: Vec<Vec<String>> = TECH_STACK.iter().map(|it| self.by_key(*it)).collect();
        // Nobody knows yet on which side it will be.
        if let Some(stack) = self.answers.planned_stack.as_deref().and_then(one_line)
            && bodies.iter().all(Vec::is_empty)
        {
            bodies[1].push(format!("{}: {stack}", self.say("계획", "Planned")));
        }
        bodies
    }

    fn conventions(&self) -> Vec<Vec<String>> {
        let names: Vec<&str> = self.of(StackSection::Layout).map(|it| it.name.as_str()).collect();
        let layout = (!names.is_empty()).then(|| {
            format!("{}: {}", self.say("최상위 디렉터리", "Top-level directories"), names.join(", "))
        });
        let plain = |section| self.by_key(section);
        vec![
            layout.into_iter().collect(),
            Vec::new(),
            Vec::new(),
            Vec::new(),
            plain(StackSection::Testing),
            plain(StackSection::Git),
        ]
    }

    fn preferences(&self) -> Vec<Vec<String>> {
        vec![self.by_key(StackSection::Style)]
    }

    fn of(&self, section: StackSection) -> impl Iterator<Item = &StackFinding> {
        self.detection.findings.iter().filter(move |finding| finding.section == section)
    }

    /// `Key: value, value` for each word, in the order of the findings.
    fn by_key(&self, section: StackSection) -> Vec<String> {
        let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
        for finding in self.of(section) {
            let chosen = self.answers.choices.get(&(section, finding.key.clone()));
            if chosen.is_some_and(|chosen| *chosen != finding.name) {
                continue;
            }
            let value = finding.line_value();
            match lines.iter_mut().find(|(key, _)| *key == finding.key) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => lines.push((&finding.key, vec![value])),
            }
        }
        lines.into_iter().map(|(key, values)| format!("{key}: {}", values.join(", "))).collect()
    }
}

/// What a person typed, as one line that cannot be read as a heading or a comment; none if nothing is left.
fn one_line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace("<!--", "").replace("-->", "");
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}
