// What stands there while nothing does: loading, failed, empty.
import { type ReactNode, useEffect, useState } from "react";

import { Refused, Unreached } from "../api/problem";
import { useIsBack } from "../api/queries";
import type { Problem } from "../api/schema";
import { useLanguage, useSay } from "../words/words";
import { problemSaid } from "./problems";
import { Said } from "./Said";
import { withSizes } from "./size";
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

interface FailureProps {
  error: Error;
  onAgain?: () => void;
  /** Whether something was sent that may have arrived. */
  wrote?: boolean;
}

/** What went wrong, and what to do next. A server that did not answer and is back is not called gone any more. */
export function Failure(props: FailureProps) {
  // A new failure knows nothing of a return before it.
  return props.error instanceof Unreached ? <Gone key={numberOf(props.error)} {...props} /> : <Wrong {...props} />;
}

const numbers = new WeakMap<Error, number>();
let count = 0;

/** The same for the same failure, and another for every other. */
function numberOf(error: Error): number {
  const known = numbers.get(error) ?? ++count;
  numbers.set(error, known);
  return known;
}

function Gone(props: FailureProps) {
  const say = useSay(words);
  const isBack = useIsBack();
  if (!isBack) return <Wrong {...props} />;
  if (!props.wrote && !props.onAgain) return null;
  return (
    <div className="notice" role="status">
      <p>{say("back")}</p>
      {props.wrote && <p className="small">{say("unsure")}</p>}
      <Again onAgain={props.onAgain} />
    </div>
  );
}

function Again({ onAgain }: { onAgain: (() => void) | undefined }) {
  const say = useSay(words);
  if (!onAgain) return null;
  return (
    <p>
      <button type="button" className="button" onClick={onAgain}>
        {say("again")}
      </button>
    </p>
  );
}

function Wrong({ error, onAgain, wrote = false }: FailureProps) {
  const say = useSay(words);
  return (
    <div className="notice bad" role="alert">
      {error instanceof Refused ? (
        <Refusal problem={error.problem} />
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
      <Again onAgain={onAgain} />
    </div>
  );
}

/** In the reader's language, and as small print what the server says: that names ids, paths and limits. */
function Refusal({ problem }: { problem: Problem }) {
  const said = problemSaid(useLanguage(), problem.type);
  const small = said === null ? problem.hint : problem.title;
  return (
    <>
      <p>{said === null ? <Said text={problem.title} /> : said[0]}</p>
      {said !== null && <p className="small">{said[1]}</p>}
      {small && (
        <p className="small dim" lang="en">
          <Said text={withSizes(small)} />
        </p>
      )}
    </>
  );
}

/** Nothing is there, and that is all right. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className="empty dim">{children}</div>;
}
