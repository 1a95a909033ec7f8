// Everything that there is to see about a gate, one thing at a time: the report, the files, what has changed, what was
// asked and answered, and the session itself.
import { useId, useState } from "react";

import type { GateView, PhaseView, RequestView } from "../api/schema";
import { late } from "../app/late";
import { Link } from "../app/router";
import { askText } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Failure, Loading } from "../parts/states";
import { answerSaid } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { Gate } from "./Gate";
import { keyOf, pathOf, sincePath, useAsked, useText, type Which } from "./queries";
import { words } from "./words";

const Diff = late(() => import("../diff/Diff"));
const Files = late(() => import("./Files"));
const Markdown = late(() => import("../markdown/Markdown"));
const Terminal = late(() => import("../terminal/Terminal"));

type Sight = "report" | "files" | "changes" | "since" | "questions" | "session";

interface EvidenceProps {
  run: string;
  phase: PhaseView;
  gate: GateView;
  /** What is open at first. */
  first: Sight | null;
}

export function Evidence({ run, phase, gate, first }: EvidenceProps) {
  const say = useSay(words);
  const id = useId();
  const [open, setOpen] = useState<Sight | null>(first);
  const which: Which = { run, phase: phase.number, gate: gate.number };
  const has = gate.commit != null;
  // What a person was shown before, if they were.
  const before = phase.gates.findLast((it) => it.number < gate.number && it.request != null && it.commit != null);
  const sights: [Sight, string][] = [
    ["report", say("report")],
    ...(has ? ([["files", say("filesCount", { n: gate.files_count })], ["changes", say("changes")]] as [Sight, string][]) : []),
    ...(has && before ? ([["since", say("changesSince")]] as [Sight, string][]) : []),
    ["questions", say("questionsTitle", { n: phase.questions })],
    ["session", say("session")],
  ];
  return (
    <section className="phases-evidence stack" aria-label={say("evidence")}>
      <ul className="phases-sights">
        {sights.map(([sight, name]) => (
          <li key={sight}>
            <button
              type="button"
              className="button"
              aria-expanded={open === sight}
              aria-controls={open === sight ? id : undefined}
              onClick={() => setOpen(open === sight ? null : sight)}
            >
              <span aria-hidden="true">{open === sight ? "▾" : "▸"}</span> {name}
            </button>
          </li>
        ))}
      </ul>
      {open !== null && (
        <div id={id} className="phases-sight" tabIndex={0} role="group" aria-label={sights.find(([sight]) => sight === open)?.[1]}>
          {open === "report" && <Report which={which} phase={phase} gate={gate} />}
          {open === "files" && <Files which={which} gate={gate} />}
          {open === "changes" && <Diff path={pathOf("diff", which)} queryKey={keyOf("diff", which)} none={say("noChanges")} />}
          {open === "since" && before && (
            <Diff path={sincePath(which, before.number)} queryKey={keyOf("since", which)} none={say("noChangesSince")} />
          )}
          {open === "questions" && <Questions phase={phase} />}
          {open === "session" && phase.session != null && <Session id={phase.session} />}
        </div>
      )}
    </section>
  );
}

function Report({ which, phase, gate }: { which: Which; phase: PhaseView; gate: GateView }) {
  const say = useSay(words);
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="stack">
      <Gate phase={phase} gate={gate} />
      {gate.passed != null && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="small">{say("reportFile")}</summary>
          {isOpen && <Kept which={which} />}
        </details>
      )}
    </div>
  );
}

/** The report as it was written for people and for the agent. */
function Kept({ which }: { which: Which }) {
  const text = useText("report", which);
  if (text.error) return <Failure error={text.error} onAgain={() => void text.refetch()} />;
  if (!text.data) return <Loading />;
  return (
    <div className="phases-file-body">
      <Markdown text={text.data.text} />
    </div>
  );
}

function Questions({ phase }: { phase: PhaseView }) {
  const say = useSay(words);
  const asked = useAsked(phase.session ?? "");
  const questions = asked.data?.filter((it) => it.ask.kind !== "review").reverse();
  return (
    <div className="stack">
      {phase.questions > phase.questions_max && (
        <p className="attention">{say("overBudget", { n: phase.questions, max: phase.questions_max })}</p>
      )}
      {asked.error && <Failure error={asked.error} onAgain={() => void asked.refetch()} />}
      {asked.isPending && <Loading />}
      {questions?.length === 0 && <p className="dim">{say("noQuestions")}</p>}
      {questions && questions.length > 0 && (
        <ul className="phases-questions">
          {questions.map((request) => (
            <Question key={request.id} request={request} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Question({ request }: { request: RequestView }) {
  const say = useSay(words);
  const language = useLanguage();
  return (
    <li>
      <p>
        <Said text={askText(language, request)} lines />{" "}
        <span className="dim small">
          <Link href={`/requests/${request.id}`}>{request.id}</Link> · <Since at={request.opened_at_ms} ago />
        </span>
      </p>
      <p className={request.settled ? "strong" : "attention"}>
        <span aria-hidden="true">↩ </span>
        {request.settled ? <Said text={answerSaid(language, request.settled)} lines /> : say("unanswered")}
      </p>
    </li>
  );
}

function Session({ id }: { id: string }) {
  const say = useSay(words);
  return (
    <div className="stack">
      <p className="small">
        <Link href={`/sessions/${id}`}>
          {say("session")} {id}
        </Link>
      </p>
      <div className="inbox-terminal">
        <Terminal session={id} />
      </div>
    </div>
  );
}
