//! The fifteen roles of document 004 as files that a project can change: front matter as Claude Code reads it, then what
//! the role does.

use std::{fmt::Write as _, sync::LazyLock};

use serde::Deserialize;

use crate::context_file::ContextLanguage;

const TABLE: &str = include_str!("../data/roles.toml");

/// A role that comes with Ostler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleTemplate {
    /// Its name.
    pub name: String,
    model: String,
    max_turns: u32,
    tools: Option<String>,
    /// It looks, and changes nothing.
    #[serde(default)]
    reviews: bool,
    writes: Option<String>,
    receives: Vec<String>,
    delivers: Vec<String>,
    /// In English and Korean.
    about: [String; 2],
    duty: [String; 2],
}

#[derive(Deserialize)]
struct Table {
    role: Vec<RoleTemplate>,
}

static ROLES: LazyLock<Vec<RoleTemplate>> = LazyLock::new(|| {
    toml::from_str::<Table>(TABLE).expect("the table is part of the program, and a test reads it").role
});

/// All roles, in the order in which they work.
pub fn role_templates() -> &'static [RoleTemplate] {
    &ROLES
}

impl RoleTemplate {
    /// Its file below `.claude/agents`.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.name)
    }

    /// The text of its file.
    pub fn text(&self, language: ContextLanguage) -> String {
        let say = |texts: &'static [&'static str; 2]| texts[index(language)];
        let mut text =
            format!("---\nname: {}\ndescription: >\n  {}\n", self.name, self.about[index(language)]);
        // Writing to text does not fail.
        if let Some(tools) = &self.tools {
            writeln!(text, "tools: {tools}").ok();
        }
        writeln!(text, "model: {}\nmaxTurns: {}", self.model, self.max_turns).ok();
        if self.reviews {
            text.push_str("permissionMode: plan\nmemory: project\n");
        }
        writeln!(text, "skills:\n  - agent-common\n---\n\n# {}\n\n{}", self.name, self.duty[index(language)])
            .ok();
        writeln!(text, "\n{}", say(&COMMON)).ok();
        if let Some(place) = &self.writes {
            writeln!(text, "\n## {}\n\n`.claude/memory/{place}`", say(&["Result", "산출물"])).ok();
        }
        writeln!(text, "\n## {}\n", say(&["Collaboration", "협업"])).ok();
        let names =
            |names: &[String]| if names.is_empty() { "orchestrator".to_owned() } else { names.join(", ") };
        writeln!(
            text,
            "- **Receives from**: {}\n- **Delivers to**: {}",
            names(&self.receives),
            names(&self.delivers)
        )
        .ok();
        text
    }
}

/// What holds for each of them.
const COMMON: [&str; 2] = [
    "The first line of your report is a summary. Leave files of other roles alone.",
    "보고의 첫 줄은 요약입니다. 다른 역할의 파일은 건드리지 않습니다.",
];

fn index(language: ContextLanguage) -> usize {
    usize::from(language == ContextLanguage::Ko)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_roles_with_their_tiers() {
        let tier = |model: &str| -> Vec<&str> {
            role_templates().iter().filter(|it| it.model == model).map(|it| it.name.as_str()).collect()
        };
        assert_eq!(role_templates().len(), 15);
        assert_eq!(tier("opus"), ["code-reviewer", "architect"]);
        assert_eq!(tier("haiku"), ["researcher", "analyst", "executor", "unit-tester"]);
        assert_eq!(tier("inherit").len(), 9);
        let names: Vec<&str> = role_templates().iter().map(|it| it.name.as_str()).collect();
        for role in role_templates() {
            let known = |other: &String| names.contains(&other.as_str());
            assert!(role.receives.iter().chain(&role.delivers).all(known), "{}", role.name);
            assert_eq!(role.reviews, role.tools.as_deref() == Some("Read, Glob, Grep"), "{}", role.name);
        }
    }

    #[test]
    fn a_file_has_front_matter_and_a_duty() {
        let reviewer = role_templates().iter().find(|it| it.name == "code-reviewer").expect("it is there");
        let text = reviewer.text(ContextLanguage::Ko);
        let start = "---\nname: code-reviewer\ndescription: >\n  변경의 정확성, 보안, 명확성을 검토합니다.\ntools: Read, Glob, Grep\n\
                     model: opus\nmaxTurns: 10\npermissionMode: plan\nmemory: project\nskills:\n  - agent-common\n---\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("## 협업\n"), "{text}");
        let executor = role_templates().iter().find(|it| it.name == "executor").expect("it is there");
        assert!(!executor.text(ContextLanguage::En).contains("tools:"), "without tools it has all");
    }
}
