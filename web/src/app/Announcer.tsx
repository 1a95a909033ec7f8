// Tells a screen reader about requests that come while the page is open. Those that were there at first are read with it.
import { useEffect, useRef, useState } from "react";

import type { RequestView } from "../api/schema";
import { askText } from "../parts/request";
import { plain } from "../parts/Said";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

/** The most of a question that is read out; the card has the rest. */
const LETTERS_MAX = 200;

export function Announcer({ requests }: { requests: RequestView[] }) {
  const say = useSay(words);
  const language = useLanguage();
  const seen = useRef<Set<string> | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    const known = seen.current;
    seen.current = new Set([...(known ?? []), ...requests.map((it) => it.id)]);
    const fresh = known === null ? [] : requests.filter((it) => !known.has(it.id));
    const [only] = fresh;
    if (fresh.length > 1) setSaid(say("newRequests", { n: fresh.length }));
    else if (only) {
      const text = plain(askText(language, only)).slice(0, LETTERS_MAX);
      setSaid(say("newRequest", { who: plain(only.role ?? only.agent), text }));
    }
  }, [requests, language, say]);
  return (
    <p className="only-read announcer" role="status" aria-live="polite">
      {said}
    </p>
  );
}
