// How much a run may use before somebody is asked, as people write it.
import type { NewRun } from "../api/schema";

export interface Limits {
  minutes: string;
  dollars: string;
  tokens: string;
}

export const UNLIMITED: Limits = { minutes: "", dollars: "", tokens: "" };

/** As the interface calls them. What is not limited is not named. */
export function limitsOf(limits: Limits): Pick<NewRun, "time_s_max" | "cost_usd_max" | "tokens_max"> {
  const [minutes, dollars, tokens] = [number(limits.minutes), number(limits.dollars), whole(limits.tokens)];
  return {
    ...(minutes !== undefined && { time_s_max: Math.round(minutes * 60) }),
    ...(dollars !== undefined && { cost_usd_max: dollars }),
    ...(tokens !== undefined && { tokens_max: tokens }),
  };
}

/** Whether one of them is no number above zero. */
export function hasWrong(texts: string[]): boolean {
  return texts.map(number).some((it) => it !== undefined && !(it > 0));
}

/** A number as people write it. */
function number(text: string): number | undefined {
  const plain = text.replace(/[\s_$]/g, "").replace(/,(?=\d{3}\b)/g, "").replace(",", ".");
  if (plain === "") return undefined;
  const scale = /k$/i.test(plain) ? 1e3 : /m$/i.test(plain) ? 1e6 : 1;
  return Number(plain.replace(/[km]$/i, "")) * scale;
}

export function whole(text: string): number | undefined {
  const found = number(text);
  return found === undefined ? undefined : Math.round(found);
}
