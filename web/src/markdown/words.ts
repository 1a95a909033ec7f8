import { catalogue } from "../words/words";

export const words = catalogue({
  en: {
    rest: "The rest is long, and shown as it stands there:",
    done: "done",
    open: "not done",
    picture: "Picture, not loaded: {about}",
  },
  ko: {
    rest: "나머지는 길어서 쓰인 그대로 보여 줍니다:",
    done: "완료",
    open: "미완료",
    picture: "불러오지 않은 그림: {about}",
  },
});
