// The projects that are known here: those in which something was run.
import { useRuns, useStatus } from "../api/queries";
import type { ProjectView, RunView } from "../api/schema";

export interface Known {
  project: ProjectView;
  lastRun: RunView;
}

/** How far back is looked. */
const RUNS_MAX = 200;

export function useKnown(): { known: Known[] | undefined; error: Error | null; again: () => void } {
  const runs = useRuns({ limit: RUNS_MAX });
  const byId = new Map<string, Known>();
  for (const run of runs.data ?? []) {
    if (!byId.has(run.project.id)) byId.set(run.project.id, { project: run.project, lastRun: run });
  }
  return { known: runs.data && [...byId.values()], error: runs.error, again: () => void runs.refetch() };
}

/** The name of a project by its id, where it is known. */
export function useProjectName(): (id: string) => string {
  const { known } = useKnown();
  const status = useStatus();
  return (id) =>
    known?.find((it) => it.project.id === id)?.project.name ??
    status.data?.sessions.find((it) => it.project.id === id)?.project.name ??
    id;
}
