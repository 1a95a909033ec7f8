// How a run, a phase and a gate are: a shape and words. Colour only repeats what they say.
import type { GateView, PhasesView, PhaseView } from "../api/schema";
import type { Status } from "../parts/status";
import { plain } from "../parts/Said";
import { type Language, type Say, sayShared, type SharedKey } from "../words/words";
import type { words } from "./words";

type Words = Say<(typeof words)["en"]>;

const RUN: Record<string, [shape: string, key: SharedKey, style: string]> = {
  working: ["●", "PhasesWorking", "good"],
  gate: ["◐", "PhasesGate", "good"],
  review: ["◆", "PhasesReview", "attention"],
  done: ["✓", "PhasesDone", "good"],
  rejected: ["✗", "PhasesRejected", "bad"],
  failed: ["✗", "PhasesFailed", "bad"],
  cancelled: ["✗", "PhasesCancelled", "dim"],
};

export function runState(language: Language, run: PhasesView): Status {
  // Whoever has asked something does not work.
  if (run.state === "working" && run.blocked_by.length > 0) {
    return { shape: "◆", said: sayShared(language, "StatusWaiting"), style: "attention" };
  }
  const [shape, key, style] = RUN[run.state] ?? ["·", "PhasesWorking", "plain"];
  return { shape, said: sayShared(language, key), style };
}

const PHASE: Record<string, [shape: string, key: SharedKey, style: string]> = {
  waiting: ["○", "PhaseWaiting", "dim"],
  preparing: ["◔", "PhasePreparing", "dim"],
  working: ["●", "PhaseWorking", "good"],
  gate: ["◐", "PhasesGate", "good"],
  review: ["◆", "PhasesReview", "attention"],
  ending: ["✓", "PhaseEnding", "good"],
  approved: ["✓", "PhaseApproved", "good"],
  ended: ["✗", "PhaseEnded", "bad"],
};

export function phaseState(language: Language, run: PhasesView, phase: PhaseView): Status {
  const isAsking = phase.number === run.current && phase.state !== "review" && run.blocked_by.length > 0;
  if (isAsking) return { shape: "◆", said: sayShared(language, "StatusWaiting"), style: "attention" };
  const [shape, key, style] = PHASE[phase.state] ?? ["·", "PhaseWorking", "plain"];
  return { shape, said: sayShared(language, key), style };
}

/** Since when a phase is as it is. */
export function phaseSince(phase: PhaseView): number | null {
  const gate = phase.gates.at(-1);
  if (phase.state === "gate" || phase.state === "review") return gate?.at_ms ?? phase.started_at_ms ?? null;
  return phase.approved?.at_ms ?? phase.ended_at_ms ?? phase.started_at_ms ?? null;
}

/** How long a phase has taken, or takes. */
export function phaseTime(run: PhasesView, phase: PhaseView, now: number): number | null {
  if (phase.started_at_ms == null) return null;
  return (phase.ended_at_ms ?? run.ended_at_ms ?? now) - phase.started_at_ms;
}

export function gateState(say: Words, gate: GateView): Status {
  if (gate.passed === true) return { shape: "✓", said: say("passed"), style: "good" };
  if (gate.passed === false) return { shape: "✗", said: say("notPassed"), style: "bad" };
  if (gate.step === "done") return { shape: "–", said: say("leftOff"), style: "dim" };
  return { shape: "◐", said: say("goesOn"), style: "good" };
}

/** What is being done at a gate, in words. */
export function stepSaid(say: Words, gate: GateView): string {
  switch (gate.step) {
    case "waiting":
      return say("nowWaiting");
    case "checkpoint":
      return say("nowCheckpoint");
    case "collect":
      return say("nowCollect");
    case "check": {
      const run = plain(gate.commands[gate.index ?? 0] ?? "");
      return say("nowCheck", { run, n: (gate.index ?? 0) + 1, all: gate.commands.length });
    }
    case "place":
      return say(gate.waits_for_login ? "nowLogin" : "nowPlace");
    case "verifier":
      return say("nowVerifier", { session: gate.verifier ?? "" });
    case "verdict":
      return say("nowVerdict");
    case "report":
      return say("nowReport");
    case "review":
      return say("nowReview");
    default:
      return "";
  }
}

export type StepState = "done" | "now" | "later" | "none";

/** The steps of a gate as people see them, in their order. */
export const STEPS = ["checkpoint", "collect", "checks", "verifier", "report", "review"] as const;

const PLACES: Record<string, number> = { waiting: -1, checkpoint: 0, collect: 1, check: 2, place: 3, verifier: 3, verdict: 3, report: 4, review: 5, done: 6 };

/** How far each step is. What was left out is not done. */
export function steps(phase: PhaseView, gate: GateView): StepState[] {
  const at = PLACES[gate.step] ?? 6;
  const isSkipped = [
    gate.checkpoint == null,
    gate.tree == null && gate.files.length === 0,
    gate.commands.length === 0 && gate.checks.length === 0,
    gate.rounds.length === 0,
    false,
    gate.request == null,
  ];
  return STEPS.map((step, index) => {
    if (index === at) return "now";
    if (index < at) return isSkipped[index] ? "none" : "done";
    return step === "verifier" && phase.verifier == null ? "none" : "later";
  });
}
