//! How far an answer has got on its way to an agent: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::DeliveryWaiting, "waiting", "대기 중"),
    (Key::DeliverySent, "on its way", "보내는 중"),
    (
        Key::DeliveryRefused,
        "refused by this process, waits for the next",
        "이 프로세스가 받지 않아 다음 프로세스를 기다림",
    ),
    (Key::DeliveryPrompted, "in the prompt of its process", "프로세스의 프롬프트에 있음"),
    (Key::DeliveryDelivered, "written to its input, not yet read", "입력에 썼고 아직 읽지 않음"),
    (Key::DeliveryConsumed, "read by its process", "프로세스가 읽음"),
    (Key::DeliveryHeard, "heard: its conversation holds it", "들음: 대화에 들어 있음"),
    (Key::DeliveryUndeliverable, "undeliverable", "전달할 수 없음"),
];
