// Find in the output: what is shown is searched here, and a log of which more exists is searched by the server as a whole.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";

import { get, path, route } from "../api/client";
import type { LogSearchView } from "../api/schema";
import { useShortcut } from "../app/shortcuts";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import type { Emulator } from "./emulator";
import { another, type Found } from "./found";
import type { Output } from "./Past";
import type { Wanted } from "./Screen";
import { words } from "./words";

/** How many lines of a log are listed, the newest first. */
const LISTED_MAX = 100;

interface FindProps {
  emulator: Emulator;
  onFound: (found: Wanted | null) => void;
  /** Searches what is not shown, too; nothing, if there is no text any more. */
  onSearch: (text: string) => void;
  /** Whether the server searches the whole log. Its answer then says whether the text is there. */
  isSearched: boolean;
}

export function Find({ emulator, onFound, onSearch, isSearched }: FindProps) {
  const say = useSay(words);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [sought, setSought] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  useShortcut("/", say("keyFind"), () => field.current?.focus());
  const look = (step: 1 | -1) => {
    if (sought === "") return;
    const wanted = sought.toLowerCase();
    const numbers: number[] = [];
    for (let index = 0; index < emulator.count; index++) {
      if (emulator.text(index).toLowerCase().includes(wanted)) numbers.push(emulator.gone + index);
    }
    const next = another(numbers, found?.number ?? null, step);
    setFound(next);
    onFound(next.number === null ? null : { number: next.number });
    onSearch(sought);
  };
  const foundSaid = ({ number, nth, all }: Found) => {
    if (number === null) return isSearched ? null : say("foundNone");
    return say(isSearched ? "foundShown" : "found", { n: nth + 1, all });
  };
  return (
    <form
      className="terminal-find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        look(1);
      }}
    >
      <input
        id={id}
        ref={field}
        type="search"
        aria-label={say("find")}
        placeholder={say("find")}
        value={sought}
        maxLength={1_000}
        onChange={(event) => {
          setSought(event.target.value);
          setFound(null);
          onFound(null);
          onSearch("");
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.shiftKey) {
            event.preventDefault();
            look(-1);
          }
          if (event.key === "Escape" && !event.nativeEvent.isComposing) event.currentTarget.blur();
        }}
      />
      <span className="small dim" role="status">
        {found !== null && foundSaid(found)}
      </span>
    </form>
  );
}

export interface LogSearch {
  answer: UseQueryResult<LogSearchView>;
  start: (text: string) => void;
  forget: () => void;
}

/** Asks the server only where more exists than is shown. */
export function useLogSearch({ session, launch, stream, raw }: Output, emulator: Emulator | null): LogSearch {
  const [asked, setAsked] = useState<{ text: string; launch: number | undefined } | null>(null);
  const query = { text: asked?.text, launch: asked?.launch, stream, form: raw ? "bytes" : "pieces", limit: LISTED_MAX };
  const answer = useQuery({
    queryKey: ["log search", session, query],
    queryFn: ({ signal }) => get<LogSearchView>(path(route`/sessions/${session}/output/search`, query), signal),
    enabled: asked !== null,
    // A log grows while it is searched, and no event names that.
    gcTime: 0,
  });
  const start = (text: string) => {
    const isWhole = emulator === null || (emulator.firstOffset === 0 && asked === null);
    setAsked(text === "" || isWhole ? null : { text, launch: emulator?.begun?.launch ?? launch ?? undefined });
  };
  return { answer, start, forget: () => setAsked(null) };
}

/** The lines of the whole log that have it, the newest first; each leads to its place. */
export function FoundInLog({ search, onShow }: { search: LogSearch; onShow: (launch: number, offset: number) => void }) {
  const say = useSay(words);
  const { data, error, isEnabled, refetch } = search.answer;
  if (!isEnabled) return null;
  if (error) return <Failure error={error} onAgain={() => void refetch()} />;
  if (!data) return null;
  return (
    <section className="terminal-found small" aria-label={say("foundWhole", { n: data.count })}>
      <p role="status">
        {say("foundWhole", { n: data.count })}
        {data.count > data.lines.length && <> {say("foundNewest", { n: data.lines.length })}</>}
      </p>
      <ol>
        {data.lines.toReversed().map((line, index) => (
          <li key={index}>
            <button type="button" className="button plain small" onClick={() => onShow(data.launch, line.offset)}>
              <Said text={line.text} className="mono" />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
