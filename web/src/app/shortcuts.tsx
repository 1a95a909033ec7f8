// Keys that do something, wherever the focus is. Who is typing is never interrupted.
import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useMemo, useRef } from "react";

import { isSingle } from "./single-keys";

export interface Shortcut {
  /** As `event.key` says it, or two letters after one another, such as `g i`. */
  keys: string;
  /** What it does, for the sheet. */
  says: string;
  run: (event: KeyboardEvent) => void;
}

/** So long nobody may have pressed anything before keys mean something again. */
const HUSH_MS = 1_500;

class Board {
  /** The last that came is asked first: a view before the frame around it. */
  readonly shortcuts: Shortcut[] = [];
  /** Whether keys that print a character do anything. */
  hasSingleKeys = true;
  private pressedAt = -Infinity;
  private isHushed = false;
  private first: string | null = null;
  private forget: ReturnType<typeof setTimeout> | undefined;

  add(shortcut: Shortcut): () => void {
    this.shortcuts.push(shortcut);
    return () => {
      const index = this.shortcuts.indexOf(shortcut);
      if (index >= 0) this.shortcuts.splice(index, 1);
    };
  }

  /** Those that can be pressed now. */
  get pressable(): Shortcut[] {
    return this.hasSingleKeys ? this.shortcuts : this.shortcuts.filter(({ keys }) => !isSingle(keys));
  }

  /** Something has changed under the hands of somebody who types: what they press next was meant for something else. */
  hush(): void {
    this.isHushed = true;
  }

  /** Who points at something has looked. */
  readonly point = (): void => {
    this.isHushed = false;
  };

  /** Whether this key was still meant for what was there before. */
  private isLate(): boolean {
    const now = performance.now();
    const isQuiet = now - this.pressedAt >= HUSH_MS;
    this.pressedAt = now;
    if (isQuiet) this.isHushed = false;
    return this.isHushed;
  }

  readonly press = (event: KeyboardEvent) => {
    const isLate = this.isLate();
    const key = keyOf(event);
    const isPressing = key === "Enter" || key === " ";
    if (isLate) {
      // Nor is a button pressed that has just come.
      if (isPressing && !isTyping(event.target)) event.preventDefault();
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    // A key that is held down moves on, and does nothing twice: the next card would be answered unread.
    if (event.repeat && !key.startsWith("Arrow")) return;
    // A button that has the focus is what Enter means.
    if (isPressing && event.target instanceof Element && event.target.closest("a, button, summary, input")) return;
    const keys = this.first === null ? key : `${this.first} ${key}`;
    clearTimeout(this.forget);
    this.first = null;
    const found = this.pressable.findLast((shortcut) => shortcut.keys === keys);
    if (found) {
      event.preventDefault();
      found.run(event);
    } else if (this.pressable.some((shortcut) => shortcut.keys.startsWith(`${key} `))) {
      this.first = key;
      this.forget = setTimeout(() => (this.first = null), 1500);
    }
  };
}

/** Where a letter stands on the keyboard, for layouts that have another one there: Hangul, for one. */
const PLACES: Record<string, string> = { Slash: "/", Comma: ",", Period: "." };

/** The key as shortcuts name it. */
export function keyOf({ key, code, shiftKey }: Pick<KeyboardEvent, "key" | "code" | "shiftKey">): string {
  // What is written in Latin letters is what it is, wherever it stands.
  if (key !== "Process" && key !== "Unidentified" && /^[\x20-\x7e]+$/.test(key)) return key;
  if (code === "Slash" && shiftKey) return "?";
  const letter = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(code);
  return letter ? (letter[1]?.toLowerCase() ?? letter[2] ?? key) : (PLACES[code] ?? key);
}

/** Whether keys go into a field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit", "file"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

const Keys = createContext<Board | null>(null);

/** Opens the sheet that lists the keys. */
export const SheetOpener = createContext<() => void>(() => undefined);

export function ShortcutProvider({ hasSingleKeys, children }: { hasSingleKeys: boolean; children: ReactNode }) {
  const board = useMemo(() => new Board(), []);
  useLayoutEffect(() => {
    board.hasSingleKeys = hasSingleKeys;
  }, [board, hasSingleKeys]);
  useLayoutEffect(() => {
    window.addEventListener("keydown", board.press);
    window.addEventListener("pointerdown", board.point);
    return () => {
      window.removeEventListener("keydown", board.press);
      window.removeEventListener("pointerdown", board.point);
    };
  }, [board]);
  return <Keys.Provider value={board}>{children}</Keys.Provider>;
}

/** While the view is there, this key does that. Without `run` it does nothing, and is not on the sheet. */
export function useShortcut(keys: string, says: string, run: ((event: KeyboardEvent) => void) | undefined): void {
  const board = useContext(Keys);
  const latest = useRef(run);
  // In the commit that shows what it does: who sees a button can press its key.
  useLayoutEffect(() => {
    latest.current = run;
  });
  const isThere = run !== undefined;
  useLayoutEffect(() => {
    if (!isThere) return undefined;
    return board?.add({ keys, says, run: (event) => latest.current?.(event) });
  }, [board, keys, says, isThere]);
}

/** Keys mean nothing until nobody has pressed one for a while, or somebody has pointed at something. */
export function useHush(): () => void {
  const board = useContext(Keys);
  return useCallback(() => board?.hush(), [board]);
}

/** What can be pressed right now, each once. */
export function useSheet(): () => Shortcut[] {
  const board = useContext(Keys);
  return () => {
    const seen = new Map<string, Shortcut>();
    for (const shortcut of board?.pressable ?? []) seen.set(shortcut.keys, shortcut);
    return [...seen.values()];
  };
}
