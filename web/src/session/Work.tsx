// What a session has changed in its worktree, when somebody wants to see it.
import { useState } from "react";

import { route } from "../api/client";
import { keys } from "../api/queries";
import type { SessionView } from "../api/schema";
import { late } from "../app/late";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { hasPlace } from "./restorable";
import { words } from "./words";

const Diff = late(() => import("../diff/Diff"));

export function Work({ session }: { session: SessionView }) {
  const say = useSay(words);
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="stack">
      <h2>{say("changes")}</h2>
      <Became session={session} />
      <p hidden={!hasPlace(session)}>
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "▾" : "▸"} {say("showWork")}
        </button>
      </p>
      {isOpen && hasPlace(session) && (
        <Diff path={route`/sessions/${session.id}/diff`} queryKey={keys.diff(session.id)} none={say("noChanges")} isLive />
      )}
    </section>
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
