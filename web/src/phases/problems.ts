// What can be wrong at a gate, in the reader's language. Chosen by the word that does not change; one that is not known
// here is said in the words of the server.
import type { GateProblemView } from "../api/schema";
import { plain } from "../parts/Said";
import { reason } from "../parts/status";
import { span } from "../parts/time";
import { fill, type Language } from "../words/words";
import { said } from "./problemWords";

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** A sentence with what somebody else said in it, which stays text. */
function filled(language: Language, sentence: string, fields: Fields): string {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" || typeof value === "number") values[name] = plain(String(value));
  }
  const names = values["section"]?.split("|") ?? [];
  // Where a section has several names, the Korean one stands behind the English one.
  if (names.length > 0) values["section"] = (language === "ko" ? names.at(-1) : names[0])?.trim() ?? "";
  const time = fields["time_ms_max"];
  if (typeof time === "number") values["time"] = span(language, time);
  values["reason"] = fields["reason"] == null ? "" : plain(reason(language, fields["reason"]));
  return fill(sentence, values).trim();
}

/** Why a verifier has given no verdict. */
export function failureSaid(language: Language, failure: Fields): string {
  const sentence = said.failures[language][String(failure["key"])];
  return sentence === undefined ? plain(JSON.stringify(failure)) : filled(language, sentence, failure);
}

export function problemSaid(language: Language, problem: GateProblemView): string {
  const fields = fieldsOf(problem.fields);
  if (problem.key === "verifier") return failureSaid(language, fieldsOf(fields["failure"]));
  const sentence = said.problems[language][problem.key];
  return sentence === undefined ? plain(problem.text) : filled(language, sentence, fields);
}

/** More of it, to be shown as it stands there: what a command printed, how a verifier knows. */
export function problemMore(problem: GateProblemView): string {
  const fields = fieldsOf(problem.fields);
  const more = problem.key === "check_failed" ? fields["output"] : problem.key === "criterion" ? fields["evidence"] : "";
  return typeof more === "string" ? more : "";
}
