// What is asked about offices. Events of the project name them; a role's file changes without an event, so whoever comes
// back to the page asks anew.
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";

import { ask, get, path, route } from "../api/client";
import { usePages } from "../api/pages";
import { Unreached } from "../api/problem";
import { keys, UNNAMED, useWish } from "../api/queries";
import type { DiagramView, InvocationView, NewOfficeMessage, OfficeView, ResultView, SessionView } from "../api/schema";

/** So many calls are looked at for the picture. */
const RECENT_MAX = 200;
const PAGE_MAX = 50;

export function useOffice(project: string): UseQueryResult<OfficeView> {
  return useQuery({
    queryKey: keys.office(project),
    queryFn: ({ signal }) => get<OfficeView>(route`/projects/${project}/office`, signal),
    ...UNNAMED,
  });
}

export function useRecent(project: string): UseQueryResult<InvocationView[]> {
  return useQuery({
    queryKey: [...keys.office(project), "recent"],
    queryFn: ({ signal }) => get<InvocationView[]>(path(route`/projects/${project}/office/invocations`, { limit: RECENT_MAX }), signal),
  });
}

/** What was brought without a call, newest first. */
export function useUnasked(project: string): UseQueryResult<ResultView[]> {
  return useQuery({
    queryKey: [...keys.office(project), "unasked"],
    queryFn: ({ signal }) => get<ResultView[]>(path(route`/projects/${project}/office/results`, { limit: PAGE_MAX, unasked: "true" }), signal),
  });
}

/** Calls, newest first; with two names, those between them. */
export function useCalls(project: string, between?: string) {
  const base = route`/projects/${project}/office/invocations`;
  return usePages<InvocationView>([...keys.office(project), "calls", between ?? ""], base, { limit: PAGE_MAX, between });
}

export function useResults(project: string, between: string) {
  const base = route`/projects/${project}/office/results`;
  return usePages<ResultView>([...keys.office(project), "results", between], base, { limit: PAGE_MAX, between });
}

/** All of a call of which a list has the beginning. */
export function useCall(project: string, id: string, isWanted: boolean): UseQueryResult<InvocationView> {
  return useQuery({
    queryKey: [...keys.office(project), "call", id],
    queryFn: ({ signal }) => get<InvocationView>(route`/invocations/${id}`, signal),
    enabled: isWanted,
  });
}

/** All of a result. It never changes, so no event makes it stale. */
export function useContent(id: string, isWanted: boolean): UseQueryResult<string> {
  return useQuery({
    queryKey: ["result", id],
    queryFn: async ({ signal }) => (await content(id, signal)).bytes.text(),
    enabled: isWanted,
  });
}

/** The same, to be kept as a file. */
export function useDownload(id: string) {
  return useMutation({
    mutationFn: async () => {
      const { bytes, name } = await content(id);
      const url = URL.createObjectURL(bytes);
      Object.assign(document.createElement("a"), { href: url, download: name }).click();
      URL.revokeObjectURL(url);
    },
  });
}

/** It is asked for like everything else: an address alone opens nothing. */
async function content(id: string, signal?: AbortSignal): Promise<{ bytes: Blob; name: string }> {
  const response = await ask(route`/results/${id}/content`, { isStream: true, ...(signal ? { signal } : {}) });
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? id;
  try {
    return { bytes: await response.blob(), name };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Unreached(cause);
  }
}

export function useDiagram(project: string, run: string | null): UseQueryResult<DiagramView> {
  return useQuery({
    queryKey: [...keys.office(project), "diagram", run ?? ""],
    queryFn: ({ signal }) => get<DiagramView>(path(route`/projects/${project}/office/diagram`, { run: run ?? undefined }), signal),
  });
}

export function useSend(project: string) {
  return useWish<SessionView, NewOfficeMessage & { key: string }>(({ key, ...body }) => ({
    path: route`/projects/${project}/office/messages`,
    body,
    key,
  }));
}

export function useTakeBack(project: string) {
  const cache = useQueryClient();
  const wish = useWish<InvocationView, string>((id) => ({ path: route`/invocations/${id}/cancel` }));
  const takeBack = (id: string) => wish.mutate(id, { onSettled: () => void cache.invalidateQueries({ queryKey: keys.office(project) }) });
  return { ...wish, takeBack };
}
