// What somebody has filled in, and the wish that it makes.
import type { NewRun } from "../api/schema";
import type { Language } from "../words/words";

/** In the place of an agent's name. No agent is called so. */
export const COMMAND = "";
/** As on the command line. */
const ATTEMPTS = "10";

export interface Draft {
  directory: string;
  agent: string;
  prompt: string;
  worktree: boolean;
  check: string;
  until: boolean;
  attempts: string;
  minutes: string;
  dollars: string;
  tokens: string;
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
    minutes: "",
    dollars: "",
    tokens: "",
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
  const minutes = number(draft.minutes);
  if (minutes !== undefined) wanted.time_s_max = Math.round(minutes * 60);
  const dollars = number(draft.dollars);
  if (dollars !== undefined) wanted.cost_usd_max = dollars;
  const tokens = whole(draft.tokens);
  if (tokens !== undefined) wanted.tokens_max = tokens;
  return wanted;
}

/** Whether a limit is no number above zero. */
export function hasWrongNumber(draft: Draft): boolean {
  const given = [draft.minutes, draft.dollars, draft.tokens, ...(draft.until ? [draft.attempts] : [])];
  return given.map(number).some((it) => it !== undefined && !(it > 0));
}

/** A number as people write it. */
function number(text: string): number | undefined {
  const plain = text.replace(/[\s_$]/g, "").replace(/,(?=\d{3}\b)/g, "").replace(",", ".");
  if (plain === "") return undefined;
  const scale = /k$/i.test(plain) ? 1e3 : /m$/i.test(plain) ? 1e6 : 1;
  return Number(plain.replace(/[km]$/i, "")) * scale;
}

function whole(text: string): number | undefined {
  const found = number(text);
  return found === undefined ? undefined : Math.round(found);
}
