//! Which skill a request asks for, and why the others do not fire. The same words give the same verdicts.

use std::collections::{BTreeMap, BTreeSet};

use ostler_engine::dispatch::{
    ChosenSkill, DispatchFacts, DispatchRules, Intent, PlanQuestion, RequestText, Role, analyse,
};
use serde::de::{Deserialize, IntoDeserializer, value};

use crate::{
    phrase::{PhraseHit, find},
    set::Skill,
    skill_file::{ParameterDefault, SkillFile, SkillParameter, WordGroup},
};

/// What is known of something that a skill needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
    /// It is there.
    Yes,
    /// It is not there.
    No,
    /// Nobody has looked.
    #[default]
    Unknown,
}

/// What is known of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkillFacts {
    /// Whether its stack names a backend.
    pub backend: Known,
    /// Whether its stack names a database.
    pub database: Known,
}

/// What came of a skill for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillVerdict {
    /// The skill.
    pub name: String,
    /// Whether it is the one that fires.
    pub fires: bool,
    /// The keywords that the request names.
    pub keywords: Vec<String>,
    /// Why it fires or does not.
    pub reason: SkillReason,
}

/// Why a skill fires or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillReason {
    /// The request asks for it.
    Fires,
    /// Several fire equally well; this one comes first by its name, and a person is asked.
    Tied {
        /// The others.
        with: Vec<String>,
    },
    /// Skills are for features.
    OtherWork {
        /// What the request is.
        intent: &'static str,
    },
    /// It has no keywords: agents are given it, requests cannot mean it.
    InjectionOnly,
    /// The request names none of its keywords.
    NoKeyword,
    /// The request names one, but asks for something else.
    NotAskedFor {
        /// The keyword.
        word: String,
    },
    /// The request names no word of a group that the rule needs.
    RuleUnmet {
        /// The group.
        group: String,
    },
    /// The request names a word that the rule forbids.
    Forbidden {
        /// The word.
        word: String,
    },
    /// It is a case for another skill, or for none.
    Excluded {
        /// The case.
        case: String,
        /// What is meant instead.
        target: Option<String>,
    },
    /// Another skill has more of its keywords in the request.
    FewerKeywords {
        /// The other skill.
        than: String,
    },
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillMatch {
    /// What the skill that fires brings.
    pub chosen: Option<ChosenSkill>,
    /// The verdict on every skill.
    pub verdicts: Vec<SkillVerdict>,
}

/// The skill that a request means by the built-in rules, where nothing is known of the project.
pub fn match_request(request: &str, skills: &[Skill]) -> SkillMatch {
    let rules = DispatchRules::with_files(&[]).expect("the built-in rules are tested");
    let verdicts = judge(request, &rules, &DispatchFacts::default(), skills);
    let fires = verdicts.iter().any(|verdict| verdict.fires);
    let text = RequestText::read(request);
    let chosen = if fires { skill_for(&text, &rules, SkillFacts::default(), skills) } else { None };
    SkillMatch { chosen, verdicts }
}

/// The verdict on every skill for a request.
pub fn judge(
    request: &str,
    rules: &DispatchRules,
    facts: &DispatchFacts,
    skills: &[Skill],
) -> Vec<SkillVerdict> {
    let mut verdicts = None;
    let plan = analyse(request, rules, facts, |text| {
        verdicts = Some(verdicts_of(text, rules, skills));
        None
    });
    let text = RequestText::read(request);
    verdicts.unwrap_or_else(|| {
        // The plan has asked for no skill.
        let intent = plan.intent.name();
        let verdict = |skill: &Skill| {
            let keywords = keywords(&text, &skill.file).into_iter().map(|(word, _)| word).collect();
            let reason = if skill.file.can_fire() {
                SkillReason::OtherWork { intent }
            } else {
                SkillReason::InjectionOnly
            };
            SkillVerdict { name: skill.name.clone(), fires: false, keywords, reason }
        };
        skills.iter().map(verdict).collect()
    })
}

