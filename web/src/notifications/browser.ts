// Notifications of the browser, while a page is open somewhere: one for each request that comes, with a link to exactly
// that card, taken away again when somebody has settled it.
import { useEffect, useRef } from "react";

import { go } from "../app/router";
import type { RequestView, StatusView } from "../api/schema";
import { plain } from "../parts/Said";
import { type Language, sayShared, useLanguage } from "../words/words";
import { askKey } from "../parts/request";

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

function tell(language: Language, request: RequestView): Notification | null {
  const title = `${plain(request.agent)} · ${plain(request.project.name)}: ${sayShared(language, askKey(request.ask.kind))}`;
  return show(title, plain(request.ask.text).slice(0, CHARS_MAX), request.id, `/requests/${request.id}`);
}

/** Tells of what has come since the page was opened, unless somebody is looking at it. */
export function useBrowserNotifications(status: StatusView): void {
  const language = useLanguage();
  const known = useRef<Set<string> | null>(null);
  const shown = useRef(new Map<string, Notification>());
  useEffect(() => {
    const open = new Set(status.needs_you.map((request) => request.id));
    for (const [id, notification] of shown.current) {
      if (open.has(id)) continue;
      notification.close();
      shown.current.delete(id);
    }
    const before = known.current;
    known.current = open;
    if (before === null || permission() !== "on" || document.hasFocus()) return;
    for (const request of status.needs_you.filter((it) => !before.has(it.id))) {
      const notification = tell(language, request);
      if (notification) shown.current.set(request.id, notification);
    }
  }, [status, language]);
}
