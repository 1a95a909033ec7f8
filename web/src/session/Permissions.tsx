// What a person allowed a session's CLI until it is over. Each rule can be revoked.
import { route } from "../api/client";
import { useWish } from "../api/queries";
import type { SessionView } from "../api/schema";
import { ruleSaid } from "../parts/request";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

export function Permissions({ session }: { session: SessionView }) {
  const say = useSay(words);
  const language = useLanguage();
  const revoke = useWish<SessionView, number>((number) => ({ path: route`/sessions/${session.id}/permissions/${String(number)}/revoke` }));
  return (
    <>
      <ul className="plain-list" aria-label={say("allowedRules")}>
        {(session.permissions ?? []).map(({ number, rule }) => (
          <li key={number}>
            <Said text={ruleSaid(language, rule)} />{" "}
            <button type="button" className="button plain" disabled={revoke.isPending} onClick={() => revoke.mutate(number)}>
              {say("revokeRule")}
            </button>
          </li>
        ))}
      </ul>
      {revoke.error && <Failure error={revoke.error} wrote onAgain={() => revoke.reset()} />}
    </>
  );
}
