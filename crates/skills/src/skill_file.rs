//! One skill, read from its text.

use crate::{
    front_matter::front_matter,
    headings::{SkillPart, heading, is_fence, part},
    workflow::{WorkflowStep, workflow},
};

/// The longest file of a skill.
pub const SKILL_BYTES_MAX: u64 = 256 << 10;

/// The most keywords, groups of a rule, examples, exclusions, preconditions and parameters.
const ITEMS_MAX: usize = 200;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillFile {
    /// The name in its heading or its front matter, if it says one.
    pub title: Option<String>,
    /// The purpose of the skill.
    pub description: String,
    /// Words of which a request has at least one. Without any, the skill is for injection alone.
    pub keywords: Vec<String>,
    /// The rule that a request has to meet beside a keyword.
    pub rule: SkillRule,
    /// Lines of the rule that are no data: a person reads them.
    pub prose: Vec<String>,
    /// Requests for which the skill is meant.
    pub examples: Vec<String>,
    /// Cases in which the skill is not meant.
    pub exclusions: Vec<SkillExclusion>,
    /// What has to be known first.
    pub preconditions: Vec<String>,
    /// What is read from the request.
    pub parameters: Vec<SkillParameter>,
    /// The steps of the work.
    pub workflow: Vec<WorkflowStep>,
}

/// A rule as data: groups of words. No group means that a keyword is enough.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillRule {
    /// Of each of these groups a request names a word.
    pub all_of: Vec<WordGroup>,
    /// Of at least one of these groups a request names a word.
    pub any_of: Vec<WordGroup>,
    /// Of none of these groups a request names a word.
    pub none_of: Vec<WordGroup>,
}

/// Words that mean the same to a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordGroup {
    /// What the words are: "resource", "operation".
    pub name: String,
    /// The words.
    pub words: Vec<String>,
}

/// A case in which a skill is not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillExclusion {
    /// The case.
    pub case: String,
    /// Words by which the case is known; without any, a person decides.
    pub words: Vec<String>,
    /// What is meant there instead, if the skill says so.
    pub target: Option<String>,
}

/// Something that a skill reads from a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillParameter {
    /// Its name.
    pub name: String,
    /// How it is read.
    pub source: String,
    /// Words that are values, if the request names one.
    pub words: Vec<String>,
    /// What holds where the request does not say.
    pub default: ParameterDefault,
}

/// What holds where a request does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterDefault {
    /// This value.
    Value(String),
    /// Nothing.
    Nothing,
    /// A person is asked.
    Asked,
}

impl SkillFile {
    /// Reads a skill. Whatever is not understood is passed over: a text without keywords is a skill for injection.
    pub fn read(text: &str) -> SkillFile {
        let head = front_matter(text);
        let mut skill = SkillFile { title: head.name, ..SkillFile::default() };
        skill.description = head.description.unwrap_or_default();
        let mut now = None;
        let mut lines: Vec<&str> = Vec::new();
        let mut is_fenced = false;
        for line in head.body.lines() {
            is_fenced ^= is_fence(line);
            let Some((level, text)) = heading(line).filter(|_| !is_fenced) else {
                lines.push(line);
                continue;
            };
            skill.take(now, &lines);
            lines.clear();
            now = match level {
                1 => {
                    let title =
                        text.split_once(':').filter(|(word, _)| is_skill(word)).map(|(_, name)| name.trim());
                    skill.title = skill.title.take().or_else(|| title.map(str::to_owned));
                    None
                }
                2 | 3 => part(text),
                // A deeper heading belongs to the part around it.
                _ => now,
            };
        }
        skill.take(now, &lines);
        skill
    }

    /// Whether requests can mean the skill. Others are only given to agents.
    pub fn can_fire(&self) -> bool {
        !self.keywords.is_empty()
    }

    fn take(&mut self, part: Option<SkillPart>, lines: &[&str]) {
        match part {
            Some(SkillPart::Description) if self.description.is_empty() => {
                let text = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
                self.description = text.collect::<Vec<_>>().join(" ");
            }
            None | Some(SkillPart::Trigger | SkillPart::Description) => {}
            Some(SkillPart::Keywords) => {
                add(&mut self.keywords, lines.iter().flat_map(|line| keywords(line)));
            }
            Some(SkillPart::Rules) => self.take_rules(lines),
            Some(SkillPart::Examples) => {
                let unquoted = |item: &str| item.trim_matches(['"', '“', '”']).to_owned();
                add(&mut self.examples, items(lines).map(unquoted));
            }
            Some(SkillPart::Exclusions) => add(&mut self.exclusions, items(lines).map(exclusion)),
            Some(SkillPart::Preconditions) => add(&mut self.preconditions, items(lines).map(str::to_owned)),
            Some(SkillPart::Parameters) => {
                add(&mut self.parameters, lines.iter().filter_map(|line| parameter(line)));
            }
            Some(SkillPart::Workflow) => {
                if self.workflow.is_empty() {
                    self.workflow = workflow(lines);
                }
            }
        }
    }

