// What can be told, by the same names as in the configuration of the other channels.
import type { EventView, NotifyKind, RequestView } from "../api/schema";

/** In this order they are offered. */
export const KINDS = ["question", "dependency", "permission", "error", "fault", "budget", "failed", "interrupted", "done"] as const;
export type Kind = (typeof KINDS)[number] & NotifyKind;

const OFF = "ostler.notifications.off";
/** What is told only to those who want it. */
const OFF_AT_FIRST: readonly Kind[] = ["done"];

/** The kinds that this browser does not tell of. */
export function kindsOff(): Set<Kind> {
  const kept = localStorage.getItem(OFF);
  if (kept === null) return new Set(OFF_AT_FIRST);
  return new Set(KINDS.filter((kind) => kept.split(" ").includes(kind)));
}

export function turnKind(kind: Kind, on: boolean): Set<Kind> {
  const off = kindsOff();
  if (on) off.delete(kind);
  else off.add(kind);
  localStorage.setItem(OFF, [...off].join(" "));
  return off;
}

/** Of which kind a request is; null where its agent goes on by itself. */
export function kindOf(request: Pick<RequestView, "ask" | "expires_at_ms">): Kind | null {
  switch (request.ask.kind) {
    case "dependency":
      return request.ask.fields["type"] === "permission" ? "permission" : "dependency";
    case "permission":
    case "review":
      return "permission";
    case "error":
      return request.expires_at_ms == null ? "error" : null;
    case "fault":
    case "stall":
    case "steered":
      return "fault";
    case "time_over":
    case "cost_over":
    case "tokens_over":
      return "budget";
    default:
      return "question";
  }
}

/** What an event says of how a session has ended. */
export function endOf(event: EventView): Kind | null {
  if (event.kind !== "session.finished") return null;
  const { outcome } = event as { outcome?: { outcome?: string } };
  if (outcome?.outcome === "failed") return "failed";
  return outcome?.outcome === "completed" ? "done" : null;
}
