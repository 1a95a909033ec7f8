// Whether somebody looks at a page of this browser: at this tab, or at another one that says so.
const NAME = "ostler.looked.1";
/** The tab that is looked at is awake, and answers at once. */
const ANSWER_MS_MAX = 300;

type Message = "who" | "me";

/** Answers other tabs for as long as this one is there. */
export function answerOthers(): () => void {
  const tabs = new BroadcastChannel(NAME);
  tabs.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data === "who" && document.hasFocus()) tabs.postMessage("me" satisfies Message);
  };
  return () => tabs.close();
}

export function isLookedAt(): Promise<boolean> {
  if (document.hasFocus()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const tabs = new BroadcastChannel(NAME);
    const end = (is: boolean) => {
      clearTimeout(timer);
      tabs.close();
      resolve(is);
    };
    const timer = setTimeout(() => end(false), ANSWER_MS_MAX);
    tabs.onmessage = ({ data }: MessageEvent<Message>) => data === "me" && end(true);
    tabs.postMessage("who" satisfies Message);
  });
}
