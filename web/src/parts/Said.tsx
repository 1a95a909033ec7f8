// Somebody else's words. They are text and nothing else, cannot turn the direction of what stands around them, and hide
// nothing: what has no shape is shown by its number.
import { Fragment } from "react";

import { loadFaceFor } from "../look/face";

/** What a screen obeys or swallows instead of showing it; a tab and the end of a line are what they are. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export interface Piece {
  text: string;
  isUnseen: boolean;
}

/** The text in pieces: what can be shown, and names for what cannot. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), isUnseen: false });
    const code = match[0].codePointAt(0) ?? 0;
    found.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, "0")}`, isUnseen: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), isUnseen: false });
  return found;
}

/** The same as plain text, for names and titles. */
export function plain(text: string): string {
  return pieces(text)
    .map((piece) => (piece.isUnseen ? `[${piece.text}]` : piece.text))
    .join("");
}

export function Said({ text, lines = false, className = "" }: { text: string; lines?: boolean; className?: string }) {
  loadFaceFor(text);
  const shown = lines ? text : text.replace(/\s+/g, " ").trim();
  return (
    <bdi dir="auto" className={`said ${lines ? "lines" : ""} ${className}`}>
      {pieces(shown).map((piece, index) =>
        piece.isUnseen ? (
          <span key={index} className="unseen">
            {piece.text}
          </span>
        ) : (
          <Fragment key={index}>{piece.text}</Fragment>
        ),
      )}
    </bdi>
  );
}
