//! Document templates, in English and Korean, and the settings that `ostler phases init` writes.

use std::fmt::Write;

use super::defaults::{Document, PHASES};

/// The folder that templates are written to: what an agent is to fill in is not what it has filled in.
pub(crate) const FOLDER: &str = "guide";

/// A template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Where it is written.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// All templates of the default phases.
pub fn templates(korean: bool) -> Vec<Template> {
    let documents = PHASES.iter().flat_map(|phase| phase.documents);
    documents.map(|document| template(document, korean)).collect()
}

fn template(document: &Document, korean: bool) -> Template {
    let language = usize::from(korean);
    let mut text = format!("# {}\n", document.title[language]);
    for section in document.sections {
        let (name, question) = (section.name[language], section.question[language]);
        write!(text, "\n## {name}\n\n{{{{{question}}}}}\n").expect("text takes everything");
    }
    Template { path: document.path.replacen("docs", FOLDER, 1), text }
}

/// What stands in `ostler.toml` behind `ostler phases init`: every setting with its default, switched off.
pub fn settings(korean: bool) -> &'static str {
    if korean { KOREAN } else { ENGLISH }
}

const ENGLISH: &str = "\
[phases]
# agent = \"claude\"        # who works; default: default_agent
# verifier = \"claude\"     # who looks at the work; default: the same agent; \"none\": nobody
# rework = 3              # how often a phase goes back by itself
# questions = 3           # how many questions of a phase are recommended at most
# time = \"10m\"            # how long a check may take
# verifier_time = \"30m\"   # how long a verifier may take
# confine = true          # verifiers can write nowhere but in their place, where the kernel has Landlock

# Planning, Design, Development and Testing are there without being named. A list replaces them:
# [[phases.phase]]
# name = \"Planning\"
# artifacts = [{ glob = \"docs/planning/*.md\", min = 9, sections = [\"Problem\"] }]
# criteria = [\"The documents do not contradict each other.\"]
# checks = [\"make lint\"]
";

const KOREAN: &str = "\
[phases]
# agent = \"claude\"        # 작업할 에이전트. 기본값: default_agent
# verifier = \"claude\"     # 검증할 에이전트. 기본값: 같은 에이전트. \"none\": 없음
# rework = 3              # 단계가 자동으로 되돌아가는 횟수
# questions = 3           # 단계마다 권장되는 최대 질문 수
# time = \"10m\"            # 검사 하나의 제한 시간
# verifier_time = \"30m\"   # 검증자의 제한 시간
# confine = true          # Landlock이 있으면 검증자는 자기 자리에만 쓸 수 있음

# Planning, Design, Development, Testing은 적지 않아도 있습니다. 목록을 적으면 대신합니다:
# [[phases.phase]]
# name = \"Planning\"
# artifacts = [{ glob = \"docs/planning/*.md\", min = 9, sections = [\"문제\"] }]
# criteria = [\"문서들이 서로 모순되지 않는다.\"]
# checks = [\"make lint\"]
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_its_sections_and_slots() {
        for korean in [false, true] {
            let all = templates(korean);
            assert_eq!(all.len(), 15);
            assert_eq!(all[0].path, "guide/planning/01_idea.md");
            assert!(all.iter().all(|it| it.text.contains("{{") && it.text.contains("\n## ")));
        }
        assert!(templates(true)[0].text.contains("## 문제"));
    }

    #[test]
    fn the_settings_can_be_read() {
        for korean in [false, true] {
            let text = settings(korean);
            toml::from_str::<toml::Table>(text).expect("it is right");
            // Switched on, each is right as well.
            let settings = text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
            let settings = settings.filter(|line| line.contains('=') || line.starts_with('['));
            let on = settings.collect::<Vec<_>>().join("\n");
            toml::from_str::<toml::Table>(&on).expect("it is right");
        }
    }
}
