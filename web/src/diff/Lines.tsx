// Changed lines, drawn: numbers and signs beside the text, and a colour that repeats the sign.
import "./diff.css";

import { memo } from "react";

import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import type { Hunk } from "./parse";
import { words } from "./words";

/** The longest line that is drawn of a file. */
const LETTERS_MAX = 2_000;

interface LinesProps {
  label: string;
  hunks: Hunk[];
  /** Whether it is known where in the file they are; those of an edit that is only asked for are shown whole. */
  isNumbered?: boolean;
}

export function Lines({ label, hunks, isNumbered = true }: LinesProps) {
  return (
    <div className="diff-scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="diff-table">
        {hunks.map((hunk, index) => (
          <HunkRows key={index} hunk={hunk} isFirst={index === 0} isNumbered={isNumbered} />
        ))}
      </table>
    </div>
  );
}

interface RowsProps {
  hunk: Hunk;
  isFirst: boolean;
  isNumbered: boolean;
}

const SIGNS = { same: " ", added: "+", removed: "−", note: "" } as const;

const HunkRows = memo(function HunkRows({ hunk, isFirst, isNumbered }: RowsProps) {
  const say = useSay(words);
  // Nobody agrees to an edit of which the end of a line is left out.
  const lettersMax = isNumbered ? LETTERS_MAX : Infinity;
  return (
    <tbody>
      {(!isFirst || hunk.about !== "") && (
        <tr className="diff-hunk">
          <td colSpan={isNumbered ? 3 : 1}>
            … <Said text={hunk.about} />
          </td>
        </tr>
      )}
      {hunk.lines.map((line, index) => (
        <tr key={index} className={`diff-line ${line.kind}`}>
          {isNumbered && <td className="diff-number" data-n={line.before ?? ""} />}
          {isNumbered && <td className="diff-number" data-n={line.after ?? ""} />}
          <td className="diff-text">
            <span className="diff-sign" data-sign={SIGNS[line.kind]} />
            {line.kind === "added" && <span className="only-read">+ </span>}
            {line.kind === "removed" && <span className="only-read">− </span>}
            <Said text={line.text.slice(0, lettersMax)} lines />
            {line.text.length > lettersMax && (
              <span className="dim"> {say("longLine", { n: line.text.length - lettersMax })}</span>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  );
});
