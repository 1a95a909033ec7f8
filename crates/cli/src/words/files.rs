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
    (Key::SignInForged, "not made by Ostler: lets nobody in", "Ostler가 만들지 않음: 아무도 들어올 수 없음"),
    (
        Key::ForgedSignIn,
        "{id} '{name}' in sign-ins.json was not made by Ostler. Another process wrote it there; it lets nobody in. Remove it: ostler token revoke {id}",
        "sign-ins.json의 {id} '{name}'은(는) Ostler가 만들지 않았습니다. 다른 프로세스가 써 넣었으며 아무도 들어오게 하지 않습니다. 지우려면: ostler token revoke {id}",
    ),
];
