// Somebody or something has settled the card while it was being read. It says so and stays until the reader goes on.
import { useEffect, useRef } from "react";

import type { RequestView } from "../api/schema";
import { isTyping, useShortcut } from "../app/shortcuts";
import { Said } from "../parts/Said";
import { answerSaid } from "../parts/status";
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
} as const;

export function Settled({ request, hasMore, onNext }: { request: RequestView; hasMore: boolean; onNext: () => void }) {
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
  const by = settled.by in BY ? say(BY[settled.by as keyof typeof BY]) : settled.by;
  return (
    <div className="inbox-settled stack">
      <div className="notice" role="status">
        <p>
          <Said text={say("settled", { answer: answerSaid(language, settled) })} className="strong" />
        </p>
        <p className="small">{by}</p>
      </div>
      <p>
        <button ref={button} type="button" className="button primary" onClick={onNext}>
          {label}
        </button>
      </p>
    </div>
  );
}
