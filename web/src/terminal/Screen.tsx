// The lines of an emulator: only those that can be seen are drawn. It follows the end until somebody scrolls away from
// it, and then holds what is read where it is.
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";

import { loadFaceFor } from "../look/face";
import { useSay } from "../words/words";
import { type Run, runs } from "./cells";
import type { Emulator } from "./emulator";
import { words } from "./words";

/** So many lines above and below are drawn as well, for a quick thumb. */
const BEYOND = 20;

export interface Mark {
  launch: number;
  offset: number;
  said: string;
}

/** A line by its number, counted from the first that there ever was: lines that are let go at the top do not change it. */
export interface Wanted {
  number: number;
}

interface ScreenProps {
  emulator: Emulator;
  lineHeight: number;
  mark: Mark | null;
  /** A line that somebody looks for. */
  wanted: Wanted | null;
  label: string;
  isLive: boolean;
}

export function Screen({ emulator, lineHeight, mark, wanted, label, isLive }: ScreenProps) {
  const say = useSay(words);
  useSyncExternalStore(emulator.watch, emulator.now);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [isFollowing, setFollowing] = useState(true);
  const gone = useRef(emulator.gone);
  const count = emulator.count;
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (emulator.gone > gone.current) element.scrollTop -= (emulator.gone - gone.current) * lineHeight;
    gone.current = emulator.gone;
  });
  useEffect(() => {
    if (wanted === null || !box.current) return;
    setFollowing(false);
    box.current.scrollTop = Math.max(0, (wanted.number - emulator.gone) * lineHeight - box.current.clientHeight / 2);
  }, [emulator, wanted, lineHeight]);
  const scrolled = useCallback(() => {
    const element = box.current;
    if (!element) return;
    setTop(element.scrollTop);
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < lineHeight * 1.5);
  }, [lineHeight]);
  const toEnd = () => {
    setFollowing(true);
    box.current?.focus();
  };
  // The mark has a row of its own below the line that it is about, so that it covers no words.
  const markAt = mark === null ? null : emulator.lastRowOf(mark.launch, mark.offset);
  const topOf = (index: number) => (index + (markAt !== null && index > markAt ? 1 : 0)) * lineHeight;
  const first = Math.max(0, Math.floor(top / lineHeight) - BEYOND);
  const last = Math.min(count, Math.ceil((top + height) / lineHeight) + BEYOND);
  const cursor = isLive ? emulator.cursor : null;
  const shown: number[] = [];
  for (let index = first; index < last; index++) shown.push(index);
  return (
    <div className="terminal-box">
      <div ref={box} className="terminal-scroll" tabIndex={0} role="region" aria-label={label} onScroll={scrolled} data-lines={count}>
        <div className="terminal-lines" style={{ height: topOf(count) }}>
          <div style={{ transform: `translateY(${topOf(first)}px)` }}>
            {shown.map((index) => (
              <Row
                key={emulator.gone + index}
                height={lineHeight}
                runs={lineRuns(emulator, index, cursor)}
                mark={index === markAt && mark ? mark.said : null}
                isFound={emulator.gone + index === wanted?.number}
              />
            ))}
          </div>
        </div>
      </div>
      {!isFollowing && (
        <button type="button" className="button terminal-end" onClick={toEnd}>
          ↓ {say("toEnd")}
        </button>
      )}
    </div>
  );
}

function lineRuns(emulator: Emulator, index: number, cursor: { line: number; column: number } | null): Run[] {
  const line = emulator.line(index);
  const found = line ? runs(line, cursor?.line === index ? cursor.column : null) : [];
  for (const run of found) loadFaceFor(run.text);
  return found;
}

interface RowProps {
  runs: Run[];
  height: number;
  mark: string | null;
  isFound: boolean;
}

const Row = memo(
  function Row({ runs: parts, height, mark, isFound }: RowProps) {
    return (
      <>
        <div className={`terminal-row ${isFound ? "found" : ""} ${mark === null ? "" : "marked"}`} style={{ height }}>
          {parts.map((run, index) =>
            run.className === "" && run.colour === undefined && run.ground === undefined ? (
              run.text
            ) : (
              <span key={index} className={run.className} style={{ color: run.colour, backgroundColor: run.ground }}>
                {run.text}
              </span>
            ),
          )}
          {"\n"}
        </div>
        {mark !== null && (
          <div className="terminal-row terminal-mark" style={{ height }}>
            ▲ {mark}
          </div>
        )}
      </>
    );
  },
  // A line that is still the same keeps its letters, and what somebody has selected of them.
  (before, after) =>
    before.height === after.height &&
    before.mark === after.mark &&
    before.isFound === after.isFound &&
    before.runs.length === after.runs.length &&
    before.runs.every((run, index) => {
      const other = after.runs[index];
      return (
        other !== undefined &&
        run.text === other.text &&
        run.className === other.className &&
        run.colour === other.colour &&
        run.ground === other.ground
      );
    }),
);
