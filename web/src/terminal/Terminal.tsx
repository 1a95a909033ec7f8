// What an agent prints, live. Loaded only where it is shown. The bytes are interpreted by an emulator without a screen;
// this draws its cells and nothing else.
import "./terminal.css";

import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { useSession } from "../api/queries";
import type { LaunchView, SessionView } from "../api/schema";
import { loadFaceFor } from "../look/face";
import { Failure, Loading } from "../parts/states";
import { type SharedKey, useSay } from "../words/words";
import type { Emulator, Size } from "./emulator";
import { Errors } from "./Errors";
import { Find, FoundInLog, useLogSearch } from "./Find";
import type { Part } from "./output";
import { PART_BYTES, Past } from "./Past";
import { hasFailed, isResting } from "./process";
import { type Mark, Screen, type Wanted } from "./Screen";
import { useOutput } from "./useOutput";
import { words } from "./words";

const COLUMNS_MIN = 40;
const COLUMNS_MAX = 240;
/** Of what is only lines. */
const ROWS = 24;
/** How much of the past is shown at first, and when somebody wants more. */
const TAIL_BYTES = 256 << 10;
const TAIL_BYTES_MORE = 4 << 20;
/** How many lines are shown as plain text. */
const PLAIN_LINES_MAX = 2_000;

export interface TerminalProps {
  session: string;
  launch?: number;
}

export default function Terminal({ session: id, launch: only }: TerminalProps) {
  const say = useSay(words);
  const session = useSession(id);
  const box = useRef<HTMLDivElement>(null);
  const [launch, setLaunch] = useState<number | null>(only ?? null);
  const [stream, setStream] = useState<"out" | "err">("out");
  const [isRaw, setRaw] = useState(false);
  const [isPlain, setPlain] = useState(false);
  const [tailBytes, setTailBytes] = useState(TAIL_BYTES);
  const [part, setPart] = useState<Part | null>(null);
  const [target, setTarget] = useState<number | null>(null);
  const measure = useMeasure(box);
  const size = sizeOf(session.data, part?.launch ?? launch, measure.columns);
  const output = { session: id, launch, stream, raw: isRaw };
  const emulator = useOutput({ ...output, tailBytes, part }, size, session.data);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const search = useLogSearch(output, emulator);
  const showPart = (shown: Part | null, at: number | null = null) => {
    setWanted(null);
    setPart(shown);
    setTarget(at);
  };
  /** What is chosen anew begins at its end. */
  const choose = <T,>(set: (value: T) => void) => (value: T) => {
    showPart(null);
    search.forget();
    set(value);
  };
  const last = session.data?.launches.at(-1);
  const failed = stream === "out" && part === null && hasFailed(session.data, launch) ? (launch ?? last?.number ?? null) : null;
  if (session.error && !session.data) return <Failure error={session.error} onAgain={() => void session.refetch()} />;
  return (
    <div className="terminal" data-session={id} style={{ "--letter": `${measure.letter}px` } as React.CSSProperties}>
      <Options
        session={session.data}
        emulator={emulator}
        launch={launch}
        stream={stream}
        isRaw={isRaw}
        isPlain={isPlain}
        onLaunch={choose(setLaunch)}
        onStream={choose(setStream)}
        onRaw={choose(setRaw)}
        onPlain={setPlain}
        onFound={setWanted}
        onSearch={search.start}
        isSearched={search.answer.isEnabled}
      />
      <FoundInLog
        search={search}
        onShow={(found, at) => showPart({ launch: found, offset: Math.max(0, at - PART_BYTES / 2), limit: PART_BYTES }, at)}
      />
      <div ref={box} className="terminal-ground">
        <span className="terminal-ruler" aria-hidden="true">
          {"0".repeat(50)}
        </span>
        {emulator === null ? (
          <Loading />
        ) : (
          <>
            <Past
              emulator={emulator}
              output={output}
              part={part}
              onMore={tailBytes === TAIL_BYTES ? () => setTailBytes(TAIL_BYTES_MORE) : null}
              onPart={showPart}
            />
            {target !== null && part !== null && (
              <GoTo emulator={emulator} part={part} offset={target} onThere={setWanted} onDone={() => setTarget(null)} />
            )}
            {isPlain ? (
              <Plain emulator={emulator} label={say("output", { id })} />
            ) : (
              <Screen
                key={part?.offset ?? "end"}
                emulator={emulator}
                lineHeight={measure.lineHeight}
                mark={markOf(session.data, stream, say("stopped"), say("here"))}
                wanted={wanted}
                label={say("output", { id })}
                isLive={session.data?.pid != null}
              />
            )}
            {failed !== null && <Errors session={id} launch={failed} size={size} lineHeight={measure.lineHeight} />}
            <Foot emulator={emulator} isResting={isResting(session.data)} />
          </>
        )}
      </div>
    </div>
  );
}

/** That of the terminal that the program has; else as wide as there is room. Null until both could be known. */
function sizeOf(session: SessionView | undefined, launch: number | null, columns: number): Size | null {
  if (!session || columns === 0) return null;
  const own = session.launches.find((it) => it.number === (launch ?? session.launches.at(-1)?.number))?.terminal;
  return own ? { rows: own.rows, columns: own.columns, isOwn: true } : { rows: ROWS, columns, isOwn: false };
}

