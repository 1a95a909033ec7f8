// One session: how it is, what can be done, what it prints, and what happened, with the state of its files at each point.
import "./session.css";

import { useEffect, useRef } from "react";

import { useSession } from "../api/queries";
import type { SessionView } from "../api/schema";
import { late } from "../app/late";
import type { ViewProps } from "../app/places";
import { go } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { StatusMark, Why } from "../parts/status";
import { useSay } from "../words/words";
import { Actions } from "./Actions";
import { Facts } from "./Facts";
import { Requests } from "./Requests";
import { OVER } from "./restorable";
import { Timeline } from "./Timeline";
import { words } from "./words";
import { Work } from "./Work";
import { Write } from "./Write";

const Terminal = late(() => import("../terminal/Terminal"));

export default function Session({ id }: ViewProps) {
  const say = useSay(words);
  const session = useSession(id);
  const own = session.data?.id;
  // Events name a session by its own id: under that of its run, the page would not hear of it.
  const isElsewhere = own !== undefined && own !== id;
  useEffect(() => {
    if (isElsewhere) go(`/sessions/${own}${window.location.search}`, "replace");
  }, [isElsewhere, own]);
  if (isElsewhere) return <Loading />;
  return (
    <Page title={say("title", { id })}>
      {session.error && !session.data && <Failure error={session.error} onAgain={() => void session.refetch()} />}
      {session.isPending && <Loading />}
      {session.data && <Shown session={session.data} />}
    </Page>
  );
}

function Shown({ session }: { session: SessionView }) {
  const say = useSay(words);
  const output = useRef<HTMLElement>(null);
  useShortcut("o", say("keyOutput"), () => output.current?.querySelector<HTMLElement>(".terminal-scroll")?.focus());
  const isOver = OVER.includes(session.status);
  return (
    <div className="session-pair">
      <div className="session-top stack">
        <header className="session-head">
          <p className="session-status">
            <StatusMark session={session} since />
          </p>
          <p className="session-title">
            {session.name != null && (
              <>
                <Said text={session.name} className="strong" />{" "}
              </>
            )}
            <Said text={session.title} className="strong" />
          </p>
          {session.outcome?.outcome === "failed" && (
            <p className="bad">
              <Why outcome={session.outcome} />
            </p>
          )}
          {session.wait?.message != null && (
            <p className="attention small">
              <Said text={session.wait.message} />
            </p>
          )}
        </header>
        <Requests session={session} />
        <Actions session={session} isOver={isOver} />
        {!isOver && <Write session={session.id} />}
      </div>
      <section ref={output} className="session-output" aria-label={say("output")}>
        <Terminal session={session.id} />
      </section>
      <div className="session-rest stack">
        <Facts session={session} />
        <Timeline session={session} />
        {session.worktree && <Work session={session} />}
      </div>
    </div>
  );
}
