//! What is said of notifications: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::NotifyNobody,
        "Nobody is notified. [[notify]] in your configuration says who is: docs/notifications.md",
        "알림을 받는 곳이 없습니다. 설정의 [[notify]]에서 정합니다: docs/notifications.md",
    ),
    (
        Key::NotifyProblem,
        "Not all of your configuration counts: {problem}",
        "설정의 일부가 적용되지 않았습니다: {problem}",
    ),
    (Key::NotifyTested, "The test has arrived at {name}.", "시험 알림이 {name}에 도착했습니다."),
    (Key::NotifyIdle, "nothing waits", "기다리는 것 없음"),
    (Key::NotifyWaiting, "waiting", "기다림"),
    (Key::NotifyFailing, "failing", "실패하는 중"),
    (Key::NotifyWhy, "{name}: {error}", "{name}: {error}"),
    (
        Key::NoSuchNotify,
        "nobody is notified under the name '{name}'",
        "'{name}'(이)라는 알림 대상이 없습니다",
    ),
    (
        Key::NotNotified,
        "the test did not arrive at {name}: {why}",
        "시험 알림이 {name}에 도착하지 못했습니다: {why}",
    ),
    (Key::HintNotify, "See who is: ostler notify list", "알림 대상을 보세요: ostler notify list"),
    (
        Key::HintNotNotified,
        "Nothing else was sent. What each type needs stands in docs/notifications.md.",
        "다른 것은 보내지 않았습니다. 종류별로 필요한 것은 docs/notifications.md에 있습니다.",
    ),
    (Key::ColumnPending, "WAITING", "대기"),
    (Key::ColumnLast, "LAST", "마지막"),
    (Key::ColumnKinds, "TOLD OF", "알리는 것"),
];
