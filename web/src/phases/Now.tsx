// What a run does or waits for right now, and since when.
import { useSession, useStatus } from "../api/queries";
import type { PhasesView, PhaseView } from "../api/schema";
import { Link } from "../app/router";
import { askKey, askText } from "../parts/request";
import { plain, Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { StatusMark } from "../parts/status";
import { sayShared, useLanguage, useSay } from "../words/words";
import { stepSaid } from "./state";
import { words } from "./words";

export function Now({ run }: { run: PhasesView }) {
  const say = useSay(words);
  const phase = run.phases.find((it) => it.number === run.current);
  if (!phase || run.ended_at_ms != null) return null;
  return (
    <section className="panel phases-now" aria-label={say("now")}>
      {run.blocked_by.length > 0 ? (
        run.blocked_by.map((id) => <Wanted key={id} id={id} phase={phase} />)
      ) : phase.state === "gate" ? (
        <AtGate phase={phase} />
      ) : (
        <AtWork phase={phase} />
      )}
    </section>
  );
}

/** Something that a person has to answer or to look at. */
function Wanted({ id, phase }: { id: string; phase: PhaseView }) {
  const say = useSay(words);
  const language = useLanguage();
  const request = useStatus().data?.needs_you.find((it) => it.id === id);
  const isReview = request ? request.ask.kind === "review" : phase.state === "review";
  return (
    <p className="phases-wanted">
      <span>
        <span aria-hidden="true" className="attention">
          ◆{" "}
        </span>
        {request ? (
          <>
            {sayShared(language, askKey(request.ask.kind))}: <Said text={askText(language, request)} />{" "}
            <span className="dim small">
              {id} · <Since at={request.opened_at_ms} />
            </span>
          </>
        ) : (
          <>
            {say("waitsFor")} {id}
          </>
        )}
      </span>
      <Link href={`/requests/${id}`} className="button primary">
        {say(isReview ? "lookAtIt" : "answerIt")}
      </Link>
    </p>
  );
}

function AtGate({ phase }: { phase: PhaseView }) {
  const say = useSay(words);
  const gate = phase.gates.at(-1);
  if (!gate) return null;
  return (
    <p>
      <span aria-hidden="true" className="good">
        ◐{" "}
      </span>
      <Said text={say("phaseOf", { number: phase.number, name: phase.name })} className="strong" /> · {say("gate", { n: gate.number })}:{" "}
      {stepSaid(say, gate)}{" "}
      <span className="dim small">
        · <Since at={gate.at_ms} />
      </span>
    </p>
  );
}

/** Its session says the rest: that it waits for a limit, was paused, or is about to end. */
function AtWork({ phase }: { phase: PhaseView }) {
  const say = useSay(words);
  if (phase.session == null) return null;
  return (
    <p>
      <Said text={say("nowWorking", { agent: plain(phase.agent), name: plain(phase.name) })} /> ·{" "}
      <Link href={`/sessions/${phase.session}`}>{phase.session}</Link> <OfSession id={phase.session} />
    </p>
  );
}

function OfSession({ id }: { id: string }) {
  const session = useSession(id);
  return session.data ? <StatusMark session={session.data} since /> : null;
}
