// What is asked of runs that go through phases. What belongs to a gate never changes: it is about one tree.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { ask, get, path, route } from "../api/client";
import { Unreached } from "../api/problem";
import { keys } from "../api/queries";
import type { PhasesView, RequestView } from "../api/schema";
import { type Beginning, readBeginning } from "../diff/read";

/** One gate of a run. */
export interface Which {
  run: string;
  phase: number;
  gate: number;
}

export function usePhases(run: string): UseQueryResult<PhasesView> {
  return useQuery({ queryKey: keys.phases(run), queryFn: ({ signal }) => get<PhasesView>(route`/phases/${run}`, signal) });
}

/** How many questions of a phase are shown. */
const ASKED_MAX = 200;

/** Everything that the agent of a phase has asked, newest first. */
export function useAsked(session: string): UseQueryResult<RequestView[]> {
  return useQuery({
    queryKey: [...keys.session(session), "asked"],
    queryFn: ({ signal }) => get<RequestView[]>(path("/requests", { session, limit: ASKED_MAX }), signal),
  });
}

export function pathOf(what: "file" | "diff" | "report", which: Which, file?: string): string {
  const { run, phase, gate } = which;
  return path(route`/phases/${run}/${what}`, { phase, gate, path: file });
}

/** What has changed since an earlier gate of the phase. */
export function sincePath({ run, phase, gate }: Which, since: number): string {
  return path(route`/phases/${run}/diff`, { phase, gate, since });
}

export function keyOf(what: string, which: Which, file = ""): readonly unknown[] {
  return ["gate", which.run, which.phase, which.gate, what, file];
}

export function useText(what: "file" | "report", which: Which, file?: string): UseQueryResult<Beginning> {
  return useQuery({
    queryKey: keyOf(what, which, file),
    queryFn: ({ signal }) => readBeginning(pathOf(what, which, file), signal),
  });
}

/** A picture, if the server says that it is one. It is asked for like everything else: an address alone opens nothing. */
export function usePicture(which: Which, file: string): UseQueryResult<Blob | null> {
  return useQuery({
    queryKey: keyOf("picture", which, file),
    queryFn: async ({ signal }) => {
      const response = await ask(pathOf("file", which, file), { signal });
      if (!response.headers.get("Content-Type")?.startsWith("image/")) return null;
      try {
        return await response.blob();
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new Unreached(cause);
      }
    },
  });
}