/// What the skill that fires brings to a plan. A plan asks this only for a feature.
pub fn skill_for(
    text: &RequestText,
    rules: &DispatchRules,
    facts: SkillFacts,
    skills: &[Skill],
) -> Option<ChosenSkill> {
    let verdicts = verdicts_of(text, rules, skills);
    let verdict = verdicts.iter().find(|verdict| verdict.fires)?;
    let skill = skills.iter().find(|skill| skill.name == verdict.name)?;
    let mut asks = Vec::new();
    if let SkillReason::Tied { with } = &verdict.reason {
        asks.push(ask_which(text, &skill.name, with));
    }
    let mut parameters = BTreeMap::new();
    for parameter in &skill.file.parameters {
        match value_of(text, parameter) {
            Some(value) => drop(parameters.insert(parameter.name.clone(), value)),
            None => asks.extend(ask_parameter(text, parameter)),
        }
    }
    asks.extend(skill.file.preconditions.iter().filter_map(|needed| ask_precondition(text, needed, facts)));
    let named = skill.file.workflow.iter().flat_map(|step| &step.tasks).filter_map(|task| role(&task.role));
    Some(ChosenSkill { name: skill.name.clone(), roles: named.collect(), parameters, asks })
}

fn verdicts_of(text: &RequestText, rules: &DispatchRules, skills: &[Skill]) -> Vec<SkillVerdict> {
    let judged: Vec<(Vec<String>, Option<SkillReason>)> =
        skills.iter().map(|skill| judge_one(text, rules, skill, skills)).collect();
    let hits = |at: &usize| judged[*at].0.len();
    let left: Vec<usize> = (0..skills.len()).filter(|at| judged[*at].1.is_none()).collect();
    let most = left.iter().map(hits).max().unwrap_or_default();
    let best: Vec<usize> = left.iter().copied().filter(|at| hits(at) == most).collect();
    let verdict = |(at, (keywords, reason)): (usize, (Vec<String>, Option<SkillReason>))| {
        let others =
            best.iter().filter(|it| **it != at).map(|it| skills[*it].name.clone()).collect::<Vec<_>>();
        let fires = best.first() == Some(&at);
        let reason = reason.unwrap_or_else(|| match (fires, others.is_empty()) {
            (true, true) => SkillReason::Fires,
            (true, false) => SkillReason::Tied { with: others },
            (false, _) => SkillReason::FewerKeywords { than: skills[best[0]].name.clone() },
        });
        SkillVerdict { name: skills[at].name.clone(), fires, keywords, reason }
    };
    judged.into_iter().enumerate().map(verdict).collect()
}

/// The keywords that a request names, and why a skill does not fire; nothing, if it does.
fn judge_one(
    text: &RequestText,
    rules: &DispatchRules,
    skill: &Skill,
    skills: &[Skill],
) -> (Vec<String>, Option<SkillReason>) {
    let keywords = keywords(text, &skill.file);
    let words = keywords.iter().map(|(word, _)| word.clone()).collect();
    (words, why_not(text, rules, skill, &keywords).or_else(|| excluded(text, rules, skill, skills)))
}

/// Why the own rule of a skill does not hold.
fn why_not(
    text: &RequestText,
    rules: &DispatchRules,
    skill: &Skill,
    keywords: &[(String, PhraseHit)],
) -> Option<SkillReason> {
    if !skill.file.can_fire() {
        return Some(SkillReason::InjectionOnly);
    }
    let Some((first, _)) = keywords.first() else { return Some(SkillReason::NoKeyword) };
    if !keywords.iter().any(|(_, hit)| is_asked_for(text, rules, hit)) {
        return Some(SkillReason::NotAskedFor { word: first.clone() });
    }
    let rule = &skill.file.rule;
    if let Some(word) = rule.none_of.iter().find_map(|group| named(text, &group.words)) {
        return Some(SkillReason::Forbidden { word });
    }
    let is_unmet = |group: &&WordGroup| named(text, &group.words).is_none();
    if let Some(group) = rule.all_of.iter().find(is_unmet) {
        return Some(SkillReason::RuleUnmet { group: group.name.clone() });
    }
    let any = &rule.any_of;
    if !any.is_empty() && any.iter().all(|group| is_unmet(&group)) {
        let names: Vec<&str> = any.iter().map(|group| group.name.as_str()).collect();
        return Some(SkillReason::RuleUnmet { group: names.join(", ") });
    }
    None
}

/// A case that is another skill's, if that one's own rule holds, or nobody's. Cases in prose are for a person.
fn excluded(
    text: &RequestText,
    rules: &DispatchRules,
    skill: &Skill,
    skills: &[Skill],
) -> Option<SkillReason> {
    skill.file.exclusions.iter().find_map(|exclusion| {
        named(text, &exclusion.words)?;
        let target = exclusion.target.as_deref().and_then(|name| skills.iter().find(|it| it.name == name));
        let holds =
            target.is_none_or(|target| why_not(text, rules, target, &keywords(text, &target.file)).is_none());
        let (case, target) = (exclusion.case.clone(), exclusion.target.clone());
        holds.then_some(SkillReason::Excluded { case, target })
    })
}

