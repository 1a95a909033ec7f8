// How a session is: a shape and a word, the same as on the command line. Colour only repeats what they say.
import type { Outcome, SessionView, SettledView, WaitView } from "../api/schema";
import { type Language, sayShared, type SharedKey, statuses, useLanguage } from "../words/words";
import { ruleSaid } from "./request";
import { plain, Said } from "./Said";
import { Since } from "./Since";
import { clock } from "./time";

export interface Status {
  shape: string;
  said: string;
  style: string;
}

export function statusOf(language: Language, session: SessionView): Status {
  const waits = session.wait ? waiting(language, session.wait) : null;
  if (waits) return waits;
  const isUnverified = session.status === "completed" && session.outcome?.verified === false;
  if (session.idle === true) return ofWord(language, "idle");
  return ofWord(language, isUnverified ? "completed_unverified" : session.status);
}

export function ofWord(language: Language, word: string): Status {
  const status = statuses[word];
  // A later server may use a word that is not known here.
  if (!status) return { shape: "·", said: word, style: "plain" };
  return { shape: status.shape, said: sayShared(language, status.key), style: status.style };
}

/** What a session waits for by itself, and until when. */
function waiting(language: Language, wait: WaitView): Status | null {
  const style = "attention";
  const time = wait.until_ms == null ? null : clock(language, wait.until_ms);
  switch (wait.kind) {
    case "retry":
      if (time === null) return null;
      return { shape: "◔", said: sayShared(language, "RetriesAt", { time, n: wait.retry ?? 0 }), style };
    case "limit": {
      if (time === null) return null;
      const key = wait.reset_at_ms == null ? "ParkedUnknown" : "ParkedUntil";
      return { shape: "◷", said: sayShared(language, key, { time }), style };
    }
    case "cli_retry": {
      const said = time === null ? sayShared(language, "CliRetries") : sayShared(language, "CliRetriesAt", { time });
      return { shape: "◔", said, style };
    }
    default:
      return null;
  }
}

/** How something ended, in the words of a session that did. */
export function endOf(language: Language, outcome: Outcome): Status {
  const isUnverified = outcome.outcome === "completed" && !outcome.verified;
  return ofWord(language, isUnverified ? "completed_unverified" : outcome.outcome);
}

/** Shape and word of a session, and since when. */
export function StatusMark({ session, since = false }: { session: SessionView; since?: boolean }) {
  const status = statusOf(useLanguage(), session);
  // Since when nobody has had anything for it is not what is counted.
  return <Mark status={status} since={since && session.idle !== true ? session.since_ms : null} />;
}

export function Mark({ status, since = null }: { status: Status; since?: number | null }) {
  return (
    <span className={`status ${status.style}`}>
      <span aria-hidden="true" className="shape">
        {status.shape}
      </span>{" "}
      {status.said}
      {since !== null && (
        <span className="dim">
          {" · "}
          <Since at={since} />
        </span>
      )}
    </span>
  );
}

/** Why something failed, in a sentence. */
export function reason(language: Language, why: unknown): string {
  if (typeof why !== "object" || why === null) return "";
  const fields = why as Record<string, unknown>;
  const text = (name: string) => plain(String(fields[name] ?? "?"));
  switch (fields["key"]) {
    case "not_started":
      return sayShared(language, "ReasonNotStarted", { message: text("message") });
    case "exit_code":
      return sayShared(language, "ReasonExitCode", { code: text("code") });
    case "killed_by":
      return sayShared(language, "ReasonKilledBy", { signal: text("signal") });
    case "agent_error":
      return sayShared(language, "ReasonAgentError", { message: text("message") });
    case "no_end":
      return sayShared(language, "ReasonNoEnd");
    case "rate_limited": {
      const at = fields["reset_at_ms"];
      const reset =
        typeof at === "number"
          ? sayShared(language, "ReasonResetAt", { time: clock(language, at) })
          : sayShared(language, "ReasonResetUnknown");
      return sayShared(language, "ReasonRateLimited", { message: text("message"), reset });
    }
    case "check_failed":
      return sayShared(language, "ReasonCheckFailed", { code: text("code"), attempts: text("attempts") });
    case "same_failure":
      return sayShared(language, "ReasonSameFailure", { times: text("times") });
    case "reported":
      return sayShared(language, "ReasonReported", { message: text("message") });
    case "time_over":
      return sayShared(language, "ReasonTimeOver");
    case "cost_over":
      return sayShared(language, "ReasonCostOver");
    case "tokens_over":
      return sayShared(language, "ReasonTokensOver");
    case "no_worktree":
      return sayShared(language, "ReasonNoWorktree", { message: text("message") });
    case "rejected":
      return sayShared(language, "ReasonRejected", { phase: text("phase") });
    case "verifier_overdue":
      return sayShared(language, "ReasonVerifierOverdue");
    case "no_base":
      return sayShared(language, "ReasonNoBase", { message: text("message") });
    default:
      return JSON.stringify(why);
  }
}

