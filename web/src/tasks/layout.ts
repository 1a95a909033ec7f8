// Where everything in the graph stands: layers from left to right, by phase and then by how many wait for each other. A
// phase that is closed is one box. Phases go on in another row where one would be too long to be seen. Takes time in
// proportion to what is drawn.
import type { TaskView } from "../api/schema";

export interface Box {
  /** The id of a task, or the name of a phase by `phaseId`. */
  id: string;
  task: TaskView | null;
  phase: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Counted over the whole graph, from the left. */
  column: number;
}

/** Around the tasks of a phase that is open. */
export interface Frame {
  phase: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Line {
  from: string;
  to: string;
  path: string;
  /** Behind its beginning, where no box stands and something can be said. */
  x: number;
  y: number;
  /** How many dependencies it stands for. */
  count: number;
  /** Between whole phases. */
  isPhase: boolean;
}

export interface Drawing {
  boxes: Box[];
  frames: Frame[];
  lines: Line[];
  width: number;
  height: number;
}

export interface PhaseOf {
  number: number;
  tasks: TaskView[];
}

export const TASK = { width: 184, height: 52 };
export const PHASE = { width: 208, height: 84 };
export const HEAD = 36;
const GAP = { x: 76, y: 14, phase: 84 };
const PAD = 16;
/** From one row to the next. */
const STEP = TASK.height + GAP.y;
/** So many stand below each other; a layer that has more goes on beside. */
const ROWS_MAX = 10;
/** A row of phases is at least so long. */
const ROW_MIN = 1600;

export function phaseId(phase: number): string {
  return `phase ${phase}`;
}

export function draw(phases: PhaseOf[], isOpen: (phase: number) => boolean): Drawing {
  const boxes: Box[] = [];
  const frames: Frame[] = [];
  const placed = new Map<string, Box>();
  let column = 0;
  for (const { number, tasks, columns, ...place } of inPlace(phases.map((phase) => sizeOf(phase, isOpen(phase.number))))) {
    const frame = { phase: number, ...place };
    if (columns === null) {
      const box = { ...frame, id: phaseId(number), task: null, column: column++ };
      boxes.push(box);
      for (const task of tasks) placed.set(task.id, box);
      continue;
    }
    frames.push(frame);
    for (const [index, tasksOf] of columns.entries()) {
      const top = frame.y + HEAD;
      const x = frame.x + PAD + index * (TASK.width + GAP.x);
      const rows = Math.round((frame.height - HEAD - PAD + GAP.y) / STEP);
      for (const { task, row } of inRow(tasksOf, rows, (box) => (box.y - top) / STEP, placed)) {
        const box: Box = { id: task.id, task, phase: number, x, y: top + row * STEP, ...TASK, column };
        boxes.push(box);
        placed.set(task.id, box);
      }
      column++;
    }
  }
  const all = [...boxes, ...frames];
  const width = Math.max(0, ...all.map((it) => it.x + it.width)) + PAD;
  const height = Math.max(0, ...all.map((it) => it.y + it.height)) + PAD;
  return { boxes, frames, lines: linesOf(phases, boxes, frames, placed), width, height };
}

interface Sized extends PhaseOf {
  /** Nothing for a phase that is closed. */
  columns: TaskView[][] | null;
  width: number;
  height: number;
}

function sizeOf(phase: PhaseOf, isOpen: boolean): Sized {
  if (!isOpen) return { ...phase, columns: null, ...PHASE };
  const columns = layersOf(phase.tasks).flatMap((layer) => inRows(layer));
  const rows = Math.max(1, ...columns.map((it) => it.length));
  const width = columns.length * (TASK.width + GAP.x) - GAP.x + 2 * PAD;
  return { ...phase, columns, width, height: HEAD + rows * STEP - GAP.y + PAD };
}

/** Each phase behind the one before, in rows that are about twice as long together as they are high. */
function inPlace(phases: Sized[]): (Sized & { x: number; y: number })[] {
  const area = phases.reduce((sum, it) => sum + (it.width + GAP.phase) * (it.height + GAP.phase), 0);
  const length = Math.max(ROW_MIN, Math.sqrt(area * 2), ...phases.map((it) => it.width));
  let [x, y, height] = [PAD, PAD, 0];
  return phases.map((phase) => {
    if (x > PAD && x + phase.width > PAD + length) {
      [x, y, height] = [PAD, y + height + GAP.phase / 2, 0];
    }
    const at = { x, y };
    x += phase.width + GAP.phase;
    height = Math.max(height, phase.height);
    return { ...phase, ...at };
  });
}

/** Tasks of a phase, by how many of it stand before them at most. */
function layersOf(tasks: TaskView[]): TaskView[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const open = new Map<string, number>();
  const behind = new Map<string, TaskView[]>();
  for (const task of tasks) {
    const needs = task.needs.filter((id) => byId.has(id));
    open.set(task.id, needs.length);
    for (const id of needs) behind.set(id, [...(behind.get(id) ?? []), task]);
  }
  const layers: TaskView[][] = [];
  let layer = tasks.filter((task) => open.get(task.id) === 0);
  while (layer.length > 0) {
    layers.push(layer);
    const next: TaskView[] = [];
    for (const task of layer) {
      for (const it of behind.get(task.id) ?? []) {
        const left = (open.get(it.id) ?? 0) - 1;
        open.set(it.id, left);
        if (left === 0) next.push(it);
      }
    }
    layer = next;
  }
  return layers;
}

/** A layer with more than can be seen at once goes on in the column beside it. */
function inRows(layer: TaskView[]): TaskView[][] {
  const columns = Math.ceil(layer.length / ROWS_MAX);
  const rows = Math.ceil(layer.length / columns);
  return Array.from({ length: columns }, (_, index) => layer.slice(index * rows, (index + 1) * rows));
}

/** Each in the row nearest to the middle of what it waits for, so that few lines cross; otherwise in the order of the file. */
function inRow(tasks: TaskView[], rows: number, rowOf: (box: Box) => number, placed: Map<string, Box>) {
  const middle = (task: TaskView) => {
    const before = task.needs.flatMap((id) => placed.get(id) ?? []);
    return before.length === 0 ? null : before.reduce((sum, box) => sum + rowOf(box), 0) / before.length;
  };
  const keyed = tasks.map((task, index) => ({ task, index, middle: middle(task) }));
  keyed.sort((a, b) => (a.middle ?? Infinity) - (b.middle ?? Infinity) || a.index - b.index);
  let next = 0;
  return keyed.map(({ task, middle: wanted }, index) => {
    // There has to be room for those that follow.
    const last = rows - (keyed.length - index);
    const row = Math.max(next, Math.min(last, wanted === null ? next : Math.round(wanted)));
    next = row + 1;
    return { task, row };
  });
}

interface End {
  left: number;
  right: number;
  y: number;
  /** Where the row of its phase begins. */
  row: number;
}

function linesOf(phases: PhaseOf[], boxes: Box[], frames: Frame[], placed: Map<string, Box>): Line[] {
  const ends = new Map<string, End>();
  const rows = new Map(frames.map((frame) => [frame.phase, frame.y]));
  for (const { id, phase, x, y, width, height } of boxes) {
    ends.set(id, { left: x, right: x + width, y: y + height / 2, row: rows.get(phase) ?? y });
  }
  for (const { phase, x, y, width } of frames) ends.set(phaseId(phase), { left: x, right: x + width, y: y + HEAD / 2, row: y });
  const lines = new Map<string, Line>();
  const add = (from: string, to: string, isPhase: boolean) => {
    const [a, b] = [ends.get(from), ends.get(to)];
    if (!a || !b || from === to) return;
    const key = `${from}\n${to}`;
    const known = lines.get(key);
    if (known) known.count++;
    else lines.set(key, { from, to, ...curve(a, b), count: 1, isPhase });
  };
  for (const { number, tasks } of phases) {
    for (const task of tasks) {
      for (const id of task.needs) add(placed.get(id)?.id ?? "", placed.get(task.id)?.id ?? "", false);
      if (task.after_phase != null) add(phaseId(task.after_phase), phaseId(number), true);
    }
  }
  return [...lines.values()];
}

/** From one end to the other; into another row between the rows, where no box stands. */
function curve(a: End, b: End): { path: string; x: number; y: number } {
  const x = a.right + GAP.x / 2;
  if (a.row !== b.row) {
    const between = Math.max(a.row, b.row) - GAP.phase / 4;
    return { path: `M${a.right} ${a.y}h12V${between}H${b.left - 12}V${b.y}h12`, x, y: a.y };
  }
  const bend = Math.max(GAP.x / 2, Math.abs(b.left - a.right) / 2);
  const path = `M${a.right} ${a.y}C${a.right + bend} ${a.y} ${b.left - bend} ${b.y} ${b.left} ${b.y}`;
  return { path, x, y: a.y };
}
