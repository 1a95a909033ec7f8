// The card is settled: while it was being read, or before somebody came. It says so and stays until the reader goes on.
import { useEffect, useRef } from "react";

import type { RequestView } from "../api/schema";
import { isTyping, useShortcut } from "../app/shortcuts";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { answerSaid, deliverySaid } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

const BY = {
  person: "byPerson",
  expiry: "byExpiry",
  repetition: "byRepetition",
  vault: "byVault",
  end: "byEnd",
  limit: "byLimit",
  change: "byChange",
  rule: "byRule",
} as const;

interface SettledProps {
  request: RequestView;
  /** Whether that happened under the eyes of the reader. */
  isMeanwhile: boolean;
  /** Whether what was typed into it still stands there. */
  isKept?: boolean;
  hasMore: boolean;
  onNext: () => void;
}

export function Settled({ request, isMeanwhile, isKept = false, hasMore, onNext }: SettledProps) {
  const say = useSay(words);
  const language = useLanguage();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isTyping(document.activeElement)) button.current?.focus({ preventScroll: true });
  }, []);
  const label = say(hasMore ? "nextCard" : "toQuiet");
  useShortcut("n", label, onNext);
  const settled = request.settled;
  if (!settled) return null;
  const key = settled.by in BY ? BY[settled.by as keyof typeof BY] : null;
  const delivery = deliverySaid(language, request.delivery);
  // Who comes later may have answered it: nobody knows from where that was.
  const by = key === null ? settled.by : say(key === "byPerson" && !isMeanwhile ? "byPersonBefore" : key);
  return (
    <div className="inbox-settled stack">
      <div className="notice" role="status">
        <p>
          <Said text={say(isMeanwhile ? "settled" : "settledBefore", { answer: answerSaid(language, settled) })} className="strong" />
        </p>
        <p className="small">
          {by} · <Since at={settled.at_ms} ago />
        </p>
        {delivery !== null && <p className="small">{say("delivery", { state: delivery })}</p>}
        {isKept && <p className="small">{say("notSent")}</p>}
      </div>
      <p>
        <button ref={button} type="button" className="button primary" onClick={onNext}>
          {label}
        </button>
      </p>
    </div>
  );
}
