import { useLanguage, useSay } from "../words/words";
import { useSince } from "./time";
import { words } from "./words";

/** For how long, or with `ago` how long ago, with the exact time for those who point at it. */
export function Since({ at, ago = false }: { at: number; ago?: boolean }) {
  const say = useSay(words);
  const language = useLanguage();
  const span = useSince(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString(language)}>
      {ago ? say("ago", { span }) : span}
    </time>
  );
}
