// Values that an agent asks for. What is secret is not shown while it is typed; nothing here keeps a value longer than the
// card is there.
import { type FormEvent, useId, useState } from "react";

import type { FieldView, NewAnswer, RequestView } from "../api/schema";
import { Reuse } from "../parts/Reuse";
import { Said } from "../parts/Said";
import { SecretField } from "../parts/SecretField";
import { useSay } from "../words/words";
import { words } from "./words";

interface Other {
  name: string;
  value: string;
}

interface ValuesFormProps {
  request: RequestView;
  isBusy: boolean;
  /** It was settled elsewhere: nothing can be given any more. */
  isOver: boolean;
  /** Whether the first field is what somebody comes for. */
  takesFocus: boolean;
  onGive: (answer: NewAnswer) => void;
}

export function ValuesForm({ request, isBusy, isOver, takesFocus, onGive }: ValuesFormProps) {
  const say = useSay(words);
  // What is settled has no form any more, and its fields may still be read.
  const [form] = useState(request.ask.form);
  const fields = form?.fields ?? [];
  const [values, setValues] = useState<Record<string, string>>({});
  const [others, setOthers] = useState<Other[]>(() => (form?.other_names && fields.length === 0 ? [{ name: "", value: "" }] : []));
  const [reuse, setReuse] = useState(false);
  const [masking, setMasking] = useState<Masking>("auto");
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) if (value !== "") given[name] = value;
  for (const { name, value } of others) if (name.trim() !== "" && value !== "") given[name.trim()] = value;
  const isEmpty = Object.keys(given).length === 0;
  const give = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty && !isOver) onGive({ values: given, reuse, ...(masking === "auto" ? {} : { secret: masking === "secret" }) });
  };
  const setOther = (index: number, other: Partial<Other>) =>
    setOthers((before) => before.map((it, at) => (at === index ? { ...it, ...other } : it)));
  return (
    <form className="stack" onSubmit={give} autoComplete="off">
      {fields.map((field, index) => (
        <Value
          key={field.name}
          field={field}
          isFirst={index === 0 && takesFocus}
          isOver={isOver}
          value={values[field.name] ?? ""}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {others.map((other, index) => (
        <OtherValue key={index} other={other} isOver={isOver} onChange={(change) => setOther(index, change)} />
      ))}
      {form?.other_names && !isOver && (
        <p>
          <button type="button" className="button plain" onClick={() => setOthers((before) => [...before, { name: "", value: "" }])}>
            + {say("addName")}
          </button>
        </p>
      )}
      {!isOver && (
        <>
          <Reuse value={reuse} onChange={setReuse} />
          <MaskingChoice isVariable={request.ask.fields["type"] === "env_variable"} value={masking} onChange={setMasking} />
          <p>
            <button type="submit" className="button primary" disabled={isBusy || isEmpty}>
              {isBusy ? say("sending") : say(fields.length + others.length > 1 ? "giveThem" : "give")}
            </button>
          </p>
        </>
      )}
    </form>
  );
}

/** Whether a value counts as secret: by its kind and its look, or as somebody says. */
type Masking = "auto" | "secret" | "plain";

interface MaskingChoiceProps {
  isVariable: boolean;
  value: Masking;
  onChange: (masking: Masking) => void;
}

// A key is masked unless somebody says otherwise; any other variable only if it looks like one. So the box that overrides
// the rule says the other thing for each, and a variable that looks like a key has both.
function MaskingChoice({ isVariable, value, onChange }: MaskingChoiceProps) {
  const say = useSay(words);
  const box = (masking: Masking, label: string) => (
    <label className="check">
      <input type="checkbox" checked={value === masking} onChange={(event) => onChange(event.target.checked ? masking : "auto")} />
      <span>{label}</span>
    </label>
  );
  return (
    <>
      {isVariable && box("secret", say("isSecret"))}
      {box("plain", say("isPlain"))}
    </>
  );
}

interface ValueProps {
  field: FieldView;
  isFirst: boolean;
  isOver: boolean;
  value: string;
  onChange: (value: string) => void;
}

function Value({ field, isFirst, isOver, value, onChange }: ValueProps) {
  const say = useSay(words);
  const id = useId();
  const notes = [...(field.secret ? [say("PromptHidden")] : []), ...(field.optional ? [say("PromptOptional")] : [])];
  return (
    <div>
      <label className="label" htmlFor={id}>
        <Said text={field.name} className="mono" />
        {notes.length > 0 && ` (${notes.join("; ")})`}
      </label>
      {/* Whoever opens such a card wants to type the value, and typing approves nothing. */}
      {field.secret ? (
        <SecretField id={id} value={value} autoFocus={isFirst} readOnly={isOver} onChange={onChange} />
      ) : (
        <input
          id={id}
          className="field mono"
          autoFocus={isFirst}
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="off"
          readOnly={isOver}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
}

interface OtherValueProps {
  other: Other;
  isOver: boolean;
  onChange: (change: Partial<Other>) => void;
}

function OtherValue({ other, isOver, onChange }: OtherValueProps) {
  const say = useSay(words);
  const id = useId();
  return (
    <div className="inbox-other">
      <div>
        <label className="label" htmlFor={`${id}n`}>
          {say("variable")}
        </label>
        <input
          id={`${id}n`}
          className="field mono"
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="off"
          readOnly={isOver}
          value={other.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </div>
      <div>
        <label className="label" htmlFor={`${id}v`}>
          {say("otherValue")} ({say("PromptHidden")})
        </label>
        <SecretField id={`${id}v`} value={other.value} readOnly={isOver} onChange={(value) => onChange({ value })} />
      </div>
    </div>
  );
}
