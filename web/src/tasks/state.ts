// How a task is, and why: shapes and words of the command line, and what stands in its way.
import type { TasksView, TaskView } from "../api/schema";
import type { Status } from "../parts/status";
import { type Language, sayShared, type SharedKey } from "../words/words";

export type TaskState = TaskView["state"];

const STATES: Record<TaskState, { shape: string; key: SharedKey; style: string }> = {
  in_progress: { shape: "●", key: "TaskInProgress", style: "plain" },
  ready: { shape: "○", key: "TaskReady", style: "strong" },
  pending: { shape: "·", key: "TaskPending", style: "dim" },
  blocked: { shape: "◆", key: "TaskBlocked", style: "attention" },
  failed: { shape: "✗", key: "TaskFailed", style: "bad" },
  completed: { shape: "✓", key: "TaskCompleted", style: "good" },
  skipped: { shape: "–", key: "TaskSkipped", style: "dim" },
};

/** In this order they are counted: what needs somebody first. */
export const ORDER = Object.keys(STATES) as TaskState[];

export function stateOf(language: Language, state: TaskState): Status {
  // A later server may use a word that is not known here.
  const found = STATES[state] as (typeof STATES)[TaskState] | undefined;
  if (!found) return { shape: "·", said: state, style: "plain" };
  return { shape: found.shape, said: sayShared(language, found.key), style: found.style };
}

/** How a task is; whose agent has asked something does not look like one at work. */
export function statusOf(language: Language, task: TaskView): Status {
  return isAsking(task) ? { shape: "◆", said: sayShared(language, "StatusWaiting"), style: "attention" } : stateOf(language, task.state);
}

/** Whether it waits for a person's answer. */
export function isAsking(task: TaskView): boolean {
  return task.state === "in_progress" && task.request != null;
}

export function isSettled(task: TaskView): boolean {
  return task.state === "completed" || task.state === "skipped";
}

/** How many tasks are in each state, without those that none is in. */
export function countsOf(tasks: TaskView[]): [TaskState, number][] {
  const counts = new Map<TaskState, number>();
  for (const { state } of tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return ORDER.flatMap((state) => (counts.has(state) ? [[state, counts.get(state) ?? 0] as [TaskState, number]] : []));
}

/** The state that a phase is known by: what needs somebody first, then what goes on. */
export function stateOfPhase(tasks: TaskView[]): TaskState {
  const has = (state: TaskState) => tasks.some((task) => task.state === state);
  const first = (["failed", "in_progress", "ready", "blocked", "pending"] as const).find(has);
  return first ?? (has("completed") ? "completed" : "skipped");
}

/** So many causes are named. */
const CAUSES_MAX = 5;

/** The tasks that were given up and that a blocked task waits for, directly or not. */
export function causesOf(task: TaskView, tasks: TaskView[], byId: Map<string, TaskView>): string[] {
  if (task.state !== "blocked") return [];
  const found: string[] = [];
  const seen = new Set([task.id]);
  const open = [task];
  while (open.length > 0 && found.length < CAUSES_MAX) {
    const at = open.shift() as TaskView;
    const after = at.after_phase;
    const before = [
      ...at.needs.flatMap((id) => byId.get(id) ?? []),
      ...(after == null ? [] : tasks.filter((it) => it.phase <= after)),
    ];
    for (const it of before) {
      if (seen.has(it.id)) continue;
      seen.add(it.id);
      if (it.state === "failed") found.push(it.id);
      else if (it.state === "blocked") open.push(it);
    }
  }
  return found.slice(0, CAUSES_MAX);
}

/** What a resolver answers: its kind, and what stands behind that. */
export function answerOf(line: string): { kind: string; rest: string } {
  const error = /^ERROR:([A-Z_]+)(?::(.*))?$/s.exec(line);
  if (error) return { kind: error[1] ?? "", rest: error[2] ?? "" };
  const [kind = "", ...rest] = line.split(":");
  return { kind, rest: rest.join(":") };
}

/** Which can be done with a task. */
export function decisionsFor(task: TaskView): ("first" | "skip" | "retry")[] {
  switch (task.state) {
    case "ready":
    case "pending":
    case "blocked":
      return task.priority === "first" ? ["skip"] : ["first", "skip"];
    case "failed":
      return ["retry", "skip"];
    case "skipped":
      return ["retry"];
    default:
      return [];
  }
}

/** Tasks by their phase, in the order of the phases. */
export function byPhase(view: TasksView): { phase: TasksView["phases"][number]; tasks: TaskView[] }[] {
  const found = new Map<number, TaskView[]>(view.phases.map(({ number }) => [number, []]));
  for (const task of view.tasks) found.get(task.phase)?.push(task);
  return view.phases.map((phase) => ({ phase, tasks: found.get(phase.number) ?? [] })).filter(({ tasks }) => tasks.length > 0);
}
