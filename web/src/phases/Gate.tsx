// One gate: how far it is, what it has found wrong, what commands said, and what a verifier saw.
import { useState } from "react";

import type { CriterionView, GateCheckView, GateProblemView, GateView, PhaseView, RoundView } from "../api/schema";
import { Link } from "../app/router";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Mark } from "../parts/status";
import { span } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { failureSaid, problemMore, problemSaid } from "./problems";
import { gateState, STEPS, steps, stepSaid } from "./state";
import { words } from "./words";

const WHY = { said: "whySaid", ended: "whyEnded", again: "whyAgain", changed: "whyChanged" } as const;

/** The head of a gate in one line. */
export function GateHead({ gate }: { gate: GateView }) {
  const say = useSay(words);
  const step = stepSaid(say, gate);
  return (
    <>
      <span className="strong">{say("gate", { n: gate.number })}</span> · <Mark status={gateState(say, gate)} />
      {step !== "" && <span> · {step}</span>}
      <span className="dim small">
        {" · "}
        <Since at={gate.ended_at_ms ?? gate.at_ms} ago />
      </span>
    </>
  );
}

export function Gate({ phase, gate }: { phase: PhaseView; gate: GateView }) {
  const say = useSay(words);
  const why = gate.why in WHY ? say(WHY[gate.why as keyof typeof WHY]) : gate.why;
  return (
    <div className="phases-gate stack">
      <p className={gate.why === "changed" || gate.why === "ended" ? "attention" : "dim"}>{why}</p>
      <Steps phase={phase} gate={gate} />
      <Problems problems={gate.problems} isKnown={gate.passed != null} />
      <Checks checks={gate.checks} />
      <Verifier phase={phase} gate={gate} />
      <Announced gate={gate} />
    </div>
  );
}

const SHAPES = { done: "✓", now: "◐", later: "○", none: "–" } as const;
const STATES = { done: "stateDone", now: "stateNow", later: "stateLater", none: "stateNone" } as const;

function Steps({ phase, gate }: { phase: PhaseView; gate: GateView }) {
  const say = useSay(words);
  const states = steps(phase, gate);
  return (
    <ol className="phases-gate-steps small">
      {STEPS.map((step, index) => {
        const state = states[index] ?? "later";
        return (
          <li key={step} className={state} aria-current={state === "now" ? "step" : undefined}>
            <span aria-hidden="true">{SHAPES[state]} </span>
            {say(`step${step}`)}
            <span className="only-read">: {say(STATES[state])}</span>
          </li>
        );
      })}
    </ol>
  );
}

interface ProblemsProps {
  problems: GateProblemView[];
  /** Whether the gate has come to its end. */
  isKnown: boolean;
  /** In a sentence each, where the whole stands beside it. */
  isBrief?: boolean;
}

