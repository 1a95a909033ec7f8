// Time as people say it.
import { useEffect, useState } from "react";

import { type Language, sayShared, useLanguage } from "../words/words";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its largest unit, as on the command line. */
export function span(language: Language, ms: number): string {
  const of = (unit: number) => ({ n: Math.floor(Math.max(ms, 0) / unit) });
  if (ms < MINUTE) return sayShared(language, "Seconds", of(SECOND));
  if (ms < HOUR) return sayShared(language, "Minutes", of(MINUTE));
  if (ms < DAY) return sayShared(language, "Hours", of(HOUR));
  return sayShared(language, "Days", of(DAY));
}

/** What is left, to the second when it is little. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A time of day; with its date if that is another day. */
export function clock(language: Language, atMs: number, withSeconds = false): string {
  const at = new Date(atMs);
  const second = withSeconds ? ({ second: "2-digit" } as const) : {};
  const time = at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", ...second, hour12: false });
  if (at.toDateString() === new Date().toDateString()) return time;
  return `${at.toLocaleDateString(language, { month: "short", day: "numeric" })} ${time}`;
}

/** From when to when; to the second where both are in the same minute. */
export function clockRange(language: Language, fromMs: number, toMs: number): [string, string] {
  const isShort = Math.floor(fromMs / MINUTE) === Math.floor(toMs / MINUTE);
  return [clock(language, fromMs, isShort), clock(language, toMs, isShort)];
}

/** Now, as often as somebody could notice. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** How long ago something was, which goes on counting. */
export function useSince(atMs: number): string {
  const language = useLanguage();
  const now = useNow(Date.now() - atMs < 2 * MINUTE ? SECOND : 15 * SECOND);
  return span(language, now - atMs);
}
