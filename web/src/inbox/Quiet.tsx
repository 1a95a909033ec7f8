// Nothing needs anybody: who is at work, and with what. Whoever is here for the first time is told what this is.
import { useEffect, useRef } from "react";

import { useSessions, useWish } from "../api/queries";
import type { RunView, SessionView } from "../api/schema";
import { Link } from "../app/router";
import { isInterrupted } from "../parts/needs";
import { Failure } from "../parts/states";
import { SessionRow } from "../sessions/SessionRow";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

export function Quiet({ sessions: all }: { sessions: SessionView[] }) {
  const say = useSay(words);
  // Those that were interrupted stand above, with what can be done about them.
  const sessions = all.filter((it) => !isInterrupted(it));
  const lost = all.length - sessions.length;
  const n = sessions.filter((it) => it.idle !== true).length;
  const ever = useSessions({ all: true, limit: 1 });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The last card has gone with the button that had the focus.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  if (all.length === 0 && ever.data?.length === 0) return <First />;
  const atWork = n === 0 ? say("atWorkNone") : n === 1 ? say("atWorkOne") : say("atWorkMany", { n });
  const needs = lost === 0 ? say("NothingNeedsYou") : lost === 1 ? say("interruptedOne") : say("interruptedMany", { n: lost });
  return (
    <section className="inbox-quiet stack">
      <h1 ref={heading} tabIndex={-1}>
        {needs} {atWork}
      </h1>
      {sessions.length > 0 ? (
        <ul className="panel list">
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      ) : (
        <p>
          <Link href="/runs/new" className="button">
            {say("newRun")}
          </Link>
        </p>
      )}
    </section>
  );
}

function First() {
  const say = useSay(words);
  const language = useLanguage();
  const demo = useWish<RunView[], boolean>((full) => ({ path: "/demo", body: { korean: language === "ko", full } }));
  return (
    <section className="inbox-quiet stack">
      <h1 tabIndex={-1}>{say("firstTitle")}</h1>
      <p>{say("firstWhat")}</p>
      <p>{say("firstRun")}</p>
      <p>
        <Link href="/runs/new" className="button primary">
          {say("newRun")}
        </Link>
      </p>
      <pre className="panel">ostler run claude "fix the flaky test"</pre>
      <p>{say("firstDemo")}</p>
      <p>
        <button type="button" className="button" disabled={demo.isPending} onClick={() => demo.mutate(false)}>
          {demo.isPending ? say("demoStarts") : say("demo")}
        </button>
      </p>
      <p>{say("firstFull")}</p>
      <p>
        <button type="button" className="button" disabled={demo.isPending} onClick={() => demo.mutate(true)}>
          {say("demoFull")}
        </button>
      </p>
      {demo.error && <Failure error={demo.error} wrote />}
    </section>
  );
}
