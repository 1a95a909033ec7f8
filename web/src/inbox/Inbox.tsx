// What needs somebody now, one card at a time: open, read, one key, the next card.
import "./inbox.css";

import { useEffect, useState } from "react";

import { useRequest, useSession, useStatus } from "../api/queries";
import type { RequestView } from "../api/schema";
import { late } from "../app/late";
import type { ViewProps } from "../app/places";
import { go } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { isInterrupted, needCount } from "../parts/needs";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { isResting } from "../terminal/process";
import { useSay } from "../words/words";
import { Card, hasOther, isCut } from "./Card";
import { Consent } from "./Consent";
import { Quiet } from "./Quiet";
import { type Queue, useQueue } from "./queue";
import { SinceLook } from "./SinceLook";
import { Source } from "./Source";
import { words } from "./words";

const Terminal = late(() => import("../terminal/Terminal"));
const Review = late(() => import("../phases/Review"));

export function Inbox({ id }: ViewProps) {
  const say = useSay(words);
  const status = useStatus();
  const requests = status.data?.needs_you ?? [];
  const queue = useQueue(requests, id, (to) => go(to === null ? "/" : `/requests/${to}`, "replace"));
  const [said, setSaid] = useState("");
  const { current } = queue;
  const canStep = hasOther(queue);
  const sessions = status.data?.sessions ?? [];
  const needed = status.data ? needCount(status.data) : 0;
  useEffect(() => {
    document.title = `${needed > 0 ? `(${needed}) ` : ""}${say("inbox")} · Ostler`;
  }, [needed, say]);
  useShortcut("j", say("next"), canStep ? queue.next : undefined);
  useShortcut("k", say("previous"), canStep ? queue.previous : undefined);
  const finish = (done: string, what: string) => {
    setSaid(what);
    queue.finish(done);
  };
  return (
    <div className="inbox">
      <SinceLook interrupted={sessions.filter(isInterrupted)} hasCard={current !== null}>
        <p className="inbox-said dim small" role="status">
          {said !== "" && <Said text={said} />}
        </p>
        <Consent />
      </SinceLook>
      {current === null ? (
        <Quiet sessions={sessions} />
      ) : (
        <Shown
          key={current}
          id={current}
          known={requests.find((request) => request.id === current)}
          isListed={!status.isPending}
          queue={queue}
          onDone={(what) => finish(current, what)}
        />
      )}
    </div>
  );
}

/** One card, with what stands beside it. */
function Shown({ id, known, isListed, queue, onDone }: ShownProps) {
  const say = useSay(words);
  const [isAllWanted, setAllWanted] = useState(false);
  const isReview = known?.ask.kind === "review";
  // All of a long text comes when somebody wants it; a review shows its own beginnings.
  const isBeginning = !isReview && (known?.cut ?? []).length > 0;
  const asked = useRequest(id, isAllWanted || (isListed && !isBeginning));
  const request = asked.data ?? (isReview && known?.cut ? undefined : known);
  if (!request) {
    if (!asked.error) return <Loading />;
    return (
      <div className="stack">
        <Failure error={asked.error} onAgain={() => void asked.refetch()} />
        <p>
          <button type="button" className="button" onClick={() => onDone("")}>
            {say(hasOther(queue) ? "nextCard" : "toQuiet")}
          </button>
        </p>
      </div>
    );
  }
  const show = () => {
    setAllWanted(true);
    if (asked.isError) void asked.refetch();
  };
  if (request.ask.kind === "review") {
    return (
      <Review request={request} queue={queue} onDone={onDone} />
    );
  }
  return (
    <div className="inbox-pair">
      <Card
        // All of it is another card: nothing that is pressed for the beginning counts for it.
        key={String(isCut(request))}
        request={request}
        queue={queue}
        all={{ isBusy: asked.isFetching, error: asked.error, show }}
        onDone={onDone}
      />
      <Beside request={request} />
    </div>
  );
}

/** Who asks, and what the session prints; whether that is live is said above it. */
function Beside({ request }: { request: RequestView }) {
  const say = useSay(words);
  const { data: session } = useSession(request.session);
  // A server of another version may leave something out: the card beside it can be answered all the same.
  const isLive = session?.pid != null || !session?.launches?.length;
  const title = say(isLive ? "live" : isResting(session) ? "liveResting" : "liveEnded");
  return (
    <aside className="inbox-beside" aria-label={say("session")}>
      <Source request={request} directory={session?.directory} />
      <section className="inbox-live">
        <h2 className="label">{title}</h2>
        <div className="inbox-terminal">
          <Terminal session={request.session} />
        </div>
      </section>
    </aside>
  );
}

interface ShownProps {
  id: string;
  known: RequestView | undefined;
  /** Whether it is known what waits. */
  isListed: boolean;
  queue: Queue;
  onDone: (said: string) => void;
}
