//! What is said about names of sessions, about waiting for them, and about what they printed: English and Korean beside
//! each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::Renamed, "{id} is called {name}", "{id}의 이름은 {name}입니다"),
    (Key::NameRemoved, "{id} has no name", "{id}에는 이름이 없습니다"),
    (
        Key::RefusedNameTaken,
        "{session} is called '{name}' and has not ended",
        "아직 끝나지 않은 {session}의 이름이 '{name}'입니다",
    ),
    (
        Key::HintNameTaken,
        "Choose another name, or rename that one: ostler rename {session} NAME",
        "다른 이름을 고르거나 그 세션의 이름을 바꾸십시오: ostler rename {session} NAME",
    ),
    (
        Key::RefusedName,
        "'{name}' cannot be the name of a session",
        "'{name}'은(는) 세션 이름으로 쓸 수 없습니다",
    ),
    (
        Key::HintName,
        "A name has 1 to 40 letters, digits, '-', '_' and '.', a letter first, and looks like no id.",
        "이름은 글자로 시작하고 글자, 숫자, '-', '_', '.'만 1~40자로 쓰며, ID처럼 보이면 안 됩니다.",
    ),
    (Key::WaitNeedsYou, "{id} needs you: {requests}", "{id}에 답이 필요합니다: {requests}"),
    (
        Key::WaitTimedOut,
        "still running after {time}: {ids}",
        "{time}이(가) 지났지만 아직 끝나지 않았습니다: {ids}",
    ),
    (Key::LogLaunch, "process {number} · {cause} · {time}", "프로세스 {number} · {cause} · {time}"),
    (Key::LaunchFirst, "first start", "첫 시작"),
    (Key::LaunchBring, "started again with an answer or a message", "답이나 메시지를 전하려고 다시 시작"),
    (Key::LaunchResume, "resumed", "이어서 시작"),
    (Key::LaunchAttempt, "the check failed: next attempt", "검사 실패: 다시 시도"),
    (Key::LaunchLimit, "the limit is over", "사용 한도가 풀려서 다시 시작"),
    (Key::LaunchRework, "its phase came back", "단계가 되돌아와서 다시 시작"),
    (Key::LogProcess, "process {number}", "프로세스 {number}"),
    (Key::LogYou, "you", "나"),
    (Key::LogCut, "… {n} more characters: --full", "… {n}자 더 있음: --full"),
    (
        Key::LogsWhich,
        "name a session, or follow all of them with -f",
        "세션을 지정하거나 -f로 모두 따라가십시오",
    ),
    (Key::SearchNothing, "No line has that.", "그런 줄이 없습니다."),
    (
        Key::HintNameInvisible,
        "A letter of it is invisible, or out of use. Use letters that show.",
        "보이지 않거나 더는 쓰지 않는 글자가 들어 있습니다. 눈에 보이는 글자를 쓰세요.",
    ),
    (
        Key::HintNameScripts,
        "It mixes letters of several scripts that look alike. Use letters of one script; Latin letters may stand beside Korean, Japanese or Chinese ones.",
        "모양이 비슷한 여러 문자 체계의 글자가 섞여 있습니다. 한 가지 문자로 쓰세요. 한국어, 일본어, 중국어에는 로마자를 섞어도 됩니다.",
    ),
    (
        Key::SearchUnread,
        "{mib} MiB of these logs were not searched: a search reads a bounded part, the newest first",
        "이 로그 중 {mib} MiB는 찾아보지 않았습니다. 검색은 최신 부분부터 정해진 양만 읽습니다",
    ),
    (
        Key::SearchMore,
        "{n} lines; older ones: ostler search --before {before} …, or more at once with -n",
        "{n}줄. 더 오래된 것은 ostler search --before {before} …, 한 번에 더 보려면 -n",
    ),
    (
        Key::SearchFull,
        "{n} lines, the newest of each process; more with -n",
        "{n}줄(프로세스마다 최신 줄). 더 보려면 -n",
    ),
    (Key::ColumnSignedIn, "SIGNED IN", "로그인"),
    (Key::SignedIn, "yes ({proof})", "예({proof})"),
    (Key::SignInNotFound, "no login found", "로그인 정보 없음"),
    (Key::SignInUnknown, "unknown", "알 수 없음"),
    (Key::NotThere, "no", "아니요"),
    (Key::ThereUnasked, "yes", "예"),
    (
        Key::InstallWith,
        "{name} is not installed: {install}",
        "{name}이(가) 설치되어 있지 않습니다: {install}",
    ),
    (
        Key::HintCheckOne,
        "Check one of them: ostler agents check NAME",
        "하나만 확인하려면: ostler agents check NAME",
    ),
    (
        Key::RefusedNotInstalled,
        "agent '{name}' is not installed: there is no program '{program}'",
        "에이전트 '{name}'이(가) 설치되어 있지 않습니다. '{program}' 프로그램이 없습니다",
    ),
    (Key::HintInstall, "Install it: {install}", "설치하려면: {install}"),
    (
        Key::HintInstallUnknown,
        "Install it so that it is on your PATH. 'ostler agents list' shows which agents are installed.",
        "PATH에서 찾을 수 있게 설치하십시오. 설치된 에이전트는 'ostler agents list'로 볼 수 있습니다.",
    ),
];
