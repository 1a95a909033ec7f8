// What a session prints, as it comes: one launch after the other. A connection that breaks is taken up at the byte where
// it broke, so that nothing comes twice and nothing is missing. Nobody reads for a tab that is not looked at, and of all
// tabs of a browser only a few at once hold a connection for this: the others ask again and again.
import { ask, get, path, route } from "../api/client";
import { Refused } from "../api/problem";
import type { PiecesView, PieceView, SessionView } from "../api/schema";

const WAIT_MIN_MS = 200;
const WAIT_MAX_MS = 5_000;
/** Between two looks of those that hold no connection. */
const LOOK_MS = 1_000;
/** How many tabs hold one. A browser has about six for a server; the journal and everything else need some, too. */
const HELD_MAX = 3;
/** Who has missed more than this while nobody looked begins again at the end. */
const MISSED_BYTES_MAX = 4 << 20;

export interface Wanted {
  session: string;
  /** One launch alone; null for the last one and all that follow it. */
  launch: number | null;
  stream: "out" | "err";
  /** Whether bytes are wanted as they are even where they could be made readable. */
  raw: boolean;
  /** How much of the past is wanted. */
  tailBytes: number;
  /** Instead of the end and what follows: this part of one launch, and nothing else. */
  part: Part | null;
}

/** A part of the log of one launch. */
export interface Part {
  launch: number;
  offset: number;
  limit: number;
}

/** Where a launch is read from. */
export interface Begun {
  launch: number;
  /** The first byte that is shown; what stands before it is left out. */
  offset: number;
  /** How long the log was then. */
  length: number;
  /** Whether the bytes were events, and come as pieces. */
  isRead: boolean;
}

/** Whoever shows it. Each call is over when it has been taken in: nothing is read ahead of that. */
export interface Sink {
  begin(begun: Begun): void;
  bytes(bytes: Uint8Array, offset: number): Promise<void>;
  pieces(pieces: PieceView[], offset: number): Promise<void>;
  /** Whether the connection stands. */
  connected(is: boolean): void;
  /** No more comes of this launch. */
  ended(launch: number): void;
  failed(error: Error): void;
}

class FarBehind extends Error {}

interface Place {
  launch: number;
  offset: number;
}

/** One of the few places for tabs that hold a connection, as the function that gives it back; null where none is free. */
async function takePlace(): Promise<(() => void) | null> {
  if (!("locks" in navigator)) return () => undefined;
  for (let nth = 1; nth <= HELD_MAX; nth++) {
    const giveBack = await new Promise<(() => void) | null>((take, fail) => {
      const hold = (lock: Lock | null) => (lock === null ? take(null) : new Promise<void>((done) => take(done)));
      navigator.locks.request(`ostler.output.${nth}`, { ifAvailable: true }, hold).catch(fail);
    });
    if (giveBack) return giveBack;
  }
  return null;
}

/** What is left of a part for who has come so far; a limit is never nothing. */
function restOf(part: Part, from: Place | null): { offset: number; limit: number } {
  const offset = from?.offset ?? part.offset;
  return { offset, limit: Math.max(1, part.offset + part.limit - offset) };
}

const isLookedAt = () => document.visibilityState === "visible";

export class Follower {
  private readonly abort = new AbortController();
  private connection = new AbortController();
  /** Whether the last connection went on until the launch had ended, or only to where its log then stood. */
  private followed = false;
  /** A launch that was known to have ended before its log was read for the last time. */
  private over = 0;
  private readonly wanted: Wanted;
  private readonly sink: Sink;
  private wait = WAIT_MIN_MS;
  private hurry: (() => void) | null = null;

  constructor(wanted: Wanted, sink: Sink) {
    this.wanted = wanted;
    this.sink = sink;
    document.addEventListener("visibilitychange", this.turned);
    void this.run();
  }

  end(): void {
    document.removeEventListener("visibilitychange", this.turned);
    this.abort.abort();
    this.connection.abort();
    this.hurry?.();
  }

  private readonly turned = (): void => {
    if (isLookedAt()) this.hurry?.();
    else this.connection.abort();
  };

  /** Something has happened to the session: who waits for its next launch looks again. */
  look(): void {
    this.hurry?.();
  }

  private get isOver(): boolean {
    return this.abort.signal.aborted;
  }