    /// Lines that begin with `all of NAME:` and the like are data; others are for a person.
    fn take_rules(&mut self, lines: &[&str]) {
        for item in items(lines) {
            let into = match rule_group(item) {
                Some((GroupUse::All, group)) => (&mut self.rule.all_of, group),
                Some((GroupUse::Any, group)) => (&mut self.rule.any_of, group),
                Some((GroupUse::None, group)) => (&mut self.rule.none_of, group),
                None => {
                    add(&mut self.prose, [item.to_owned()]);
                    continue;
                }
            };
            add(into.0, [into.1]);
        }
    }
}

fn is_skill(word: &str) -> bool {
    matches!(word.trim().to_lowercase().as_str(), "skill" | "스킬")
}

fn add<T>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for item in more {
        if list.len() < ITEMS_MAX {
            list.push(item);
        }
    }
}

/// The words in back quotes of a line.
fn keywords(line: &str) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2).map(str::trim);
    quoted.filter(|word| !word.is_empty() && word.chars().count() <= 60).map(str::to_owned).collect()
}

/// The items of a list; lines without a dash count as well, but neither tables nor comments.
fn items<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    lines.iter().filter_map(|line| {
        let text = line.trim();
        let text = text.strip_prefix(['-', '*', '•']).unwrap_or(text).trim();
        let text = text.strip_prefix("[ ]").unwrap_or(text).trim();
        let is_item = !text.is_empty() && !text.starts_with(['|', '<']) && !is_fence(text);
        is_item.then_some(text)
    })
}

fn exclusion(item: &str) -> SkillExclusion {
    let split = item.split_once('→').or_else(|| item.split_once("->"));
    let (case, target) = split.map_or((item, None), |(case, target)| (case, Some(target.trim())));
    let target = target.map(|it| it.trim_matches('`').to_owned()).filter(|it| !it.is_empty());
    SkillExclusion { case: case.trim().to_owned(), words: keywords(case), target }
}

/// How a group of a rule counts.
enum GroupUse {
    All,
    Any,
    None,
}

fn rule_group(item: &str) -> Option<(GroupUse, WordGroup)> {
    let (head, rest) = item.split_once(':')?;
    let head = head.trim().trim_matches('*');
    let words = keywords(rest);
    let uses = [
        ("all of ", GroupUse::All),
        ("any of ", GroupUse::Any),
        ("none of ", GroupUse::None),
        ("모두 ", GroupUse::All),
        ("하나 이상 ", GroupUse::Any),
        ("제외 ", GroupUse::None),
    ];
    let lower = head.to_lowercase();
    let (name, how) =
        uses.into_iter().find_map(|(word, how)| Some((lower.strip_prefix(word)?.to_owned(), how)))?;
    (!words.is_empty()).then(|| (how, WordGroup { name: name.trim().to_owned(), words }))
}

/// A row of the table of parameters; its head and the line below it are none.
fn parameter(line: &str) -> Option<SkillParameter> {
    let inner = line.trim().strip_prefix('|')?;
    let cells: Vec<&str> = inner.trim_end_matches('|').split('|').map(str::trim).collect();
    let [name, source, default] = cells.get(..3)?.try_into().ok()?;
    let is_rule = |cell: &str| cell.chars().all(|c| matches!(c, '-' | ':' | ' '));
    if is_rule(name) || matches!(name.to_lowercase().as_str(), "파라미터" | "parameter" | "name") {
        return None;
    }
    let plain = |cell: &str| cell.trim_matches(['`', '*']).to_owned();
    Some(SkillParameter {
        name: plain(name),
        source: source.to_owned(),
        words: keywords(source),
        default: default_of(default),
    })
}

