// What needs somebody now, one card at a time: open, read, one key, the next card.
import "./inbox.css";

import { lazy, Suspense, useEffect, useState } from "react";

import { useRequest, useStatus } from "../api/queries";
import type { RequestView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { Card } from "./Card";
import { Quiet } from "./Quiet";
import { type Queue, useQueue } from "./queue";
import { Source } from "./Source";
import { words } from "./words";

const Terminal = lazy(() => import("../terminal/Terminal"));
const Review = lazy(() => import("../phases/Review"));

export function Inbox({ id }: ViewProps) {
  const say = useSay(words);
  const status = useStatus();
  const requests = status.data?.needs_you ?? [];
  const queue = useQueue(requests, id);
  const [said, setSaid] = useState("");
  const { current, count } = queue;
  useEffect(() => {
    document.title = `${requests.length > 0 ? `(${requests.length}) ` : ""}${say("inbox")} · Ostler`;
  }, [requests.length, say]);
  useShortcut("j", say("next"), count > 1 ? queue.next : undefined);
  useShortcut("k", say("previous"), count > 1 ? queue.previous : undefined);
  const finish = (what: string) => {
    setSaid(what);
    queue.finish();
    if (id !== "") go("/", "replace");
  };
  return (
    <div className="inbox">
      <p className="inbox-said dim small" role="status">
        {said}
      </p>
      {current === null ? (
        <Quiet sessions={status.data?.sessions ?? []} />
      ) : (
        <Shown
          key={current}
          id={current}
          known={requests.find((request) => request.id === current)}
          queue={queue}
          onDone={finish}
        />
      )}
    </div>
  );
}

/** One card, with what stands beside it. */
function Shown({ id, known, queue, onDone }: ShownProps) {
  const say = useSay(words);
  const asked = useRequest(id);
  const request = asked.data ?? known;
  if (!request) {
    if (!asked.error) return <Loading />;
    return (
      <div className="stack">
        <Failure error={asked.error} onAgain={() => void asked.refetch()} />
        <p>
          <Link href="/">{say("nextCard")}</Link>
        </p>
      </div>
    );
  }
  if (request.ask.kind === "review") {
    return (
      <Suspense fallback={<Loading />}>
        <Review request={request} queue={queue} onDone={onDone} />
      </Suspense>
    );
  }
  return (
    <div className="inbox-pair">
      <Card request={request} queue={queue} onDone={onDone} />
      <aside className="inbox-beside" aria-label={say("live")}>
        <Source request={request} />
        <section className="inbox-live">
          <h2 className="label">{say("live")}</h2>
          <div className="inbox-terminal">
            <Suspense fallback={<Loading />}>
              <Terminal session={request.session} />
            </Suspense>
          </div>
        </section>
      </aside>
    </div>
  );
}

interface ShownProps {
  id: string;
  known: RequestView | undefined;
  queue: Queue;
  onDone: (said: string) => void;
}
