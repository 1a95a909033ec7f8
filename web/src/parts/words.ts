import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    loading: "Asking the server …",
    unreached: "The server does not answer.",
    late: "The server has not answered in time.",
    unreachedHint: "Agents go on without it. This page tries again by itself.",
    unsure: "It is not known whether this has arrived. Sending it again does no harm.",
    again: "Try again",
    close: "Close",
    cancel: "Leave it",
    older: "Older ones",
    ago: "{span} ago",
    reuse: "Give it to whoever asks for it in this project, without asking you",
  },
  ko: {
    loading: "서버에 묻는 중 …",
    unreached: "서버가 응답하지 않습니다.",
    late: "서버가 제때 응답하지 않았습니다.",
    unreachedHint: "에이전트는 서버 없이도 계속 일합니다. 이 페이지가 스스로 다시 시도합니다.",
    unsure: "전해졌는지 알 수 없습니다. 다시 보내도 두 번 처리되지 않습니다.",
    again: "다시 시도",
    close: "닫기",
    cancel: "그만두기",
    older: "이전 것",
    ago: "{span} 전",
    reuse: "이 프로젝트에서 요청하면 누구에게나 묻지 않고 줍니다",
  },
});
