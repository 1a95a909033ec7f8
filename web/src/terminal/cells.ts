// The cells of a line as runs of text that look the same. Nothing but letters and their looks comes out of here: whatever
// else an escape sequence wants has no place to go.
import { css, onGround, onPage, palette, type Rgb, unpack } from "./colours";

/** A cell, as the emulator gives it. */
export interface Cell {
  getChars(): string;
  getWidth(): number;
  isBold(): number;
  isDim(): number;
  isItalic(): number;
  isUnderline(): number;
  isStrikethrough(): number;
  isInverse(): number;
  isInvisible(): number;
  isFgRGB(): boolean;
  isFgPalette(): boolean;
  isBgRGB(): boolean;
  isBgPalette(): boolean;
  getFgColor(): number;
  getBgColor(): number;
}

export interface Line {
  readonly length: number;
  getCell(x: number): Cell | undefined;
}

export interface Run {
  text: string;
  className: string;
  colour: string | undefined;
  ground: string | undefined;
}

/** What turns the direction of what follows, or is not there at all. */
const SHAPELESS = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** What a face for code has in its own width: letters of Europe, punctuation, lines and blocks. */
const EVEN = /^[\u0020-\u036f\u0400-\u04ff\u2010-\u2027\u2030-\u203a\u2500-\u259f]*$/;

/** The runs of a line up to its last cell that shows something, or up to the cursor. */
export function runs(line: Line, cursor: number | null = null): Run[] {
  const found: Run[] = [];
  let last: Run | null = null;
  const end = Math.max(shownLength(line), cursor === null ? 0 : cursor + 1);
  for (let x = 0; x < end; x++) {
    const cell = line.getCell(x);
    // The second half of a wide letter.
    if (!cell || cell.getWidth() === 0) continue;
    const text = cell.isInvisible() ? " " : cell.getChars().replace(SHAPELESS, "") || " ";
    const run = { text, ...looks(cell) };
    if (x === cursor) run.className += " cursor";
    const isAlone = cell.getWidth() === 2 || !EVEN.test(text);
    if (isAlone) run.className += cell.getWidth() === 2 ? " wide" : " odd";
    if (last && !isAlone && isSame(last, run)) {
      last.text += text;
      continue;
    }
    found.push(run);
    last = run;
  }
  return found;
}

function isSame(one: Run, other: Run): boolean {
  return one.className === other.className && one.colour === other.colour && one.ground === other.ground;
}

function shownLength(line: Line): number {
  for (let x = line.length - 1; x >= 0; x--) {
    const cell = line.getCell(x);
    if (!cell) continue;
    const hasGround = cell.isBgRGB() || cell.isBgPalette() || cell.isInverse() !== 0;
    if (hasGround || (cell.getChars().trim() !== "" && cell.getWidth() > 0)) return x + 1;
  }
  return 0;
}

/** How a cell looks: classes for what the tokens know, colours for the rest. */
function looks(cell: Cell): Omit<Run, "text"> {
  const names: string[] = [];
  if (cell.isBold()) names.push("bold");
  if (cell.isDim()) names.push("faint");
  if (cell.isItalic()) names.push("italic");
  if (cell.isUnderline()) names.push("underline");
  if (cell.isStrikethrough()) names.push("struck");
  const front = colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor());
  const back = colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  const [ink, ground] = cell.isInverse() ? [back, front] : [front, back];
  const plain = { colour: undefined, ground: undefined };
  if (cell.isInverse() && ground === null && ink === null) return { className: ["inverse", ...names].join(" "), ...plain };
  if (ground === null && ink !== null && "index" in ink && ink.index < 16 && !cell.isInverse()) {
    return { className: [`ink-${ink.index}`, ...names].join(" "), ...plain };
  }
  const className = names.join(" ");
  if (ground !== null) {
    const rgb = rgbOf(ground);
    return { className, colour: onGround(ink && rgbOf(ink), rgb), ground: css(rgb) };
  }
  if (ink === null) return { className, ...plain };
  // Turned around, with the page's own ink as its ground.
  if (cell.isInverse()) return { className: ["inverse", ...names].join(" ").trim(), ...plain };
  return { className, colour: onPage(rgbOf(ink)), ground: undefined };
}

type Colour = { rgb: Rgb } | { index: number } | null;

function colourOf(isRgb: boolean, isPalette: boolean, value: number): Colour {
  if (isRgb) return { rgb: unpack(value) };
  return isPalette ? { index: value } : null;
}

function rgbOf(colour: NonNullable<Colour>): Rgb {
  return "rgb" in colour ? colour.rgb : palette(colour.index);
}
