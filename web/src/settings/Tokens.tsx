// A token for a script, shown once.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";

import { useWish } from "../api/queries";
import type { NewToken, TokenView } from "../api/schema";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import { Once } from "./Once";
import { SIGN_INS } from "./SignIns";
import { words } from "./words";

export function Tokens() {
  const say = useSay(words);
  const cache = useQueryClient();
  const id = useId();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [readOnly, setReadOnly] = useState(true);
  const make = useWish<TokenView, NewToken>((body) => ({ path: "/tokens", body }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = { name: name.trim(), days: Number(days), read_only: readOnly };
    make.mutate(wanted, { onSettled: () => void cache.invalidateQueries({ queryKey: SIGN_INS }) });
  };
  return (
    <form className="panel stack narrow" onSubmit={submit}>
      <h2>{say("tokens")}</h2>
      <div>
        <label className="label" htmlFor={`${id}n`}>
          {say("tokenName")}
        </label>
        <input id={`${id}n`} className="field" autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
      </div>
      <div>
        <label className="label" htmlFor={`${id}d`}>
          {say("tokenDays")}
        </label>
        <input id={`${id}d`} className="field" type="number" min="1" value={days} onChange={(event) => setDays(event.target.value)} />
      </div>
      <label className="check">
        <input type="checkbox" checked={readOnly} onChange={(event) => setReadOnly(event.target.checked)} />
        <span>{say("tokenRead")}</span>
      </label>
      {make.data && <Once label={say("tokenOnce")} text={make.data.token} />}
      {make.error && <Failure error={make.error} />}
      <p>
        <button type="submit" className="button" disabled={make.isPending || name.trim() === ""}>
          {say("makeToken")}
        </button>
      </p>
    </form>
  );
}
