// What a request is about, in words: the same as on the command line.
import type { MarkView, RequestView, RuleView } from "../api/schema";
import { type Language, sayShared, type SharedKey } from "../words/words";
import { plain } from "./Said";
import { ruleKey } from "./rules";
import { span } from "./time";

const KINDS: Record<string, SharedKey> = {
  dependency: "AskDependency",
  error: "AskError",
  fault: "AskFault",
  permission: "AskPermission",
  stall: "AskStall",
  steered: "AskSteered",
  time_over: "AskTimeOver",
  cost_over: "AskCostOver",
  tokens_over: "AskTokensOver",
  review: "AskReview",
};

/** What whoever asks does: asks, needs, reports an error. */
export function askKey(kind: string): SharedKey {
  return KINDS[kind] ?? "AskQuestion";
}

/** The question, where the server has no words for it. */
export function askText(language: Language, request: RequestView): string {
  const field = (name: string) => Number(request.ask.fields[name] ?? 0);
  switch (request.ask.kind) {
    case "steered":
      return sayShared(language, request.ask.fields["what"] === "displaced" ? "AskDisplacedText" : "AskSteeredText");
    case "time_over":
      return sayShared(language, "AskTimeOverText", { time: span(language, field("time_ms_max")) });
    case "cost_over":
      return sayShared(language, "AskCostOverText", {
        cost: dollars(field("cost_nusd") / 1e9),
        max: dollars(field("cost_nusd_max") / 1e9),
      });
    case "tokens_over":
      return sayShared(language, "AskTokensOverText", { tokens: grouped(field("tokens")), max: grouped(field("tokens_max")) });
    case "review": {
      const { phase, name, passed } = request.ask.fields;
      return sayShared(language, passed === true ? "AskReviewText" : "AskReviewFailed", { phase: Number(phase), name: plain(String(name)) });
    }
    default:
      return request.ask.text;
  }
}

/** Where the same stands that is asked. */
export function marked(language: Language, mark: MarkView): string {
  const about = mark.about == null ? null : plain(mark.about);
  const tool = mark.tool == null ? null : plain(mark.tool);
  const place = (): string => {
    switch (mark.source) {
      case "tool_output":
        if (about !== null && tool !== null) return sayShared(language, "MarkToolUsed", { about, tool });
        return tool === null ? sayShared(language, "MarkSomeTool") : sayShared(language, "MarkTool", { tool });
      case "check":
        return sayShared(language, "MarkCheck", { about: about ?? "" });
      case "sub_agent":
        return sayShared(language, "MarkSubAgent");
      case "message":
        return sayShared(language, "MarkMessage");
      case "prompt":
        return sayShared(language, "MarkPrompt");
      default:
        return plain(mark.source);
    }
  };
  return sayShared(language, "Marked", { place: place() });
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

export function grouped(n: number): string {
  return n.toLocaleString("en-US");
}

/** Exactly what a permission rule allows. */
export function ruleSaid(language: Language, rule: Pick<RuleView, "scope" | "tool" | "text">): string {
  return sayShared(language, ruleKey(rule.scope), { tool: plain(rule.tool), text: plain(rule.text) });
}
