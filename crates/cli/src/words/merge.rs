//! Sentences about merges: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::MergeConflict, "both sides changed the same places", "양쪽이 같은 곳을 바꿨습니다"),
    (
        Key::MergeTargetDirty,
        "the target has changes of its own in these files",
        "대상 브랜치의 이 파일들에 커밋되지 않은 변경이 있습니다",
    ),
];
