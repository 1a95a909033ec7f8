// The journal as it grows: one connection, which comes back by itself and goes on where it was.
import { ask } from "./client";
import { Refused } from "./problem";
import type { EventView } from "./schema";

/** The server says something at least every 15 s; after this long it is not there. */
export const SILENCE_MAX_MS = 40_000;
const WAIT_MIN_MS = 250;
const WAIT_MAX_MS = 10_000;
/** A connection that lasted this long begins again without a wait. */
const STEADY_MS = 5_000;

/** Whoever wants to know. */
export interface Reader {
  /** The connection stands, and goes on behind this event. */
  joined(after: number): void;
  /** Events, or only a word that the server is there; `last` is the place that is reached. */
  heard(events: EventView[], last: number): void;
  /** The connection is gone, or was not had; it is tried again. */
  lost(): void;
}

/** One record of the stream. */
interface Sent {
  event: string;
  id: number | null;
  data: string;
}

/** Reads server-sent events out of pieces of any size. */
class Records {
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

export class Journal {
  /** Done when it has ended, by itself only where nobody is signed in any more. */
  readonly over: Promise<void>;
  private readonly ended = new AbortController();
  private readonly reader: Reader;
  private last: number;
  private connection: AbortController | null = null;
  private hurry: (() => void) | null = null;
  private heardAt = Date.now();

  /** Begins behind an event. */
  constructor(after: number, reader: Reader) {
    this.last = after;
    this.reader = reader;
    this.over = this.run();
  }

  end(): void {
    this.ended.abort();
    this.connection?.abort();
    this.hurry?.();
  }

  /** Somebody looks, or the network is back: a wait is cut short, a silent connection is doubted. */
  wake(): void {
    this.hurry?.();
    if (Date.now() - this.heardAt > SILENCE_MAX_MS / 2) this.connection?.abort();
  }

  private async run(): Promise<void> {
    let wait = WAIT_MIN_MS;
    while (!this.ended.signal.aborted) {
      const began = Date.now();
      try {
        await this.follow();
      } catch (error) {
        // Where nobody is signed in, somebody else takes over; everything else passes, and is tried again.
        if (error instanceof Refused && error.problem.status === 401) return;
      }
      if (this.ended.signal.aborted) return;
      this.reader.lost();
      if (Date.now() - began > STEADY_MS) wait = WAIT_MIN_MS;
      await this.pause(wait);
      wait = Math.min(wait * 2, WAIT_MAX_MS);
    }
  }

  /** One connection, until it breaks or is silent for too long. */
  private async follow(): Promise<void> {
    const abort = new AbortController();
    this.connection = abort;
    const headers = { "Last-Event-ID": String(this.last) };
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      const response = await ask("/events?follow=true", { headers, signal: abort.signal, isStream: true });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      if (!reader) return;
      const records = new Records();
      for (;;) {
        silence = setTimeout(() => abort.abort(), SILENCE_MAX_MS);
        const { done, value } = await reader.read();
        clearTimeout(silence);
        if (done || this.ended.signal.aborted) return;
        this.heardAt = Date.now();
        this.take(records.push(value));
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
  }

  private take(sent: Sent[]): void {
    const events: EventView[] = [];
    for (const { event, id, data } of sent) {
      if (event === "hello") {
        // A server with another journal says that it goes on elsewhere than was asked for.
        this.last = (JSON.parse(data) as { after: number }).after;
        this.reader.joined(this.last);
      } else if (data !== "") events.push(JSON.parse(data) as EventView);
      if (id !== null) this.last = id;
    }
    this.reader.heard(events, this.last);
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
}
