//! What is said of trust: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::RefusedUntrusted,
        "this repository has a command or setting that you have not approved: {key} = {value} (in {file})",
        "이 저장소에는 아직 동의하지 않은 명령이나 설정이 있습니다: {key} = {value} ({file})",
    ),
    (
        Key::RefusedUntrustedMany,
        "this repository has {n} commands or settings that you have not approved; the first is {key} = {value} (in {file})",
        "이 저장소에는 아직 동의하지 않은 명령이나 설정이 {n}개 있습니다. 첫 번째: {key} = {value} ({file})",
    ),
    (
        Key::RefusedTrustChanged,
        "what this repository would run has changed since it was shown",
        "보여 준 뒤에 이 저장소가 실행하려는 것이 바뀌었습니다",
    ),
    (
        Key::TrustNothing,
        "{root} contains no commands or settings that need your approval.",
        "{root}에는 승인이 필요한 명령이나 설정이 없습니다.",
    ),
    (
        Key::TrustWithheld,
        "ostler.toml sets {keys}, which is not applied until you approve it: ostler trust",
        "ostler.toml의 {keys} 설정은 승인할 때까지 적용되지 않습니다: ostler trust",
    ),
    (Key::TrustWould, "{root} would run or set:", "{root}에서 실행하거나 설정하려는 것:"),
    (
        Key::ConsentWaits,
        "Your configuration has new or changed commands. The server does not run them before you agree:",
        "설정에 새로 생기거나 바뀐 명령이 있습니다. 동의하기 전에는 서버가 실행하지 않습니다:",
    ),
    (
        Key::ConsentHow,
        "Agree: ostler trust --config. If they are not yours, an agent may have written them: remove them from the file.",
        "동의: ostler trust --config. 직접 쓴 것이 아니라면 에이전트가 썼을 수 있으니 파일에서 지우세요.",
    ),
    (Key::TrustIn, "in {file}", "{file}에 있음"),
    (Key::TrustNew, "new", "새 것"),
    (Key::TrustGiven, "agreed", "동의함"),
    (
        Key::TrustAsk,
        "Git and Ostler would run these as you, without asking again. Let them? [y/N]",
        "Git과 Ostler가 다시 묻지 않고 당신의 권한으로 실행합니다. 허락할까요? [y/N]",
    ),
    (Key::TrustNot, "Nothing of it runs.", "아무것도 실행하지 않습니다."),
    (
        Key::TrustDone,
        "Agreed: {root} may run this. If any of it changes, you are asked again. To take it back: {command}",
        "동의했습니다: {root}에서 이것을 실행할 수 있습니다. 하나라도 바뀌면 다시 묻습니다. 되돌리려면: {command}",
    ),
    (Key::TrustAlready, "You have agreed to all of it.", "모두 이미 동의했습니다."),
    (Key::TrustRevoked, "{root} may run nothing any more.", "{root}에서는 이제 아무것도 실행하지 않습니다."),
    (
        Key::TrustNobody,
        "You have let no repository run anything.",
        "아무 저장소에도 실행을 허락하지 않았습니다.",
    ),
    (Key::TrustHow, "Look at it on a terminal, or give --yes.", "터미널에서 보거나 --yes를 붙이세요."),
];
