// What happens, as it happens, in every tab of a browser over one connection: a browser has about six for a server, and
// answers need some of them. One tab holds a lock, reads the journal and passes on what it hears; the others listen to it.
// Each knows the last event that it has heard, so whoever takes over goes on from there.
//
// An event says what has changed; nothing here keeps a state of anything but the connection.
import { Journal, type Reader, SILENCE_MAX_MS } from "./journal";
import type { EventView } from "./schema";

/** How the connection is. `since` is when the page was last known to be true. */
export type Connection = { is: "connecting" } | { is: "live" } | { is: "stale"; since: number };

export type EventListener = (events: EventView[]) => void;

/** What tabs say to each other. Who changes its form changes the number: an older page may still be open. */
type Message =
  /** Somebody begins, or is looked at again. */
  | { is: "who" }
  /** The one that reads is there, and has come so far. */
  | { is: "here"; connection: Connection; last: number; isHidden: boolean }
  | { is: "events"; after: number; last: number; events: EventView[] }
  /** The server goes on with another journal, behind this event. */
  | { is: "elsewhere"; last: number };
const NAME = "ostler.journal.1";

/** The one that reads answers at once, unless its browser has put it to sleep. */
const ANSWER_MAX_MS = 3_000;

export class EventStream implements Reader {
  private connection: Connection = { is: "connecting" };
  private readonly watchers = new Set<() => void>();
  private readonly listeners = new Set<EventListener>();
  private readonly onJoin: () => void;
  private last = 0;
  private heardAt = 0;
  /** There is one where this tab reads the journal itself. */
  private journal: Journal | null = null;
  private tabs: BroadcastChannel | null = null;
  /** The wait for the lock. */
  private turn: AbortController | null = null;
  private takes = false;
  private patience: ReturnType<typeof setTimeout> | undefined;

  /** `onJoin` is told whenever something may have been missed: everything is asked for anew. */
  constructor(onJoin: () => void) {
    this.onJoin = onJoin;
  }

  /** Begins behind this event and goes on until the function that it gives is called. */
  start(after: number): () => void {
    const ended = new AbortController();
    this.last = after;
    const look = () => this.look();
    window.addEventListener("online", look);
    document.addEventListener("visibilitychange", look);
    // Without TLS, a page from another machine has no locks: each tab then reads for itself.
    if ("locks" in navigator) {
      this.tabs = new BroadcastChannel(NAME);
      this.tabs.onmessage = (message: MessageEvent<Message>) => this.hear(message.data);
      void this.takeTurns(ended.signal);
      this.seek(ANSWER_MAX_MS);
    } else void this.read();
    return () => {
      window.removeEventListener("online", look);
      document.removeEventListener("visibilitychange", look);
      ended.abort();
      clearTimeout(this.patience);
      this.journal?.end();
      this.turn?.abort();
      this.tabs?.close();
      this.tabs = null;
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

  /** Waits to be the one that reads, reads for as long as it is, and waits again. */
  private async takeTurns(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      this.turn = new AbortController();
      const how = this.takes ? { steal: true } : { signal: this.turn.signal };
      this.takes = false;
      try {
        await navigator.locks.request(NAME, how, () => this.read());
        // Whoever stops reading by itself is not signed in.
        return;
      } catch (error) {
        if (ended.aborted) return;
        // A browser may forbid locks with other things that pages keep.
        if (!(error instanceof DOMException && error.name === "AbortError")) return this.read();
        // Another tab has taken the lock, or this one is about to.
        this.journal?.end();
        this.journal = null;
        this.listenFor(SILENCE_MAX_MS);
      }
    }
  }

  private async read(): Promise<void> {
    clearTimeout(this.patience);
    const journal = new Journal(this.last, this);
    this.journal = journal;
    await journal.over;
    if (this.journal === journal) this.journal = null;
  }

  /** Takes the lock from a tab that has it and does nothing with it. */
  private take(): void {
    if (this.journal || !this.tabs) return;
    this.takes = true;
    this.turn?.abort();
  }

  /** Somebody looks here, or the network is back. */
  private look(): void {
    if (this.journal) {
      if (document.visibilityState === "visible") this.journal.wake();
      this.sayHere();
    } else if (document.visibilityState === "visible") this.seek(ANSWER_MAX_MS);
  }

  private seek(patienceMs: number): void {
    this.say({ is: "who" });
    this.listenFor(patienceMs);
  }

  /** Who hears nothing for so long of the one that reads takes its place. */
  private listenFor(ms: number): void {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.take(), ms);
  }

  private say(message: Message): void {
    this.tabs?.postMessage(message);
  }

  private sayHere(): void {
    this.say({ is: "here", connection: this.connection, last: this.last, isHidden: document.visibilityState === "hidden" });
  }

  private hear(message: Message): void {
    if (message.is === "who") {
      if (!this.journal) return;
      this.journal.wake();
      this.sayHere();
      return;
    }
    // Of two that think they read, one is about to learn better; both read the same journal.
    if (this.journal) return;
    this.listenFor(SILENCE_MAX_MS);
    if (message.is !== "here" || message.connection.is === "live") this.heardAt = Date.now();
    switch (message.is) {
      case "here":
        if (message.connection.is !== "connecting") this.set(message.connection);
        if (message.last > this.last) this.missed(message.last);
        // A tab that nobody looks at may be put to sleep at any time.
        if (message.isHidden && document.visibilityState === "visible") this.take();
        break;
      case "events":
        if (message.after > this.last) this.missed(message.after);
        this.tell(message.events.filter((event) => event.seq > this.last));
        this.last = Math.max(this.last, message.last);
        break;
      case "elsewhere":
        this.missed(message.last);
    }
  }

  private missed(last: number): void {
    this.last = last;
    this.onJoin();
  }

  joined(after: number): void {
    if (after < this.last) {
      this.missed(after);
      this.say({ is: "elsewhere", last: after });
    }
    this.heardAt = Date.now();
    this.set({ is: "live" });
    this.sayHere();
  }

  heard(events: EventView[], last: number): void {
    this.heardAt = Date.now();
    const after = this.last;
    this.last = last;
    this.tell(events);
    if (events.length > 0) this.say({ is: "events", after, last, events });
    else this.sayHere();
  }

  lost(): void {
    if (this.connection.is !== "stale") this.set({ is: "stale", since: this.heardAt || Date.now() });
    this.sayHere();
  }

  private tell(events: EventView[]): void {
    if (events.length > 0) for (const listener of this.listeners) listener(events);
  }

  private set(connection: Connection): void {
    const isAgain = this.connection.is === "stale" && connection.is === "live";
    this.connection = connection;
    for (const watcher of this.watchers) watcher();
    if (isAgain) this.onJoin();
  }
}
