// Everything that is said to the server goes through here: the proof of the sign-in, the key of a write, and the form of
// what comes back.
import { refusal, Unreached } from "./problem";

const BASE = "/api/v1";
const PROOF = "ostler.proof";
const SERVER = "ostler.server";
const SIGN_IN = "/sign-in";

/** Why this page cannot be used: nobody is signed in here any more, or another server answers in its server's place. */
export type Outside = "signed out" | "another server";

let onOutside: (why: Outside) => void = () => undefined;

export function whenOutside(tell: (why: Outside) => void): void {
  onOutside = tell;
}

/** The second half of the sign-in; the first is a cookie that no script can see. */
export function proof(): string | null {
  return localStorage.getItem(PROOF);
}

export function keepProof(value: string | null): void {
  if (value === null) localStorage.removeItem(PROOF);
  else localStorage.setItem(PROOF, value);
}

/** A new name for a write: sent twice under the same, it is done once. */
export function newKey(): string {
  // `randomUUID` is there only over TLS or on this machine; random bytes are everywhere.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** How long an answer may take. */
const ASKED_MS_MAX = 30_000;
const WISHED_MS_MAX = 60_000;

export interface Sent {
  method?: "GET" | "POST";
  body?: unknown;
  /** Of a write: the name that makes it safe to send it again. */
  key?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** The answer goes on for as long as it is wanted; only its beginning has to come in time. */
  isStream?: boolean;
}

/** Where a path of the interface is. */
export function address(path: string): string {
  return BASE + path;
}

/** What every question carries; with `key`, a write. */
export function headersOf({ key, isFile = false }: { key?: string | undefined; isFile?: boolean }): Headers {
  const headers = new Headers();
  const known = proof();
  if (known !== null) headers.set("Ostler-Proof", known);
  if (key !== undefined) {
    headers.set("Idempotency-Key", key);
    headers.set("Content-Type", isFile ? "application/octet-stream" : "application/json");
  }
  return headers;
}

/** Asks, and gives the answer as it comes. Whatever is not good is thrown as `Refused` or `Unreached`. */
export async function ask(path: string, sent: Sent = {}): Promise<Response> {
  const method = sent.method ?? "GET";
  const isWrite = method === "POST";
  const headers = headersOf({ key: isWrite ? (sent.key ?? newKey()) : undefined });
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name, value);
  const body = isWrite ? JSON.stringify(sent.body ?? {}) : null;
  const late = new AbortController();
  const limit = isWrite ? WISHED_MS_MAX : ASKED_MS_MAX;
  const timer = setTimeout(() => late.abort(new DOMException("no answer in time", "TimeoutError")), limit);
  const signal = AbortSignal.any([late.signal, ...(sent.signal ? [sent.signal] : [])]);
  let response: Response;
  try {
    response = await fetch(address(path), { method, headers, body, cache: "no-store", signal });
  } catch (cause) {
    clearTimeout(timer);
    if (sent.signal?.aborted) throw cause;
    throw new Unreached(cause);
  }
  // Elsewhere the limit is one for the whole answer; once that has come, it does nothing.
  if (sent.isStream) clearTimeout(timer);
  return judged(path, response);
}

/** The answer, if it is one by this page's server and a good one. */
export async function judged(path: string, response: Response): Promise<Response> {
  if (path !== SIGN_IN && isAnother(response)) {
    onOutside("another server");
    throw new Unreached(new Error("another server answers at this address"));
  }
  // Nothing has changed since the answer that whoever asks has named.
  if (response.ok || response.status === 304) {
    keepServer(response, path === SIGN_IN);
    return response;
  }
  const refused = await refusal(response);
  if (response.status === 401 && refused.code === "not_signed_in") onOutside("signed out");
  throw refused;
}

/** Every answer says by which server it is; the port may have been taken by that of another state directory. */
function isAnother(response: Response): boolean {
  const [here, known] = [response.headers.get("Ostler-Server"), localStorage.getItem(SERVER)];
  return here !== null && known !== null && here !== known;
}

function keepServer(response: Response, isNew: boolean): void {
  const here = response.headers.get("Ostler-Server");
  if (here !== null && (isNew || localStorage.getItem(SERVER) === null)) localStorage.setItem(SERVER, here);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, signal ? { signal } : {});
  return read<T>(response);
}

export async function post<T>(path: string, body?: unknown, key?: string): Promise<T> {
  const response = await ask(path, { method: "POST", body, ...(key === undefined ? {} : { key }) });
  return read<T>(response);
}

/** The answer may break off like any connection. */
export async function read<T>(response: Response): Promise<T> {
  try {
    const text = await response.text();
    return (text === "" ? null : JSON.parse(text)) as T;
  } catch (cause) {
    throw new Unreached(cause);
  }
}

/** A path of the interface. What stands in it is one part of it, whatever it says, and leads nowhere else. */
export function route(parts: TemplateStringsArray, ...given: string[]): string {
  // Whoever reads an address takes dots for a way up, however they are written.
  if (given.some((part) => /^\.{0,2}$/.test(part))) throw new Error("nothing is called so");
  return String.raw({ raw: parts }, ...given.map(encodeURIComponent));
}

/** A path with its parameters; those that are not given are left out. */
export function path(base: string, query: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === "" ? base : `${base}?${text}`;
}