export function Problems({ problems, isKnown, isBrief = false }: ProblemsProps) {
  const say = useSay(words);
  const language = useLanguage();
  if (problems.length === 0) return isKnown ? <p className="good">✓ {say("nothingWrong")}</p> : null;
  return (
    <section className="stack">
      <h3>
        {say("wrong")} ({problems.length})
      </h3>
      <ul className="phases-problems">
        {problems.map((problem, index) => {
          const more = isBrief ? "" : problemMore(problem);
          return (
            <li key={index}>
              <span aria-hidden="true" className="bad">
                ✗{" "}
              </span>
              <Said text={problemSaid(language, problem)} />
              {more !== "" && <Output text={more} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Somebody else's lines: the last of them are what one looks for. */
function Output({ text }: { text: string }) {
  return (
    <pre className="phases-output" tabIndex={0}>
      <Said text={text.trimEnd()} lines />
    </pre>
  );
}

function Checks({ checks }: { checks: GateCheckView[] }) {
  const say = useSay(words);
  if (checks.length === 0) return null;
  return (
    <section className="stack">
      <h3>{say("checks")}</h3>
      <ul className="phases-checks">
        {checks.map((check, index) => (
          <Check key={index} check={check} />
        ))}
      </ul>
    </section>
  );
}

const KINDS = { setup: "setup", check: "check", tests: "tests" } as const;

function Check({ check }: { check: GateCheckView }) {
  const say = useSay(words);
  const language = useLanguage();
  const { junit } = check;
  const hasFailed = check.code !== 0 || check.overdue || (junit != null && junit.failures + junit.errors > 0);
  const [isOpen, setOpen] = useState(hasFailed);
  const kind = check.kind in KINDS ? say(KINDS[check.kind as keyof typeof KINDS]) : check.kind;
  return (
    <li>
      <p>
        <span aria-hidden="true" className={hasFailed ? "bad" : "good"}>
          {hasFailed ? "✗" : "✓"}{" "}
        </span>
        <code>
          <Said text={check.run} />
        </code>{" "}
        <span className="dim small">
          {kind} · {check.overdue ? say("overdue") : say("exitCode", { code: check.code })} · {span(language, check.time_ms)}
        </span>
      </p>
      {junit != null && (
        <p className="small">
          {say("junit", {
            tests: junit.tests,
            passed: Math.max(0, junit.tests - junit.failures - junit.errors - junit.skipped),
            failed: junit.failures + junit.errors,
            skipped: junit.skipped,
          })}
        </p>
      )}
      {junit != null && junit.failed.length > 0 && (
        <ul className="small">
          {junit.failed.map((name, index) => (
            <li key={index} className="bad">
              ✗ <Said text={name} className="mono" />
            </li>
          ))}
        </ul>
      )}
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="small">{say("output")}</summary>
        {isOpen && (check.output.trim() === "" ? <p className="dim small">{say("noOutput")}</p> : <Output text={check.output} />)}
      </details>
    </li>
  );
}

function Verifier({ phase, gate }: { phase: PhaseView; gate: GateView }) {
  const say = useSay(words);
  const isOver = gate.passed != null;
  if (gate.rounds.length === 0 && !isOver) return null;
  return (
    <section className="stack">
      <h3>{say("verifierTitle")}</h3>
      {gate.rounds.length === 0 && <p className="dim">{say(phase.verifier == null ? "noVerifier" : "notAsked")}</p>}
      {gate.rounds.map((round, index) => (
        <Round key={index} round={round} number={gate.rounds.length > 1 ? index + 1 : null} />
      ))}
    </section>
  );
}

function Round({ round, number }: { round: RoundView; number: number | null }) {
  const say = useSay(words);
  const language = useLanguage();
  return (
    <div className="stack">
      {(number !== null || round.session != null) && (
        <p className="small dim">
          {number !== null && `${say("round", { n: number })} `}
          {round.session != null && <Link href={`/sessions/${round.session}`}>{round.session}</Link>}
        </p>
      )}
      {round.failure != null && (
        <p className="bad">
          ✗ <Said text={failureSaid(language, round.failure)} />
        </p>
      )}
      {round.criteria.length > 0 && (
        <ul className="phases-criteria">
          {round.criteria.map((it) => (
            <Criterion key={it.id} criterion={it} />
          ))}
        </ul>
      )}
      {round.summary != null && round.summary !== "" && (
        <p>
          <Said text={round.summary} lines />
        </p>
      )}
    </div>
  );
}

function Criterion({ criterion }: { criterion: CriterionView }) {
  const say = useSay(words);
  return (
    <li>
      <p>
        <span className={criterion.passed ? "good" : "bad"}>
          <span aria-hidden="true">{criterion.passed ? "✓" : "✗"} </span>
          <span className="only-read">{say(criterion.passed ? "metYes" : "metNo")}: </span>
        </span>
        <Said text={criterion.text === "" ? criterion.id : criterion.text} />
      </p>
      <p className="small dim">
        <Said text={criterion.evidence} lines />
      </p>
      {criterion.files.length > 0 && (
        <p className="small mono dim">
          <Said text={criterion.files.join(", ")} />
        </p>
      )}
    </li>
  );
}

function Announced({ gate }: { gate: GateView }) {
  const say = useSay(words);
  if (!gate.announced) return null;
  const { documents } = gate.announced;
  return (
    <dl className="facts small">
      <dt>{say("announced")}</dt>
      <dd>{documents.length === 0 ? say("announcedNothing") : <Said text={documents.join(", ")} className="mono" />}</dd>
      {gate.extra.length > 0 && (
        <>
          <dt>{say("extra")}</dt>
          <dd>
            <Said text={gate.extra.join(", ")} className="mono" />
          </dd>
        </>
      )}
    </dl>
  );
}
