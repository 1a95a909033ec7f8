// What repositories would run, and what of it somebody lets them.
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { get, path } from "../api/client";
import { keys, UNNAMED, useProjects, useWish } from "../api/queries";
import type { NewRevocation, NewTrust, TrustView } from "../api/schema";
import { useSearch } from "../app/router";
import { Page } from "../parts/Page";
import { plain, Said } from "../parts/Said";
import { Empty, Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { words } from "./words";

export default function Trust() {
  const say = useSay(words);
  const { data: known, error, refetch } = useProjects();
  const wanted = useSearch().get("directory");
  const roots = wanted === null ? known?.map((it) => it.root) : [wanted];
  return (
    <Page title={say("title")}>
      <p className="dim">{say("about")}</p>
      {error && wanted === null && <Failure error={error} onAgain={() => void refetch()} />}
      {!roots && !error && <Loading />}
      {roots?.length === 0 && <Empty>{say("none")}</Empty>}
      {roots?.map((root) => <Repository key={root} root={root} />)}
    </Page>
  );
}

function Repository({ root }: { root: string }) {
  const say = useSay(words);
  const cache = useQueryClient();
  const queryKey = [...keys.trusted, root];
  const look = useQuery({
    queryKey,
    queryFn: ({ signal }) => get<TrustView>(path("/trust", { directory: root }), signal),
    // What stands in a repository's files changes without a word.
    ...UNNAMED,
  });
  const give = useWish<TrustView, NewTrust>((body) => ({ path: "/trust", body }));
  const revoke = useWish<unknown, NewRevocation>((body) => ({ path: "/trust/revoke", body }));
  const refresh = { onSettled: () => void cache.invalidateQueries({ queryKey }) };
  const commands = look.data?.commands ?? [];
  const isNew = commands.some((command) => !command.trusted);
  return (
    <section className="panel stack" aria-label={plain(root)}>
      <h2 className="mono">
        <Said text={root} />
      </h2>
      {look.isPending && <Loading />}
      {look.error && <Failure error={look.error} onAgain={() => void look.refetch()} />}
      {look.data && commands.length === 0 && <p className="dim">{say("nothing")}</p>}
      {commands.length > 0 && (
        <>
          <p>{say("would")}</p>
          <ul className="list">
            {commands.map((command) => (
              <li key={command.hash + command.key} className="trust-command">
                <p>
                  <code>
                    <Said text={`${command.key} = ${command.value ?? "…"}`} lines />
                  </code>
                </p>
                <p className="small dim">
                  <span className={command.trusted ? "good" : "attention"}>
                    {command.trusted ? `✓ ${say("agreed")}` : `◆ ${say("isNew")}`}
                  </span>{" "}
                  · <Said text={say("inFile", { file: command.file })} />
                </p>
              </li>
            ))}
          </ul>
          {(give.error ?? revoke.error) && <Failure error={(give.error ?? revoke.error) as Error} wrote />}
          <div className="row">
            {isNew ? (
              <button
                type="button"
                className="button"
                disabled={give.isPending}
                onClick={() => give.mutate({ directory: root, hashes: commands.map((it) => it.hash) }, refresh)}
              >
                {say("agree")}
              </button>
            ) : (
              <span className="dim">{say("allAgreed")}</span>
            )}
            {look.data?.given_at_ms != null && (
              <button
                type="button"
                className="button plain"
                disabled={revoke.isPending}
                onClick={() => revoke.mutate({ directory: root }, refresh)}
              >
                {say("revoke")}
              </button>
            )}
          </div>
        </>
      )}
    </section>
  );
}
