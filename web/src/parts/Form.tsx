// What forms that begin something have in common: fields with their labels, and the end of the form.
import { type KeyboardEvent, type ReactNode, useId } from "react";

import { useSay } from "../words/words";
import type { Limits } from "./limits";
import { Failure } from "./states";
import { words } from "./words";

export function Field({ label, id, hint, children }: { label: string; id: string; hint?: string; children: ReactNode }) {
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children}
      {hint && (
        <p className="small dim" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ValueProps {
  id: string;
  value: string;
  onChange: (value: string) => void;
}

interface TextProps extends ValueProps {
  mode?: "text" | "numeric" | "decimal";
  placeholder?: string;
}

/** A line that is taken as it is: nothing is completed, capitalised or corrected. */
export function Text({ id, value, onChange, mode, placeholder }: TextProps) {
  return (
    <input
      id={id}
      className={`field ${mode ? "" : "mono"}`}
      inputMode={mode}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

export function Choose({ id, label, value, onChange, children }: ValueProps & { label: string; children: ReactNode }) {
  return (
    <Field label={label} id={id}>
      <select id={id} className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </Field>
  );
}

/** How much may be used before somebody is asked. */
export function LimitFields({ limits, onChange }: { limits: Limits; onChange: (name: keyof Limits, value: string) => void }) {
  const say = useSay(words);
  const id = useId();
  const names: [keyof Limits, "text" | "decimal" | "numeric"][] = [
    ["minutes", "text"],
    ["dollars", "decimal"],
    ["tokens", "numeric"],
  ];
  return (
    <>
      <p className="small dim">{say("limitsHint")}</p>
      <div className="form-row">
        {names.map(([name, mode]) => (
          <Field key={name} label={say(name)} id={`${id}${name}`}>
            <Text id={`${id}${name}`} mode={mode} value={limits[name]} onChange={(value) => onChange(name, value)} />
          </Field>
        ))}
      </div>
    </>
  );
}

interface SendProps {
  /** What is not filled in yet, in a sentence; nothing, if that is nothing. */
  missing: string;
  error: Error | null;
  isPending: boolean;
  /** What the button says. */
  label: string;
}

/** The end of a form: what is missing or went wrong, and the button. */
export function Send({ missing, error, isPending, label }: SendProps) {
  return (
    <>
      {missing !== "" && (
        <p className="bad" role="alert">
          {missing}
        </p>
      )}
      {error && <Failure error={error} wrote />}
      <p>
        <button type="submit" className="button primary" disabled={isPending}>
          {label}
        </button>
      </p>
    </>
  );
}

/** Ctrl-Enter sends a form from wherever somebody writes in it. */
export function sendKeys(send: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  };
}
