// Values that an agent asks for. What is secret is not shown while it is typed; nothing here keeps a value longer than the
// card is there.
import { type FormEvent, useId, useState } from "react";

import type { FieldView, NewAnswer, RequestView } from "../api/schema";
import { Reuse } from "../parts/Reuse";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { words } from "./words";

interface Other {
  name: string;
  value: string;
}

interface ValuesFormProps {
  request: RequestView;
  isBusy: boolean;
  onGive: (answer: NewAnswer) => void;
}

export function ValuesForm({ request, isBusy, onGive }: ValuesFormProps) {
  const say = useSay(words);
  const form = request.ask.form;
  const fields = form?.fields ?? [];
  const [values, setValues] = useState<Record<string, string>>({});
  const [others, setOthers] = useState<Other[]>(() => (form?.other_names && fields.length === 0 ? [{ name: "", value: "" }] : []));
  const [reuse, setReuse] = useState(false);
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) if (value !== "") given[name] = value;
  for (const { name, value } of others) if (name.trim() !== "" && value !== "") given[name.trim()] = value;
  const isEmpty = Object.keys(given).length === 0;
  const give = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty) onGive({ values: given, reuse });
  };
  const setOther = (index: number, other: Partial<Other>) =>
    setOthers((before) => before.map((it, at) => (at === index ? { ...it, ...other } : it)));
  return (
    <form className="stack" onSubmit={give} autoComplete="off">
      {fields.map((field, index) => (
        <Value
          key={field.name}
          field={field}
          isFirst={index === 0}
          value={values[field.name] ?? ""}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {others.map((other, index) => (
        <OtherValue key={index} other={other} onChange={(change) => setOther(index, change)} />
      ))}
      {form?.other_names && (
        <p>
          <button type="button" className="button plain" onClick={() => setOthers((before) => [...before, { name: "", value: "" }])}>
            + {say("addName")}
          </button>
        </p>
      )}
      <Reuse value={reuse} onChange={setReuse} />
      <p>
        <button type="submit" className="button primary" disabled={isBusy || isEmpty}>
          {isBusy ? say("sending") : say(fields.length + others.length > 1 ? "giveThem" : "give")}
        </button>
      </p>
    </form>
  );
}

function Value(props: { field: FieldView; isFirst: boolean; value: string; onChange: (value: string) => void }) {
  const { field, isFirst, value, onChange } = props;
  const say = useSay(words);
  const id = useId();
  const notes = [...(field.secret ? [say("PromptHidden")] : []), ...(field.optional ? [say("PromptOptional")] : [])];
  return (
    <div>
      <label className="label" htmlFor={id}>
        <Said text={field.name} className="mono" />
        {notes.length > 0 && ` (${notes.join("; ")})`}
      </label>
      <input
        id={id}
        className="field mono"
        type={field.secret ? "password" : "text"}
        // Whoever opens such a card wants to type the value, and typing approves nothing.
        autoFocus={isFirst}
        autoComplete={field.secret ? "new-password" : "off"}
        spellCheck={false}
        autoCapitalize="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

function OtherValue({ other, onChange }: { other: Other; onChange: (change: Partial<Other>) => void }) {
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
          value={other.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </div>
      <div>
        <label className="label" htmlFor={`${id}v`}>
          {say("otherValue")} ({say("PromptHidden")})
        </label>
        <input
          id={`${id}v`}
          className="field mono"
          type="password"
          autoComplete="new-password"
          value={other.value}
          onChange={(event) => onChange({ value: event.target.value })}
        />
      </div>
    </div>
  );
}
