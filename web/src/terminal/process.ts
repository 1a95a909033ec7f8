// What has become of the process of a session.
import type { LaunchView, SessionView } from "../api/schema";

/** Whether Ostler ended the process while it waited for an answer, which starts it again. */
export function isResting(session: SessionView | undefined): boolean {
  const last = session?.launches.at(-1);
  return session !== undefined && session.pid == null && session.blocked_by.length > 0 && (last?.ending === "rest" || last?.ending === "relaunch");
}

/** Whether a launch ended by itself and not well; the newest one, if none is named. */
export function hasFailed(session: SessionView | undefined, launch: number | null): boolean {
  const found = launch === null ? session?.launches.at(-1) : session?.launches.find((it) => it.number === launch);
  return found !== undefined && found.ending == null && isBad(found.ended);
}

function isBad(ended: LaunchView["ended"]): boolean {
  if (ended == null) return false;
  const { how, code } = ended as { how?: string; code?: number | null };
  return how !== "exited" || code !== 0;
}
