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
    (
        Key::NotTheServer,
        "process {pid} listens at '{path}' in place of the server, and carries the mark of an agent. Nothing was sent",
        "프로세스 {pid}이(가) 서버 대신 '{path}'에서 기다리고 있으며, 에이전트의 표시가 있습니다. 아무것도 보내지 않았습니다",
    ),
    (
        Key::HintNotTheServer,
        "End it with 'kill {pid}'. The server has lost its socket: 'ostler doctor' names it, end it too, and run this again. Agents go on meanwhile.",
        "'kill {pid}'로 끝내세요. 서버는 소켓을 잃었습니다. 'ostler doctor'가 알려 주는 서버도 끝낸 뒤 다시 실행하세요. 그동안 에이전트는 계속 일합니다.",
    ),
];
