// What has happened since the person last looked, sorted as the command line sorts it.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../api/client";
import { keys, UNNAMED } from "../api/queries";
import type { LookedView, LoopEndsView, SessionView } from "../api/schema";
import type { Say } from "../words/words";
import type { words } from "./lookWords";

export type Ended = "failed" | "toMerge" | "done";

/** The person may look in a terminal, too, of which no event tells. */
export function useLooked(): UseQueryResult<LookedView> {
  return useQuery({ queryKey: keys.looked, queryFn: ({ signal }) => get<LookedView>("/looked", signal), ...UNNAMED });
}

const ORDER: readonly Ended[] = ["failed", "toMerge", "done"];

/** A failure comes first even where there is something to merge: somebody has to look why. */
export function endedAs(session: SessionView): Ended {
  if (session.outcome?.outcome === "failed") return "failed";
  return session.worktree == null ? "done" : "toMerge";
}

/** Failures first, then what waits to be merged, then the rest; the latest of each first. */
export function byUrgency(ended: SessionView[]): SessionView[] {
  return ended.toSorted((one, other) => ORDER.indexOf(endedAs(one)) - ORDER.indexOf(endedAs(other)));
}

const COUNTS = { failed: ["✗", "countFailed"], toMerge: ["◇", "countToMerge"], done: ["✓", "countDone"] } as const;

/** How many there are of each, in words and shapes; nothing where there is none. */
export function countsSaid(say: Say<(typeof words)["en"]>, interrupted: SessionView[], ended: SessionView[], loops: LoopEndsView[]): string {
  const lost = interrupted.length > 0 ? [`⚡ ${say("countInterrupted", { n: interrupted.length })}`] : [];
  const over = ORDER.flatMap((kind) => {
    const own = ended.filter((it) => endedAs(it) === kind).length;
    const n = loops.reduce((sum, it) => sum + (kind === "failed" ? it.failed : kind === "done" ? it.done : 0), own);
    const [shape, key] = COUNTS[kind];
    return n > 0 ? [`${shape} ${say(key, { n })}`] : [];
  });
  return [...lost, ...over].join(" · ");
}
