//! What is said about files that another process has exchanged or forged: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::RefusedLogReplaced,
        "another process replaced the log '{path}': {why}",
        "다른 프로세스가 로그 파일 '{path}'을(를) 바꿔치기했습니다: {why}",
    ),
    (
        Key::HintLogReplaced,
        "What the agent printed before is gone; the session itself goes on. Remove what is there.",
        "에이전트가 그 전에 출력한 내용은 사라졌지만 세션은 계속됩니다. 그 자리에 있는 것을 지우세요.",
    ),
    (
        Key::RefusedJournalLocked,
        "another process keeps the journal locked: {processes}",
        "다른 프로세스가 기록(journal)을 잠그고 있습니다: {processes}",
    ),
    (
        Key::HintJournalLocked,
        "Nothing has changed. End that process, or let it finish, and try again.",
        "바뀐 것은 없습니다. 그 프로세스를 끝내거나 마칠 때까지 기다린 뒤 다시 시도하세요.",
    ),
    (
        Key::DoctorJournalLocked,
        "process {pid} ({name}) keeps the journal locked: nothing can be answered, cancelled or started meanwhile. End it: kill {pid}",
        "프로세스 {pid}({name})이(가) 기록(journal)을 잠그고 있어 답하기, 취소, 시작을 할 수 없음. 끝내려면: kill {pid}",
    ),
    (
        Key::DoctorSocketTaken,
        "another process removed or replaced {socket} {times} time(s), last at {time}; the server listens there again. Look for a process that should not run: ostler ps",
        "다른 프로세스가 {socket}을(를) {times}번 지우거나 바꿔치기했고(마지막: {time}) 서버가 그 자리에서 다시 연결을 받고 있음. 실행되면 안 되는 프로세스가 있는지 확인: ostler ps",
    ),
    (Key::SignInForged, "not made by Ostler: lets nobody in", "Ostler가 만들지 않음: 아무도 들어올 수 없음"),
    (
        Key::ForgedSignIn,
        "{id} '{name}' in sign-ins.json was not made by Ostler. Another process wrote it there; it lets nobody in. Remove it: ostler token revoke {id}",
        "sign-ins.json의 {id} '{name}'은(는) Ostler가 만들지 않았습니다. 다른 프로세스가 써 넣었으며 아무도 들어오게 하지 않습니다. 지우려면: ostler token revoke {id}",
    ),
];
