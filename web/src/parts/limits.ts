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

/** As the interface takes them. */
const SECONDS_MAX = 366 * 86_400;
const ATTEMPTS_MAX = 1_000;
/** More than anybody means. */
const DOLLARS_MAX = 1e6;
const TOKENS_MAX = 1e12;

/** Whether one of them, or a number of attempts beside them, is none that can be kept to. */
export function hasWrong(limits: Limits, attempts = ""): boolean {
  const isWrong = (given: number | undefined, least: number, most: number) =>
    given !== undefined && !(Number.isFinite(given) && given >= least && given <= most);
  return (
    isWrong(duration(limits.minutes), 1, SECONDS_MAX) ||
    isWrong(number(limits.dollars), 1e-9, DOLLARS_MAX) ||
    isWrong(scaled(limits.tokens), 1, TOKENS_MAX) ||
    isWrong(number(attempts), 1, ATTEMPTS_MAX)
  );
}

/** A number as people write it, with nothing but digits and a point. */
function number(text: string): number | undefined {
  const plain = text.replace(/[\s_$]/g, "").replace(/,(?=\d{3}\b)/g, "").replace(",", ".");
  if (plain === "") return undefined;
  return /^-?(?:\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
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
