// Words of a person to a role.
import { type FormEvent, useId, useRef, useState } from "react";

import { newKey } from "../api/client";
import type { OfficeView } from "../api/schema";
import { Link } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Choose, Field, sendKeys } from "../parts/Form";
import { plain, Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { useSend } from "./queries";
import { words } from "./words";

/** With `role`, to that one; otherwise somebody is chosen. */
export function Write({ office, role }: { office: OfficeView; role?: string }) {
  const say = useSay(words);
  const korean = useLanguage() === "ko";
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const usable = office.roles.filter((it) => it.problem == null);
  // Those that are described or at work come before agents as they are.
  const first = usable.find((it) => it.session != null) ?? usable.find((it) => it.file != null) ?? usable[0];
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [sent, setSent] = useState<{ name: string; session: string } | null>(null);
  // Sent again under the same name, it is written once.
  const key = useRef(newKey());
  const send = useSend(office.project);
  const to = role ?? chosen ?? first?.name;
  useShortcut("w", say("keyWrite"), () => field.current?.focus());
  const change = (apply: () => void) => {
    key.current = newKey();
    setSent(null);
    apply();
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === "" || to === undefined || send.isPending) return;
    send.mutate(
      { role: to, text, korean, key: key.current },
      {
        onSuccess: (session) => {
          key.current = newKey();
          setText("");
          setSent({ name: to, session: session.id });
        },
      },
    );
  };
  if (to === undefined) return null;
  return (
    <form className="office-write stack" aria-label={role === undefined ? say("write") : say("writeTo", { name: plain(role) })} onSubmit={submit}>
      {role === undefined && (
        <Choose id={`${id}to`} label={say("to")} value={to} onChange={(value) => change(() => setChosen(value))}>
          {usable.map((it) => (
            <option key={it.name} value={it.name}>
              {plain(it.name)}
            </option>
          ))}
        </Choose>
      )}
      <Field id={id} label={role === undefined ? say("yourWords") : say("writeTo", { name: plain(role) })} hint={say("writeHint")}>
        <textarea
          id={id}
          ref={field}
          className="field"
          rows={2}
          aria-describedby={`${id}-hint`}
          value={text}
          onChange={(event) => change(() => setText(event.target.value))}
          onKeyDown={(event) => {
            sendKeys(() => submit())(event);
            if (event.key === "Escape") field.current?.blur();
          }}
        />
      </Field>
      <div className="row">
        <button type="submit" className="button" disabled={send.isPending || text.trim() === ""}>
          {say("send")}
        </button>
        <p role="status" className={sent ? "small good" : "only-read"}>
          {sent && (
            <>
              <Said text={say("sent", { name: sent.name })} /> <Link href={`/sessions/${sent.session}`}>{say("toSession", { id: sent.session })}</Link>
            </>
          )}
        </p>
      </div>
      {send.error && <Failure error={send.error} wrote />}
    </form>
  );
}
