//! What is said of a project's stack and context: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::StackNothing,
        "No manifest or configuration that Ostler knows is in this project.",
        "이 프로젝트에는 Ostler가 아는 매니페스트나 설정이 없습니다.",
    ),
    (
        Key::StackUnread,
        "Unknown: {file} was not read: {why}.",
        "알 수 없음: {file}을(를) 읽지 못했습니다: {why}.",
    ),
    (
        Key::StackUnclear,
        "Unclear: several candidates for {section}: {key}.",
        "불분명: {section}: {key} 후보가 여러 개입니다.",
    ),
    (
        Key::StackCut,
        "The project is larger than what Ostler looks at; there may be more.",
        "프로젝트가 커서 일부만 살펴봤습니다. 더 있을 수 있습니다.",
    ),
    (Key::SectionFrontend, "Frontend", "프런트엔드"),
    (Key::SectionBackend, "Backend", "백엔드"),
    (Key::SectionDatabase, "Database", "데이터베이스"),
    (Key::SectionAi, "AI/ML", "AI/머신러닝"),
    (Key::SectionInfrastructure, "Infrastructure", "인프라"),
    (Key::SectionPackages, "Packages", "패키지"),
    (Key::SectionTesting, "Tests", "테스트"),
    (Key::SectionStyle, "Style", "스타일"),
    (Key::SectionGit, "Git", "깃"),
    (Key::SectionLayout, "Directory", "디렉터리"),
    (Key::UnreadUnsupported, "its format is not supported", "지원하지 않는 형식입니다"),
    (Key::UnreadTooLarge, "it is larger than 1 MiB", "1 MiB보다 큽니다"),
    (Key::UnreadNotText, "it is not text", "텍스트가 아닙니다"),
    (Key::UnreadUnreadable, "it cannot be opened", "열 수 없습니다"),
    (Key::UnreadMalformed, "it has a syntax error", "문법 오류가 있습니다"),
    (Key::UnreadMalformedAt, "it has a syntax error on line {line}", "{line}번째 줄에 문법 오류가 있습니다"),
];