  private async run(): Promise<void> {
    let place: Place | null = null;
    let isShown = false;
    while (!this.isOver) {
      if (!isLookedAt()) {
        await this.untilLooked();
        continue;
      }
      try {
        const reading: AsyncGenerator<Place> = this.read(place, isShown);
        for await (const reached of reading) {
          place = reached;
          isShown = true;
        }
        if (place === null || this.isOver) return;
        if (this.wanted.part) return this.sink.ended(place.launch);
        const next = await this.after(place);
        if (next === null) return;
        isShown = next.launch === place.launch;
        place = next;
      } catch (error) {
        if (this.isOver) return;
        if (!isLookedAt()) continue;
        if (error instanceof FarBehind) {
          [place, isShown] = [null, false];
          continue;
        }
        this.sink.connected(false);
        if (error instanceof Refused) {
          // A log that is shorter than before is another one; what is refused otherwise stays so.
          if (error.problem.status === 416) [place, isShown] = [null, false];
          else if (error.problem.status < 500) return this.sink.failed(error);
        }
        await this.pause();
      }
    }
  }

  /** One connection; says after each part where it is. */
  private async *read(from: Place | null, isShown: boolean): AsyncGenerator<Place> {
    this.connection = new AbortController();
    const giveBack = await takePlace();
    this.followed = giveBack !== null;
    try {
      yield* this.readFrom(from, isShown, giveBack !== null);
    } finally {
      this.connection.abort();
      giveBack?.();
    }
  }

  private async *readFrom(from: Place | null, isShown: boolean, follow: boolean): AsyncGenerator<Place> {
    const { session, stream, raw, tailBytes, part } = this.wanted;
    const launch = from?.launch ?? part?.launch ?? this.wanted.launch ?? undefined;
    const form = raw ? "bytes" : "pieces";
    const where = part ? restOf(part, from) : from === null ? { tail: tailBytes } : { offset: from.offset };
    const query = { launch, stream, form, follow: follow && part === null, ...where };
    const sent = { signal: this.connection.signal, isStream: true };
    const response = await ask(path(route`/sessions/${session}/output`, query), sent);
    const header = (name: string) => Number(response.headers.get(name) ?? 0);
    const begun = {
      launch: header("Ostler-Launch"),
      offset: header("Ostler-Offset"),
      length: header("Ostler-Length"),
      isRead: (response.headers.get("Content-Type") ?? "").includes("ndjson"),
    };
    if (from !== null && part === null && begun.length - from.offset > MISSED_BYTES_MAX) throw new FarBehind();
    this.wait = follow ? WAIT_MIN_MS : LOOK_MS;
    this.sink.connected(true);
    if (!isShown) this.sink.begin(begun);
    yield { launch: begun.launch, offset: begun.offset };
    const reader = response.body?.getReader();
    if (!reader) return;
    const parts = begun.isRead ? this.readPieces(reader, begun) : this.readBytes(reader, begun);
    for await (const offset of parts) yield { launch: begun.launch, offset };
  }

  private async *readBytes(reader: ReadableStreamDefaultReader<Uint8Array>, begun: Begun): AsyncGenerator<number> {
    let offset = begun.offset;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.isOver) return;
      await this.sink.bytes(value, offset);
      offset += value.length;
      yield offset;
    }
  }

  private async *readPieces(reader: ReadableStreamDefaultReader<Uint8Array>, begun: Begun): AsyncGenerator<number> {
    const decoder = new TextDecoder();
    let offset = begun.offset;
    let rest: string[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.isOver) return;
      const lines = decoder.decode(value, { stream: true }).split("\n");
      // Only whole lines count: the rest of a broken one comes again.
      while (lines.length > 1) {
        const line = [...rest, lines.shift()].join("");
        rest = [];
        const { next, pieces } = JSON.parse(line) as PiecesView;
        await this.sink.pieces(pieces, offset);
        offset = next;
        yield offset;
      }
      rest.push(lines[0] ?? "");
    }
  }

  /** Where to go on once a connection has come to its end: the same launch, if that has not ended, or the next one. */
  private async after(place: Place): Promise<Place | null> {
    for (;;) {
      const session = await get<SessionView>(route`/sessions/${this.wanted.session}`, this.abort.signal);
      const launch = session.launches.find((it) => it.number === place.launch);
      // A server that stops lets go of its readers in the same way as one that has sent everything.
      if (launch && launch.ended == null) {
        await this.pause();
        return this.isOver ? null : place;
      }
      // Between a look at its log and the news of its end, it may have printed more.
      if (launch && !this.followed && this.over !== launch.number) {
        this.over = launch.number;
        return place;
      }
      if (launch) this.sink.ended(place.launch);
      if (this.wanted.launch !== null) return null;
      const next = session.launches.find((it) => it.number > place.launch);
      if (next) return { launch: next.number, offset: 0 };
      await this.untilLooked();
      if (this.isOver) return null;
    }
  }

  private untilLooked(): Promise<void> {
    return new Promise((resolve) => (this.hurry = resolve));
  }

  private pause(): Promise<void> {
    const ms = this.wait;
    this.wait = Math.min(this.wait * 2, WAIT_MAX_MS);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
