// Who is in the picture of an office, who called whom, and how each is. Everything follows from what the server says.
import type { InvocationView, OfficeView, ResultView, RoleView, SessionView } from "../api/schema";

export interface Person {
  /** A role, or the id of a session that has none. */
  name: string;
  role: RoleView | null;
  /** Its session, if that is not over. */
  session: SessionView | null;
  /** Open calls of it, in the order in which it works on them. */
  given: InvocationView[];
  /** Open calls by it: it waits for these. */
  asked: InvocationView[];
  /** What was brought to it and nobody has read. */
  unread: ResultView[];
}

/** All that went from one to another, and back: calls with what came of them, or results that nobody asked for. */
export interface Talk {
  kind: "calls" | "brought";
  from: string;
  to: string;
  calls: number;
  open: InvocationView[];
  /** Whether something came back. */
  hasResult: boolean;
  unread: ResultView[];
  last: InvocationView | null;
  /** What the first has brought the other without being asked. */
  brought: ResultView[];
}

export interface Seen {
  people: Person[];
  talks: Talk[];
}

/**
 * `recent` is newest first, and so is what nobody asked for. Sessions without a role are many in time: those are seen that
 * wait, and those of the newest run.
 */
export function seenOf(office: OfficeView, recent: InvocationView[], unasked: ResultView[], sessions: SessionView[]): Seen {
  const open = office.invocations;
  const roles = new Map(office.roles.map((role) => [role.name, role]));
  const run = recent[0]?.run;
  const isLive = (name: string) => sessions.some((it) => it.id === name);
  const isSeen = (name: string) => open.some((it) => it.caller === name) || recent.some((it) => it.run === run && it.caller === name);
  const isShown = (name: string) => roles.has(name) || isSeen(name) || isLive(name);
  const calls = [...byId([...recent, ...open]).values()].filter((it) => roles.has(it.callee) && (roles.has(it.caller) || isSeen(it.caller)));
  const brought = unasked.filter((it) => isShown(it.from) && isShown(it.to));
  const names = new Set([...calls.flatMap((it) => [it.caller, it.callee]), ...brought.flatMap((it) => [it.from, it.to])]);
  for (const result of office.results) if (roles.has(result.to)) names.add(result.to);
  for (const role of office.roles) if (role.file != null || role.session != null || role.problem != null) names.add(role.name);
  const people = [...names].map((name) => personOf(office, name, sessions));
  const inOrder = new Map(office.roles.map((role, index) => [role.name, index]));
  people.sort((a, b) => (inOrder.get(a.name) ?? -1) - (inOrder.get(b.name) ?? -1) || compare(a.name, b.name));
  return { people, talks: talksOf(calls, office.results, brought, names) };
}

export function personOf(office: OfficeView, name: string, sessions: SessionView[]): Person {
  const role = office.roles.find((it) => it.name === name) ?? null;
  const session = sessions.find((it) => it.id === (role === null ? name : role.session)) ?? null;
  const given = office.invocations.filter((it) => it.callee === name);
  given.sort((a, b) => (a.began_at_ms ?? Infinity) - (b.began_at_ms ?? Infinity) || number(a.id) - number(b.id));
  const asked = office.invocations.filter((it) => it.caller === name);
  return { name, role, session, given, asked, unread: office.results.filter((it) => it.to === name) };
}

function talksOf(calls: InvocationView[], results: ResultView[], brought: ResultView[], names: Set<string>): Talk[] {
  const talks = new Map<string, Talk>();
  const talk = (kind: Talk["kind"], from: string, to: string): Talk => {
    const key = `${kind}\n${from}\n${to}`;
    const known = talks.get(key) ?? { kind, from, to, calls: 0, open: [], hasResult: false, unread: [], last: null, brought: [] };
    talks.set(key, known);
    return known;
  };
  for (const call of calls) {
    const it = talk("calls", call.caller, call.callee);
    it.calls++;
    if (call.ended_at_ms == null) it.open.push(call);
    if (call.status === "completed") it.hasResult = true;
    if (it.last === null || number(call.id) > number(it.last.id)) it.last = call;
  }
  for (const result of results) {
    if (result.invocation == null || !names.has(result.from) || !names.has(result.to)) continue;
    const it = talk("calls", result.to, result.from);
    it.hasResult = true;
    it.unread.push(result);
  }
  for (const result of brought) {
    const it = talk("brought", result.from, result.to);
    it.brought.push(result);
    if (!result.delivered) it.unread.push(result);
  }
  return [...talks.values()];
}

export type TalkState = "open" | "failed" | "done" | "brought";

export function talkState(talk: Talk): TalkState {
  if (talk.kind === "brought") return "brought";
  if (talk.open.length > 0) return "open";
  return talk.last?.status === "failed" ? "failed" : "done";
}

/** Whether somebody is there and nobody has anything for it to do. A program that takes no turns may still be busy. */
export function isIdle({ role, session }: Person): boolean {
  return role !== null && session?.idle === true && session.wait == null;
}

/** With whom somebody has talked, each once. */
export function partnersOf(talks: Talk[], name: string): string[] {
  return [...new Set(talks.flatMap(({ from, to }) => (from === name ? [to] : to === name ? [from] : [])))];
}

/** One thing that was said between two. */
export type Moment =
  | { at: number; kind: "call"; call: InvocationView }
  | { at: number; kind: "end"; call: InvocationView }
  | { at: number; kind: "result"; result: ResultView };

/** What two have said to each other, in its order. What has ended with a result needs no word of its own. */
export function momentsOf(calls: InvocationView[], results: ResultView[]): Moment[] {
  const moments: Moment[] = results.map((result) => ({ at: result.given_at_ms, kind: "result", result }));
  for (const call of calls) {
    moments.push({ at: call.opened_at_ms, kind: "call", call });
    if (call.ended_at_ms != null && call.result == null) moments.push({ at: call.ended_at_ms, kind: "end", call });
  }
  const order = { call: 0, result: 1, end: 2 };
  return moments.sort((a, b) => a.at - b.at || order[a.kind] - order[b.kind]);
}

function byId(calls: InvocationView[]): Map<string, InvocationView> {
  // What is said to be open now is newer than the list of all.
  return new Map(calls.map((call) => [call.id, call]));
}

function number(id: string): number {
  return Number(id.split("_")[1]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
