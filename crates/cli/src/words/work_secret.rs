//! Sentences about secrets in a session's work: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::SecretInWork,
        "warning: the secret {secret} is in {file}, line {line}",
        "경고: 비밀 값 {secret}이(가) {file} {line}번째 줄에 있습니다",
    ),
    (Key::SecretsMore, "warning: secrets are in {n} more places", "경고: 다른 {n}곳에도 비밀 값이 있습니다"),
    (
        Key::SecretsVaultLocked,
        "not all was checked for secrets: the vault cannot be opened (ostler secret unlock)",
        "비밀 값을 모두 확인하지 못했습니다. 금고를 열 수 없습니다(ostler secret unlock)",
    ),
    (
        Key::SecretsTooLong,
        "not all was checked for secrets: more than 8 MiB have changed",
        "비밀 값을 모두 확인하지 못했습니다. 바뀐 내용이 8 MiB를 넘습니다",
    ),
];
