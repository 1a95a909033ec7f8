//! What is said in the full demonstration: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::FullTitle,
        "From an idea to tested code: four phases, each with a gate and your approval.",
        "아이디어에서 테스트된 코드까지: 네 단계, 단계마다 관문과 당신의 승인.",
    ),
    (
        Key::FullTrust,
        "The project brings its agents along, as scripts. Nothing of a repository runs before somebody agrees:",
        "이 프로젝트는 에이전트를 스크립트로 가지고 있습니다. 저장소의 것은 누군가 동의하기 전에는 실행되지 않습니다:",
    ),
    (Key::FullPhase, "Phase {phase} of {phases}: {name}.", "{phases}단계 중 {phase}단계: {name}."),
    (
        Key::FullGatePassed,
        "Gate {gate}: nothing is wrong. Files: {files}, commands: {commands}, criteria of the verifier: {criteria}.",
        "관문 {gate}: 문제없음. 파일 {files}개, 명령 {commands}개, 검증 기준 {criteria}개.",
    ),
    (
        Key::FullGateFailed,
        "Gate {gate}: the agent said that it is done, and it is not. It hears why:",
        "관문 {gate}: 에이전트는 끝났다고 했지만 그렇지 않습니다. 에이전트에게 알립니다:",
    ),
    (
        Key::FullApproved,
        "Approved: exactly the tree {tree}, and no other.",
        "승인됨: 정확히 트리 {tree}이며 다른 것은 아닙니다.",
    ),
    (
        Key::FullGoesOn,
        "{id}: {message}. Nobody has to do anything: it goes on by itself.",
        "{id}: {message}. 아무도 할 일이 없습니다. 저절로 계속됩니다.",
    ),
    (
        Key::FullDecide,
        "Enter approves it. Words send it back, with what you want changed. \"reject\" ends everything.",
        "Enter를 누르면 승인합니다. 글을 쓰면 변경 요청으로 되돌려 보냅니다. \"reject\"는 모두 끝냅니다.",
    ),
    (Key::FullElsewhere, "Answered on the page.", "페이지에서 답했습니다."),
    (
        Key::FullDone,
        "All phases are approved. What was approved becomes a branch, with a commit for each phase:",
        "모든 단계가 승인되었습니다. 승인된 것은 단계마다 커밋 하나씩 브랜치가 됩니다:",
    ),
    (Key::FullRejected, "It was rejected, and that is its end.", "거절되었고, 여기서 끝납니다."),
    (
        Key::FullFactApproved,
        "four phases, each approved by a person, each with exactly the tree that was shown",
        "네 단계 모두 사람이 승인했고, 저마다 보여 준 트리 그대로임",
    ),
    (
        Key::FullFactSentBack,
        "a verifier found what was forgotten, the phase went back, and then it was there",
        "검증자가 빠진 것을 찾았고, 되돌려 보낸 뒤 채워짐",
    ),
    (
        Key::FullFactAsked,
        "every kind of question, a key, a file and a permission were asked for; an error passed by itself",
        "모든 종류의 질문과 키, 파일, 허가를 요청했고, 오류 하나는 저절로 지나감",
    ),
    (
        Key::FullFactTests,
        "the program's tests pass, at the gate and once more just now",
        "프로그램의 테스트가 관문에서도, 방금 다시 돌려도 통과함",
    ),
    (
        Key::FullFactSecret,
        "the key stands in no file of the project and in no log",
        "키는 프로젝트의 어떤 파일에도, 어떤 로그에도 없음",
    ),
    (
        Key::FullFactExported,
        "the branch has a commit for each phase, with the approved trees",
        "브랜치에 단계마다 커밋이 있고 트리는 승인된 그대로임",
    ),
    (Key::FullNextCommand, "ostler phases run \"an idea of yours\"", "ostler phases run \"당신의 아이디어\""),
    (Key::FullStuck, "phase {phase} does not go on: {state}", "{phase}단계가 진행되지 않습니다: {state}"),
    (Key::FullNotDone, "`ostler {command}` failed: {message}", "`ostler {command}` 실패: {message}"),
];
