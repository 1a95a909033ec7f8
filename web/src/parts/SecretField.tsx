// A field for what nobody is to see. A value of several lines, such as a private key, keeps them: the browser's own field
// for passwords would join them without a word.
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef } from "react";

import { useSay } from "../words/words";
import { words } from "./words";

interface SecretFieldProps {
  id: string;
  value: string;
  onChange: (value: string) => void;
  autoFocus?: boolean;
  readOnly?: boolean;
}

const hasLines = (text: string) => /[\r\n]/.test(text);

/** Lines as they were given: what a browser hands back has lost half of those that end in two characters. */
export function withLinesOf(before: string, text: string): string {
  return before.includes("\r\n") ? text.replace(/\r?\n/g, "\r\n") : text;
}

/** How many lines a value has; what ends the last one begins none. */
export function linesOf(value: string): number {
  return value.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").length;
}

export function SecretField({ id, value, onChange, autoFocus = false, readOnly = false }: SecretFieldProps) {
  const say = useSay(words);
  const area = useRef<HTMLTextAreaElement>(null);
  /** Where the caret goes once the other field is there. */
  const caret = useRef<number | null>(null);
  const isLong = hasLines(value);
  useEffect(() => {
    if (caret.current === null) return;
    area.current?.focus();
    area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const put = (field: HTMLInputElement, text: string) => {
    const [from, to] = [field.selectionStart ?? value.length, field.selectionEnd ?? value.length];
    const before = value.slice(0, from) + text;
    // The caret counts each end of a line as one.
    caret.current = before.replace(/\r\n/g, "\n").length;
    onChange(before + value.slice(to));
  };
  const paste = (event: ClipboardEvent<HTMLInputElement> | DragEvent<HTMLInputElement>, from: DataTransfer) => {
    const text = from.getData("text/plain");
    if (readOnly || !hasLines(text)) return;
    event.preventDefault();
    put(event.currentTarget, text);
  };
  if (!isLong) {
    return (
      <input
        id={id}
        className="field mono"
        type="password"
        autoFocus={autoFocus}
        autoComplete="new-password"
        spellCheck={false}
        autoCapitalize="off"
        readOnly={readOnly}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onPaste={(event) => paste(event, event.clipboardData)}
        onDrop={(event) => paste(event, event.dataTransfer)}
      />
    );
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  return (
    <>
      <textarea
        id={id}
        ref={area}
        className="field mono unshown"
        rows={4}
        // Without it, a browser may keep what is typed here for when it is opened again.
        autoComplete="off"
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        readOnly={readOnly}
        aria-describedby={`${id}-lines`}
        value={value}
        onChange={(event) => onChange(withLinesOf(value, event.target.value))}
        onKeyDown={press}
      />
      <p id={`${id}-lines`} className="small dim" role="status">
        {say("secretLines", { n: linesOf(value) })}
      </p>
    </>
  );
}
