// The events of a session as moments that a person would tell: what was asked and answered, when it stood still, what was
// kept. Events that belong to one moment are one; what only moves things about is none.
import type { EventView } from "../api/schema";

export type MomentKind =
  | "begun"
  | "launched"
  | "asked"
  | "askedAgain"
  | "settled"
  | "expired"
  | "written"
  | "stopped"
  | "stalled"
  | "paused"
  | "unpaused"
  | "parked"
  | "unparked"
  | "limited"
  | "step"
  | "thinAsked"
  | "thinAnswered"
  | "raised"
  | "installed"
  | "notInstalled"
  | "checking"
  | "checkPassed"
  | "checkFailed"
  | "kept"
  | "restored"
  | "notRestored"
  | "worktree"
  | "secretFound"
  | "secretUnchecked"
  | "gateBegun"
  | "phaseReturned"
  | "phaseApproved"
  | "exited"
  | "lost"
  | "notStarted"
  | "cancelled"
  | "resumed"
  | "completed"
  | "failed";

export interface Moment {
  /** The place of its first event. */
  seq: number;
  at: number;
  kind: MomentKind;
  /** In somebody else's words. */
  text: string;
  /** More about it, such as the number of a process, an exit code, or a cause. */
  word: string;
  /** What it is about, as it stands in the journal. */
  data: unknown;
  request: string | null;
  checkpoint: string | null;
  /** How far an answer or a message has got on its way to the agent, as the interface calls it. */
  delivery: string | null;
}

type Fields = Record<string, unknown>;

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** What is asked, in one sentence of the agent's. */
function asked(ask: Fields): string {
  for (const name of ["question", "name", "message", "tool", "reason", "details"]) {
    const found = text(ask[name]);
    if (found !== "") return found;
  }
  return "";
}

class Telling {
  readonly moments: Moment[] = [];
  /** Checkpoints that are wanted, by the moment that they belong to. */
  private readonly wanted = new Map<string, Moment | null>();
  private readonly whys = new Map<string, string>();
  private check: Moment | null = null;
  /** Answers and messages, by what the journal calls them on their way. */
  private readonly inputs = new Map<string, Moment>();

  tell(event: EventView): void {
    const body = event as Fields;
    switch (event.kind) {
      case "session.created":
        return this.add(event, "begun", {});
      case "session.launched":
        // The first begins with the session, and needs no word of its own.
        if (body["launch"] === 1) return undefined;
        return this.add(event, "launched", { word: text(body["launch"]), data: body["cause"] });
      case "request.opened":
      case "request.repeated": {
        const ask = fields(body["ask"]);
        const kind = event.kind === "request.opened" ? "asked" : "askedAgain";
        return this.add(event, kind, { text: asked(ask), word: text(ask["kind"]), data: ask, request: text(body["request"]) });
      }
      case "request.settled":
        this.add(event, "settled", { data: body["answer"], word: text(body["by"]), request: text(body["request"]) });
        return this.brings("request", body["request"]);
      case "request.expired":
        return this.add(event, "expired", { request: text(body["request"]) });
      case "thin.asked":
        return this.add(event, "thinAsked", { text: text(body["line"]) });
      case "thin.answered":
        return this.add(event, "thinAnswered", { text: text(body["line"]) });
      case "message.written":
        // What a main agent is answered is written to it in the same moment.
        if (this.moments.at(-1)?.kind === "thinAnswered" && this.moments.at(-1)?.text === body["text"]) return undefined;
        this.add(event, "written", { text: text(body["text"]) });
        return this.brings("message", body["message"]);
      case "run.raised":
        return this.add(event, "raised", { data: body["budget"] });
      case "phase.announced":
        return this.add(event, "gateBegun", { word: text(body["gate"]), data: body["why"] });
      case "phase.returned":
        return this.add(event, "phaseReturned", { text: text(body["words"]), word: text(body["phase"]) });
      case "phase.approved":
        return this.add(event, "phaseApproved", { word: text(body["phase"]) });
      case "install.finished": {
        const install = fields(body["install"]);
        const kind = install["installed"] === true ? "installed" : "notInstalled";
        return this.add(event, kind, { text: text(install["reason"]), request: text(body["request"]) });
      }
      case "input.sent":
      case "input.delivered":
      case "input.consumed":
      case "input.heard":
      case "input.refused":
      case "input.returned":
        return this.brought(event.kind, body);
      default:
        return event.kind.startsWith("check") || event.kind.startsWith("worktree")
          ? this.tellOfWork(event, body)
          : this.tellOfSession(event, body);
    }
  }

  /** What was added last is brought to the agent under this name. */
  private brings(kind: string, id: unknown): void {
    const moment = this.moments.at(-1);
    if (moment) this.inputs.set(`${kind} ${text(id)}`, moment);
  }

  private brought(kind: string, body: Fields): void {
    const parcel = fields(body["parcel"]);
    const name = Object.keys(parcel)[0] ?? "";
    const moment = this.inputs.get(`${name} ${text(parcel[name])}`);
    if (!moment) return;
    if (kind === "input.returned") moment.delivery = "undeliverable";
    else if (kind === "input.delivered" && body["spool_seq"] == null) moment.delivery = "prompted";
    else moment.delivery = kind.slice("input.".length);
  }

