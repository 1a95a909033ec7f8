// Keys that do something, wherever the focus is. Who is typing is never interrupted.
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";

export interface Shortcut {
  /** As `event.key` says it, or two letters after one another, such as `g i`. */
  keys: string;
  /** What it does, for the sheet. */
  says: string;
  run: (event: KeyboardEvent) => void;
}

class Board {
  /** The last that came is asked first: a view before the frame around it. */
  readonly shortcuts: Shortcut[] = [];
  private first: string | null = null;
  private forget: ReturnType<typeof setTimeout> | undefined;

  add(shortcut: Shortcut): () => void {
    this.shortcuts.push(shortcut);
    return () => {
      const index = this.shortcuts.indexOf(shortcut);
      if (index >= 0) this.shortcuts.splice(index, 1);
    };
  }

  readonly press = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    // A key that is held down moves on, and does nothing twice: the next card would be answered unread.
    if (event.repeat && !event.key.startsWith("Arrow")) return;
    // A button that has the focus is what Enter means.
    const isPressing = event.key === "Enter" || event.key === " ";
    if (isPressing && event.target instanceof Element && event.target.closest("a, button, summary, input")) return;
    const keys = this.first === null ? event.key : `${this.first} ${event.key}`;
    clearTimeout(this.forget);
    this.first = null;
    const found = this.shortcuts.findLast((shortcut) => shortcut.keys === keys);
    if (found) {
      event.preventDefault();
      found.run(event);
    } else if (this.shortcuts.some((shortcut) => shortcut.keys.startsWith(`${event.key} `))) {
      this.first = event.key;
      this.forget = setTimeout(() => (this.first = null), 1500);
    }
  };
}

/** Whether keys go into a field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit", "file"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

const Keys = createContext<Board | null>(null);

export function ShortcutProvider({ children }: { children: ReactNode }) {
  const board = useMemo(() => new Board(), []);
  useEffect(() => {
    window.addEventListener("keydown", board.press);
    return () => window.removeEventListener("keydown", board.press);
  }, [board]);
  return <Keys.Provider value={board}>{children}</Keys.Provider>;
}

/** While the view is there, this key does that. Without `run` it does nothing, and is not on the sheet. */
export function useShortcut(keys: string, says: string, run: ((event: KeyboardEvent) => void) | undefined): void {
  const board = useContext(Keys);
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const isThere = run !== undefined;
  useEffect(() => {
    if (!isThere) return undefined;
    return board?.add({ keys, says, run: (event) => latest.current?.(event) });
  }, [board, keys, says, isThere]);
}

/** What can be pressed right now, each once. */
export function useSheet(): () => Shortcut[] {
  const board = useContext(Keys);
  return () => {
    const seen = new Map<string, Shortcut>();
    for (const shortcut of board?.shortcuts ?? []) seen.set(shortcut.keys, shortcut);
    return [...seen.values()];
  };
}
