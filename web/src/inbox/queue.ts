// The cards in the order of the server. None goes away under the eyes of a reader.
import { useEffect, useRef, useState } from "react";

import type { RequestView } from "../api/schema";
import { isTyping } from "../app/shortcuts";

export interface Queue {
  /** The card that is shown. */
  current: string | null;
  /** Counted from 1; 0 where it is none of those that wait, such as one that was settled long ago. */
  place: number;
  count: number;
  /** Whether somebody came here from another card without writing there: then keys are keys, and go into no field. */
  isStepped: boolean;
  next: () => void;
  previous: () => void;
  /** A card is through: the next one follows, unless somebody looks at another already, and it does not come back. */
  finish: (id: string) => void;
}

interface State {
  current: string | null;
  /** The cards that were open when last looked, in the order of the server. */
  ids: string[];
  /** What was settled here. The server may still call it open for a moment. */
  done: string[];
  isStepped: boolean;
}

/** What follows from what is open now: whoever is being read stays, even if somebody else has settled it. */
function arrange(state: State, open: string[]): State {
  // Which one comes first is for the server to say.
  const ids = open.filter((id) => !state.done.includes(id));
  const at = state.current === null ? -1 : state.ids.indexOf(state.current);
  if (state.current !== null && at >= 0 && !ids.includes(state.current)) ids.splice(at, 0, state.current);
  return { ...state, ids, current: state.current ?? ids[0] ?? null, done: state.done.filter((id) => open.includes(id)) };
}

/** Goes to another card: round at the ends, and nowhere if there is no other. */
function step(state: State, by: 1 | -1): State {
  const { ids, current } = state;
  const others = ids.filter((id) => id !== current);
  if (current === null || others.length === 0) return state;
  const from = ids.indexOf(current);
  const at = from < 0 ? (by === 1 ? 0 : ids.length - 1) : (from + by + ids.length) % ids.length;
  return { ...state, current: ids[at] ?? null, isStepped: true };
}

function finish(state: State, id: string, isStepped: boolean): State {
  const rest = { ids: state.ids.filter((it) => it !== id), done: [...state.done, id] };
  if (state.current !== id) return { ...state, ...rest };
  const next = step(state, 1).current;
  return { ...rest, current: next === id ? null : next, isStepped };
}

/** The address names another card, or none: then it is the one that is shown, if that still waits. */
function lead(state: State, wanted: string, open: string[]): State {
  if (wanted === state.current) return state;
  if (wanted !== "") return { ...state, current: wanted, isStepped: false };
  return state.current !== null && open.includes(state.current) ? state : { ...state, current: null, isStepped: false };
}

/** `onMove` is told which card is shown after somebody has gone on, so that the address can say it. */
export function useQueue(requests: RequestView[], wanted: string, onMove: (to: string | null) => void): Queue {
  const open = requests.map((request) => request.id);
  const [state, setState] = useState<State>(() =>
    arrange({ ids: [], current: wanted === "" ? null : wanted, done: [], isStepped: false }, open),
  );
  const joined = open.join(" ");
  useEffect(() => setState((before) => arrange(before, joined === "" ? [] : joined.split(" "))), [joined]);
  // A link to another card, such as that of a notification, leads there at once.
  const [asked, setAsked] = useState(wanted);
  if (asked !== wanted) {
    setAsked(wanted);
    setState((before) => arrange(lead(before, wanted, open), open));
  }
  const shown = arrange(state, open);
  // An answer may come when somebody has long gone on: what counts is what is shown by then.
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  });
  const move = (how: (state: State) => State) => {
    const before = latest.current;
    const after = how(before);
    latest.current = after;
    setState(after);
    if (after.current !== before.current) onMove(after.current);
  };
  return {
    current: shown.current,
    place: shown.current === null ? 0 : shown.ids.indexOf(shown.current) + 1,
    count: shown.ids.length,
    isStepped: shown.isStepped,
    next: () => move((before) => step(before, 1)),
    previous: () => move((before) => step(before, -1)),
    finish: (id) => move((before) => finish(before, id, !isTyping(document.activeElement))),
  };
}
