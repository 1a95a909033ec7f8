import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    title: "Agents",
    about:
      "What can be run by its name. A table of your own, in the configuration, adds one or changes one; docs/agents.md lists its keys.",
    run: "Start a run",
    installed: "installed",
    missing: "not installed: the server does not find its program",
    install: "Install it with:",
    tested: "tested with {version}",
    resumable: "can take up a conversation again",
    notResumable: "begins anew each time",
    inputLine: "reads answers as lines",
    inputMessage: "reads answers as messages",
    inputRelaunch: "is started again with an answer",
    builtIn: "built in",
    configured: "from your configuration",
    command: "Any other program can be run, too, as a command.",
  },
  ko: {
    title: "에이전트",
    about:
      "이름으로 실행할 수 있는 것들입니다. 설정에 표를 두면 더하거나 바꿀 수 있습니다. 키 목록은 docs/agents.md에 있습니다.",
    run: "실행 시작",
    installed: "설치됨",
    missing: "설치되지 않음: 서버가 프로그램을 찾지 못합니다",
    install: "설치 명령:",
    tested: "{version}에서 확인함",
    resumable: "대화를 이어 갈 수 있음",
    notResumable: "매번 새로 시작함",
    inputLine: "답을 한 줄씩 읽음",
    inputMessage: "답을 메시지로 읽음",
    inputRelaunch: "답을 가지고 다시 시작됨",
    builtIn: "기본 제공",
    configured: "내 설정",
    command: "다른 프로그램도 명령으로 실행할 수 있습니다.",
  },
});
