// Where everybody of an office stands: whoever calls stands to the left of who is called, many of them in several stacks
// beside each other; who has not been called yet stands below. Takes time in proportion to what is drawn.
import type { Talk } from "./people";

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
  column: number;
  /** Where the stacks of those who are equally far away begin and end. */
  layer: { from: number; to: number };
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
/** Between two stacks of those who are equally far away: an arrow still has room. */
const NEAR = 56;
/** More of them above each other could not be read when all is seen at once. */
const STACK_MAX = 6;
/** How far calls and what comes back keep apart between two rows. */
const LANE = 4;
const HEAD_LENGTH = 7;
const PAD = 20;
/** Room for a word above those who have not been called. */
const HEAD = 36;
/** So many stand beside each other at least, before a new row of those is begun. */
const ROW_MIN = 3;

export function draw(names: string[], talks: Talk[]): Drawing {
  const layers = columnsOf(names, talks).map(inStacks);
  const stacks = layers.flat();
  const busy = new Set(stacks.flat());
  const height = Math.max(0, ...stacks.map((it) => it.length)) * (BOX.height + GAP.y);
  const boxes: Box[] = [];
  let [x, column] = [PAD, 0];
  for (const layer of layers) {
    // Each layer in the middle of the height, so that lines go straight where they can; its stacks have the same rows.
    const top = PAD + (height - (layer[0]?.length ?? 0) * (BOX.height + GAP.y)) / 2;
    const place = { from: x, to: x + layer.length * (BOX.width + NEAR) - NEAR };
    for (const stack of layer) {
      for (const [row, id] of stack.entries()) boxes.push({ id, column, ...BOX, x, y: top + row * (BOX.height + GAP.y), layer: place });
      x += BOX.width + NEAR;
      column++;
    }
    x += GAP.x - NEAR;
  }
  const idle = names.filter((name) => !busy.has(name));
  const idleY = idle.length > 0 && busy.size > 0 ? PAD + height : null;
  const top = idleY === null ? PAD : idleY + HEAD;
  const inRow = Math.max(ROW_MIN, stacks.length);
  for (const [index, id] of idle.entries()) {
    const column = index % inRow;
    const x = PAD + column * (BOX.width + GAP.y);
    boxes.push({ id, column, ...BOX, x, y: top + Math.floor(index / inRow) * (BOX.height + GAP.y), layer: { from: x, to: x + BOX.width } });
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

/** Those who are equally far away, in stacks of about the same height. */
function inStacks(layer: string[]): string[][] {
  const count = Math.ceil(layer.length / STACK_MAX);
  const size = Math.ceil(layer.length / count);
  return Array.from({ length: count }, (_, index) => layer.slice(index * size, (index + 1) * size));
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
  const common = { from: talk.from, to: talk.to, talk };
  if (talk.kind === "brought") return { ...common, ...alone(a, b) };
  if (a.column === b.column) {
    const back = talk.hasResult ? around(b, a, 18) : null;
    return { ...common, call: around(a, b, 2), back, x: a.x + BOX.width + GAP.x / 2 - 8, y: (a.y + b.y + BOX.height) / 2 };
  }
  const call = across(a, b, up, -LANE);
  const back = talk.hasResult ? arrow(across(a, b, down, LANE).reverse()) : null;
  return { ...common, call: arrow(call), back, ...besides(call, -8) };
}

/** One arrow that nobody waits at the end of, at the lower edge, where no call goes. */
function alone(a: Box, b: Box): Pick<Line, "call" | "back" | "x" | "y"> {
  const by = BOX.height / 2 - 10;
  if (a.column === b.column) return { call: null, back: around(a, b, by), x: a.x + BOX.width + GAP.x / 2 - 8, y: (middle(a, by) + middle(b, by)) / 2 };
  const points = across(a, b, by, 2 * LANE);
  return { call: null, back: arrow(points), ...besides(points, 14) };
}

function middle(box: Box, by: number): number {
  return box.y + BOX.height / 2 + by;
}

/** From one to another of the same stack, on its right. */
function around(a: Box, b: Box, by: number): Arrow {
  const [x, from, to] = [a.x + BOX.width, middle(a, by), middle(b, by)];
  const bend = x + GAP.x / 2;
  return { path: `M${x} ${from}C${bend} ${from} ${bend} ${to} ${x + HEAD_LENGTH} ${to}`, head: headAt(x, to, -1) };
}

interface Point {
  x: number;
  y: number;
}

/** The way from one to another of another stack. It goes behind nobody of their own layers, but between the rows: whoever stands there would seem to call. */
function across(a: Box, b: Box, by: number, lane: number): Point[] {
  const [left, right] = a.column < b.column ? [a, b] : [b, a];
  const above = (box: Box) => box.y - GAP.y / 2 + lane;
  const [out, into] = [left.x + BOX.width, right.x];
  const points: Point[] = [{ x: out, y: middle(left, by) }];
  const isSame = left.layer.from === right.layer.from;
  if (!isSame && left.layer.to > out) points.push({ x: out + NEAR / 2, y: above(left) }, { x: left.layer.to, y: above(left) });
  const entry = isSame ? out + NEAR / 2 : right.layer.from;
  if (entry < into - NEAR / 2) points.push({ x: entry, y: above(right) }, { x: into - NEAR / 2, y: above(right) });
  points.push({ x: into, y: middle(right, by) });
  return left === a ? points : points.reverse();
}

/** Where something can be said: where the way goes from one layer to the other. */
function besides(points: Point[], by: number): Point {
  const longest = points.slice(1).map((to, index) => ({ from: points[index] ?? to, to }));
  const { from, to } = longest.reduce((best, it) => (it.from.y !== it.to.y && Math.abs(it.to.x - it.from.x) > Math.abs(best.to.x - best.from.x) ? it : best));
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 + by };
}

function arrow(points: Point[]): Arrow {
  const [last, before] = [points.at(-1), points.at(-2)];
  if (!last || !before) return { path: "", head: "" };
  const way = last.x > before.x ? 1 : -1;
  const stops = [...points.slice(0, -1), { x: last.x - HEAD_LENGTH * way, y: last.y }];
  const parts = stops.slice(1).map((to, index) => curve(stops[index] ?? to, to, way, points.length === 2));
  return { path: `M${points[0]?.x} ${points[0]?.y}${parts.join("")}`, head: headAt(last.x, last.y, way) };
}

/** On from a point, going right or left; a way without a stop on it swings out further. */
function curve(from: Point, to: Point, way: number, isOnly: boolean): string {
  if (from.y === to.y) return `H${to.x}`;
  const bend = Math.max(isOnly ? GAP.x / 2 : 0, Math.abs(to.x - from.x) / 2) * way;
  return `C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
}

/** The point of an arrow that arrives here, going right or left. */
function headAt(x: number, y: number, way: number): string {
  return `M${x} ${y}l${-9 * way} -5v10z`;
}
