// The sentence for each scope of a permission rule. It imports no view, so that tests load it without a browser.
import type { SharedKey } from "../words/words";

const RULES: Record<string, SharedKey> = {
  call: "RuleCall",
  prefix: "RulePrefix",
  file: "RuleFile",
  directory: "RuleDirectory",
};

/** The sentence of a permission rule. */
export function ruleKey(scope: string): SharedKey {
  return RULES[scope] ?? "RuleTool";
}
