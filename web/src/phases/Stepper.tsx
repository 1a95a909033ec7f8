// The phases of a run, one after another: how each is, how long it took, what it cost, and how often it was sent back.
import "./phases.css";

import type { ReactNode } from "react";

import { useStatus } from "../api/queries";
import type { PhasesView, PhaseView } from "../api/schema";
import { dollars, grouped } from "../parts/request";
import { plain, Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Mark } from "../parts/status";
import { span, useNow } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { usePhases } from "./queries";
import { phaseSince, phaseState, phaseTime, runState } from "./state";
import { words } from "./words";

interface StepperProps {
  run: PhasesView;
  /** The one whose gates are shown. */
  chosen: number;
  onChoose: (phase: number) => void;
}

export function Stepper({ run, chosen, onChoose }: StepperProps) {
  const say = useSay(words);
  return (
    <ol className="phases-steps" aria-label={say("phases")}>
      {run.phases.map((phase) => (
        <Step key={phase.number} run={run} phase={phase} isChosen={phase.number === chosen} onChoose={() => onChoose(phase.number)} />
      ))}
    </ol>
  );
}

function Step({ run, phase, isChosen, onChoose }: { run: PhasesView; phase: PhaseView; isChosen: boolean; onChoose: () => void }) {
  const say = useSay(words);
  const status = phaseState(useLanguage(), run, phase);
  const isCurrent = phase.number === run.current;
  const since = useWaitedSince(run) ?? phaseSince(phase);
  return (
    <li className={`phases-step ${status.style}`} aria-current={isCurrent ? "step" : undefined}>
      <button type="button" className="phases-name" aria-pressed={isChosen} onClick={onChoose}>
        <span aria-hidden="true" className="phases-shape">
          {status.shape}
        </span>
        <Said text={say("phaseOf", { number: phase.number, name: phase.name })} className="strong" />
      </button>
      <p className="small">
        <span className={status.style}>{status.said}</span>
        {isCurrent && run.ended_at_ms == null && since !== null && (
          <span className="dim">
            {" · "}
            <Since at={since} />
          </span>
        )}
      </p>
      {phase.started_at_ms != null && <Counts run={run} phase={phase} />}
    </li>
  );
}

/** Since when somebody is waited for. */
function useWaitedSince(run: PhasesView | undefined): number | null {
  const open = useStatus().data?.needs_you ?? [];
  return open.find((it) => run?.blocked_by.includes(it.id))?.opened_at_ms ?? null;
}

/** Time and cost, and what is limited. */
function Counts({ run, phase }: { run: PhasesView; phase: PhaseView }) {
  const say = useSay(words);
  const language = useLanguage();
  const time = phaseTime(run, phase, useNow(15_000));
  const { cost_usd: cost, tokens } = phase.usage;
  const used = cost != null ? dollars(cost) : tokens != null ? say("used", { n: grouped(tokens) }) : null;
  return (
    <ul className="phases-counts small dim">
      {time !== null && (
        <li>
          <span className="only-read">{say("time")}: </span>
          {span(language, time)}
        </li>
      )}
      {used !== null && (
        <li>
          <span className="only-read">{say("cost")}: </span>
          {used}
        </li>
      )}
      <li className={phase.reworks >= phase.rework_max && phase.reworks > 0 ? "attention" : ""}>
        {say("reworks", { n: phase.reworks, max: phase.rework_max })}
      </li>
      <li className={phase.questions > phase.questions_max ? "attention" : ""}>
        {say("questions", { n: phase.questions, max: phase.questions_max })}
      </li>
    </ul>
  );
}

/** How the whole is; `fallback` stands there until that is known. */
export function PhasesMark({ id, fallback, since = false }: { id: string; fallback: ReactNode; since?: boolean }) {
  const language = useLanguage();
  const run = usePhases(id).data;
  const waited = useWaitedSince(run);
  if (!run) return fallback;
  const phase = run.phases.find((it) => it.number === run.current);
  const at = run.ended_at_ms ?? waited ?? (phase ? phaseSince(phase) : null) ?? run.created_at_ms;
  return <Mark status={runState(language, run)} since={since ? at : null} />;
}

/** The same in one line, for a list: shapes and names. */
export function BriefOf({ id }: { id: string }) {
  const language = useLanguage();
  const run = usePhases(id).data;
  if (!run) return null;
  return (
    <ol className="phases-brief small">
      {run.phases.map((phase) => {
        const { shape, said, style } = phaseState(language, run, phase);
        return (
          <li key={phase.number} className={style} title={`${plain(phase.name)}: ${said}`}>
            <span aria-hidden="true">{shape} </span>
            <Said text={phase.name} />
            <span className="only-read">: {said}</span>
          </li>
        );
      })}
    </ol>
  );
}
