// Sentences about people and calls of an office that several parts of the view say.
import type { InvocationView } from "../api/schema";
import { plain } from "../parts/Said";
import { ofWord, type Status, statusOf } from "../parts/status";
import type { Language, Say } from "../words/words";
import { type Person, type Talk, talkState } from "./people";
import { words } from "./words";

export type SayOffice = Say<(typeof words)["en"]>;

/** How somebody is: a shape and a word. Who has ended is not at work, and comes back when called. */
export function personState(say: SayOffice, language: Language, person: Person): Status {
  const { role, session } = person;
  if (role?.problem != null) return { shape: "✗", said: say("unusable"), style: "bad" };
  if (session !== null) return statusOf(language, session);
  if (role?.status != null && role.status !== "completed" && role.status !== "cancelled") return ofWord(language, role.status);
  if (role !== null && role.session == null) return { shape: "○", said: say("notCalled"), style: "dim" };
  return { shape: "○", said: say("away"), style: "dim" };
}

/** What somebody does and waits for, in short sentences. */
export function personFacts(say: SayOffice, person: Person): string[] {
  const [first, ...rest] = person.given;
  const names = [...new Set(person.asked.map((it) => plain(it.callee)))];
  return [
    ...(first ? [say("works", { name: plain(first.caller), id: first.id })] : []),
    ...(rest.length > 0 ? [say("queued", { n: rest.length })] : []),
    ...(names.length > 0 ? [say("waitsFor", { names: names.join(", ") })] : []),
    ...(person.unread.length > 0 ? [say("unread", { n: person.unread.length })] : []),
  ];
}

export function talkSaid(say: SayOffice, talk: Talk): string {
  const both = { from: plain(talk.from), to: plain(talk.to) };
  const unread = talk.unread.length > 0 ? `; ${say("lineUnread", { to: both.to })}` : "";
  switch (talkState(talk)) {
    case "open":
      return say("lineOpen", { ...both, ids: talk.open.map((it) => it.id).join(", ") }) + unread;
    case "failed":
      return say("lineFailed", { ...both, why: talk.last ? whySaid(say, talk.last) : "" }) + unread;
    case "brought":
      return say("lineBrought", { ...both, ids: talk.brought.map((it) => it.id).join(", ") }) + (talk.unread.length > 0 ? `; ${say("notRead")}` : "");
    case "done":
      return say("lineDone", { ...both, n: talk.calls }) + unread;
  }
}

const SHAPES = {
  pending: ["○", "dim"],
  in_progress: ["●", "good"],
  completed: ["✓", "good"],
  failed: ["✗", "bad"],
  cancelled: ["✗", "dim"],
} as const;

export function callState(say: SayOffice, call: InvocationView): Status {
  const [shape, style] = SHAPES[call.status];
  return { shape, said: say(`status_${call.status}`), style };
}

/** Why a call has ended without a result. A later server may know reasons that are not known here. */
export function whySaid(say: SayOffice, call: InvocationView): string {
  const key = `why_${call.why ?? ""}`;
  return key in words.en ? say(key as "why_failed") : plain(call.why ?? "");
}

export function typeSaid(say: SayOffice, type: string): string {
  const key = `type_${type}`;
  return key in words.en ? say(key as "type_json") : plain(type);
}
