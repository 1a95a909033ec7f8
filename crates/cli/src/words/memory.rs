//! What is said about the memory of a project: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::MemoryNothing,
        "No file in {directory} holds all of that.",
        "{directory}에는 그 낱말이 모두 있는 파일이 없습니다.",
    ),
    (
        Key::MemoryMissing,
        "This project has no directory {directory}.",
        "이 프로젝트에는 {directory} 디렉터리가 없습니다.",
    ),
    (
        Key::MemoryMore,
        "{n} of {total} files; more with -n, fewer with another word",
        "파일 {total}개 가운데 {n}개. 더 보려면 -n, 줄이려면 낱말을 더하십시오",
    ),
    (
        Key::MemoryLeftOut,
        "{n} files were not searched: longer than 4 MiB, no text, or unreadable",
        "파일 {n}개는 찾지 않았습니다: 4 MiB보다 길거나, 텍스트가 아니거나, 읽을 수 없습니다",
    ),
    (
        Key::MemoryIncomplete,
        "there are more files than an index holds: some were not searched",
        "색인에 담을 수 있는 것보다 파일이 많아 일부는 찾지 않았습니다",
    ),
];
