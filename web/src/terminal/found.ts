// Lines that somebody looks for, by their numbers: which of them comes next. Lines come at the end and go at the top
// meanwhile, so that a place among them says nothing.
export interface Found {
  /** Nothing, if no line has it. */
  number: number | null;
  /** Which of them it is, counted from 0 and from the oldest. */
  nth: number;
  all: number;
}

/** The newest first: that is what one looks for in a log. Then an older one by 1, a newer one by -1, and round at the ends. */
export function another(numbers: number[], last: number | null, step: 1 | -1): Found {
  const all = numbers.length;
  const newest = all - 1;
  const older = () => numbers.findLastIndex((it) => it < (last ?? Infinity));
  const newer = () => numbers.findIndex((it) => it > (last ?? Infinity));
  const at = step === 1 ? older() : newer();
  const nth = at >= 0 ? at : step === 1 || last === null ? newest : 0;
  return { number: numbers[nth] ?? null, nth: Math.max(0, nth), all };
}
