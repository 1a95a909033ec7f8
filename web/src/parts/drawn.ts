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

/** A box with its size. */
interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Around a box that is brought into sight. */
const SIGHT_PAD = 12;

/** Where to scroll so that a box is seen, with as much of the others as fits beside it, and no further than that needs. */
export function scrolledTo(
  box: Area,
  others: readonly Area[],
  zoom: number,
  seen: { left: number; top: number; width: number; height: number },
): { left: number; top: number } {
  const across = ({ x, width }: Area): Stretch => [x * zoom, (x + width) * zoom];
  const down = ({ y, height }: Area): Stretch => [y * zoom, (y + height) * zoom];
  return {
    left: along(seen.width, seen.left, across(box), others.map(across)),
    top: along(seen.height, seen.top, down(box), others.map(down)),
  };
}

/** What holds two boxes, with room around them. */
export function around(one: Area, other: Area): Area {
  const [x, y] = [Math.min(one.x, other.x) - SIGHT_PAD, Math.min(one.y, other.y) - SIGHT_PAD];
  const right = Math.max(one.x + one.width, other.x + other.width) + SIGHT_PAD;
  const bottom = Math.max(one.y + one.height, other.y + other.height) + SIGHT_PAD;
  return { x, y, width: right - x, height: bottom - y };
}

type Stretch = [number, number];

function along(size: number, now: number, [from, to]: Stretch, others: Stretch[]): number {
  let [least, most] = [to + SIGHT_PAD - size, from - SIGHT_PAD];
  if (least > most) return (from + to - size) / 2;
  for (const [first, last] of others) {
    const [left, right] = [Math.max(least, last + SIGHT_PAD - size), Math.min(most, first - SIGHT_PAD)];
    // Both do not fit: the box is seen at one edge, and what fits of the other beside it.
    if (left > right) return first < from ? least : most;
    [least, most] = [left, right];
  }
  return Math.min(most, Math.max(least, now));
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
