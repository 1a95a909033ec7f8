// The cards in their order. One that comes is put behind the others, and none goes away under the eyes of a reader.
import { useEffect, useState } from "react";

import type { RequestView } from "../api/schema";

export interface Queue {
  /** The card that is shown. */
  current: string | null;
  place: number;
  count: number;
  next: () => void;
  previous: () => void;
  /** The card is through: the next one follows, and this one does not come back. */
  finish: () => void;
}

interface State {
  current: string | null;
  /** The cards that were open when last looked, in the order in which they came. */
  ids: string[];
  /** What was settled here. The server may still call it open for a moment. */
  done: string[];
}

/** What follows from what is open now: whoever is being read stays, even if somebody else has settled it. */
function arrange(state: State, open: string[]): State {
  const coming = open.filter((id) => !state.done.includes(id));
  const kept = state.ids.filter((id) => coming.includes(id) || id === state.current);
  const ids = [...kept, ...coming.filter((id) => !kept.includes(id))];
  return { ids, current: state.current ?? ids[0] ?? null, done: state.done.filter((id) => open.includes(id)) };
}

/** Goes to another card: round at the ends, and nowhere if there is no other. */
function step(state: State, by: 1 | -1): State {
  const { ids, current } = state;
  if (current === null || ids.length < 2) return state;
  const at = (ids.indexOf(current) + by + ids.length) % ids.length;
  return { ...state, current: ids[at] ?? null };
}

function finish(state: State): State {
  const { ids, current, done } = state;
  if (current === null) return state;
  const next = step(state, 1).current;
  return {
    ids: ids.filter((id) => id !== current),
    current: next === current ? null : next,
    done: [...done, current],
  };
}

export function useQueue(requests: RequestView[], wanted: string): Queue {
  const open = requests.map((request) => request.id);
  const [state, setState] = useState<State>(() =>
    arrange({ ids: [], current: wanted === "" ? null : wanted, done: [] }, open),
  );
  const joined = open.join(" ");
  useEffect(() => setState((before) => arrange(before, joined === "" ? [] : joined.split(" "))), [joined]);
  // A link to another card, such as that of a notification, leads there at once.
  const [asked, setAsked] = useState(wanted);
  if (asked !== wanted) {
    setAsked(wanted);
    if (wanted !== "") setState((before) => arrange({ ...before, current: wanted }, open));
  }
  const shown = arrange(state, open);
  const change = (how: (state: State) => State) => setState((before) => how(arrange(before, open)));
  return {
    current: shown.current,
    place: shown.current === null ? 0 : shown.ids.indexOf(shown.current) + 1,
    count: shown.ids.length,
    next: () => change((before) => step(before, 1)),
    previous: () => change((before) => step(before, -1)),
    finish: () => change(finish),
  };
}
