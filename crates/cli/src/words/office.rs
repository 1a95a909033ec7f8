//! What is said of the office: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::StatusWaitingAgent, "waiting for an agent", "에이전트 대기"),
    (
        Key::NoOffice,
        "this directory belongs to no project that Ostler knows",
        "이 디렉터리는 Ostler가 아는 프로젝트가 아닙니다",
    ),
    (
        Key::HintNoOffice,
        "Let it use its roles with `ostler trust`, or start something here: ostler run claude \"…\"",
        "`ostler trust`로 역할을 허락하거나 여기서 무언가를 시작하세요: ostler run claude \"…\"",
    ),
    (
        Key::NoRolesYet,
        "No roles yet. Write one in .claude/agents/NAME.md",
        "아직 역할이 없습니다. .claude/agents/이름.md에 쓰세요",
    ),
    (Key::NoCallsYet, "Nobody has called anybody yet.", "아직 호출이 없습니다."),
    (Key::NoResultsYet, "Nothing was brought yet.", "아직 전달된 결과가 없습니다."),
    (Key::NoQuestionsYet, "Nobody has asked anything yet.", "아직 질문이 없습니다."),
    (Key::OfficeOpen, "Open calls:", "열린 호출:"),
    (Key::OfficeUnread, "Not read yet:", "아직 읽지 않음:"),
    (Key::ColumnRole, "ROLE", "역할"),
    (Key::CallPending, "pending", "대기"),
    (Key::CallInProgress, "in progress", "진행 중"),
    (Key::CallCompleted, "completed", "완료"),
    (Key::CallFailed, "failed", "실패"),
    (Key::CallCancelled, "cancelled", "취소"),
    (Key::QuestionAnswered, "answered", "답변됨"),
    (Key::QuestionExpired, "expired", "만료됨"),
    (Key::ResultPending, "pending", "대기"),
    (Key::ResultDelivered, "delivered", "전달됨"),
    (Key::NoResultHere, "The result of {id} comes as a message.", "{id}의 결과는 메시지로 옵니다."),
    (Key::NoSuchCall, "there is no call {id}", "{id} 호출이 없습니다"),
    (
        Key::HintCalls,
        "'ostler office invocations' shows them.",
        "'ostler office invocations'로 볼 수 있습니다.",
    ),
    (Key::RefusedCallOver, "the call {id} is over", "{id} 호출은 이미 끝났습니다"),
    (Key::RefusedNoRole, "there is no agent {role}", "{role}(이)라는 에이전트가 없습니다"),
    (Key::HintRoles, "There are: {roles}", "있는 에이전트: {roles}"),
    (Key::RefusedNotDelivered, "the result was not delivered: {why}", "결과를 전달하지 못했습니다: {why}"),
];