/// Each keyword that a request names, with a place where it is asked for, if there is one.
fn keywords(text: &RequestText, file: &SkillFile) -> Vec<(String, PhraseHit)> {
    let place = |word: &String| {
        let hits = find(text, word);
        let best = hits.iter().find(|hit| hit.words.clone().all(|at| text.is_asked_for(at)));
        best.or(hits.first()).map(|hit| (word.clone(), hit.clone()))
    };
    file.keywords.iter().filter_map(place).collect()
}

fn named(text: &RequestText, words: &[String]) -> Option<String> {
    words.iter().find(|word| !find(text, word).is_empty()).cloned()
}

/// Whether Korean words say where something is done, and not what: "로그인 화면에 버튼을 …".
fn is_place(text: &RequestText, hit: &PhraseHit) -> bool {
    let last = *hit.words.end();
    let clause = text.words[last].clause;
    let near = text.words[last..].iter().take(2).filter(|word| word.clause == clause && word.is_korean());
    near.into_iter().any(|word| ["에", "에서", "에는", "에도"].iter().any(|it| word.text.ends_with(it)))
}

/// Whether a place is what the request asks for: in no question, and in no clause that wants something else done.
fn is_asked_for(text: &RequestText, rules: &DispatchRules, hit: &PhraseHit) -> bool {
    let word = &text.words[*hit.words.start()];
    let is_question = text.sentences.get(word.sentence).is_some_and(|sentence| sentence.is_question);
    if is_question || is_place(text, hit) || !hit.words.clone().all(|at| text.is_asked_for(at)) {
        return false;
    }
    let clauses: BTreeSet<usize> = text.words.iter().map(|word| word.clause).collect();
    if clauses.len() == 1 {
        return true;
    }
    let mut clause = String::new();
    for other in text.words.iter().filter(|other| other.clause == word.clause) {
        if !other.is_glued {
            clause.push(' ');
        }
        clause.push_str(&other.text);
    }
    let intent = analyse(&clause, rules, &DispatchFacts::default(), |_| None).intent;
    matches!(intent, Intent::Feature | Intent::Other)
}

fn value_of(text: &RequestText, parameter: &SkillParameter) -> Option<String> {
    let found = parameter.words.iter().find_map(|word| {
        let hit = find(text, word).into_iter().next()?;
        Some(hit.blank.unwrap_or_else(|| word.clone()))
    });
    match (&parameter.default, found) {
        (_, Some(found)) => Some(found),
        (ParameterDefault::Value(value), None) => Some(value.clone()),
        (ParameterDefault::Nothing | ParameterDefault::Asked, None) => None,
    }
}

fn ask_parameter(text: &RequestText, parameter: &SkillParameter) -> Option<PlanQuestion> {
    (parameter.default == ParameterDefault::Asked).then(|| PlanQuestion {
        id: format!("parameter:{}", parameter.name),
        question: if text.is_korean() {
            format!("{}: 무엇으로 할까요?", parameter.name)
        } else {
            format!("Which value has “{}”?", parameter.name)
        },
        options: Vec::new(),
        default: None,
    })
}

fn ask_precondition(text: &RequestText, needed: &str, facts: SkillFacts) -> Option<PlanQuestion> {
    let (name, known) = if needed.contains("Backend") || needed.contains("백엔드") {
        ("Backend", facts.backend)
    } else if needed.contains("Database") || needed.contains("데이터베이스") || needed.contains("DB") {
        ("Database", facts.database)
    } else {
        return None;
    };
    (known == Known::No).then(|| PlanQuestion {
        id: format!("stack:{}", name.to_lowercase()),
        question: if text.is_korean() {
            format!("tech-stack.md에 {name}이(가) 없습니다. 무엇을 쓸까요?")
        } else {
            format!("tech-stack.md names no {name}. Which one is used?")
        },
        options: Vec::new(),
        default: None,
    })
}

fn ask_which(text: &RequestText, name: &str, with: &[String]) -> PlanQuestion {
    PlanQuestion {
        id: "skill".to_owned(),
        question: if text.is_korean() { "어느 스킬로 할까요?" } else { "Which skill is meant?" }.to_owned(),
        options: std::iter::once(name.to_owned()).chain(with.iter().cloned()).collect(),
        default: Some(name.to_owned()),
    }
}

/// The role of a name that Ostler knows.
fn role(name: &str) -> Option<Role> {
    let name: value::StrDeserializer<'_, value::Error> = name.into_deserializer();
    Role::deserialize(name).ok()
}
