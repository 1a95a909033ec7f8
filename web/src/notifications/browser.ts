// Notifications of the browser, while a page is open somewhere: one for each request that comes, with a link to exactly
// that card, taken away again when somebody has settled it, and one for a session that has ended badly.
import { useEffect, useState } from "react";

import { get, route } from "../api/client";
import { useStream } from "../api/queries";
import type { EventView, RequestView, SessionView, StatusView } from "../api/schema";
import { go } from "../app/router";
import { askKey } from "../parts/request";
import { plain } from "../parts/Said";
import { type Language, sayShared, useLanguage } from "../words/words";
import { endOf, type Kind, kindOf, kindsOff } from "./kinds";
import { showOthers, isLookedAt } from "./looked";
import { words } from "./words";

const WANTED = "ostler.notifications";
/** The longest text; screens cut it earlier. */
const CHARS_MAX = 200;

export type Permission = "unsupported" | "off" | "ask" | "denied" | "on";

export function permission(): Permission {
  if (!("Notification" in window)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  if (Notification.permission === "default") return "ask";
  return localStorage.getItem(WANTED) === "off" ? "off" : "on";
}

export async function turn(on: boolean): Promise<Permission> {
  if (on && "Notification" in window && Notification.permission === "default") await Notification.requestPermission();
  localStorage.setItem(WANTED, on ? "on" : "off");
  return permission();
}

export function show(title: string, body: string, tag: string, to: string): Notification | null {
  try {
    const notification = new Notification(title, { body, tag, icon: "/icon.svg" });
    notification.onclick = () => {
      window.focus();
      go(to);
      notification.close();
    };
    return notification;
  } catch {
    // Browsers of phones allow it only to workers; there the other channels are.
    return null;
  }
}

/** Whose it is. */
interface Whose {
  agent: string;
  project: { name: string };
}

/** What is told of something, and where it leads. */
interface Notice {
  tag: string;
  kind: Kind;
  whose: Whose;
  said: string;
  text: string;
  to: string;
}

function ofRequest(language: Language, request: RequestView): Notice | null {
  const kind = kindOf(request);
  if (kind === null) return null;
  const said = sayShared(language, askKey(request.ask.kind));
  return { tag: request.id, kind, whose: request, said, text: request.ask.text, to: `/requests/${request.id}` };
}

function ofSession(language: Language, kind: Kind, session: SessionView): Notice {
  const said = words[language][kind === "interrupted" ? "toldInterrupted" : kind === "failed" ? "toldFailed" : "toldDone"];
  return { tag: session.id, kind, whose: session, said, text: session.title, to: `/sessions/${session.id}` };
}

/** Tells of what has come since the page was opened, unless somebody looks at a page of this browser. */
class Teller {
  private known: Set<string> | null = null;
  private sessions = new Map<string, SessionView>();
  /** What goes again once it stands no more. How a session has ended stays so. */
  private readonly shown = new Map<string, Notification>();
  /** What still stands as it was told: it is not told any more once that has changed. */
  private open = new Set<string>();
  language: Language = "en";

  look(status: StatusView): void {
    const lost = status.sessions.filter((session) => session.status === "interrupted");
    this.open = new Set([...status.needs_you, ...lost].map((it) => it.id));
    for (const [tag, notification] of this.shown) {
      if (this.open.has(tag)) continue;
      notification.close();
      this.shown.delete(tag);
    }
    const before = this.known;
    this.known = this.open;
    this.sessions = new Map(status.sessions.map((session) => [session.id, session]));
    if (before === null) return;
    for (const request of status.needs_you.filter((it) => !before.has(it.id))) void this.tell(ofRequest(this.language, request));
    for (const session of lost.filter((it) => !before.has(it.id))) void this.tell(ofSession(this.language, "interrupted", session));
  }

  readonly hear = (events: EventView[]): void => {
    for (const event of events) {
      const kind = endOf(event);
      if (kind !== null && event.session) void this.tellEnd(kind, event.session);
    }
  };

  private async tellEnd(kind: Kind, id: string): Promise<void> {
    try {
      // One that is over at once may never have been among those that go on.
      const session = this.sessions.get(id) ?? (await get<SessionView>(route`/sessions/${id}`));
      await this.tell(ofSession(this.language, kind, session));
    } catch {
      // The server is gone again. How the session has ended stands in the list.
    }
  }

  private async tell(notice: Notice | null): Promise<void> {
    if (notice === null || permission() !== "on" || kindsOff().has(notice.kind)) return;
    if (await isLookedAt()) return;
    const { tag, kind, whose, said, text, to } = notice;
    const isEnd = kind === "failed" || kind === "done";
    if (!isEnd && !this.open.has(tag)) return;
    const title = `${plain(whose.agent)} · ${plain(whose.project.name)}: ${said}`;
    const notification = show(title, plain(text).slice(0, CHARS_MAX), tag, to);
    if (isEnd) this.shown.delete(tag);
    else if (notification) this.shown.set(tag, notification);
  }
}

export function useBrowserNotifications(status: StatusView): void {
  const language = useLanguage();
  const stream = useStream();
  const [teller] = useState(() => new Teller());
  useEffect(() => showOthers(), []);
  useEffect(() => stream.listen(teller.hear), [stream, teller]);
  useEffect(() => {
    teller.language = language;
    teller.look(status);
  }, [teller, status, language]);
}
