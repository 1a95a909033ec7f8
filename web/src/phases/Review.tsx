// A review in the inbox: what a phase has come to, everything that there is to see of it, and what somebody decides. It is
// about one tree and never about another.
import "./phases.css";

import { useEffect, useRef, useState } from "react";

import { useStatus } from "../api/queries";
import type { GateView, PhasesView, PhaseView, RequestView } from "../api/schema";
import { go, Link } from "../app/router";
import { isTyping } from "../app/shortcuts";
import { hasOther, Head, leave, useReady } from "../inbox/Card";
import { useKept } from "../inbox/kept";
import type { Queue } from "../inbox/queue";
import { Settled } from "../inbox/Settled";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { Decide } from "./Decide";
import { Evidence } from "./Evidence";
import { Problems } from "./Gate";
import { usePhases } from "./queries";
import { stepSaid } from "./state";
import { words } from "./words";

export interface ReviewProps {
  request: RequestView;
  queue: Queue;
  onDone: (said: string) => void;
}

/** What a review is about, as the request names it. */
export interface About {
  phase: number;
  name: string;
  gate: number;
  tree: string | null;
  hasPassed: boolean;
}

export function aboutOf(request: RequestView): About {
  const fields = request.ask.fields;
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  return {
    phase: Number(fields["phase"] ?? 0),
    name: text("name"),
    gate: Number(fields["gate"] ?? 0),
    tree: text("tree") === "" ? null : text("tree"),
    hasPassed: fields["passed"] === true,
  };
}

/** On a phone the buttons are under the thumb, and what there is to see is one touch away. */
const NARROW = "(max-width: 760px)";

export default function Review({ request, queue, onDone }: ReviewProps) {
  const say = useSay(words);
  const card = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [isDeciding, setDeciding] = useState(false);
  // The news of what was sent from here may come before its answer.
  const isOpen = request.settled == null || isDeciding;
  const { isMeanwhile, isKept } = useKept(isOpen, card);
  const isReady = useReady();
  const run = usePhases(request.run);
  const about = aboutOf(request);
  const phase = run.data?.phases.find((it) => it.number === about.phase);
  const gate = phase?.gates.find((it) => it.number === about.gate);
  const all = run.data?.phases.length ?? about.phase;
  useEffect(() => {
    // Who is writing somewhere else goes on writing there.
    if (!isTyping(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <article
      ref={card}
      className="inbox-card phases-review"
      aria-labelledby={`${request.id}-asks`}
      data-ready={isReady}
      onKeyDown={(event) => leave(event, heading.current)}
    >
      <div className="phases-top stack">
        <Head request={request} queue={queue} />
        <h1 id={`${request.id}-asks`} ref={heading} tabIndex={-1}>
          <Said text={say(about.hasPassed ? "reviewPassed" : "reviewFailed", { n: about.phase, all, name: about.name })} />
        </h1>
        <p className="small dim">
          <Link href={`/runs/${request.run}?phase=${about.phase}`}>{say("runOf", { run: request.run })}</Link>
          {run.data && (
            <>
              {" · "}
              <Said text={run.data.title} />
            </>
          )}
          {about.tree !== null && <span className="mono"> · {say("tree", { tree: about.tree.slice(0, 12) })}</span>}
        </p>
        {phase && gate && <Summary phase={phase} gate={gate} />}
      </div>
      <div className="phases-see">
        {run.error && !run.data && <Failure error={run.error} onAgain={() => void run.refetch()} />}
        {run.isPending && <Loading />}
        {phase && gate && (
          <Evidence run={request.run} phase={phase} gate={gate} first={window.matchMedia(NARROW).matches ? null : "report"} />
        )}
      </div>
      <div className="phases-decide">
        {(isOpen || isKept) && (
          <Decide
            request={request}
            about={about}
            isReady={isReady}
            isOver={!isOpen}
            isShown={gate !== undefined && (gate.tree ?? null) === about.tree}
            onBusy={setDeciding}
            onDone={onDone}
          />
        )}
        {!isOpen && request.settled?.by === "change" && <Changed request={request} run={run.data} about={about} />}
        {!isOpen && request.settled?.by !== "change" && (
          <Settled request={request} isMeanwhile={isMeanwhile} isKept={isKept} hasMore={hasOther(queue)} onNext={() => onDone("")} />
        )}
      </div>
    </article>
  );
}

/** What has to be known before anything else. */
function Summary({ phase, gate }: { phase: PhaseView; gate: GateView }) {
  const say = useSay(words);
  return (
    <>
      {gate.why === "changed" && <p className="notice attention">{say("whyChanged")}</p>}
      {gate.why === "ended" && <p className="notice attention">{say("whyEnded")}</p>}
      {phase.questions > phase.questions_max && (
        <p className="attention small">{say("overBudget", { n: phase.questions, max: phase.questions_max })}</p>
      )}
      <div className="phases-short">
        <Problems problems={gate.problems} isKnown isBrief />
      </div>
    </>
  );
}

/** Another tree stands there than the one that was shown. It is looked at again, and shown when that is done. */
function Changed({ request, run, about }: { request: RequestView; run: PhasesView | undefined; about: About }) {
  const say = useSay(words);
  const open = useStatus().data?.needs_you ?? [];
  const next = open.find((it) => it.run === request.run && it.ask.kind === "review" && it.id !== request.id);
  const button = useRef<HTMLButtonElement>(null);
  const gate = run?.phases.find((it) => it.number === about.phase)?.gates.at(-1);
  const id = next?.id;
  useEffect(() => {
    if (id !== undefined && !isTyping(document.activeElement)) button.current?.focus({ preventScroll: true });
  }, [id]);
  return (
    <div className="stack">
      <div className="notice attention" role="status">
        <p className="strong">{say("changedTitle")}</p>
        {next ? <p>{say("changedReady")}</p> : gate && <p>{say("changedWhat", { step: stepSaid(say, gate) })}</p>}
      </div>
      <p className="row">
        {next && (
          <button ref={button} type="button" className="button primary" onClick={() => go(`/requests/${next.id}`)}>
            {say("changedShow")}
          </button>
        )}
        <Link href={`/runs/${request.run}`} className="button">
          {say("toRun")}
        </Link>
      </p>
    </div>
  );
}
