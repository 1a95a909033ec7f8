// What somebody has filled in, and the wish that it makes.
import type { NewRun } from "../api/schema";
import { hasWrong, type Limits, limitsOf, UNLIMITED, whole } from "../parts/limits";
import type { Language } from "../words/words";

/** In the place of an agent's name. No agent is called so. */
export const COMMAND = "";
/** As on the command line. */
const ATTEMPTS = "10";

export interface Draft extends Limits {
  directory: string;
  agent: string;
  prompt: string;
  worktree: boolean;
  check: string;
  until: boolean;
  attempts: string;
  model: string;
}

export function blank(directory: string, agent: string): Draft {
  return {
    directory,
    agent,
    prompt: "",
    worktree: false,
    check: "",
    until: false,
    attempts: ATTEMPTS,
    ...UNLIMITED,
    model: "",
  };
}

export function wantedOf(draft: Draft, language: Language): NewRun {
  const isCommand = draft.agent === COMMAND;
  const wanted: NewRun = { directory: draft.directory.trim(), worktree: draft.worktree, korean: language === "ko" };
  if (isCommand) wanted.command = ["sh", "-c", draft.prompt];
  else Object.assign(wanted, { agent: draft.agent, prompt: draft.prompt });
  if (!isCommand && draft.model.trim() !== "") wanted.model = draft.model.trim();
  if (draft.check.trim() !== "") {
    wanted.check = draft.check.trim();
    if (draft.until) wanted.attempts_max = whole(draft.attempts) ?? Number(ATTEMPTS);
  }
  return { ...wanted, ...limitsOf(draft) };
}

/** Whether a limit is no number above zero. */
export function hasWrongNumber(draft: Draft): boolean {
  return hasWrong(draft, draft.until ? draft.attempts : "");
}
