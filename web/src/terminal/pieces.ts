// Pieces of what an agent says and does, as text for a terminal: speech as it is, one dim line per tool. The same rules
// as on the command line.
import type { PieceView } from "../api/schema";

const DIM = "\x1b[2m";
const PLAIN = "\x1b[22m";
/** The longest line that is made of what a tool gave back. */
const TOOL_LETTERS_MAX = 400;

/** Escapes have no place inside of a line of ours. */
function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]+/g, " ");
}

export class PieceWriter {
  /** Whether the last thing did not end its line. */
  private isOpen = false;
  private readonly moreLines: (n: number) => string;

  constructor(moreLines: (n: number) => string) {
    this.moreLines = moreLines;
  }

  write(pieces: PieceView[]): string {
    return pieces.map((piece) => this.piece(piece)).join("");
  }

  /** Ends the line that is open, if one is. */
  endLine(): string {
    const end = this.isOpen ? "\n" : "";
    this.isOpen = false;
    return end;
  }

  private piece(piece: PieceView): string {
    if (piece.piece === "speech") {
      this.isOpen = piece.text === "" ? this.isOpen : !piece.text.endsWith("\n");
      return piece.text + (piece.fragment ? "" : this.endLine());
    }
    return this.endLine() + this.whole(piece);
  }

  private whole(piece: Exclude<PieceView, { piece: "speech" }>): string {
    switch (piece.piece) {
      case "tool":
        return this.dim("› ", `${piece.name}  ${piece.about ?? ""}`.trimEnd());
      case "tool_output": {
        const lines = piece.text.split("\n").filter((line) => line.trim() !== "");
        const more = lines.length > 1 ? `  ${this.moreLines(lines.length - 1)}` : "";
        return this.dim("  ", `${(lines[0] ?? "").slice(0, TOOL_LETTERS_MAX)}${more}`);
      }
      case "sub_agent":
        return piece.text
          .split("\n")
          .map((line) => this.dim("  ┊ ", line))
          .join("");
      case "line":
        return `${piece.text}\n`;
    }
  }

  private dim(before: string, text: string): string {
    return `${DIM}${before}${harmless(text)}${PLAIN}\n`;
  }
}