/** Why it failed, if it did. */
export function Why({ outcome }: { outcome: Outcome }) {
  const language = useLanguage();
  return outcome.outcome === "failed" ? <Said text={reason(language, outcome.reason)} /> : null;
}

interface Rule {
  scope: string;
  tool: string;
  [field: string]: unknown;
}

function isRule(value: unknown): value is Rule {
  return typeof value === "object" && value !== null && "scope" in value && "tool" in value;
}

/** What a rule of an answer is about, as the server shows it on a card. */
function ruleText(rule: Rule): string {
  const text = (name: string) => String(rule[name] ?? "");
  switch (rule.scope) {
    case "call": {
      const fields = Object.values((rule["input"] ?? {}) as Record<string, unknown>);
      return fields.length === 1 && typeof fields[0] === "string" ? fields[0] : JSON.stringify(rule["input"]);
    }
    case "prefix":
      return `${text("prefix")} …`;
    case "file":
      return text("path");
    case "directory":
      return text("directory");
    default:
      return rule.tool;
  }
}

const DELIVERIES: Record<string, SharedKey> = {
  waiting: "DeliveryWaiting",
  sent: "DeliverySent",
  refused: "DeliveryRefused",
  prompted: "DeliveryPrompted",
  delivered: "DeliveryDelivered",
  consumed: "DeliveryConsumed",
  heard: "DeliveryHeard",
  undeliverable: "DeliveryUndeliverable",
};

/** How far an answer or a message has got; a word of a later server as it is. Nothing where there is nothing to bring. */
export function deliverySaid(language: Language, state: string): string | null {
  if (state === "nothing") return null;
  const key = DELIVERIES[state];
  return key ? sayShared(language, key) : state;
}

/** What settled a request, said. */
export function answerSaid(language: Language, settled: SettledView): string {
  const { answer } = settled;
  const text = (name: string) => (typeof answer[name] === "string" ? answer[name] : "");
  switch (answer["answer"]) {
    case "text":
      return text("text");
    case "chosen":
      return `${answer["number"]}. ${text("text")}`;
    case "remarked":
      return `${text("text")}. ${text("remark")}`;
    case "path":
      return text("path");
    case "nothing":
      // A request that was withdrawn lacks no answer.
      return sayShared(language, settled.by === "change" || settled.by === "end" ? "AnswerWithdrawn" : "AnswerNothing");
    case "approved":
      if (isRule(answer["rule"])) {
        const rule = ruleSaid(language, { scope: answer["rule"].scope, tool: answer["rule"].tool, text: ruleText(answer["rule"]) });
        return sayShared(language, answer["for_session"] === true ? "AnswerApprovedRule" : "AnswerByRule", { rule });
      }
      return sayShared(language, answer["for_session"] === true ? "AnswerApprovedSession" : "AnswerApproved");
    case "denied":
      return text("reason") === ""
        ? sayShared(language, "AnswerDenied")
        : sayShared(language, "AnswerDeniedBecause", { reason: text("reason") });
    case "provided": {
      const names = Array.isArray(answer["names"]) ? answer["names"].join(", ") : "";
      return sayShared(language, answer["reuse"] === true ? "AnswerProvidedReuse" : "AnswerProvided", { names });
    }
    case "skipped":
      return text("default") === ""
        ? sayShared(language, "AnswerSkipped")
        : sayShared(language, "AnswerUsesDefault", { default: text("default") });
    case "go_on":
      return text("words") || sayShared(language, "AnswerGoOn");
    case "raised":
      return sayShared(language, "AnswerRaised");
    case "retry":
      return sayShared(language, "AnswerRetry");
    case "fail":
      return sayShared(language, "AnswerFail");
    case "tree_approved":
      return sayShared(language, "AnsweredApproved", { tree: text("tree").slice(0, 12) });
    case "changes":
      return sayShared(language, "AnsweredChanges", { words: text("words") });
    case "rejected":
      return sayShared(language, "AnsweredRejected");
    case "again":
      return sayShared(language, "AnsweredAgain");
    default:
      return JSON.stringify(answer);
  }
}
