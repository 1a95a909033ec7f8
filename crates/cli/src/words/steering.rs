//! What is said about a session that another process has steered: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::AskSteered, "was steered by another process", "다른 프로세스가 조종함"),
    (
        Key::AskSteeredText,
        "Another process steered this session. May the agent go on?",
        "다른 프로세스가 이 세션을 조종했습니다. 에이전트가 계속할까요?",
    ),
    (
        Key::AskDisplacedText,
        "Another process answered in place of this session's shim, so Ostler cannot reach the agent. May the agent go on?",
        "다른 프로세스가 이 세션의 shim 대신 응답해서 Ostler가 에이전트에 연결할 수 없습니다. 에이전트가 계속할까요?",
    ),
];
