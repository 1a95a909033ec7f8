// Where words are written: an answer, a reason, an amount. Enter sends, and Shift and Enter begin a line; under a thumb,
// Return begins one and the button sends.
import { type KeyboardEvent, type Ref, useId } from "react";

import { isSending, isThumb } from "../parts/enter";
import { plain } from "../parts/Said";
import { useSay } from "../words/words";
import type { Purpose } from "./choices";
import { words } from "./words";

const ASKED = {
  answer: "yourWords",
  own: "ownWords",
  remark: "remark",
  reason: "whyNot",
  denial: "wordsDeny",
  tell: "tellIt",
  cost: "raiseCost",
  tokens: "raiseTokens",
  time: "raiseTime",
  path: "path",
} as const;

/** What the button does, where it is not an answer. */
const SENDS: Partial<Record<Purpose, "send" | "denyWith">> = { tell: "send", denial: "denyWith" };

interface WordsFieldProps {
  ref: Ref<HTMLTextAreaElement>;
  purpose: Purpose;
  value: string;
  /** What an empty field stands for. */
  fallback: string | null | undefined;
  isBusy: boolean;
  /** It was settled elsewhere: what was written can be read and copied. */
  isOver: boolean;
  onChange: (text: string) => void;
  /** Nothing, where the words go along with a choice. */
  onSend: ((text: string) => void) | null;
  onDefault: (() => void) | null;
}

export function WordsField(props: WordsFieldProps) {
  const { ref, purpose, value, fallback, isBusy, isOver, onChange, onSend, onDefault } = props;
  const say = useSay(words);
  const id = useId();
  const label = say(ASKED[purpose]);
  const isAmount = purpose === "cost" || purpose === "tokens" || purpose === "time";
  const send = () => {
    if (isOver) return;
    if (value.trim() !== "") onSend?.(value);
    else onDefault?.();
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!onSend || !isSending(event)) return;
    event.preventDefault();
    if (!event.repeat) send();
  };
  return (
    <form
      className="inbox-words"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="label" htmlFor={id}>
        {label}
        {fallback != null && ` (${isThumb() ? `${say("Default")}: ${plain(fallback)}` : say("EnterForDefault", { default: plain(fallback) })})`}
      </label>
      <div className={`inbox-line ${purpose === "denial" ? "inbox-denial" : ""}`}>
        <textarea
          id={id}
          ref={ref}
          className="field"
          rows={purpose === "answer" ? 3 : 1}
          value={value}
          readOnly={isOver}
          dir="auto"
          maxLength={1_000_000}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
        />
        {onSend && !isOver && (
          <button type="submit" className="button primary" disabled={isBusy || (value.trim() === "" && !onDefault)}>
            {say(isBusy ? "sending" : isAmount ? "raiseBy" : (SENDS[purpose] ?? "answer"))}
          </button>
        )}
      </div>
    </form>
  );
}
