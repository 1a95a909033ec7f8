// What is asked about task files. They are files that others write too, so no event tells of every change: while somebody
// looks, it is asked every two seconds whether something has changed, and an event of the project asks at once.
import { keepPreviousData, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";

import { ask, get, path, read, route } from "../api/client";
import { keys, UNNAMED, useWish } from "../api/queries";
import type { ClosedView, LoopView, NewClose, SessionView, TaskDetailView, TasksSummary, TasksView, TaskView } from "../api/schema";

/** How often a page that is looked at asks whether something has changed. */
const LOOK_MS = 2_000;

/** The tasks, and by what the server knows whether they were seen as they are. */
export interface Seen {
  view: TasksView;
  tag: string | null;
}

export function useSummaries(): UseQueryResult<TasksSummary[]> {
  return useQuery({ queryKey: keys.tasks(), queryFn: ({ signal }) => get<TasksSummary[]>("/tasks", signal), ...UNNAMED });
}

export function useTasks(project: string): UseQueryResult<Seen> {
  const cache = useQueryClient();
  const queryKey = keys.tasks(project);
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const before = cache.getQueryData<Seen>(queryKey);
      const headers: Record<string, string> = before?.tag ? { "If-None-Match": before.tag } : {};
      const response = await ask(route`/projects/${project}/tasks`, { signal, headers });
      if (response.status === 304 && before) return before;
      return { view: await read<TasksView>(response), tag: response.headers.get("ETag") };
    },
    refetchInterval: LOOK_MS,
  });
}

/** Everything about a task, asked for again whenever the tasks have changed. */
export function useTask(project: string, id: string, tag: string | null): UseQueryResult<TaskDetailView> {
  return useQuery({
    queryKey: [...keys.tasks(project), id, tag],
    queryFn: ({ signal }) => get<TaskDetailView>(route`/projects/${project}/tasks/${id}`, signal),
    placeholderData: keepPreviousData,
  });
}

/** The newest session that goes, or went, through the task file of a project. */
export function useLastLoop(project: string): UseQueryResult<SessionView | null> {
  return useQuery({
    queryKey: [...keys.tasks(project), "loop"],
    queryFn: async ({ signal }) => (await get<SessionView[]>(path("/orchestrate", { project, limit: 1 }), signal))[0] ?? null,
  });
}

/** What came of it. Its tokens are counted when it is over, which no event tells of. */
export function useLoop(session: string): UseQueryResult<LoopView> {
  return useQuery({
    queryKey: [...keys.session(session), "loop"],
    queryFn: ({ signal }) => get<LoopView>(route`/orchestrate/${session}`, signal),
    refetchInterval: ({ state }) => (state.data?.ended_at_ms != null && state.data.report.exchange == null ? LOOK_MS : false),
  });
}

export type Decision = "first" | "skip" | "retry";

/** What a person decides about a task; what follows is asked for at once. */
export function useDecision(project: string) {
  const cache = useQueryClient();
  const wish = useWish<TaskView, { task: string; decision: Decision }>(({ task, decision }) => ({
    path: route`/projects/${project}/tasks/${task}/${decision}`,
  }));
  const decide = (task: string, decision: Decision) =>
    wish.mutate({ task, decision }, { onSettled: () => void cache.invalidateQueries({ queryKey: keys.tasks(project) }) });
  return { ...wish, decide };
}

export function useClose(project: string) {
  const cache = useQueryClient();
  const wish = useWish<ClosedView, { phase: number } & NewClose>(({ phase, with_failures }) => ({
    path: route`/projects/${project}/phases/${String(phase)}/close`,
    body: { with_failures },
  }));
  const close = (phase: number, with_failures: boolean, onDone: () => void) =>
    wish.mutate(
      { phase, with_failures },
      { onSuccess: onDone, onSettled: () => void cache.invalidateQueries({ queryKey: keys.tasks(project) }) },
    );
  return { ...wish, close };
}
