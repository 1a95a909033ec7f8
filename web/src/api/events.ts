// The journal as it grows: one stream for the whole page, which comes back by itself and goes on where it was.
//
// An event says what has changed; nothing here keeps a state of anything but the connection.
import { ask } from "./client";
import { Refused } from "./problem";
import type { EventView } from "./schema";

/** How the connection is. `since` is when the page was last known to be true. */
export type Connection = { is: "connecting" } | { is: "live" } | { is: "stale"; since: number };

/** The server says something at least every 15 s; after this long it is not there. */
const SILENCE_MAX_MS = 40_000;
const WAIT_MIN_MS = 250;
const WAIT_MAX_MS = 10_000;
/** A connection that lasted this long begins again without a wait. */
const STEADY_MS = 5_000;

export type EventListener = (events: EventView[]) => void;

/** One record of the stream. */
interface Sent {
  event: string;
  id: number | null;
  data: string;
}

/** Reads server-sent events out of pieces of any size. */
class EventReader {
  private rest = "";

  push(text: string): Sent[] {
    const parts = (this.rest + text).split("\n\n");
    this.rest = parts.pop() ?? "";
    return parts.map((part) => {
      const sent: Sent = { event: "", id: null, data: "" };
      for (const line of part.split("\n")) {
        const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === "event") sent.event = value;
        else if (name === "id") sent.id = Number(value);
        else if (name === "data") sent.data += value;
      }
      return sent;
    });
  }
}

export class EventStream {
  private connection: Connection = { is: "connecting" };
  private readonly watchers = new Set<() => void>();
  private readonly listeners = new Set<EventListener>();
  private readonly onJoin: () => void;
  private last = 0;
  private abort: AbortController | null = null;
  private hurry: (() => void) | null = null;
  private heardAt = 0;

  /** `onJoin` is told whenever a connection stands again: what could not be asked for in between is asked for anew. */
  constructor(onJoin: () => void) {
    this.onJoin = onJoin;
  }

  /** Begins behind this event and goes on until the function that it gives is called. */
  start(after: number): () => void {
    const ended = new AbortController();
    this.last = after;
    const wake = () => this.wake();
    window.addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    void this.run(ended.signal);
    return () => {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      ended.abort();
      this.abort?.abort();
      this.hurry?.();
    };
  }

  listen(listener: EventListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  readonly state = (): Connection => this.connection;

  /** Somebody looks, or the network is back: a wait is cut short, a silent connection is doubted. */
  private wake(): void {
    if (document.visibilityState === "hidden") return;
    this.hurry?.();
    if (this.connection.is === "live" && Date.now() - this.heardAt > SILENCE_MAX_MS / 2) this.abort?.abort();
  }

  private async run(ended: AbortSignal): Promise<void> {
    let wait = WAIT_MIN_MS;
    while (!ended.aborted) {
      const began = Date.now();
      try {
        await this.follow();
      } catch (error) {
        // Where nobody is signed in, somebody else takes over; everything else passes, and is tried again.
        if (error instanceof Refused && error.problem.status === 401) return;
      }
      if (ended.aborted) return;
      if (this.connection.is !== "stale") this.set({ is: "stale", since: this.heardAt || began });
      if (Date.now() - began > STEADY_MS) wait = WAIT_MIN_MS;
      await this.pause(wait);
      wait = Math.min(wait * 2, WAIT_MAX_MS);
    }
  }

  /** One connection, until it breaks or is silent for too long. */
  private async follow(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    const headers = { "Last-Event-ID": String(this.last) };
    let silence = setTimeout(() => abort.abort(), SILENCE_MAX_MS);
    try {
      const response = await ask("/events?follow=true", { headers, signal: abort.signal });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      if (!reader) return;
      const read = new EventReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENCE_MAX_MS);
        this.heardAt = Date.now();
        this.take(read.push(value));
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
  }

  private take(sent: Sent[]): void {
    const events: EventView[] = [];
    for (const { event, id, data } of sent) {
      if (event === "hello") this.greet((JSON.parse(data) as { after: number }).after);
      else if (data !== "") events.push(JSON.parse(data) as EventView);
      if (id !== null) this.last = id;
    }
    if (events.length > 0) for (const listener of this.listeners) listener(events);
  }

  /** The connection stands. A server with another journal says that it goes on elsewhere than was asked for. */
  private greet(after: number): void {
    const isAgain = this.connection.is === "stale";
    this.last = after;
    this.set({ is: "live" });
    if (isAgain) this.onJoin();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private set(connection: Connection): void {
    this.connection = connection;
    for (const watcher of this.watchers) watcher();
  }
}
