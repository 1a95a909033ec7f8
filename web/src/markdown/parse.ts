// Reads Markdown as far as documents of a project need it. It never fails, takes time in proportion to the text, and hides
// nothing: markup of other languages, comments and whatever fits nowhere is text, because somebody decides by what they see.
import { type Inline, inlines } from "./inline";

export type Block =
  | { kind: "heading"; level: number; text: Inline[] }
  | { kind: "paragraph"; text: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; start: number | null; items: Item[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

export interface Item {
  /** Whether it is ticked; null where there is no box. */
  isDone: boolean | null;
  blocks: Block[];
}

export interface Document {
  blocks: Block[];
  /** What is beyond the bounds, as it stands there. */
  rest: string;
}

/** Lists in lists in quotes: deeper than this, marks are text. */
const DEPTH_MAX = 8;
const LINES_MAX = 20_000;
const LETTERS_MAX = 512 * 1024;
/** What stands between two lines of --- before everything else is about the document. */
const FRONT_LINES_MAX = 60;
/** So many columns of a table are drawn. */
const CELLS_MAX = 40;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]([^]*))?$/;
const MARK = /^( {0,3})([-*+]|\d{1,9}[.)])(?=\s|$)/;
const BOX = /^\[([ xX])\]\s+/;

export function parse(text: string): Document {
  const all = text.slice(0, LETTERS_MAX).replaceAll("\r\n", "\n").split("\n");
  const lines = all.slice(0, LINES_MAX);
  const rest = [...all.slice(LINES_MAX), ...(text.length > LETTERS_MAX ? [text.slice(LETTERS_MAX)] : [])].join("\n");
  const front = lines[0]?.trimEnd() === "---" ? lines.slice(0, FRONT_LINES_MAX).findIndex((line, at) => at > 0 && line.trimEnd() === "---") : -1;
  const about: Block[] = front > 1 ? [{ kind: "code", language: "", text: lines.slice(1, front).join("\n") }] : [];
  const blocks = new Reader(lines.slice(front > 1 ? front + 1 : 0).map(untabbed), 0).read();
  return { blocks: [...about, ...blocks], rest };
}

/** The marks of a fence and what it says of its code, if the line is one. */
function fenceOf(line: string): { marks: string; language: string } | null {
  const [, marks, about = ""] = FENCE.exec(line) ?? [];
  // Backticks that are closed again in the same line are code within a paragraph.
  if (marks === undefined || (marks.startsWith("`") && about.includes("`"))) return null;
  return { marks, language: about.trim().split(/\s/)[0] ?? "" };
}

