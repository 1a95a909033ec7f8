// What can be done with a request: one place that turns its form into buttons, keys and fields. What an answer means is
// decided by the server alone.
import type { NewAnswer, RequestView } from "../api/schema";
import { ruleKey } from "../parts/rules";
import type { Say } from "../words/words";
import type { words } from "./words";

export interface Choice {
  id: string;
  /** As it stands on the button; somebody else's words where an agent has named it. */
  label: string;
  isOwn: boolean;
  isDefault: boolean;
  /** Whether it lets the agent do or have something. */
  approves: boolean;
  /** The key that chooses it, if there is one. */
  key: string | null;
  /** What is sent, with what was written beside it. */
  answer: (written: string) => NewAnswer;
}

/** What is written in the field below the choices. */
export type Purpose = "answer" | "own" | "remark" | "reason" | "denial" | "tell" | "cost" | "tokens" | "time" | "path";

export interface Plan {
  choices: Choice[];
  purpose: Purpose | null;
  /** Sends what was written by itself; without it, the words go along with a choice. */
  written: ((text: string) => NewAnswer) | null;
  wantsValues: boolean;
  wantsFile: boolean;
}

/** No value begins with it, and nothing is typed by it. */
export const DENY_KEY = "Delete";
const NUMBERS_MAX = 9;

type Words = Say<(typeof words)["en"]>;

/** The number that chooses the one at this place. */
function numberAt(index: number): string | null {
  return index < NUMBERS_MAX ? String(index + 1) : null;
}

export function dependencyType(request: RequestView): string | null {
  const type = request.ask.fields["type"];
  return request.ask.kind === "dependency" && typeof type === "string" ? type : null;
}

export function plan(request: RequestView, say: Words): Plan {
  const { ask } = request;
  const nothing = { purpose: null, written: null, wantsValues: false, wantsFile: false };
  switch (ask.kind) {
    case "question":
    case "ask_user":
      return asked(request, say);
    case "dependency":
      return needed(request, say);
    case "permission":
      return { ...nothing, choices: offered(request, say), purpose: "denial", written: denied };
    case "error":
    case "fault":
      return { ...nothing, choices: offered(request, say), purpose: "tell", written: (value) => ({ value }) };
    case "cost_over":
    case "tokens_over":
    case "time_over": {
      const purpose = ask.kind === "cost_over" ? "cost" : ask.kind === "tokens_over" ? "tokens" : "time";
      const written = (text: string) => ({ value: `raise ${text.trim()}` });
      return { ...nothing, choices: offered(request, say), purpose, written };
    }
    default:
      return { ...nothing, choices: offered(request, say) };
  }
}

function asked(request: RequestView, say: Words): Plan {
  const { options } = request.ask;
  const isConfirmation = options.length === 2 && options[0] === "Yes" && options[1] === "No";
  const choices = options.map((option, index): Choice => {
    const answer = (written: string): NewAnswer =>
      isConfirmation ? { decision: index === 0, ...(written.trim() === "" ? {} : { value: written }) } : { value: option };
    return {
      id: String(index),
      label: option,
      isOwn: false,
      isDefault: request.ask.default === option,
      approves: index === 0 && isConfirmation,
      key: numberAt(index),
      answer,
    };
  });
  const isDefaultOffered = request.ask.default != null && options.includes(request.ask.default);
  if (request.ask.skippable && !isDefaultOffered) choices.push(skip(request, say));
  const files = { wantsValues: false, wantsFile: false };
  if (isConfirmation) return { choices, purpose: "remark", written: null, ...files };
  const purpose = options.length === 0 ? "answer" : "own";
  return { choices, purpose, written: (value) => ({ value }), ...files };
}

function needed(request: RequestView, say: Words): Plan {
  const { ask } = request;
  const type = dependencyType(request);
  const wantsValues = type === "api_key" || type === "env_variable" || type === "service";
  const wantsFile = type === "file";
  // Whoever means to type a value and is in no field would settle the card by its first letter: no number chooses anything.
  const deny: Choice = { id: "deny", label: say("deny"), isOwn: true, isDefault: false, approves: false, key: DENY_KEY, answer: denied };
  const typed = ask.skippable ? [skip(request, say), deny] : [deny];
  const isTyped = wantsValues || wantsFile;
  const choices = isTyped ? typed : offered(request, say);
  // Beside a field for a value, words wait for the choice: a value that is typed into the wrong one must not go out.
  return { choices, purpose: isTyped ? "reason" : "denial", written: isTyped ? null : denied, wantsValues, wantsFile };
}

/** Declines it: the agent goes on with the default, or without. */
function skip({ ask }: RequestView, say: Words): Choice {
  const label = ask.default == null ? say("without") : say("withDefault", { default: ask.default });
  return { id: "skip", label, isOwn: true, isDefault: false, approves: false, key: null, answer: () => ({ skip: true }) };
}

function denied(written: string): NewAnswer {
  return written.trim() === "" ? { decision: false } : { decision: false, value: written };
}

/** The words of Ostler's own options, said in the language of the page and sent as they are. */
function offered(request: RequestView, say: Words): Choice[] {
  const said: Record<string, string> = {
    allow: say("allow"),
    approve: say("approve"),
    deny: say("deny"),
    skip: say("without"),
    retry: say("retry"),
    continue: say("goOn"),
    fail: say("fail"),
    raise: say("raise"),
    stop: say("stop"),
  };
  // A permission rule says exactly what it allows, in the words of whoever asks.
  const rules = new Map((request.ask.rules ?? []).map((rule) => [rule.option, rule]));
  const ruled = (option: string) => {
    const rule = rules.get(option);
    return rule && say("RuleOption", { rule: say(ruleKey(rule.scope), { tool: rule.tool, text: rule.text }) });
  };
  // Nothing would come of a package that cannot be installed here. The others keep their numbers.
  const isImpossible = (option: string) => option === "approve" && request.ask.form?.problem != null;
  const choices = request.ask.options.map((option, index) => ({
    id: String(index),
    label: ruled(option) ?? said[option] ?? option,
    isOwn: option in said,
    isDefault: request.ask.default === option,
    approves: rules.has(option) || ["allow", "approve", "continue", "raise"].includes(option),
    key: numberAt(index),
    answer: (written: string) => (option === "deny" ? denied(written) : { value: option }),
  }));
  return choices.filter((_, index) => !isImpossible(request.ask.options[index] ?? ""));
}
