//! What is said about what has happened since the person last looked, and what comes next: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::SinceLastLook, "Since you last looked ({time} ago):", "마지막으로 본 뒤({time} 전) 끝난 것:"),
    (Key::EndedSoFar, "Ended so far:", "지금까지 끝난 것:"),
    (Key::MoreEnded, "… and {n} more: ostler ps --all", "… 그 밖에 {n}개: ostler ps --all"),
    (
        Key::LoopEndsSaid,
        "loop in {project}: {done} of its sessions are done",
        "{project}의 작업 루프: 세션 {done}개 완료",
    ),
    (
        Key::LoopEndsFailedSaid,
        "loop in {project}: {failed} of its sessions have failed, {done} are done",
        "{project}의 작업 루프: 세션 {failed}개 실패, {done}개 완료",
    ),
    (Key::LoopEnds, "{id}  {said}: ostler show {id}", "{id}  {said}. 보기: ostler show {id}"),
    (Key::ResumeAll, "Resume all of them: ostler resume --all", "모두 이어서 하려면: ostler resume --all"),
    (
        Key::ResolveConflict,
        "Resolve it: git -C {path} merge {target}, edit the files, git -C {path} commit -a; then: ostler merge {session}",
        "해결하려면: git -C {path} merge {target}, 파일을 고치고 git -C {path} commit -a, 그다음 ostler merge {session}",
    ),
    (
        Key::CommitInTarget,
        "Commit or stash these files in {root}; then: ostler merge {session}",
        "{root}에서 이 파일들을 커밋하거나 치운 다음: ostler merge {session}",
    ),
    (
        Key::MergeAgain,
        "Put that right; then: ostler merge {session}",
        "바로잡은 다음: ostler merge {session}",
    ),
    (
        Key::LeftOutOfWorktree,
        "the worktree begins without {n} files that are not committed ({files}); --with-changes takes them along",
        "커밋하지 않은 파일 {n}개({files})는 워크트리에 없습니다. --with-changes로 함께 가져갈 수 있습니다",
    ),
    (Key::NothingToResume, "No session is interrupted.", "중단된 세션이 없습니다."),
    (Key::ResumeWhich, "name a session, or say --all", "세션을 지정하거나 --all을 쓰십시오"),
];
