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
    (Key::OfficeUnmerged, "Not merged yet:", "아직 병합하지 않음:"),
    (Key::WorkTested, "is being tested", "테스트 중"),
    (Key::WorkMerged, "is being merged", "병합 중"),
    (Key::WorkAsked, "waits for you: ostler answer {request}", "답을 기다림: ostler answer {request}"),
    (Key::WorkLeft, "left: ostler merge {id}", "그대로 둠: ostler merge {id}"),
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
    (Key::NoSuchRun, "there is no run '{id}'", "{id} 실행이 없습니다"),
    (
        Key::RefusedTooLong,
        "that is too long: at most {max} are taken here",
        "너무 깁니다: 여기서는 {max}까지 받습니다",
    ),
    (
        Key::HintTooLong,
        "Nothing was done. Put a long text into a file that the agent can read, and name it instead.",
        "아무것도 하지 않았습니다. 긴 글은 에이전트가 읽을 수 있는 파일에 두고 그 이름을 보내세요.",
    ),
    (Key::RefusedEmptyField, "the {field} is empty", "'{field}' 값이 비어 있습니다"),
    (Key::RefusedLongField, "the {field} is too long", "'{field}' 값이 너무 깁니다"),
    (Key::HintLongField, "Put it into a file, and name the file.", "파일에 두고 그 파일의 이름을 보내세요."),
    (
        Key::RefusedNotWaitedFor,
        "no process waits for {id} any more",
        "이제 {id}의 결과를 기다리는 프로세스가 없습니다",
    ),
    (
        Key::HintAsMessage,
        "What came of it is brought to the agent as a message.",
        "결과는 에이전트에게 메시지로 전달됩니다.",
    ),
    (
        Key::ShowEarlier,
        "Only the newest {n} events are shown. All of them: ostler show {id} --all",
        "가장 최근 {n}개만 보여 줍니다. 모두 보려면: ostler show {id} --all",
    ),
    (
        Key::ShowUnrecorded,
        "{n} further items were counted and not recorded",
        "{n}개는 세기만 하고 기록하지 않았습니다",
    ),
    (
        Key::RefusedConnections,
        "this session already has {max} connections to the server",
        "이 세션은 이미 서버에 {max}개의 연결을 열어 두었습니다",
    ),
    (
        Key::HintConnections,
        "Wait for an answer on one of them, or close one, and try again.",
        "그중 하나의 답을 기다리거나 연결을 닫은 뒤 다시 시도하세요.",
    ),
    (
        Key::RefusedNoDescriptors,
        "the server has no file descriptors left for another connection",
        "서버에 새 연결을 받을 파일 디스크립터가 남아 있지 않습니다",
    ),
    (
        Key::HintNoDescriptors,
        "Try again in a few seconds. If this goes on, raise `ulimit -n`, then run: ostler serve --stop",
        "몇 초 뒤에 다시 시도하세요. 계속되면 `ulimit -n`을 올린 뒤 실행하세요: ostler serve --stop",
    ),
    (
        Key::RefusedOpenRequests,
        "{id} has {max} open requests, and no session may have more at once",
        "{id}에 열린 요청이 {max}개 있습니다. 한 세션은 그보다 많이 열어 둘 수 없습니다",
    ),
    (
        Key::HintOpenRequests,
        "Wait until a person has answered some of them, and ask again.",
        "사람이 몇 개에 답할 때까지 기다렸다가 다시 물어보세요.",
    ),
    (
        Key::RefusedOpenBytes,
        "the open requests of {id} may have {max} bytes together",
        "{id}의 열린 요청은 모두 합쳐 {max}바이트까지입니다",
    ),
    (
        Key::HintOpenBytes,
        "Put long text into a file, and name the file; or wait until a person has answered some of them.",
        "긴 글은 파일에 두고 그 이름을 적으세요. 아니면 사람이 몇 개에 답할 때까지 기다리세요.",
    ),
    (
        Key::RefusedSignals,
        "{id} has sent {max} signals over its socket, and no session may send more",
        "{id}이(가) 소켓으로 신호를 {max}번 보냈습니다. 한 세션은 그보다 많이 보낼 수 없습니다",
    ),
    (
        Key::HintSignals,
        "Report larger steps. A new session starts from zero.",
        "더 큰 단위로 보고하세요. 새 세션은 처음부터 셉니다.",
    ),
];
