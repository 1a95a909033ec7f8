//! What is said of the page and of who may come in: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::OpenOnce,
        "The link signs one browser in, once and within ten minutes.",
        "이 링크는 10분 안에 한 번, 브라우저 하나만 로그인시킵니다.",
    ),
    (
        Key::OpenOnlyHere,
        "A phone cannot reach this address: it is only for this machine. docs/remote.md says how to change that.",
        "이 주소는 이 컴퓨터에서만 열립니다. 휴대전화에서 여는 방법은 docs/remote.md에 있습니다.",
    ),
    (
        Key::OpenNot,
        "{program} does not start ({source}). Open the link yourself.",
        "{program}을(를) 시작할 수 없습니다({source}). 링크를 직접 여세요.",
    ),
    (Key::OpenTooLong, "that is too long to be drawn", "너무 길어서 QR 코드로 그릴 수 없습니다"),
    (
        Key::TokenOnce,
        "This is '{name}'. It is not shown again. Send it as a header: Authorization: Bearer ost_…",
        "'{name}' 토큰입니다. 다시 보여 주지 않습니다. 헤더로 보내세요: Authorization: Bearer ost_…",
    ),
    (
        Key::TokenNone,
        "There is no token, and no browser is signed in. For a browser: ostler open; for a script: ostler token make NAME",
        "토큰도, 로그인한 브라우저도 없습니다. 브라우저는 ostler open, 스크립트는 ostler token make NAME",
    ),
    (Key::TokenRevoked, "'{name}' cannot come in any more.", "'{name}'은(는) 더 이상 들어올 수 없습니다."),
    (Key::ColumnUsed, "USED", "사용"),
    (Key::ColumnUntil, "UNTIL", "기한"),
    (Key::SignInBrowser, "browser", "브라우저"),
    (Key::SignInToken, "token", "토큰"),
    (Key::SignInReadOnly, "token, only looks", "토큰, 읽기 전용"),
    (Key::SignInUnused, "never", "없음"),
    (Key::NoSuchSignIn, "there is no sign-in or token '{name}'", "'{name}'이라는 로그인이나 토큰이 없습니다"),
    (
        Key::HintSignIns,
        "See who may come in: ostler token list",
        "들어올 수 있는 것을 보려면: ostler token list",
    ),
    (Key::RefusedTokenTaken, "there is a token '{name}' already", "'{name}' 토큰이 이미 있습니다"),
    (
        Key::HintTokenTaken,
        "Take another name, or end it: ostler token revoke {name}",
        "다른 이름을 쓰거나 끝내세요: ostler token revoke {name}",
    ),
    (Key::RefusedPageOff, "the page is switched off", "페이지가 꺼져 있습니다"),
    (Key::RefusedPageShut, "the page cannot be had: {why}", "페이지를 열 수 없습니다: {why}"),
    (
        Key::HintPage,
        "Change [page] in your configuration, and try again. Agents are looked after meanwhile.",
        "설정의 [page]를 고친 뒤 다시 시도하세요. 에이전트는 그동안에도 계속 돌봅니다.",
    ),
    (
        Key::DoctorPage,
        "the page is at {url}; open it with: ostler open",
        "페이지 주소: {url} (여는 명령: ostler open)",
    ),
    (Key::DoctorPageOff, "the page is switched off ([page] listen)", "페이지가 꺼져 있습니다([page] listen)"),
    (
        Key::DoctorPageShut,
        "the page cannot be had: {message}. Change [page] in your configuration, then: ostler open",
        "페이지를 열 수 없습니다: {message}. 설정의 [page]를 고친 뒤: ostler open",
    ),
    (
        Key::DoctorServerSilent,
        "server: {message}. Continue it: kill -CONT {pid}. Or end it: kill -9 {pid}; agents go on, and the next command starts another",
        "서버: {message}. 계속하게 하려면: kill -CONT {pid}. 끝내려면: kill -9 {pid}. 에이전트는 계속 실행되고 다음 명령이 새 서버를 시작함",
    ),
    (
        Key::DoctorUnreached,
        "session {id}: its shim is alive and cannot be reached: it is stopped, its socket is gone, or the server has no file descriptors left. End it: ostler cancel {id}",
        "세션 {id}: shim이 살아 있지만 연결할 수 없음. 멈춰 있거나, 소켓이 사라졌거나, 서버에 남은 파일 디스크립터가 없음. 끝내려면: ostler cancel {id}",
    ),
    (
        Key::HintServerSilent,
        "Continue it: kill -CONT {pid}. Or end it: kill -9 {pid}. Agents go on, and the next command starts another server.",
        "계속하게 하려면: kill -CONT {pid}. 끝내려면: kill -9 {pid}. 에이전트는 계속 실행되고 다음 명령이 새 서버를 시작합니다.",
    ),
];
