//! What is said about what has happened since the person last looked: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::SinceLastLook, "Since you last looked ({time} ago):", "마지막으로 본 뒤({time} 전) 끝난 것:"),
    (Key::EndedSoFar, "Ended so far:", "지금까지 끝난 것:"),
    (Key::MoreEnded, "… and {n} more: ostler ps --all", "… 그 밖에 {n}개: ostler ps --all"),
    (Key::ResumeAll, "Resume all of them: ostler resume --all", "모두 이어서 하려면: ostler resume --all"),
    (Key::NothingToResume, "No session is interrupted.", "중단된 세션이 없습니다."),
    (Key::ResumeWhich, "name a session, or say --all", "세션을 지정하거나 --all을 쓰십시오"),
];
