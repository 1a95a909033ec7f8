// Whether a session's files, and its conversation, can be brought back to a checkpoint as it is now. The server decides;
// this says beforehand what it would refuse, so that nobody is offered it.
import type { SessionView } from "../api/schema";

export type Restorable =
  | { can: "all" }
  /** It stands still, and cannot forget what it knows. */
  | { can: "files" }
  | { can: "nothing"; why: "working" | "gone" }
  | { can: "nothing"; why: "shared"; other: string };

export const OVER: readonly string[] = ["completed", "failed", "cancelled"];
const STANDING: readonly string[] = ["made", "not_merged", "not_discarded"];

/** Whether the directory in which it worked is still there. */
export function hasPlace(session: Pick<SessionView, "worktree">): boolean {
  return session.worktree == null || STANDING.includes(session.worktree.state);
}

function isAtWork(session: SessionView): boolean {
  if (["checking", "ending"].includes(session.status)) return true;
  const last = session.launches.at(-1);
  return last !== undefined && last.ended == null && last.stopped_at_ms == null;
}

/** `others` are the sessions that are not over. */
export function restorable(session: SessionView, others: SessionView[]): Restorable {
  if (!hasPlace(session)) return { can: "nothing", why: "gone" };
  const isFree = OVER.includes(session.status) || session.status === "interrupted";
  if (!isFree && isAtWork(session)) return { can: "nothing", why: "working" };
  const other = others.find((it) => it.id !== session.id && it.directory === session.directory && isAtWork(it));
  if (other) return { can: "nothing", why: "shared", other: other.id };
  return { can: isFree ? "all" : "files" };
}