/** Tabs at the beginning of a line are four spaces. */
function untabbed(line: string): string {
  const space = /^[ \t]*/.exec(line)?.[0] ?? "";
  return space.includes("\t") ? space.replaceAll("\t", "    ") + line.slice(space.length) : line;
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function indent(line: string): number {
  return line.length - line.trimStart().length;
}

/** Three or more of the same mark, with nothing but spaces between them. */
function isRule(line: string): boolean {
  const marks = line.replaceAll(" ", "");
  return indent(line) < 4 && marks.length >= 3 && "-*_".includes(marks[0] ?? " ") && [...marks].every((it) => it === marks[0]);
}

/** The cells of a row; a bar behind a backslash is one of its letters. */
function cells(line: string): string[] {
  const found: string[] = [];
  let cell = "";
  const row = line.trim();
  for (let at = row.startsWith("|") ? 1 : 0; at < row.length; at++) {
    if (row[at] === "\\" && row[at + 1] === "|") cell += row[++at];
    else if (row[at] === "|") {
      found.push(cell.trim());
      cell = "";
    } else cell += row[at];
  }
  if (cell.trim() !== "" || found.length === 0) found.push(cell.trim());
  return found.slice(0, CELLS_MAX);
}

class Reader {
  private readonly lines: string[];
  private readonly depth: number;
  private at = 0;
  private readonly blocks: Block[] = [];

  constructor(lines: string[], depth: number) {
    this.lines = lines;
    this.depth = depth;
  }

  read(): Block[] {
    while (this.at < this.lines.length) {
      const line = this.line();
      if (isBlank(line)) this.at++;
      else if (fenceOf(line)) this.fenced(line);
      else if (indent(line) >= 4) this.indented();
      else if (HEADING.test(line)) this.heading(line);
      else if (isRule(line)) {
        this.blocks.push({ kind: "rule" });
        this.at++;
      } else if (this.depth < DEPTH_MAX && line.trimStart().startsWith(">")) this.quote();
      else if (this.depth < DEPTH_MAX && MARK.test(line)) this.list(line);
      else if (this.isTable()) this.table();
      else this.paragraph();
    }
    return this.blocks;
  }

  private line(at = this.at): string {
    return this.lines[at] ?? "";
  }

  private inside(lines: string[]): Block[] {
    return new Reader(lines, this.depth + 1).read();
  }

  private fenced(first: string): void {
    const { marks: fence, language } = fenceOf(first) ?? { marks: "```", language: "" };
    const space = indent(first);
    const kept: string[] = [];
    this.at++;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line();
      const end = line.trim();
      if (indent(line) < 4 && end.length >= fence.length && [...end].every((it) => it === fence[0])) {
        this.at++;
        break;
      }
      kept.push(line.slice(Math.min(space, indent(line))));
    }
    this.blocks.push({ kind: "code", language, text: kept.join("\n") });
  }

  private indented(): void {
    const kept: string[] = [];
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line();
      if (!isBlank(line) && indent(line) < 4) break;
      kept.push(line.slice(4));
    }
    this.blocks.push({ kind: "code", language: "", text: kept.join("\n").trimEnd() });
  }

  private heading(line: string): void {
    const [, marks = "", text = ""] = HEADING.exec(line) ?? [];
    this.blocks.push({ kind: "heading", level: marks.length, text: inlines(unclosed(text.trim())) });
    this.at++;
  }

  private quote(): void {
    const kept: string[] = [];
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line().trimStart();
      if (line.startsWith(">")) kept.push(untabbed(line.slice(line[1] === " " ? 2 : 1)));
      else if (isBlank(line) || this.begins(this.at)) break;
      else kept.push(line);
    }
    this.blocks.push({ kind: "quote", blocks: this.inside(kept) });
  }

  private list(first: string): void {
    const mark = MARK.exec(first)?.[2] ?? "";
    const isSame = (line: string) => MARK.exec(line)?.[2]?.at(-1) === mark.at(-1) && !isRule(line);
    const items: Item[] = [];
    while (this.at < this.lines.length && isSame(this.line())) {
      items.push(this.item());
      let next = this.at;
      while (next < this.lines.length && isBlank(this.line(next))) next++;
      if (!isSame(this.line(next))) break;
      this.at = next;
    }
    this.blocks.push({ kind: "list", start: /^\d/.test(mark) ? parseInt(mark, 10) : null, items });
  }

  private item(): Item {
    const first = this.line();
    const begin = MARK.exec(first)?.[0].length ?? 0;
    const rest = first.slice(begin);
    const space = indent(rest);
    const width = begin + (space === 0 || space > 4 ? 1 : space);
    const text = first.slice(width);
    const box = BOX.exec(text);
    const kept = [box ? text.slice(box[0].length) : text];
    this.at++;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line();
      if (isBlank(line)) {
        kept.push("");
        continue;
      }
      if (indent(line) >= width) kept.push(line.slice(width));
      else if (isBlank(this.line(this.at - 1)) || this.begins(this.at)) break;
      else kept.push(line.trimStart());
    }
    while (kept.length > 1 && isBlank(kept.at(-1) ?? "")) kept.pop();
    return { isDone: box ? box[1] !== " " : null, blocks: this.inside(kept) };
  }

  /** Whether something other than a line of a paragraph begins there. */
  private begins(at: number): boolean {
    const line = this.line(at);
    return (
      fenceOf(line) !== null || HEADING.test(line) || isRule(line) || MARK.test(line) || (indent(line) < 4 && line.trimStart().startsWith(">"))
    );
  }

  private isTable(): boolean {
    if (!this.line().includes("|") || !this.line(this.at + 1).includes("-")) return false;
    const line = cells(this.line(this.at + 1));
    return line.every((cell) => /^:?-+:?$/.test(cell)) && line.length === cells(this.line()).length;
  }

  private table(): void {
    const head = cells(this.line());
    const rows: Inline[][][] = [];
    this.at += 2;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line();
      if (!line.includes("|")) break;
      // A row may have more cells than the head, and they are shown.
      rows.push(cells(line).map((cell) => inlines(cell)));
    }
    this.blocks.push({ kind: "table", head: head.map((cell) => inlines(cell)), rows });
  }

  private paragraph(): void {
    const kept = [this.line().trimStart()];
    this.at++;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line();
      const under = line.trim();
      // A line of = or - below makes a heading of it.
      if (indent(line) < 4 && /^(?:=+|-+)$/.test(under)) {
        this.at++;
        this.blocks.push({ kind: "heading", level: under[0] === "=" ? 1 : 2, text: inlines(kept.join("\n").trimEnd()) });
        return;
      }
      if (isBlank(line) || this.begins(this.at) || this.isTable()) break;
      kept.push(line.trimStart());
    }
    this.blocks.push({ kind: "paragraph", text: inlines(kept.join("\n").trimEnd()) });
  }
}

/** A heading without the marks that some put behind it, too. */
function unclosed(text: string): string {
  const end = text.trimEnd();
  let at = end.length;
  while (at > 0 && end[at - 1] === "#") at--;
  return at === 0 || end[at - 1] === " " ? end.slice(0, at).trimEnd() : end;
}
