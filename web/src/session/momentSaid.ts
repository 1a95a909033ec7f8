// A moment in words: a shape, a sentence of ours, and what somebody else said in it.
import type { SettledView } from "../api/schema";
import { answerSaid, reason } from "../parts/status";
import { type Language, type Say, sayShared, type SharedKey } from "../words/words";
import type { Moment, MomentKind } from "./timeline";
import type { words } from "./words";

type Own = keyof typeof words.en & string;

export interface Told {
  shape: string;
  style: "accent" | "good" | "bad" | "dim" | "plain";
  said: string;
  /** In somebody else's words. */
  about: string;
}

const LOOKS: Record<MomentKind, [shape: string, style: Told["style"], key: Own]> = {
  begun: ["▷", "plain", "mBegun"],
  launched: ["▷", "dim", "mLaunched"],
  asked: ["◆", "accent", "mAsked"],
  askedAgain: ["◆", "dim", "mAskedAgain"],
  settled: ["↩", "plain", "mAnswered"],
  expired: ["◷", "dim", "mExpired"],
  written: ["✎", "plain", "mWritten"],
  stopped: ["‖", "dim", "mStopped"],
  stalled: ["‖", "bad", "mStalled"],
  paused: ["‖", "plain", "mPaused"],
  unpaused: ["▷", "plain", "mUnpaused"],
  parked: ["◷", "plain", "mParked"],
  unparked: ["▷", "dim", "mUnparked"],
  limited: ["◷", "bad", "mLimited"],
  step: ["·", "plain", "mStep"],
  thinAsked: ["→", "plain", "mThinAsked"],
  thinAnswered: ["←", "plain", "mThinAnswered"],
  raised: ["+", "plain", "mRaised"],
  installed: ["+", "good", "mInstalled"],
  notInstalled: ["✗", "bad", "mNotInstalled"],
  checking: ["○", "dim", "mChecking"],
  checkPassed: ["✓", "good", "mCheckPassed"],
  checkFailed: ["✗", "bad", "mCheckFailed"],
  kept: ["▪", "plain", "mKept"],
  restored: ["↶", "plain", "mRestored"],
  notRestored: ["✗", "bad", "mNotRestored"],
  worktree: ["⋎", "plain", "mMerged"],
  secretFound: ["!", "bad", "mSecretFound"],
  secretUnchecked: ["!", "dim", "mSecretUnchecked"],
  gateBegun: ["◐", "plain", "mGate"],
  phaseReturned: ["↩", "plain", "mReturned"],
  phaseApproved: ["✓", "good", "mApproved"],
  exited: ["·", "dim", "mExited"],
  lost: ["⚡", "bad", "mLost"],
  notStarted: ["✗", "bad", "mNotStarted"],
  cancelled: ["✗", "dim", "mCancelled"],
  resumed: ["▷", "plain", "mResumed"],
  completed: ["✓", "good", "mCompleted"],
  failed: ["✗", "bad", "mFailed"],
};

const ASKS: Record<string, Own> = {
  dependency: "mNeeds",
  error: "mError",
  fault: "mFault",
  permission: "mPermission",
  stall: "mStall",
  time_over: "mTimeOver",
  cost_over: "mCostOver",
  tokens_over: "mTokensOver",
  review: "mReview",
};

const SETTLED: Record<string, Own> = {
  expiry: "mSettledExpiry",
  repetition: "mSettledRepetition",
  vault: "mSettledVault",
  end: "mSettledEnd",
  limit: "mSettledLimit",
  change: "mSettledChange",
};

const WHYS: Record<string, SharedKey> = {
  request: "WhyRequest",
  time: "WhyTime",
  person: "WhyPerson",
  rest: "WhyRest",
  restore: "WhyRestore",
  limit: "WhyLimit",
  phase: "WhyPhase",
};

const WORKTREES: Record<string, [Own, Told["style"]]> = {
  testing: ["mTesting", "plain"],
  merged: ["mMerged", "good"],
  not_merged: ["mNotMerged", "bad"],
  discarded: ["mDiscarded", "plain"],
  not_discarded: ["mNotDiscarded", "bad"],
};

const CAUSES: Record<string, SharedKey> = { bring: "CauseBring", resume: "CauseResume", attempt: "CauseAttempt" };

export function told(language: Language, say: Say<typeof words.en>, moment: Moment): Told {
  const [shape, style, key] = LOOKS[moment.kind];
  const bare = say as (key: Own, values?: Record<string, string | number>) => string;
  const base: Told = { shape, style, said: bare(key, { n: moment.word, code: moment.word, id: moment.checkpoint ?? "" }), about: moment.text };
  switch (moment.kind) {
    case "asked":
      return { ...base, said: bare(ASKS[moment.word] ?? "mAsked") };
    case "settled": {
      const isAnswered = moment.word === "person" || moment.word === "repetition";
      const about = isAnswered ? answerSaid(language, { answer: moment.data } as SettledView) : "";
      return { ...base, said: bare(SETTLED[moment.word] ?? "mAnswered"), about };
    }
    case "launched": {
      const cause = CAUSES[String(moment.data)];
      if (!cause) return base;
      return { ...base, said: say("mLaunchedCause", { n: moment.word, cause: sayShared(language, cause) }) };
    }
    case "kept": {
      const why = WHYS[moment.word];
      return { ...base, about: why ? sayShared(language, why) : "" };
    }
    case "checkFailed":
      return { ...base, said: moment.word === "" ? say("mCheckEnded") : base.said };
    case "exited":
      if (moment.word !== "" && moment.word !== "0") return { ...base, said: say("mExitedCode", { code: moment.word }) };
      if (typeof moment.data === "number") return { ...base, said: say("mExitedSignal", { signal: moment.data }) };
      return base;
    case "worktree": {
      const [state, look] = WORKTREES[moment.word] ?? ["mMerged", "plain"];
      return { ...base, said: bare(state), style: look };
    }
    case "completed":
      return { ...base, about: "" };
    case "failed":
      return { ...base, about: reason(language, (moment.data as { reason?: unknown }).reason) };
    default:
      return base;
  }
}
