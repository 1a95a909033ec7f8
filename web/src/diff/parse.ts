// Reads what git prints about changes. It never fails: a line that fits nowhere is shown as it is.
export type LineKind = "same" | "added" | "removed" | "note";

export interface DiffLine {
  kind: LineKind;
  text: string;
  /** Its number before and after; null where it is not there. */
  before: number | null;
  after: number | null;
}

export interface Hunk {
  /** What git says it is in: a function, a heading. */
  about: string;
  lines: DiffLine[];
}

export type FileChange = "changed" | "added" | "removed" | "renamed" | "copied";

export interface DiffFile {
  path: string;
  /** Where it was before, if that was elsewhere. */
  from: string | null;
  change: FileChange;
  isBinary: boolean;
  /** What has become of its mode. */
  modes: [string, string] | null;
  added: number;
  removed: number;
  hunks: Hunk[];
  /** Lines that are not kept, since there are too many. */
  left: number;
}

/** What there is to say of a file that has changed without a line. */
export function bare(file: Pick<DiffFile, "change">): "emptyNew" | "emptyGone" | "empty" {
  return file.change === "added" ? "emptyNew" : file.change === "removed" ? "emptyGone" : "empty";
}

export interface Diff {
  files: DiffFile[];
  /** Files that are not kept at all. */
  left: number;
  /** What stands before the first file. */
  notes: string[];
}

export interface Bounds {
  files: number;
  linesOfFile: number;
  lines: number;
}

export const BOUNDS: Bounds = { files: 500, linesOfFile: 4_000, lines: 40_000 };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

class Reader {
  readonly diff: Diff = { files: [], left: 0, notes: [] };
  private readonly bounds: Bounds;
  private file: DiffFile | null = null;
  private hunk: Hunk | null = null;
  private before = 0;
  private after = 0;
  /** How many lines of the hunk are still to come: within them nothing is a header. */
  private beforeLeft = 0;
  private afterLeft = 0;
  private kept = 0;
  private keptOfFile = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
  }

  line(line: string): void {
    if (this.beforeLeft > 0 || this.afterLeft > 0) this.inside(line);
    else if (line.startsWith("diff --git ")) this.begin(line);
    else if (this.file === null) {
      if (line !== "" && this.diff.files.length === 0) this.diff.notes.push(line);
    } else if (line.startsWith("\\")) this.keep("note", line.slice(2));
    else this.header(this.file, line);
  }

  private begin(line: string): void {
    this.hunk = null;
    this.keptOfFile = 0;
    const path = pathOf(line);
    this.file = {
      path,
      from: null,
      change: "changed",
      isBinary: false,
      modes: null,
      added: 0,
      removed: 0,
      hunks: [],
      left: 0,
    };
    if (this.diff.files.length < this.bounds.files) this.diff.files.push(this.file);
    else this.diff.left++;
  }

  private header(file: DiffFile, line: string): void {
    const hunk = HUNK.exec(line);
    if (hunk) {
      this.before = Number(hunk[1]);
      this.after = Number(hunk[3]);
      this.beforeLeft = Number(hunk[2] ?? 1);
      this.afterLeft = Number(hunk[4] ?? 1);
      this.hunk = { about: hunk[5] ?? "", lines: [] };
      file.hunks.push(this.hunk);
      return;
    }
    const [word, rest] = split(line);
    if (line.startsWith("new file mode")) file.change = "added";
    else if (line.startsWith("deleted file mode")) file.change = "removed";
    else if (line.startsWith("rename from ")) {
      file.change = "renamed";
      file.from = unquote(line.slice(12));
    } else if (line.startsWith("rename to ")) file.path = unquote(line.slice(10));
    else if (line.startsWith("copy from ")) {
      file.change = "copied";
      file.from = unquote(line.slice(10));
    } else if (line.startsWith("copy to ")) file.path = unquote(line.slice(8));
    else if (line.startsWith("old mode ")) file.modes = [line.slice(9), ""];
    else if (line.startsWith("new mode ") && file.modes) file.modes[1] = line.slice(9);
    else if (line.startsWith("Binary files ") || line === "GIT binary patch") file.isBinary = true;
    else if (word === "---" || word === "+++") this.named(file, rest);
  }

  /** The lines with the names are the sure ones: a path with spaces is unclear in the first. */
  private named(file: DiffFile, rest: string): void {
    const name = unquote(rest.replace(/\t$/, ""));
    if (name !== "/dev/null" && /^[abciow]\//.test(name)) file.path = name.slice(2);
  }

  private inside(line: string): void {
    const file = this.file;
    if (!file) return;
    const text = line.slice(1);
    switch (line[0]) {
      case "+":
        this.afterLeft--;
        file.added++;
        this.keep("added", text, null, this.after++);
        break;
      case "-":
        this.beforeLeft--;
        file.removed++;
        this.keep("removed", text, this.before++, null);
        break;
      case "\\":
        this.keep("note", line.slice(2));
        break;
      default:
        this.beforeLeft--;
        this.afterLeft--;
        this.keep("same", text, this.before++, this.after++);
    }
  }

  private keep(kind: LineKind, text: string, before: number | null = null, after: number | null = null): void {
    const file = this.file;
    if (!file || !this.hunk) return;
    if (this.keptOfFile >= this.bounds.linesOfFile || this.kept >= this.bounds.lines) {
      file.left++;
      return;
    }
    this.kept++;
    this.keptOfFile++;
    this.hunk.lines.push({ kind, text, before, after });
  }
}

function split(line: string): [string, string] {
  const at = line.indexOf(" ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

/** The path behind `diff --git`: both are the same unless something is renamed, which is said again below. */
function pathOf(line: string): string {
  const both = line.slice("diff --git ".length);
  if (both.startsWith('"')) {
    const end = /^"(?:[^"\\]|\\.)*"/.exec(both)?.[0] ?? both;
    return unquote(end).slice(2);
  }
  const half = (both.length - 1) / 2;
  const [one, other] = [both.slice(0, half), both.slice(half + 1)];
  if (one.slice(2) === other.slice(2)) return one.slice(2);
  return both.split(" b/")[0]?.slice(2) ?? both;
}

/** Git writes unusual names in quotes, with their bytes in octal. */
function unquote(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const plain: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (const [part] of name.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gsu)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(parseInt(part.slice(1), 8));
    else if (part.startsWith("\\")) bytes.push(plain[part[1] ?? ""] ?? part.charCodeAt(1));
    else bytes.push(...encoder.encode(part));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

export function parse(text: string, bounds: Bounds = BOUNDS): Diff {
  const reader = new Reader(bounds);
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    reader.line(end < 0 ? text.slice(at) : text.slice(at, end));
    if (end < 0) break;
    at = end + 1;
  }
  return reader.diff;
}
