// A run that goes through phases: the stepper, what it waits for, and the gates of the phase that somebody looks at.
import "./phases.css";

import { useState } from "react";

import { route } from "../api/client";
import { useWish } from "../api/queries";
import type { ExportView, GateView, NewExport, PhasesView, PhaseView } from "../api/schema";
import { go, Link, useSearch } from "../app/router";
import { plain, Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { Evidence } from "./Evidence";
import { Gate, GateHead } from "./Gate";
import { Now } from "./Now";
import { usePhases } from "./queries";
import { Stepper } from "./Stepper";
import { words } from "./words";

export default function Phases({ id }: { id: string }) {
  const run = usePhases(id);
  const wanted = Number(useSearch().get("phase"));
  if (run.error && !run.data) return <Failure error={run.error} onAgain={() => void run.refetch()} />;
  if (!run.data) return <Loading />;
  const { data } = run;
  const phase = data.phases.find((it) => it.number === wanted) ?? data.phases.find((it) => it.number === data.current);
  const choose = (number: number) => go(`/runs/${id}?phase=${number}`, "replace");
  return (
    <div className="stack phases">
      <Stepper run={data} chosen={phase?.number ?? 0} onChoose={choose} />
      <Now run={data} />
      {phase && <Shown key={phase.number} run={data} phase={phase} />}
      {data.phases.some((it) => it.approved) && <Export run={data} />}
    </div>
  );
}

/** One phase: what is expected of it, and its gates, the last one open. */
function Shown({ run, phase }: { run: PhasesView; phase: PhaseView }) {
  const say = useSay(words);
  const gates = [...phase.gates].reverse();
  const [last, ...earlier] = gates;
  return (
    <section className="panel stack" aria-labelledby={`phase-${phase.number}`}>
      <h2 id={`phase-${phase.number}`}>
        <Said text={say("phaseOf", { number: phase.number, name: phase.name })} />
      </h2>
      <Facts phase={phase} />
      {phase.started_at_ms == null && <p className="dim">{say("notBegun")}</p>}
      {phase.started_at_ms != null && !last && <p className="dim">{say("noGate")}</p>}
      {last && (
        <div className="stack phases-last">
          <p>
            <GateHead gate={last} />
          </p>
          <Evidence run={run.run} phase={phase} gate={last} first="report" />
        </div>
      )}
      {earlier.length > 0 && (
        <section className="stack">
          <h3>{say("earlier")}</h3>
          {earlier.map((gate) => (
            <Earlier key={gate.number} run={run.run} phase={phase} gate={gate} />
          ))}
        </section>
      )}
    </section>
  );
}

function Earlier({ run, phase, gate }: { run: string; phase: PhaseView; gate: GateView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="phases-file" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>
          <GateHead gate={gate} />
        </span>
      </summary>
      {isOpen && (
        <div className="phases-file-body">
          {gate.commit == null ? <Gate phase={phase} gate={gate} /> : <Evidence run={run} phase={phase} gate={gate} first="report" />}
        </div>
      )}
    </details>
  );
}

function Facts({ phase }: { phase: PhaseView }) {
  const say = useSay(words);
  const wanted = phase.artifacts.map(({ glob, min, max }) => {
    const limits = [min > 1 ? say("atLeast", { n: min }) : "", max == null ? "" : say("atMost", { n: max })].filter((it) => it !== "");
    return plain(glob) + (limits.length === 0 ? "" : ` (${limits.join(", ")})`);
  });
  return (
    <dl className="facts small">
      <dt>{say("worker")}</dt>
      <dd>
        <Said text={phase.agent} />
      </dd>
      <dt>{say("verifies")}</dt>
      <dd>{phase.verifier == null ? say("none") : <Said text={phase.verifier} />}</dd>
      {phase.sessions.length > 0 && (
        <>
          <dt>{say("sessions")}</dt>
          <dd className="row">
            {phase.sessions.map((id) => (
              <Link key={id} href={`/sessions/${id}`}>
                {id}
              </Link>
            ))}
          </dd>
        </>
      )}
      {wanted.length > 0 && (
        <>
          <dt>{say("expects")}</dt>
          <dd>
            <ul className="mono phases-wanted-files">
              {wanted.map((it) => (
                <li key={it}>
                  <Said text={it} />
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
      {phase.approved && (
        <>
          <dt>{say("approvedTree")}</dt>
          <dd>
            <Since at={phase.approved.at_ms} ago /> · <span className="mono">{say("tree", { tree: phase.approved.tree.slice(0, 12) })}</span>
            {phase.approved.insisted && <span className="attention"> · {say("insisted")}</span>}
          </dd>
        </>
      )}
    </dl>
  );
}

function Export({ run }: { run: PhasesView }) {
  const say = useSay(words);
  const make = useWish<ExportView, NewExport>((body) => ({ path: route`/phases/${run.run}/export`, body }));
  return (
    <section className="stack">
      <p className="row">
        <button type="button" className="button" disabled={make.isPending} onClick={() => make.mutate({})}>
          {say("export")}
        </button>
        <span className="small dim">{say("exportHint")}</span>
      </p>
      {make.error && <Failure error={make.error} wrote onAgain={() => make.mutate({})} />}
      {make.data && (
        <div className="notice" role="status">
          <p>
            <Said text={say("exported", { branch: make.data.branch, n: make.data.commits.length })} />
          </p>
          <ul className="small">
            {make.data.commits.map((it) => (
              <li key={it.phase}>
                <code>{it.commit.slice(0, 12)}</code> <Said text={say("phaseOf", { number: it.phase, name: it.name })} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
