// Words for an agent, unasked.
import { type FormEvent, useId, useRef, useState } from "react";

import { newKey, route } from "../api/client";
import { useWish } from "../api/queries";
import type { NewMessage } from "../api/schema";
import { useShortcut } from "../app/shortcuts";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import { words } from "./words";

export function Write({ session }: { session: string }) {
  const say = useSay(words);
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  const [isSent, setSent] = useState(false);
  // Sent again under the same name, it is written once.
  const key = useRef(newKey());
  const write = useWish<unknown, NewMessage>((body) => ({ path: route`/sessions/${session}/messages`, body, key: key.current }));
  useShortcut("w", say("keyWrite"), () => field.current?.focus());
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === "" || write.isPending) return;
    write.mutate(
      { text },
      {
        onSuccess: () => {
          key.current = newKey();
          setText("");
          setSent(true);
        },
      },
    );
  };
  return (
    <form className="session-write" onSubmit={send}>
      <label className="label" htmlFor={id}>
        {say("write")}
      </label>
      <div className="session-line">
        <textarea
          id={id}
          ref={field}
          className="field"
          rows={1}
          aria-describedby={`${id}h`}
          value={text}
          onChange={(event) => {
            key.current = newKey();
            setSent(false);
            setText(event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
            if (event.key === "Escape") field.current?.blur();
          }}
        />
        <button type="submit" className="button" disabled={write.isPending || text.trim() === ""}>
          {say("send")}
        </button>
      </div>
      <p className="small dim" id={`${id}h`}>
        {say("writeHint")}
      </p>
      <p role="status" className={isSent ? "small good" : "only-read"}>
        {isSent ? say("sent", { id: session }) : ""}
      </p>
      {write.error && <Failure error={write.error} wrote />}
    </form>
  );
}
