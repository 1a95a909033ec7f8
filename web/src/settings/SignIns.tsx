// Who may come in: browsers and tokens, and how to take one out.
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { get, keepProof, route } from "../api/client";
import { UNNAMED, useWish } from "../api/queries";
import type { SignInView } from "../api/schema";
import { plain, Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

export const SIGN_INS = ["sign-ins"];

export function SignIns() {
  const say = useSay(words);
  const cache = useQueryClient();
  const list = useQuery({ queryKey: SIGN_INS, queryFn: ({ signal }) => get<SignInView[]>("/sign-ins", signal), ...UNNAMED });
  const revoke = useWish<SignInView, string>((id) => ({ path: route`/sign-ins/${id}/revoke` }));
  const leave = useWish<unknown>(() => ({ path: "/sign-out" }));
  const out = () => {
    keepProof(null);
    window.location.assign("/");
  };
  const error = revoke.error ?? leave.error;
  return (
    <section className="panel stack">
      <h2>{say("signIns")}</h2>
      <p className="dim small">{say("signInsAbout")}</p>
      {list.isPending && <Loading />}
      {list.error && <Failure error={list.error} onAgain={() => void list.refetch()} />}
      {list.data && (
        <div className="table-wrap">
          <table className="records">
            <thead>
              <tr>
                <th scope="col">{say("name")}</th>
                <th scope="col">{say("kind")}</th>
                <th scope="col">{say("made")}</th>
                <th scope="col">{say("used")}</th>
                <th scope="col">{say("over")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {list.data.toSorted((a, b) => Number(b.current) - Number(a.current)).map((signIn) => (
                <Row
                  key={signIn.id}
                  signIn={signIn}
                  isBusy={revoke.isPending}
                  onRevoke={() => revoke.mutate(signIn.id, { onSettled: () => void cache.invalidateQueries({ queryKey: SIGN_INS }) })}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {error && <Failure error={error} wrote />}
      <p>
        <button type="button" className="button" disabled={leave.isPending} onClick={() => leave.mutate(undefined, { onSuccess: out })}>
          {say("signOut")}
        </button>
      </p>
    </section>
  );
}

function Row({ signIn, isBusy, onRevoke }: { signIn: SignInView; isBusy: boolean; onRevoke: () => void }) {
  const say = useSay(words);
  const language = useLanguage();
  const day = (ms: number) => new Date(ms).toLocaleDateString(language, { year: "numeric", month: "short", day: "numeric" });
  // Two of the same name are told apart by when they came, and by their id.
  const time = (ms: number) => `${day(ms)} ${new Date(ms).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", hour12: false })}`;
  return (
    <tr>
      <th scope="row">
        <Said text={signIn.name} /> <span className="dim small mono">{signIn.id}</span>{" "}
        {signIn.current && <span className="good small">({say("thisOne")})</span>}
        {signIn.forged && <p className="bad small">✗ {say("forged")}</p>}
      </th>
      <td data-label={say("kind")}>
        {say(signIn.kind)}
        {signIn.read_only && ` · ${say("readOnly")}`}
      </td>
      <td data-label={say("made")}>{time(signIn.made_at_ms)}</td>
      <td data-label={say("used")}>{signIn.used_at_ms == null ? say("never") : day(signIn.used_at_ms)}</td>
      <td data-label={say("over")}>{day(signIn.over_at_ms)}</td>
      <td>
        {!signIn.current && (
          <button
            type="button"
            className="button plain"
            disabled={isBusy}
            onClick={onRevoke}
            aria-label={say("revokeName", { name: `${plain(signIn.name)} ${signIn.id}` })}
          >
            {say("revoke")}
          </button>
        )}
      </td>
    </tr>
  );
}