/** Where the agent asked for what it now waits for. */
function markOf(session: SessionView | undefined, stream: string, stopped: string, here: string): Mark | null {
  const last = session?.launches.at(-1);
  if (!last || last.heard_at == null || stream === "err" || session?.blocked_by.length === 0) return null;
  return { launch: last.number, offset: last.heard_at, said: last.stopped_at_ms == null ? here : stopped };
}

/** The width of a letter and the height of a line, and how many letters fit. */
function useMeasure(box: React.RefObject<HTMLDivElement | null>): { columns: number; lineHeight: number; letter: number } {
  const [measure, setMeasure] = useState({ columns: 0, lineHeight: 18, letter: 8 });
  useEffect(() => {
    const element = box.current;
    const ruler = element?.querySelector(".terminal-ruler");
    if (!element || !ruler) return undefined;
    const look = () => {
      const { width, height } = ruler.getBoundingClientRect();
      if (width === 0) return;
      const letter = width / 50;
      const fits = Math.floor((element.clientWidth - 40) / letter);
      setMeasure({ columns: Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, fits)), lineHeight: Math.round(height), letter });
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
    // The box is there as long as the component is.
  }, []);
  return measure;
}

/** The same without a screen: one text, which grows at its end. */
function Plain({ emulator, label }: { emulator: Emulator; label: string }) {
  const say = useSay(words);
  useSyncExternalStore(emulator.watch, emulator.now);
  const text = emulator.all(PLAIN_LINES_MAX).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  loadFaceFor(text);
  return (
    <div className="terminal-scroll terminal-plain" tabIndex={0} role="log" aria-label={label}>
      <p className="small dim">{say("plainHint", { n: PLAIN_LINES_MAX })}</p>
      <pre>{text}</pre>
    </div>
  );
}

interface GoToProps {
  emulator: Emulator;
  part: Part;
  offset: number;
  onThere: (there: Wanted) => void;
  onDone: () => void;
}

/** Goes to a byte of the log once the part that has it is there. */
function GoTo({ emulator, part, offset, onThere, onDone }: GoToProps) {
  const version = useSyncExternalStore(emulator.watch, emulator.now);
  useEffect(() => {
    // What was shown before may still be there.
    const isIt = emulator.begun?.launch === part.launch && emulator.begun.offset === part.offset;
    if (emulator.following !== "ended" || !isIt) return;
    const line = emulator.lineOf(part.launch, offset);
    if (line !== null) onThere({ number: emulator.gone + line });
    onDone();
  }, [emulator, version]);
  return null;
}

function Foot({ emulator, isResting: rests }: { emulator: Emulator; isResting: boolean }) {
  const say = useSay(words);
  useSyncExternalStore(emulator.watch, emulator.now);
  const isEmpty = emulator.count <= 1 && emulator.text(0) === "";
  const { following } = emulator;
  const empty = following === "ended" ? say("nothing") : say("nothingYet");
  return (
    <p className={`terminal-foot small ${following === "broken" ? "attention" : "dim"}`} role="status" data-following={following}>
      {following === "live" && <span aria-hidden="true">● </span>}
      {say(following === "ended" && rests ? "resting" : following)}
      {isEmpty && following !== "connecting" && <> · {empty}</>}
    </p>
  );
}

const CAUSES: Record<string, SharedKey> = {
  first: "CauseFirst",
  bring: "CauseBring",
  resume: "CauseResume",
  attempt: "CauseAttempt",
};

interface OptionsProps {
  session: SessionView | undefined;
  emulator: Emulator | null;
  launch: number | null;
  stream: "out" | "err";
  isRaw: boolean;
  isPlain: boolean;
  onLaunch: (launch: number | null) => void;
  onStream: (stream: "out" | "err") => void;
  onRaw: (is: boolean) => void;
  onPlain: (is: boolean) => void;
  onFound: (found: Wanted | null) => void;
  /** Searches what is not shown, too. */
  onSearch: (text: string) => void;
  isSearched: boolean;
}

function Options(props: OptionsProps) {
  const say = useSay(words);
  const cause = (launch: LaunchView) => {
    const key = CAUSES[launch.cause];
    return key ? say(key) : launch.cause;
  };
  const launches = props.session?.launches ?? [];
  return (
    <div className="terminal-options" role="group" aria-label={say("options")}>
      {launches.length > 1 && (
        <select
          aria-label={say("launch")}
          value={props.launch ?? ""}
          onChange={(event) => props.onLaunch(event.target.value === "" ? null : Number(event.target.value))}
        >
          <option value="">{say("newest")}</option>
          {launches.map((it) => (
            <option key={it.number} value={it.number}>
              {say("launchNumber", { n: it.number, cause: cause(it) })}
            </option>
          ))}
        </select>
      )}
      <select aria-label={say("stream")} value={props.stream} onChange={(event) => props.onStream(event.target.value as "out" | "err")}>
        <option value="out">{say("out")}</option>
        <option value="err">{say("err")}</option>
      </select>
      <label className="check">
        <input type="checkbox" checked={props.isRaw} onChange={(event) => props.onRaw(event.target.checked)} />
        <span>{say("raw")}</span>
      </label>
      <label className="check">
        <input type="checkbox" checked={props.isPlain} onChange={(event) => props.onPlain(event.target.checked)} />
        <span>{say("plain")}</span>
      </label>
      {props.emulator && <Find emulator={props.emulator} onFound={props.onFound} onSearch={props.onSearch} isSearched={props.isSearched} />}
    </div>
  );
}
