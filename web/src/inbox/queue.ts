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
}

interface State {
  current: string | null;
  /** The cards that were open when last looked, in the order in which they came. */
  ids: string[];
}

/** What follows from what is open now: whoever is being read stays, even if somebody else has settled it. */
export function arrange(state: State, open: string[]): State {
  const kept = state.ids.filter((id) => open.includes(id) || id === state.current);
  const ids = [...kept, ...open.filter((id) => !kept.includes(id))];
  return { ids, current: state.current ?? ids[0] ?? null };
}

/** Leaves a card for another one; a settled one is not come back to. */
export function leave(state: State, open: string[], step: 1 | -1): State {
  const { ids, current } = state;
  const from = current === null ? 0 : ids.indexOf(current);
  const others = ids.filter((id) => id !== current && open.includes(id));
  if (others.length === 0) {
    const isOpen = current !== null && open.includes(current);
    return isOpen ? state : { ids: [], current: null };
  }
  const after = ids.slice(from + 1).filter((id) => others.includes(id));
  const before = ids.slice(0, Math.max(from, 0)).filter((id) => others.includes(id));
  const next = step === 1 ? (after[0] ?? before[0]) : (before.at(-1) ?? after.at(-1));
  return { ids: ids.filter((id) => open.includes(id)), current: next ?? null };
}

export function useQueue(requests: RequestView[], wanted: string): Queue {
  const open = requests.map((request) => request.id);
  const [state, setState] = useState<State>(() => arrange({ ids: [], current: wanted === "" ? null : wanted }, open));
  const joined = open.join(" ");
  useEffect(() => setState((before) => arrange(before, joined === "" ? [] : joined.split(" "))), [joined]);
  const shown = arrange(state, open);
  const step = (by: 1 | -1) => setState((before) => leave(arrange(before, open), open, by));
  return {
    current: shown.current,
    place: shown.current === null ? 0 : shown.ids.indexOf(shown.current) + 1,
    count: shown.ids.length,
    next: () => step(1),
    previous: () => step(-1),
  };
}
