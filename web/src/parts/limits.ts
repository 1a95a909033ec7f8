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
  const [seconds, dollars, tokens] = [duration(limits.minutes), number(limits.dollars), scaled(limits.tokens)];
  return {
    ...(seconds !== undefined && { time_s_max: Math.round(seconds) }),
    ...(dollars !== undefined && { cost_usd_max: dollars }),
    ...(tokens !== undefined && { tokens_max: Math.round(tokens) }),
  };
}

/** Whether one of them, or another number beside them, is none above zero. */
export function hasWrong(limits: Limits, other = ""): boolean {
  const given = [duration(limits.minutes), number(limits.dollars), scaled(limits.tokens), number(other)];
  return given.some((it) => it !== undefined && !(it > 0));
}

/** A number as people write it. */
function number(text: string): number | undefined {
  const plain = text.replace(/[\s_$]/g, "").replace(/,(?=\d{3}\b)/g, "").replace(",", ".");
  return plain === "" ? undefined : Number(plain);
}

/** One of many, in thousands or millions. */
function scaled(text: string): number | undefined {
  const scale = /k\s*$/i.test(text) ? 1e3 : /m\s*$/i.test(text) ? 1e6 : 1;
  const found = number(text.replace(/[km]\s*$/i, ""));
  // A letter alone is no number.
  return found === undefined ? (text.trim() === "" ? undefined : NaN) : found * scale;
}

const SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;

/** So many seconds: `90` are minutes, `90m` and `1h30m` say it themselves. */
export function duration(text: string): number | undefined {
  const plain = text.trim().toLowerCase().replace(/\s+/g, "");
  const minutes = number(plain);
  if (minutes === undefined || !Number.isNaN(minutes)) return minutes === undefined ? undefined : minutes * 60;
  const parts = /^(?:(\d+(?:[.,]\d+)?)d)?(?:(\d+(?:[.,]\d+)?)h)?(?:(\d+(?:[.,]\d+)?)m(?:in)?)?(?:(\d+(?:[.,]\d+)?)s)?$/.exec(plain);
  if (!parts) return NaN;
  return (["d", "h", "m", "s"] as const).reduce((sum, unit, index) => sum + (number(parts[index + 1] ?? "") ?? 0) * SECONDS[unit], 0);
}

export function whole(text: string): number | undefined {
  const found = number(text);
  return found === undefined ? undefined : Math.round(found);
}
