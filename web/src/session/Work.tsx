// What a session has changed in its worktree, when somebody wants to see it.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { get, route } from "../api/client";
import { keys, UNNAMED } from "../api/queries";
import type { SessionView, WorkSecretsView } from "../api/schema";
import { late } from "../app/late";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { hasPlace } from "./restorable";
import { words } from "./words";

const Diff = late(() => import("../diff/Diff"));

export function Work({ session }: { session: SessionView }) {
  const say = useSay(words);
  return (
    <section className="stack">
      <h2>{say("changes")}</h2>
      <Became session={session} />
      <Changes session={session} />
    </section>
  );
}

/** A button that opens the diff of the work, with `children` beside it; nothing where the work is gone. */
export function Changes({ session, children }: { session: SessionView; children?: ReactNode }) {
  const say = useSay(words);
  const [isOpen, setOpen] = useState(false);
  if (!hasPlace(session)) return null;
  return (
    <>
      <p className="row">
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "▾" : "▸"} {say("showWork")}
        </button>
        {children}
      </p>
      {isOpen && <Secrets session={session.id} />}
      {isOpen && <Diff path={route`/sessions/${session.id}/diff`} queryKey={keys.diff(session.id)} none={say("noChanges")} isLive />}
    </>
  );
}

/** Which secrets are in the work. Where that cannot be asked, the diff says what is wrong. */
function Secrets({ session }: { session: string }) {
  const say = useSay(words);
  const { data } = useQuery({
    queryKey: [...keys.diff(session), "secrets"],
    queryFn: ({ signal }) => get<WorkSecretsView>(route`/sessions/${session}/secrets`, signal),
    ...UNNAMED,
  });
  if (!data || data.found.length + data.unchecked.length === 0) return null;
  return (
    <div className="notice attention">
      {data.found.map((it) => (
        <p key={`${it.secret} ${it.file}`}>
          <Said text={say("secretInWork", { secret: it.secret, file: it.file, line: it.line })} />
        </p>
      ))}
      {data.more > 0 && <p>{say("secretsMore", { n: data.more })}</p>}
      {data.unchecked.map((why) => (
        <p key={why}>{say(why === "vault" ? "secretsVault" : "secretsLong")}</p>
      ))}
    </div>
  );
}

/** What became of work whose directory is gone. */
function Became({ session }: { session: SessionView }) {
  const say = useSay(words);
  const { state, message, target } = session.worktree ?? {};
  if (state === "merged") return <Said text={say("mergedAs", { target: target ?? "HEAD", commit: (message ?? "?").slice(0, 12) })} />;
  if (state === "discarded") return <Said text={say("discardedTo", { where: message ?? "?" })} />;
  return null;
}
