import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    title: "Projects",
    none: "No project yet. The first run in a directory makes it one.",
    newRun: "Start a run",
    sessions: "Sessions",
    trust: "Trust",
    lastRun: "last run",
    notGit: "no git repository: no worktrees, diffs or checkpoints",
    atWork: "{n} at work",
    cost: "{cost} used",
  },
  ko: {
    title: "프로젝트",
    none: "아직 프로젝트가 없습니다. 디렉터리에서 처음 실행하면 프로젝트가 됩니다.",
    newRun: "실행 시작",
    sessions: "세션",
    trust: "신뢰",
    lastRun: "마지막 실행",
    notGit: "git 저장소가 아님: 워크트리, diff, 체크포인트 없음",
    atWork: "{n}개 일하는 중",
    cost: "{cost} 사용",
  },
});
