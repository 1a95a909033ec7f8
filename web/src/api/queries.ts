// What is known of the server's state: one cache, fed by the events. A view asks by a hook from here and never fetches.
import {
  QueryClient,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";

import { get, newKey, path, post, route } from "./client";
import { type Connection, type EventListener, EventStream } from "./events";
import { Refused, Unreached } from "./problem";
import type {
  AgentView,
  CheckpointView,
  EventView,
  InfoView,
  ProjectSummary,
  RequestView,
  RunView,
  SecretView,
  SessionView,
  StatusView,
  TrustView,
  UsageReport,
} from "./schema";

/** How long changes are gathered before what they name is asked for again. */
const GATHER_MS = 100;

/** The names of everything in the cache. The first word says what an event has to name to make it stale. */
export const keys = {
  status: ["status"] as const,
  info: ["info"] as const,
  sessions: (query: ListQuery) => ["sessions", query] as const,
  session: (id: string) => ["session", id] as const,
  runs: (query: ListQuery) => ["runs", query] as const,
  run: (id: string) => ["run", id] as const,
  phases: (run: string) => ["phases", run] as const,
  request: (id: string) => ["request", id] as const,
  checkpoint: (session: string, id: string) => ["checkpoints", session, id] as const,
  diff: (session: string, checkpoint = "") => ["diff", session, checkpoint] as const,
  timeline: (session: string) => ["timeline", session] as const,
  projects: ["projects"] as const,
  /** Of a project; without one, how far all are. */
  tasks: (project = "") => ["tasks", project] as const,
  office: (project: string) => ["office", project] as const,
  agents: ["agents"] as const,
  secrets: ["secrets"] as const,
  trusted: ["trusted"] as const,
  usage: (by: string) => ["usage", by] as const,
  looked: ["looked"] as const,
};

/** Of what no event names: whoever comes to it, or back to the page, asks anew. */
export const UNNAMED = { refetchOnMount: "always", refetchOnWindowFocus: "always" } as const;
/** How often what no event names is asked for while somebody waits for it. */
export const UNNAMED_MS = 5_000;

/** Stands for the user's own configuration where a directory of a project could. */
export const CONFIGURATION = "configuration";

export interface ListQuery {
  all?: boolean;
  limit?: number;
  before?: string;
  project?: string;
}

export function makeCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // Events say when something is stale; the clock does not.
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (count, error) => !(error instanceof Refused) && count < 3,
        retryDelay: (count) => 300 * 2 ** count,
        // The server is on this machine or on a network of its own: what the browser thinks of the internet says nothing.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** What an event makes stale. */
export function named(event: EventView): (readonly string[])[] {
  const found: (readonly string[])[] = [["status"]];
  const kind = event.kind.split(".")[0];
  const request = (event as Record<string, unknown>)["request"];
  if (event.project) found.push(["projects"], ["tasks", event.project], ["office", event.project]);
  if (event.session) found.push(["session", event.session], ["sessions"], ["timeline", event.session]);
  if (event.run) found.push(["run", event.run], ["runs"], ["phases", event.run]);
  if (typeof request === "string") found.push(["request", request]);
  if (kind === "checkpoint" && event.session) found.push(["checkpoints", event.session]);
  if (kind === "worktree" || kind === "checkpoint") found.push(["diff", event.session ?? ""]);
  if (kind === "session") found.push(["usage"]);
  if (event.kind === "session.finished" || event.kind === "session.resumed" || kind === "worktree") found.push(keys.looked);
  if (kind === "secret") found.push(["secrets"]);
  if (kind === "trust") found.push(["trusted"]);
  if (kind === "project") found.push(["trusted"], ["secrets"], ["tasks", ""]);
  return found;
}

/** Makes stale what events name, many at once. */
class Feed {
  private readonly cache: QueryClient;
  private readonly stale = new Map<string, readonly string[]>();
  private readonly sessions = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(cache: QueryClient) {
    this.cache = cache;
  }

  readonly push: EventListener = (events) => {
    for (const event of events) {
      for (const key of named(event)) this.stale.set(key.join(" "), key);
      if (event.session) this.sessions.add(event.session);
    }
    this.timer ??= setTimeout(() => this.flush(), GATHER_MS);
  };

  private flush(): void {
    this.timer = null;
    const stale = [...this.stale.values()];
    const sessions = new Set(this.sessions);
    this.stale.clear();
    this.sessions.clear();
    for (const queryKey of stale) void this.cache.invalidateQueries({ queryKey });
    // What is asked depends on who asks: a process that ends changes the card of its question, and names no question.
    const isTheirs = (asked: unknown) => sessions.has((asked as RequestView | undefined)?.session ?? "");
    void this.cache.invalidateQueries({ queryKey: ["request"], predicate: ({ state }) => isTheirs(state.data) });
  }
}

const Stream = createContext<EventStream | null>(null);
export const StreamProvider = Stream.Provider;

/** One stream for the page, which keeps its cache true. */
export function makeStream(cache: QueryClient): EventStream {
  const stream = new EventStream(() => void cache.invalidateQueries());
  stream.listen(new Feed(cache).push);
  return stream;
}

export function useStream(): EventStream {
  const stream = useContext(Stream);
  if (!stream) throw new Error("there is a stream around every view");
  return stream;
}

export function useConnection(): Connection {
  const stream = useStream();
  return useSyncExternalStore(stream.watch, stream.state);
}

/** Whether the server was out of reach and has come back since whoever asks is there. Outside of a stream, never. */
export function useIsBack(): boolean {
  const stream = useContext(Stream);
  const [isBack, setBack] = useState(false);
  useEffect(() => {
    if (!stream) return undefined;
    let wasStale = stream.state().is === "stale";
    return stream.watch(() => {
      const { is } = stream.state();
      if (is === "live" && wasStale) setBack(true);
      wasStale ||= is === "stale";
    });
  }, [stream]);
  return isBack;
}

export function useStatus(): UseQueryResult<StatusView> {
  return useQuery({ queryKey: keys.status, queryFn: ({ signal }) => get<StatusView>("/status", signal) });
}

export function useInfo(): UseQueryResult<InfoView> {
  return useQuery({ queryKey: keys.info, queryFn: ({ signal }) => get<InfoView>("/info", signal) });
}

export function useRequest(id: string, isWanted = true): UseQueryResult<RequestView> {
  return useQuery({
    queryKey: keys.request(id),
    queryFn: ({ signal }) => get<RequestView>(route`/requests/${id}`, signal),
    enabled: isWanted,
  });
}

export function useSession(id: string): UseQueryResult<SessionView> {
  return useQuery({ queryKey: keys.session(id), queryFn: ({ signal }) => get<SessionView>(route`/sessions/${id}`, signal) });
}

export function useSessions(query: ListQuery): UseQueryResult<SessionView[]> {
  return useQuery({
    queryKey: keys.sessions(query),
    queryFn: ({ signal }) => get<SessionView[]>(path("/sessions", { ...query }), signal),
  });
}

export function useRun(id: string): UseQueryResult<RunView> {
  return useQuery({ queryKey: keys.run(id), queryFn: ({ signal }) => get<RunView>(route`/runs/${id}`, signal) });
}

export function useRuns(query: ListQuery): UseQueryResult<RunView[]> {
  return useQuery({
    queryKey: keys.runs(query),
    queryFn: ({ signal }) => get<RunView[]>(path("/runs", { ...query }), signal),
  });
}

/** The commands of the user's own configuration, and whether somebody has agreed to each. */
export function useConfigurationTrust(): UseQueryResult<TrustView> {
  return useQuery({
    queryKey: [...keys.trusted, CONFIGURATION],
    queryFn: ({ signal }) => get<TrustView>(path("/trust", { directory: CONFIGURATION }), signal),
    ...UNNAMED,
    refetchInterval: UNNAMED_MS,
  });
}

/** One of a session's checkpoints, however many it has; nothing is asked without one. */
export function useCheckpoint(session: string, id: string | null): UseQueryResult<CheckpointView> {
  return useQuery({
    queryKey: keys.checkpoint(session, id ?? ""),
    queryFn: ({ signal }) => get<CheckpointView>(route`/checkpoints/${id ?? ""}`, signal),
    enabled: id !== null,
  });
}

export function useProjects(): UseQueryResult<ProjectSummary[]> {
  return useQuery({ queryKey: keys.projects, queryFn: ({ signal }) => get<ProjectSummary[]>("/projects", signal) });
}

export function useAgents(): UseQueryResult<AgentView[]> {
  return useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => get<AgentView[]>("/agents", signal), ...UNNAMED });
}

