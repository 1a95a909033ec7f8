// What the bytes of a launch mean: the emulator interprets them, and whoever draws asks it for lines. It answers nobody,
// has no title, no clipboard and no links: what it would report goes nowhere.
import { type IBufferLine, type IMarker, Terminal as Headless } from "@xterm/headless/lib-headless/xterm-headless.mjs";

import type { PieceView } from "../api/schema";
import type { Begun, Sink } from "./output";
import { PieceWriter } from "./pieces";

/** How many lines stay. */
export const LINES_MAX = 20_000;

/** How large a screen is. */
export interface Size {
  rows: number;
  columns: number;
  /** Whether a program has it as its terminal, and moves about on it; else it is as wide as there is room for lines. */
  isOwn: boolean;
}

/** How far back the place of something that is heard late can be found. */
const SPOTS_MAX = 500;
const SPOT_BYTES_MAX = 1 << 20;
const NEAR_LINES = 200;
/** How exactly it is known where in the log the oldest line stands. */
const EDGE_BYTES = 32 << 10;
const EDGES_MAX = 1_000;

export type Following = "connecting" | "live" | "broken" | "ended";

/** Where in the log a line stands. */
interface Spot {
  launch: number;
  offset: number;
  marker: IMarker;
  /** How many lines of the log begin in what was written there, and where. */
  bytes: Uint8Array | null;
  end: number;
}

export interface Sentences {
  moreLines: (n: number) => string;
  nextLaunch: (n: number) => string;
}

/** The beginning of a line of the log. */
function firstWords(bytes: Uint8Array): string {
  const end = bytes.indexOf(10);
  return new TextDecoder().decode(bytes.subarray(0, Math.min(end < 0 ? bytes.length : end, 32))).trimEnd();
}

export class Emulator implements Sink {
  /** Goes up whenever something else is to be drawn. */
  version = 0;
  following: Following = "connecting";
  begun: Begun | null = null;
  error: Error | null = null;
  /** How many lines were let go at the top. */
  gone = 0;
  private readonly screen: Headless;
  private isOwn: boolean;
  private readonly sentences: Sentences;
  private readonly watchers = new Set<() => void>();
  private readonly spots: Spot[] = [];
  /** Places of the log, and the lines at which they stand while these are kept. */
  private readonly edges: { launch: number; offset: number; marker: IMarker }[] = [];
  private pieceWriter: PieceWriter;
  private launch = 0;
  /** A line whose number is known, by which it is noticed that lines were let go. */
  private known: { marker: IMarker; number: number } | null = null;
  private frame = 0;
  private spotBytes = 0;
  private isDisposed = false;

  constructor({ rows, columns, isOwn }: Size, sentences: Sentences) {
    this.sentences = sentences;
    this.isOwn = isOwn;
    this.pieceWriter = new PieceWriter(sentences.moreLines);
    this.screen = new Headless({
      cols: columns,
      rows,
      scrollback: LINES_MAX,
      convertEol: true,
      allowProposedApi: true,
      logLevel: "off",
      // A log is read from its beginning: what a program clears moves up instead of being lost.
      scrollOnEraseInDisplay: true,
    });
    const keepsAbove = (parameters: (number | number[])[]) => parameters[0] === 3;
    this.screen.parser.registerCsiHandler({ final: "J" }, keepsAbove);
  }

