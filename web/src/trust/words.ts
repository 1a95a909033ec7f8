import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    title: "Trust",
    about:
      "A repository can bring commands along that git or Ostler would run as you: filters, hooks, agents of its own. Nothing of it runs until you have looked at it here and agreed. If any of it changes, you are asked again.",
    none: "No project yet.",
    nothing: "It brings nothing along that would run.",
    would: "It would run:",
    isNew: "new",
    agreed: "agreed",
    allAgreed: "You have agreed to all of it.",
    agree: "Agree to all of this",
    revoke: "Take it back",
    inFile: "in {file}",
  },
  ko: {
    title: "신뢰",
    about:
      "저장소에는 git이나 Ostler가 내 권한으로 실행할 명령이 들어 있을 수 있습니다. 필터, 훅, 저장소의 에이전트 같은 것들입니다. 여기서 보고 동의하기 전에는 아무것도 실행되지 않습니다. 하나라도 바뀌면 다시 묻습니다.",
    none: "아직 프로젝트가 없습니다.",
    nothing: "실행될 것을 가지고 있지 않습니다.",
    would: "실행하려는 것:",
    isNew: "새로움",
    agreed: "동의함",
    allAgreed: "모두 동의했습니다.",
    agree: "이 모두에 동의",
    revoke: "동의 거두기",
    inFile: "{file}에 있음",
  },
});
