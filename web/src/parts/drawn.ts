// What drawings of boxes and lines have in common: where an arrow key leads, how much of a text fits, and what a press is.
import type { KeyboardEvent } from "react";

/** A box that can have the focus. */
export interface Placed {
  id: string;
  y: number;
  /** Counted over the whole drawing, from the left. */
  column: number;
}

export interface Joined {
  from: string;
  to: string;
}

export type Way = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";
const WAYS: readonly string[] = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] satisfies Way[];

export function isWay(key: string): key is Way {
  return WAYS.includes(key);
}

/** Where an arrow key leads: along a line, or else to what stands nearest on that side. */
export function neighbour(drawing: { boxes: readonly Placed[]; lines: readonly Joined[] }, id: string, way: Way): string | null {
  const here = drawing.boxes.find((box) => box.id === id);
  if (!here) return null;
  const nearest = (those: Placed[]) =>
    those.reduce<Placed | null>((best, it) => (best === null || distance(here, it) < distance(here, best) ? it : best), null)?.id ?? null;
  if (way === "ArrowUp" || way === "ArrowDown") {
    const isThere = (it: Placed) => it.column === here.column && (way === "ArrowUp" ? it.y < here.y : it.y > here.y);
    return nearest(drawing.boxes.filter(isThere));
  }
  const isRight = way === "ArrowRight";
  const along = new Set(drawing.lines.filter((line) => (isRight ? line.from : line.to) === id).map((line) => (isRight ? line.to : line.from)));
  const joined = drawing.boxes.filter((box) => along.has(box.id));
  if (joined.length > 0) return nearest(joined);
  const beyond = drawing.boxes.filter((it) => (isRight ? it.column > here.column : it.column < here.column));
  const column = isRight ? Math.min(...beyond.map((it) => it.column)) : Math.max(...beyond.map((it) => it.column));
  return nearest(beyond.filter((it) => it.column === column));
}

/** The next column comes before a lower or higher place in a further one. */
function distance(a: Placed, b: Placed): number {
  return Math.abs(a.column - b.column) * 1e6 + Math.abs(a.y - b.y);
}

/** As much of a text as fits into so many letters of Latin width; those of Korean are twice as wide. */
export function fit(text: string, width: number): string {
  let used = 0;
  let shown = "";
  for (const letter of text) {
    used += (letter.codePointAt(0) ?? 0) < 0x1100 ? 1 : 1.75;
    if (used > width) return `${shown.trimEnd()}…`;
    shown += letter;
  }
  return shown;
}

/** What is drawn is pressed like a button. */
export function pressing(run: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    run();
  };
}