  dispose(): void {
    this.isDisposed = true;
    cancelAnimationFrame(this.frame);
    this.screen.dispose();
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  readonly now = (): number => this.version;

  resize({ rows, columns, isOwn }: Size): void {
    this.isOwn = isOwn;
    if (columns === this.screen.cols && rows === this.screen.rows) return;
    this.screen.resize(columns, rows);
    this.known = null;
    this.changed();
  }

  /** How many lines there are, up to the last that has something on it. */
  get count(): number {
    const buffer = this.screen.buffer.active;
    let count = buffer.length;
    const cursor = buffer.baseY + buffer.cursorY;
    while (count > cursor + 1 && this.text(count - 1) === "") count--;
    return count;
  }

  /** Where in the log the oldest line stands that is kept: of a long log the first lines are dropped. */
  get firstOffset(): number {
    const first = this.edges.find(({ marker }) => !marker.isDisposed);
    return this.gone > 0 && first?.launch === this.begun?.launch ? (first?.offset ?? 0) : (this.begun?.offset ?? 0);
  }

  line(index: number): IBufferLine | undefined {
    return this.screen.buffer.active.getLine(index);
  }

  text(index: number): string {
    return this.line(index)?.translateToString(true) ?? "";
  }

  /** Everything, with lines that were only too long for the screen made whole again. */
  all(linesMax: number): string {
    const found: string[] = [];
    const count = this.count;
    for (let index = Math.max(0, count - linesMax); index < count; index++) {
      const line = this.line(index);
      const text = line?.translateToString(this.line(index + 1)?.isWrapped !== true) ?? "";
      if (line?.isWrapped && found.length > 0) found[found.length - 1] += text;
      else found.push(text);
    }
    return found.join("\n");
  }

  get cursor(): { line: number; column: number } {
    const buffer = this.screen.buffer.active;
    return { line: buffer.baseY + buffer.cursorY, column: buffer.cursorX };
  }

  /** The line at which a byte of a launch stands, if it is still known. */
  lineOf(launch: number, offset: number): number | null {
    const spot = this.spots.findLast((it) => it.launch === launch && it.offset <= offset && offset < it.end);
    if (!spot || spot.marker.isDisposed) return null;
    const before = spot.bytes?.subarray(0, offset - spot.offset) ?? new Uint8Array();
    let breaks = before.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
    let index = spot.marker.line;
    while (breaks > 0 && index < this.screen.buffer.active.length - 1) {
      index++;
      if (!this.line(index)?.isWrapped) breaks--;
    }
    return spot.bytes ? this.nearest(index, firstWords(spot.bytes.subarray(offset - spot.offset))) : index;
  }

  /** The last row of that line: a line that is longer than the screen is wide has several. */
  lastRowOf(launch: number, offset: number): number | null {
    let row = this.lineOf(launch, offset);
    while (row !== null && this.line(row + 1)?.isWrapped) row++;
    return row;
  }

  /** What moves the cursor about makes lines hard to count: the one that begins so, as near as possible. */
  private nearest(index: number, words: string): number {
    const isThere = (line: number) => line >= 0 && this.text(line).startsWith(words);
    for (let off = 0; off < NEAR_LINES && words !== ""; off++) {
      for (const line of [index + off, index - off]) if (isThere(line)) return line;
    }
    return index;
  }

  begin(begun: Begun): void {
    const isNext = this.launch > 0 && this.launch !== begun.launch;
    if (isNext) {
      void this.write(`${this.endLine()}\x1b[0m\x1b[2m── ${this.sentences.nextLaunch(begun.launch)} ──\x1b[22m\r\n`);
    } else {
      this.screen.reset();
      this.begun = begun;
    }
    // What comes from a terminal says by itself where a line begins.
    this.screen.options.convertEol = !this.isOwn || begun.isRead;
    this.launch = begun.launch;
    this.pieceWriter = new PieceWriter(this.sentences.moreLines);
    this.following = "live";
    this.changed();
  }

  async bytes(bytes: Uint8Array, offset: number): Promise<void> {
    // Piece by piece, so that it is known what of many lines is kept.
    for (let at = 0; at < bytes.length && !this.isDisposed; at += EDGE_BYTES) {
      const piece = bytes.subarray(at, at + EDGE_BYTES);
      this.remember(offset + at, offset + at + piece.length, piece);
      await this.write(piece);
    }
  }

  async pieces(pieces: PieceView[], offset: number): Promise<void> {
    // Where they end is known only when the next come.
    this.remember(offset, Infinity, null);
    await this.write(this.pieceWriter.write(pieces));
  }

  connected(is: boolean): void {
    this.following = is ? "live" : "broken";
    this.changed();
  }

  ended(): void {
    this.following = "ended";
    this.changed();
  }

  failed(error: Error): void {
    this.error = error;
    this.following = "ended";
    this.changed();
  }

  private endLine(): string {
    return this.pieceWriter.endLine() || (this.screen.buffer.active.cursorX > 0 ? "\r\n" : "");
  }

  private write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.screen.write(data, () => {
        if (!this.isDisposed) {
          this.countGone();
          this.changed();
        }
        resolve();
      });
    });
  }

  private remember(offset: number, end: number, bytes: Uint8Array | null): void {
    const before = this.spots.at(-1);
    if (before?.end === Infinity) before.end = offset;
    // A program that fills the whole screen has no lines that stay.
    const marker = this.screen.registerMarker(0);
    if (!marker) return;
    this.rememberEdge(offset);
    this.spots.push({ launch: this.launch, offset, end, bytes, marker });
    this.spotBytes += bytes?.length ?? 0;
    while (this.spots.length > SPOTS_MAX || (this.spotBytes > SPOT_BYTES_MAX && this.spots.length > 1)) {
      const oldest = this.spots.shift();
      this.spotBytes -= oldest?.bytes?.length ?? 0;
      oldest?.marker.dispose();
    }
  }

  /** A place every so often: each is a marker that the screen moves with its lines. */
  private rememberEdge(offset: number): void {
    while (this.edges[0]?.marker.isDisposed) this.edges.shift();
    const last = this.edges.at(-1);
    if (last?.launch === this.launch && offset - last.offset < EDGE_BYTES) return;
    const marker = this.screen.registerMarker(0);
    if (marker) this.edges.push({ launch: this.launch, offset, marker });
    // Of too many, the oldest counts.
    if (this.edges.length > EDGES_MAX) for (const { marker: it } of this.edges.splice(1, 1)) it.dispose();
  }

  /** Lines that are let go at the top would otherwise move everything that somebody reads. */
  private countGone(): void {
    const known = this.known;
    if (known?.marker.isDisposed) this.gone += LINES_MAX;
    else if (known) this.gone = known.number - known.marker.line;
    known?.marker.dispose();
    const marker = this.screen.registerMarker(0);
    this.known = marker ? { marker, number: this.gone + marker.line } : null;
  }

  private changed(): void {
    if (this.frame !== 0) return;
    const tell = () => {
      this.frame = 0;
      this.version++;
      for (const watcher of this.watchers) watcher();
    };
    // A page that nobody sees gets no frames, and has nothing to draw.
    this.frame = requestAnimationFrame(tell);
  }
}