  private tellOfSession(event: EventView, body: Fields): void {
    switch (event.kind) {
      case "session.stopped":
        return this.stopped(event, body);
      case "session.told": {
        const item = fields(body["item"]);
        return this.add(event, "step", { text: text(item["name"]) || text(item["step"]) || text(item["text"]), data: item });
      }
      case "session.ended":
        return this.ended(event, fields(body["end"]));
      case "session.paused":
        return this.add(event, "paused", {});
      case "session.unpaused":
        return this.add(event, "unpaused", {});
      case "session.cancelled":
        return this.add(event, "cancelled", {});
      case "session.resumed":
        return this.add(event, "resumed", {});
      case "session.parked":
        return this.add(event, "parked", {});
      case "session.unparked":
        return this.add(event, "unparked", {});
      case "account.limited":
        return this.add(event, "limited", { text: text(body["message"]), word: text(body["name"]) });
      case "session.finished": {
        const outcome = fields(body["outcome"]);
        const kind = outcome["outcome"] === "completed" ? "completed" : outcome["outcome"] === "failed" ? "failed" : null;
        // Who was cancelled has a moment for that already.
        return kind === null ? undefined : this.add(event, kind, { data: outcome });
      }
      default:
        return undefined;
    }
  }

  private tellOfWork(event: EventView, body: Fields): void {
    switch (event.kind) {
      case "check.started":
        this.add(event, "checking", {});
        this.check = this.moments.at(-1) ?? null;
        return undefined;
      case "check.finished": {
        const attempt = fields(body["attempt"]);
        const kind = attempt["code"] === 0 ? "checkPassed" : "checkFailed";
        const told = { word: text(attempt["code"]), text: text(attempt["output"]), data: attempt };
        // What began and what came of it is one moment.
        if (this.check) Object.assign(this.check, { kind, ...told });
        else this.add(event, kind, told);
        this.check = null;
        return undefined;
      }
      case "checkpoint.wanted":
        return this.wants(body);
      case "checkpoint.made":
        return this.made(event, text(body["checkpoint"]));
      case "checkpoint.restored":
        return this.add(event, "restored", { checkpoint: text(body["checkpoint"]), data: body });
      case "checkpoint.not_restored":
        return this.add(event, "notRestored", { text: text(body["message"]), checkpoint: text(body["checkpoint"]) });
      case "secret.found": {
        const where = `${text(body["file"])}:${Number(body["line"] ?? 0)}`;
        return this.add(event, "secretFound", { word: text(body["secret"]) || "?", text: where });
      }
      case "secret.unchecked":
        return this.add(event, "secretUnchecked", {});
      case "worktree.changed": {
        const worktree = fields(body["worktree"]);
        const state = text(worktree["state"]) || text(fields(worktree["state"])["state"]);
        const isTold = ["testing", "merged", "not_merged", "discarded", "not_discarded"].includes(state);
        return isTold ? this.add(event, "worktree", { word: state, data: worktree, text: text(worktree["message"]) }) : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Whoever asks stands still: that needs no word of its own. */
  private stopped(event: EventView, body: Fields): void {
    const cause = text(body["cause"]);
    if (cause === "stall") this.add(event, "stalled", {});
    else if (cause === "command" && !this.isRecent(["paused", "cancelled", "parked", "limited"])) this.add(event, "stopped", {});
  }

  private isRecent(kinds: MomentKind[]): boolean {
    const last = this.moments.at(-1);
    return last !== undefined && kinds.includes(last.kind);
  }

  private ended(event: EventView, end: Fields): void {
    switch (text(end["how"]) || text(end["end"])) {
      case "lost":
        return this.add(event, "lost", {});
      case "not_started":
        return this.add(event, "notStarted", { text: text(end["message"]) });
      default: {
        const code = end["code"];
        const signal = end["signal"];
        const word = typeof code === "number" ? String(code) : "";
        return this.add(event, "exited", { word, data: signal });
      }
    }
  }

  /** A checkpoint of a question belongs to the question. */
  private wants(body: Fields): void {
    const id = text(body["checkpoint"]);
    const requests = Array.isArray(body["requests"]) ? body["requests"] : [];
    const why = text(body["why"]);
    this.whys.set(id, why);
    const last = this.moments.findLast((it) => it.kind === "asked" && requests.includes(it.request));
    this.wanted.set(id, why === "request" && last ? last : null);
  }

  private made(event: EventView, id: string): void {
    const moment = this.wanted.get(id);
    if (moment && moment.checkpoint === null) moment.checkpoint = id;
    else this.add(event, "kept", { checkpoint: id, word: this.whys.get(id) ?? "" });
  }

  private add(event: EventView, kind: MomentKind, more: Partial<Moment>): void {
    this.moments.push({
      seq: event.seq,
      at: event.at,
      kind,
      text: "",
      word: "",
      data: null,
      request: null,
      checkpoint: null,
      delivery: null,
      ...more,
    });
  }
}

export function moments(events: EventView[]): Moment[] {
  const telling = new Telling();
  for (const event of events) telling.tell(event);
  return telling.moments;
}

/** The kinds that are asked for: the rest of the journal moves things about. */
export const KINDS = [
  "session.created",
  "session.launched",
  "session.stopped",
  "session.ended",
  "session.paused",
  "session.unpaused",
  "session.cancelled",
  "session.resumed",
  "session.parked",
  "session.unparked",
  "session.finished",
  "session.told",
  "account.limited",
  "request.",
  "message.",
  "input.",
  "thin.asked",
  "thin.answered",
  "check.",
  "checkpoint.",
  "worktree.",
  "install.",
  "run.raised",
  "phase.",
].join(",");

/** Where each stands on the axis, from 0 to 1. Long silences are drawn shorter, so that what happened can be told apart. */
export function places(times: number[]): number[] {
  const found: number[] = [];
  let at = 0;
  times.forEach((time, index) => {
    const before = times[index - 1];
    if (before !== undefined) at += 1 + 2 * Math.log10(1 + Math.max(0, time - before) / 1000);
    found.push(at);
  });
  return found.map((place) => (at === 0 ? 0.5 : place / at));
}
