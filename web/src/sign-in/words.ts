import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    title: "Signing in",
    doing: "Signing in …",
    refused: "This link does not sign you in.",
    refusedHint: "A link works once and for ten minutes. Ask for another one in a terminal of this machine:",
    noCode: "This address lacks its code, the part behind the #.",
    out: "You are not signed in here.",
    outHint: "Only somebody who can use this machine may look at its agents. Run this in a terminal there:",
    outThen: "It opens this page, or prints a link. For a phone: ostler open --qr",
    another: "Another server answers at this address.",
    anotherHint: "It is not the one that this browser is signed in at, and was told nothing. Agents go on; the page comes back by itself when its own server is here again.",
    anotherThen: "If yours is somewhere else now, or you want this one, run this in a terminal of its machine:",
    again: "Try again",
    back: "I have signed in: go on",
  },
  ko: {
    title: "로그인",
    doing: "로그인하는 중 …",
    refused: "이 링크로는 로그인할 수 없습니다.",
    refusedHint: "링크는 한 번, 10분 동안만 쓸 수 있습니다. 이 컴퓨터의 터미널에서 새로 받으세요:",
    noCode: "주소에서 # 뒤의 코드가 빠졌습니다.",
    out: "이 브라우저는 로그인되어 있지 않습니다.",
    outHint: "이 컴퓨터를 쓸 수 있는 사람만 에이전트를 볼 수 있습니다. 그 터미널에서 실행하세요:",
    outThen: "이 페이지가 열리거나 링크가 나옵니다. 휴대폰에서는: ostler open --qr",
    another: "이 주소에서 다른 서버가 응답합니다.",
    anotherHint: "이 브라우저가 로그인한 서버가 아니며, 아무것도 알려 주지 않았습니다. 에이전트는 계속 일합니다. 원래 서버가 돌아오면 이 페이지도 스스로 돌아옵니다.",
    anotherThen: "서버가 다른 곳으로 옮겨 갔거나 이 서버를 쓰려면, 그 컴퓨터의 터미널에서 실행하세요:",
    again: "다시 시도",
    back: "로그인했습니다. 계속",
  },
});
