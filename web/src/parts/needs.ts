// What needs a person: requests that wait for an answer, and sessions that go on only when somebody resumes them.
import type { SessionView, StatusView } from "../api/schema";

export function isInterrupted(session: SessionView): boolean {
  return session.status === "interrupted";
}

/** How many things need a person: the same number as on the command line. */
export function needCount(status: Pick<StatusView, "needs_you" | "sessions">): number {
  return status.needs_you.length + status.sessions.filter(isInterrupted).length;
}
