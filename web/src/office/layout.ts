// Where everybody of an office stands: whoever calls stands to the left of who is called; who has not been called yet
// stands below. Takes time in proportion to what is drawn.
import type { Talk } from "./people";

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
  column: number;
}

export interface Arrow {
  path: string;
  head: string;
}

export interface Line {
  from: string;
  to: string;
  talk: Talk;
  /** The call, if there was one. */
  call: Arrow | null;
  /** What came back, or was brought without a call. */
  back: Arrow | null;
  /** Where something can be said about it. */
  x: number;
  y: number;
}

export interface Drawing {
  boxes: Box[];
  lines: Line[];
  /** Where those begin who have not talked to anybody, if there are any beside others. */
  idleY: number | null;
  width: number;
  height: number;
}

export const BOX = { width: 208, height: 88 };
const GAP = { x: 128, y: 28 };
const PAD = 20;
/** Room for a word above those who have not been called. */
const HEAD = 36;
/** So many stand beside each other at least, before a new row of those is begun. */
const ROW_MIN = 3;

export function draw(names: string[], talks: Talk[]): Drawing {
  const columns = columnsOf(names, talks);
  const busy = new Set(columns.flat());
  const height = Math.max(0, ...columns.map((it) => it.length)) * (BOX.height + GAP.y);
  const boxes = columns.flatMap((those, column) => {
    // Each column in the middle of the height, so that lines go straight where they can.
    const top = PAD + (height - those.length * (BOX.height + GAP.y)) / 2;
    return those.map((id, row): Box => ({ id, column, ...BOX, x: xOf(column), y: top + row * (BOX.height + GAP.y) }));
  });
  const idle = names.filter((name) => !busy.has(name));
  const idleY = idle.length > 0 && busy.size > 0 ? PAD + height : null;
  const top = idleY === null ? PAD : idleY + HEAD;
  const across = Math.max(ROW_MIN, columns.length);
  for (const [index, id] of idle.entries()) {
    const column = index % across;
    boxes.push({ id, column, ...BOX, x: PAD + column * (BOX.width + GAP.y), y: top + Math.floor(index / across) * (BOX.height + GAP.y) });
  }
  const at = new Map(boxes.map((box) => [box.id, box]));
  const lines = talks.flatMap((talk) => {
    const [a, b] = [at.get(talk.from), at.get(talk.to)];
    return a && b && a !== b ? [lineOf(talk, a, b)] : [];
  });
  const width = Math.max(0, ...boxes.map((box) => box.x + BOX.width)) + PAD;
  // A line within the last column goes around on its right.
  const around = lines.some((it) => at.get(it.from)?.column === at.get(it.to)?.column) ? GAP.x / 2 : 0;
  return { boxes, lines, idleY, width: width + around, height: Math.max(0, ...boxes.map((box) => box.y + BOX.height)) + PAD };
}

function xOf(column: number): number {
  return PAD + column * (BOX.width + GAP.x);
}

/** By how many calls they are away from who was called by nobody; a ring begins with its first. */
function columnsOf(names: string[], talks: Talk[]): string[][] {
  const known = new Set(names);
  const calls = talks.filter((it) => known.has(it.from) && known.has(it.to) && it.from !== it.to);
  const next = new Map<string, string[]>();
  for (const { from, to } of calls) next.set(from, [...(next.get(from) ?? []), to]);
  const called = new Set(calls.map((it) => it.to));
  const busy = names.filter((name) => called.has(name) || next.has(name));
  const columnOf = new Map<string, number>();
  const walk = (from: string[]) => {
    let layer = from;
    for (const name of layer) columnOf.set(name, 0);
    for (let column = 1; layer.length > 0; column++) {
      layer = [...new Set(layer.flatMap((name) => next.get(name) ?? []))].filter((name) => !columnOf.has(name));
      for (const name of layer) columnOf.set(name, column);
    }
  };
  walk(busy.filter((name) => !called.has(name)));
  for (const name of busy) if (!columnOf.has(name)) walk([name]);
  const columns: string[][] = [];
  for (const name of busy) (columns[columnOf.get(name) ?? 0] ??= []).push(name);
  return columns;
}

/** A call goes above the middle of its boxes and comes back below it; one against the direction keeps to the edges. */
function lineOf(talk: Talk, a: Box, b: Box): Line {
  const isBack = a.column > b.column;
  const [up, down] = isBack ? [-24, 24] : [-8, 10];
  const y = (box: Box, by: number) => box.y + BOX.height / 2 + by;
  const common = { from: talk.from, to: talk.to, talk };
  if (talk.kind === "brought") return { ...common, ...alone(a, b) };
  if (a.column === b.column) {
    const x = a.x + BOX.width;
    const bend = x + GAP.x / 2;
    const around = (from: number, to: number): Arrow => ({ path: `M${x} ${from}C${bend} ${from} ${bend} ${to} ${x + 7} ${to}`, head: headAt(x, to, -1) });
    const back = talk.hasResult ? around(y(b, 18), y(a, 18)) : null;
    return { ...common, call: around(y(a, 2), y(b, 2)), back, x: bend - 8, y: (a.y + b.y + BOX.height) / 2 };
  }
  const [start, end] = isBack ? [a.x, b.x + BOX.width] : [a.x + BOX.width, b.x];
  const way = isBack ? -1 : 1;
  const call = { path: curve(start, y(a, up), end - 7 * way, y(b, up), way), head: headAt(end, y(b, up), way) };
  const back = talk.hasResult ? { path: curve(end, y(b, down), start + 7 * way, y(a, down), -way), head: headAt(start, y(a, down), -way) } : null;
  return { ...common, call, back, x: (start + end) / 2, y: (y(a, up) + y(b, up)) / 2 - 8 };
}

/** One arrow that nobody waits at the end of, at the lower edge, where no call goes. */
function alone(a: Box, b: Box): Pick<Line, "call" | "back" | "x" | "y"> {
  const by = BOX.height / 2 - 10;
  const y = (box: Box) => box.y + BOX.height / 2 + by;
  if (a.column === b.column) {
    const [x, bend] = [a.x + BOX.width, a.x + BOX.width + GAP.x / 2];
    const back = { path: `M${x} ${y(a)}C${bend} ${y(a)} ${bend} ${y(b)} ${x + 7} ${y(b)}`, head: headAt(x, y(b), -1) };
    return { call: null, back, x: bend - 8, y: (y(a) + y(b)) / 2 };
  }
  const way = a.column > b.column ? -1 : 1;
  const [start, end] = way < 0 ? [a.x, b.x + BOX.width] : [a.x + BOX.width, b.x];
  const back = { path: curve(start, y(a), end - 7 * way, y(b), way), head: headAt(end, y(b), way) };
  return { call: null, back, x: (start + end) / 2, y: (y(a) + y(b)) / 2 + 14 };
}

function curve(x: number, y: number, toX: number, toY: number, way: number): string {
  const bend = Math.max(GAP.x / 2, Math.abs(toX - x) / 2) * way;
  return `M${x} ${y}C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`;
}

/** The point of an arrow that arrives here, going right or left. */
function headAt(x: number, y: number, way: number): string {
  return `M${x} ${y}l${-9 * way} -5v10z`;
}