/** What the vault keeps, or why it cannot be used yet. Somebody may open it elsewhere, of which no event tells. */
export function useSecrets(): UseQueryResult<SecretView[] | "locked" | "unmade"> {
  return useQuery({
    queryKey: keys.secrets,
    queryFn: async ({ signal }) => {
      const { vault } = await get<InfoView>("/info", signal);
      return vault === "locked" || vault === "unmade" ? vault : await get<SecretView[]>("/secrets", signal);
    },
    refetchInterval: ({ state }) => (typeof state.data === "string" ? UNNAMED_MS : false),
    ...UNNAMED,
  });
}

export function useUsage(by: string): UseQueryResult<UsageReport> {
  return useQuery({ queryKey: keys.usage(by), queryFn: ({ signal }) => get<UsageReport>(path("/usage", { by }), signal) });
}

/**
 * A wish: something is sent once, and what it changed is asked for again even before its event comes. Where it is not
 * known whether it has arrived, the same wish goes out under the same name when it is tried again.
 */
export function useWish<T, V = void>(where: (wanted: V) => { path: string; body?: unknown; key?: string }): UseMutationResult<T, Error, V> {
  const cache = useQueryClient();
  const unsure = useRef<{ wish: string; key: string } | null>(null);
  return useMutation({
    mutationFn: async (wanted: V) => {
      const { path: to, body, key: given } = where(wanted);
      const wish = JSON.stringify([to, body]);
      const key = given ?? (unsure.current?.wish === wish ? unsure.current.key : newKey());
      unsure.current = null;
      try {
        return await post<T>(to, body, key);
      } catch (error) {
        if (error instanceof Unreached) unsure.current = { wish, key };
        throw error;
      }
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.status }),
  });
}
