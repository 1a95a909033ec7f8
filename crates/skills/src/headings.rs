//! The headings of a skill, in both languages.

/// A part of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkillPart {
    Description,
    /// Only what stands below it counts.
    Trigger,
    Keywords,
    Rules,
    Examples,
    Exclusions,
    Preconditions,
    Parameters,
    Workflow,
}

/// The beginnings of headings, in lower case.
const HEADINGS: &[(&str, SkillPart)] = &[
    ("설명", SkillPart::Description),
    ("description", SkillPart::Description),
    ("트리거하지 않는", SkillPart::Exclusions),
    ("do not trigger", SkillPart::Exclusions),
    ("not for", SkillPart::Exclusions),
    ("트리거 조건", SkillPart::Trigger),
    ("trigger", SkillPart::Trigger),
    ("키워드", SkillPart::Keywords),
    ("keywords", SkillPart::Keywords),
    ("판별 규칙", SkillPart::Rules),
    ("rules", SkillPart::Rules),
    ("예시 요청", SkillPart::Examples),
    ("examples", SkillPart::Examples),
    ("전제 조건", SkillPart::Preconditions),
    ("preconditions", SkillPart::Preconditions),
    ("파라미터", SkillPart::Parameters),
    ("parameters", SkillPart::Parameters),
    ("에이전트 워크플로우", SkillPart::Workflow),
    ("agent workflow", SkillPart::Workflow),
    ("workflow", SkillPart::Workflow),
];

/// A heading line: its level and its text.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with([' ', '\t'])).then(|| (level, rest.trim()))
}

/// The part that a heading of the second or third level begins.
pub(crate) fn part(text: &str) -> Option<SkillPart> {
    let text = text.to_lowercase();
    HEADINGS.iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, part)| *part)
}

/// Whether a line opens or closes a fence, by its marks.
pub(crate) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}
