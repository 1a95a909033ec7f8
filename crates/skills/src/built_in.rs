//! The skills that come with Ostler, in the form of any other skill.

use crate::skill_file::SkillFile;

const FILES: [(&str, &str); 3] = [
    ("api-integration", include_str!("../data/api-integration.md")),
    ("auth-flow", include_str!("../data/auth-flow.md")),
    ("crud-feature", include_str!("../data/crud-feature.md")),
];

/// The names and texts of all of them.
pub(crate) fn built_in() -> impl Iterator<Item = (&'static str, &'static str, SkillFile)> {
    FILES.into_iter().map(|(name, text)| (name, text, SkillFile::read(text)))
}

/// The rule of the built-in skill of a name.
pub(crate) fn rule_of(name: &str) -> Option<crate::SkillRule> {
    built_in().find(|(known, ..)| *known == name).map(|(_, _, file)| file.rule)
}
