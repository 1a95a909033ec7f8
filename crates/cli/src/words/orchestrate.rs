//! What is said of a loop through a task file: English and Korean beside each other.

use super::Key;

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (
        Key::LoopStarted,
        "{run} works through {file}: {open} of {total} tasks are left, {parallel} at once",
        "{run}: {file}의 작업 {total}개 중 {open}개가 남았습니다. 동시에 {parallel}개",
    ),
    (
        Key::LoopJoined,
        "{run} works through these tasks already; this shows it",
        "{run}이(가) 이미 이 작업들을 하고 있습니다. 그 진행을 보여 줍니다",
    ),
    (
        Key::LoopDetached,
        "it goes on by itself: ostler orchestrate shows it again, ostler cancel {session} ends it",
        "혼자 계속합니다. 다시 보기: ostler orchestrate, 끝내기: ostler cancel {session}",
    ),
    (Key::LoopTaskBegun, "{id} begins: {title}", "{id} 시작: {title}"),
    (Key::LoopTaskAsks, "{id} asks: {text} {how}", "{id} 질문: {text} {how}"),
    (Key::LoopTaskDone, "{id} is done, after {time}", "{id} 완료, {time}"),
    (
        Key::LoopTaskDoneAfter,
        "{id} is done, after {time} and {tries} tries",
        "{id} 완료, {time}, {tries}번 시도",
    ),
    (Key::LoopTaskFailed, "{id} has failed: {reason}", "{id} 실패: {reason}"),
    (Key::LoopPhaseBegun, "phase {n} begins in {place}", "{n}단계 시작: {place}"),
    (
        Key::LoopPhaseTested,
        "phase {n} is tested: {command} ended with {code}",
        "{n}단계 테스트: {command}, 종료 코드 {code}",
    ),
    (Key::LoopPhaseMerged, "phase {n} is merged: {commit}", "{n}단계 병합: {commit}"),
    (
        Key::LoopPhaseMergedUntested,
        "phase {n} is merged without tests, none were found: {commit}",
        "{n}단계를 테스트 없이 병합(찾은 테스트 없음): {commit}",
    ),
    (
        Key::LoopPhaseOverUntested,
        "phase {n} is over, without tests: none were found",
        "{n}단계 끝, 테스트 없음: 찾은 것이 없습니다",
    ),
    (Key::LoopPhaseOver, "phase {n} is over", "{n}단계 끝"),
    (
        Key::LoopStatus,
        "{done}/{total} done, {running} running: {names}; {rate}/min, about {eta} left",
        "{total}개 중 {done}개 완료, {running}개 진행: {names}; 분당 {rate}개, 약 {eta} 남음",
    ),
    (
        Key::LoopStatusIdle,
        "{done}/{total} done, nothing running; {rate}/min, about {eta} left",
        "{total}개 중 {done}개 완료, 진행 중인 작업 없음; 분당 {rate}개, 약 {eta} 남음",
    ),
    (
        Key::LoopStatusAsks,
        "{done}/{total} done, {asking} waiting for you: {names}; {running} running; {rate}/min, about {eta} left",
        "{total}개 중 {done}개 완료, {asking}개 답을 기다림: {names}; {running}개 진행; 분당 {rate}개, 약 {eta} 남음",
    ),
    (
        Key::LoopReport,
        "tasks: {done} done, {failed} failed, {skipped} skipped; retries: {retries}",
        "완료 {done}개, 실패 {failed}개, 건너뜀 {skipped}개, 재시도 {retries}번",
    ),
    (
        Key::LoopReportTime,
        "{wall} on the clock for {agent} of work: {speed} times as fast as one after the other",
        "{agent} 분량의 작업에 {wall}: 하나씩 할 때보다 {speed}배 빠름",
    ),
    (
        Key::LoopReportTimeWaited,
        "{wall} on the clock, {waited} of it waiting for you, for {agent} of work: {speed} times as fast as one after the other",
        "{agent} 분량의 작업에 {wall}(당신을 기다린 {waited} 포함): 하나씩 할 때보다 {speed}배 빠름",
    ),
    (
        Key::LoopReportTasksWaited,
        "besides the work, tasks waited {waited}; one after the other they would have, too, so the speed counts it",
        "작업들이 일 말고 기다린 시간 {waited}: 하나씩 해도 기다렸을 시간이라 배수에 들어 있습니다",
    ),
    (Key::LoopReportPath, "the longest chain took {time}: {path}", "가장 긴 사슬 {time}: {path}"),
    (
        Key::LoopReportTokens,
        "{thin} tokens said and read by the loop; whole prompts and reports have {full}: {saved} % less, by {tokenizer}. Both are in {place}",
        "루프가 주고받은 토큰 {thin}개, 프롬프트와 보고 전체로는 {full}개: {saved}% 적음({tokenizer}). 둘 다 {place}에 있습니다",
    ),
    (
        Key::LoopReportNoTokens,
        "tokens were not counted: this build has no tokenizer. What was said, and would have been, is in {place}",
        "토큰은 세지 않았습니다. 이 빌드에는 토크나이저가 없습니다. 주고받은 것과 전체 글은 {place}에 있습니다",
    ),
    (
        Key::LoopVerified,
        "{file} and the state say the same of {tasks} tasks",
        "{file}과(와) 상태 파일이 작업 {tasks}개에 대해 일치합니다",
    ),
    (
        Key::LoopMarkMissing,
        "{id} is completed in the state, and not marked in the file",
        "{id}: 상태 파일에는 완료, 작업 파일에는 표시 없음",
    ),
    (
        Key::LoopStateBehind,
        "{id} is marked in the file, and not completed in the state",
        "{id}: 작업 파일에는 완료 표시, 상태 파일에는 아님",
    ),
    (
        Key::LoopUnknown,
        "{id} is in the state, and not in the file",
        "{id}: 상태 파일에는 있고 작업 파일에는 없음",
    ),
    (
        Key::RefusedLoopBusy,
        "{run} goes through the tasks of this project already",
        "{run}이(가) 이미 이 프로젝트의 작업을 진행하고 있습니다",
    ),
    (
        Key::RefusedLoopOptions,
        "{run} goes through the tasks of this project already, and not with {options}",
        "{run}이(가) 이미 이 프로젝트의 작업을 진행하고 있고, {options} 옵션으로 시작하지 않았습니다",
    ),
    (
        Key::HintLoopOptions,
        "Nothing was started. `ostler orchestrate` without them shows it; cancel its session first to begin another.",
        "시작한 것은 없습니다. 이 옵션 없이 `ostler orchestrate`를 실행하면 보입니다. 새로 시작하려면 먼저 그 세션을 취소하세요.",
    ),
    (Key::LoopObstacles, "{n} obstacles:", "걸리는 것이 {n}가지 있습니다:"),
    (Key::LoopMoreObstacles, "and {n} more", "외 {n}가지"),
    (
        Key::ObstacleUnknownAgent,
        "there is no agent '{name}' ({at})",
        "에이전트 '{name}'이(가) 없습니다 ({at})",
    ),
    (Key::ObstacleDidYouMean, "; did you mean '{nearest}'?", ". '{nearest}'인가요?"),
    (
        Key::ObstacleNoAgent,
        "no agent for {tasks}: none has the name of the owner, and there is no default agent",
        "{tasks}을(를) 할 에이전트가 없습니다. 담당 이름의 에이전트도 기본 에이전트도 없습니다",
    ),
    (
        Key::ObstacleNotInstalled,
        "agent '{name}' is not installed: there is no program '{program}'",
        "에이전트 '{name}'이(가) 설치되어 있지 않습니다. '{program}' 프로그램이 없습니다",
    ),
    (
        Key::ObstacleUntrusted,
        "you have not approved {key} = {value} (in {file})",
        "아직 동의하지 않은 것: {key} = {value} ({file})",
    ),
    (
        Key::ObstacleVerify,
        "you have not approved the verify command of {tasks}: {value}",
        "{tasks}의 검증 명령에 아직 동의하지 않았습니다: {value}",
    ),
    (Key::ListAndMore, "{names} and {n} more", "{names} 외 {n}개"),
    (
        Key::HintObstacleTrust,
        "Look at what would run, and decide: {command}.",
        "실행될 것을 보고 결정하세요: {command}.",
    ),
    (Key::HintNothingStarted, "Nothing was started.", "시작한 것은 없습니다."),
];
