// What stands there while nothing does: loading, failed, empty.
import { type ReactNode, useEffect, useState } from "react";

import { Refused, Unreached } from "../api/problem";
import { useSay } from "../words/words";
import { Said } from "./Said";
import { words } from "./words";

/** Says after a moment that something is on its way; what comes at once needs no word. */
export function Loading() {
  const say = useSay(words);
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="dim state" role="status">
      {isSlow ? say("loading") : ""}
    </p>
  );
}

/** What went wrong, and what to do next. */
export function Failure({ error, onAgain, wrote = false }: { error: Error; onAgain?: () => void; wrote?: boolean }) {
  const say = useSay(words);
  return (
    <div className="notice bad" role="alert">
      {error instanceof Refused ? (
        <>
          <p>
            <Said text={error.problem.title} />
          </p>
          {error.problem.hint && (
            <p className="small">
              <Said text={error.problem.hint} />
            </p>
          )}
        </>
      ) : error instanceof Unreached ? (
        <>
          <p>{say(error.isLate ? "late" : "unreached")}</p>
          <p className="small">{say(wrote ? "unsure" : "unreachedHint")}</p>
        </>
      ) : (
        <p>
          <Said text={error.message} />
        </p>
      )}
      {onAgain && (
        <p>
          <button type="button" className="button" onClick={onAgain}>
            {say("again")}
          </button>
        </p>
      )}
    </div>
  );
}

/** Nothing is there, and that is all right. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty dim">{children}</div>;
}
