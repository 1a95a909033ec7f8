// What is asked about offices. Events of the project name them; a role's file changes without an event, so whoever comes
// back to the page asks anew.
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";

import { get, path, route } from "../api/client";
import { usePages } from "../api/pages";
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
