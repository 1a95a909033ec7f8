// Commands of the user's own configuration that wait for somebody, above the cards. No key agrees to them: an agent may
// have written them.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { CONFIGURATION, keys, useConfigurationTrust, useWish } from "../api/queries";
import type { NewTrust, TrustView } from "../api/schema";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import { words } from "./words";

/** What somebody has left for later, until the commands change or the page is loaded anew. */
let leftBefore = "";

export function Consent() {
  const say = useSay(words);
  const cache = useQueryClient();
  const { data } = useConfigurationTrust();
  const [left, setLeft] = useState(leftBefore);
  const give = useWish<TrustView, NewTrust>((body) => ({ path: "/trust", body }));
  const all = data?.commands ?? [];
  const waiting = all.filter((command) => !command.trusted);
  const name = waiting.map((command) => command.hash).join(" ");
  if (waiting.length === 0 || name === left) return null;
  const leave = () => {
    leftBefore = name;
    setLeft(name);
  };
  const agree = () =>
    give.mutate(
      { directory: CONFIGURATION, hashes: all.map((command) => command.hash) },
      { onSettled: () => void cache.invalidateQueries({ queryKey: keys.trusted }) },
    );
  return (
    <section className="panel stack" aria-labelledby="consent">
      <h2 id="consent">
        <span className="attention">◆</span> {say("consent")}
      </h2>
      <p>{say("consentWhy")}</p>
      <ul className="list">
        {waiting.map((command) => (
          <li key={command.hash + command.key} className="trust-command">
            <p>
              <code>
                <Said text={`${command.key} = ${command.value ?? "…"}`} lines />
              </code>
            </p>
            <p className="small dim">
              <Said text={command.file} />
            </p>
          </li>
        ))}
      </ul>
      {give.error && <Failure error={give.error} wrote />}
      <div className="row">
        <button type="button" className="button" disabled={give.isPending} onClick={agree}>
          {say("consentAgree")}
        </button>
        <button type="button" className="button plain" onClick={leave}>
          {say("consentLeave")}
        </button>
      </div>
    </section>
  );
}
