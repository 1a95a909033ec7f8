import { useLanguage } from "../words/words";
import { useSince } from "./time";

/** How long ago, with the exact time for those who point at it. */
export function Since({ at }: { at: number }) {
  const language = useLanguage();
  const said = useSince(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString(language)}>
      {said}
    </time>
  );
}
