// How a run is: that of its session while it goes on, else how it ended. One word for one state, as on the command line.
import type { RunView } from "../api/schema";
import { endOf, type Status, statusOf } from "../parts/status";
import { type Language, sayShared } from "../words/words";

export function runState(language: Language, run: RunView): Status {
  if (run.outcome) return endOf(language, run.outcome);
  const session = run.sessions.at(-1);
  return session ? statusOf(language, session) : { shape: "●", said: sayShared(language, "StatusStarting"), style: "plain" };
}
