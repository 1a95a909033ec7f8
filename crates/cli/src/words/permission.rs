//! What is said about permission rules: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::PromptPermission,
        "Your answer: a number, or words that say why not",
        "답(번호, 또는 안 되는 이유)",
    ),
    (Key::RuleOption, "allow for this session: {rule}", "이 세션 동안 허락: {rule}"),
    (Key::RuleCall, "{tool}, exactly this: {text}", "{tool}, 정확히 이것만: {text}"),
    (
        Key::RulePrefix,
        "{tool}, commands that begin like this: {text}",
        "{tool}, 이렇게 시작하는 명령: {text}",
    ),
    (Key::RuleFile, "{tool}, this file: {text}", "{tool}, 이 파일: {text}"),
    (
        Key::RuleDirectory,
        "{tool}, files below this directory, hidden ones excepted: {text}",
        "{tool}, 이 디렉터리 아래의 파일(숨김 파일 제외): {text}",
    ),
    (Key::RuleTool, "every use of {text}", "{text}의 모든 사용"),
    (Key::ShowAllowed, "Allowed for this session", "이 세션 동안 허락된 것"),
    (Key::NoPermissions, "{id} has no permission rules.", "{id}에는 허락 규칙이 없습니다."),
    (Key::PermissionRevoked, "{id}: rule {number} is revoked", "{id}: 규칙 {number}을(를) 거두었습니다"),
    (
        Key::NoSuchPermission,
        "{id} never had a permission rule {number}",
        "{id}에는 허락 규칙 {number}이(가) 없었습니다",
    ),
    (
        Key::HintPermissions,
        "'ostler permissions {id}' lists them.",
        "'ostler permissions {id}'로 볼 수 있습니다.",
    ),
    (
        Key::HintRevoke,
        "Revoke one: ostler permissions {id} --revoke N",
        "거두기: ostler permissions {id} --revoke N",
    ),
    (Key::AnswerApprovedRule, "approved for this session: {rule}", "이 세션 동안 허락함: {rule}"),
    (Key::AnswerByRule, "approved by the rule: {rule}", "규칙에 따라 허락함: {rule}"),
];