fn default_of(cell: &str) -> ParameterDefault {
    let lower = cell.to_lowercase();
    let asked = ["필수", "질문", "required", "ask"];
    if asked.iter().any(|word| lower.contains(word)) {
        return ParameterDefault::Asked;
    }
    match lower.trim_matches(['`', '(', ')']) {
        "" | "-" | "없음" | "none" => ParameterDefault::Nothing,
        _ => ParameterDefault::Value(cell.trim_matches('`').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KOREAN: &str = "# Skill: report\n\n## 설명\n보고서를 만든다.\n\n## 트리거 조건\n\n### 키워드 (하나 이상 포함 시 트리거)\n\
        `보고서`, `리포트`, `pdf 출력`\n\n### 판별 규칙\n- 모두 형식: `PDF`, `CSV`\n- 보고서가 화면이면 트리거하지 않는다\n\n### 예시 요청\n\
        - \"월간 보고서를 PDF로\"\n\n### 트리거하지 않는 경우\n- 버그 수정 → 일반 워크플로우\n- 화면만\n\n### 전제 조건\n- [ ] Backend \
        프레임워크\n\n### 파라미터 추출\n\n| 파라미터 | 추출 방법 | 기본값 |\n|---|:-:|---|\n| 주기 | 요청에서 | 월간 |\n| `대상` | 요청에서 | 필수 \
        (질문) |\n| 메일 | 요청에서 | 없음 |\n\n## 에이전트 워크플로우\n```\n1. [planner] 계획\n   - 항목\n# not a heading\n2. [backend] 구현\n```\n\n## \
        표준 구현\n### 키워드\n`무엇`\n";

    #[test]
    fn the_whole_grammar_is_read() {
        let skill = SkillFile::read(KOREAN);
        assert_eq!(
            (skill.title.as_deref(), skill.description.as_str()),
            (Some("report"), "보고서를 만든다.")
        );
        assert_eq!(skill.keywords[..3], ["보고서", "리포트", "pdf 출력"]);
        assert_eq!(skill.rule.all_of[0].words, ["PDF", "CSV"]);
        assert_eq!(skill.prose, ["보고서가 화면이면 트리거하지 않는다"]);
        assert_eq!(skill.examples, ["월간 보고서를 PDF로"]);
        assert_eq!(skill.exclusions[0].target.as_deref(), Some("일반 워크플로우"));
        assert_eq!((skill.exclusions[1].case.as_str(), &skill.exclusions[1].target), ("화면만", &None));
        assert_eq!(skill.preconditions, ["Backend 프레임워크"]);
        let defaults: Vec<&ParameterDefault> = skill.parameters.iter().map(|it| &it.default).collect();
        let monthly = ParameterDefault::Value("월간".to_owned());
        assert_eq!(defaults, [&monthly, &ParameterDefault::Asked, &ParameterDefault::Nothing]);
        assert_eq!(skill.parameters[1].name, "대상");
        assert_eq!(skill.workflow.len(), 2);
    }

    #[test]
    fn english_headings_say_the_same() {
        let text = "---\nname: report\ndescription: Makes reports.\n---\n# Anything\n## Trigger\n### Keywords\n`report`\n### Rules\n- any \
                    of format: `PDF`\n- none of place: `screen`\n### Do not trigger\n- a bug -> general\n### Preconditions\n- a \
                    backend\n### Parameters\n| parameter | source | default |\n|-|-|-|\n| period | request | monthly |\n| target | request | \
                    ask |\n## Agent workflow\n1. [backend] Write it\n";
        let skill = SkillFile::read(text);
        assert_eq!((skill.title.as_deref(), skill.description.as_str()), (Some("report"), "Makes reports."));
        assert_eq!((skill.keywords.len(), skill.rule.any_of.len(), skill.rule.none_of.len()), (1, 1, 1));
        assert_eq!(skill.exclusions[0].target.as_deref(), Some("general"));
        assert_eq!((skill.parameters.len(), skill.preconditions.len(), skill.workflow.len()), (2, 1, 1));
    }

    #[test]
    fn any_text_is_read_and_stays_bounded() {
        for text in [
            "",
            "---",
            "#",
            "# Skill:",
            "\0\u{202e}",
            "## 키워드\n`",
            "### Parameters\n|||\n|a|b|\n|a|b|c|d|",
        ] {
            SkillFile::read(text);
        }
        let many = format!("## 키워드\n{}", "`a` ".repeat(100_000));
        assert_eq!(SkillFile::read(&many).keywords.len(), ITEMS_MAX);
        assert!(!SkillFile::read("# notes\njust text").can_fire());
    }
}
