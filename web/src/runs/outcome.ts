// How a run is: that of its session while it goes on, else how it ended.
import type { RunView } from "../api/schema";
import { statusOf } from "../parts/status";
import type { Language, Say } from "../words/words";
import type { words } from "./words";

export interface RunState {
  shape: string;
  said: string;
  style: string;
}

export function runState(language: Language, say: Say<typeof words.en>, run: RunView): RunState {
  const { outcome } = run;
  if (!outcome) {
    const session = run.sessions.at(-1);
    return session ? statusOf(language, session) : { shape: "●", said: say("running"), style: "plain" };
  }
  switch (outcome.outcome) {
    case "completed":
      return { shape: "✓", said: say(outcome.verified ? "verified" : "unverified"), style: "good" };
    case "failed":
      return { shape: "✗", said: say("failed"), style: "bad" };
    case "cancelled":
      return { shape: "✗", said: say("cancelled"), style: "dim" };
  }
}
