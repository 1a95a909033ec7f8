import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    title: "Projects",
    none: "No project yet. The first run in a directory makes it one.",
    newRun: "Start a run",
    sessions: "Sessions",
    tasks: "Tasks",
    office: "Office",
    trust: "Trust",
    active: "last active",
    atWork: "{n} at work",
    waiting: "{n} waiting",
    open: "{n} open",
    cost: "{cost} used",
  },
  ko: {
    title: "프로젝트",
    none: "아직 프로젝트가 없습니다. 디렉터리에서 처음 실행하면 프로젝트가 됩니다.",
    newRun: "실행 시작",
    sessions: "세션",
    tasks: "작업",
    office: "오피스",
    trust: "신뢰",
    active: "마지막 활동",
    atWork: "{n}개 일하는 중",
    waiting: "{n}개 기다림",
    open: "열린 요청 {n}개",
    cost: "{cost} 사용",
  },
});
