//! What is said about skills: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::SkillForRequests, "for requests", "요청용"),
    (Key::SkillForAgents, "for agents alone", "에이전트 전용"),
    (Key::SkillLeftOut, "{file} is no skill: {why}", "{file}은(는) 스킬이 아닙니다: {why}"),
    (Key::NoSuchSkill, "there is no skill '{name}'", "'{name}' 스킬이 없습니다"),
    (Key::HintSkills, "See `ostler skills list`.", "`ostler skills list`로 확인하십시오."),
    (Key::SkillFires, "the request asks for it", "요청이 이것을 원합니다"),
    (
        Key::SkillTied,
        "the request asks for it as much as for {others}: you are asked",
        "요청이 {others}만큼 원합니다: 어느 것인지 묻습니다",
    ),
    (
        Key::SkillOtherWork,
        "the request is {intent}, and skills are for features",
        "요청이 {intent}이고, 스킬은 기능 구현에만 씁니다",
    ),
    (
        Key::SkillInjectionOnly,
        "it has no keywords: agents are given it",
        "키워드가 없어 에이전트에게만 줍니다",
    ),
    (Key::SkillNoKeyword, "the request names none of its keywords", "요청에 키워드가 없습니다"),
    (
        Key::SkillNotAskedFor,
        "the request names '{word}', but asks for something else",
        "요청에 '{word}'이(가) 있지만 원하는 것은 다른 일입니다",
    ),
    (Key::SkillRuleUnmet, "its rule needs more: {group}", "규칙에 더 필요합니다: {group}"),
    (Key::SkillForbidden, "its rule forbids '{word}'", "규칙이 '{word}'을(를) 금지합니다"),
    (Key::SkillExcluded, "it is not meant for this: {case}", "이런 경우에는 쓰지 않습니다: {case}"),
    (
        Key::SkillExcludedFor,
        "it is not meant for this: {case}; that is {target}",
        "이런 경우에는 쓰지 않습니다: {case}. {target}의 일입니다",
    ),
    (
        Key::SkillFewerKeywords,
        "{other} has more of its keywords in the request",
        "요청에 {other}의 키워드가 더 많습니다",
    ),
];
