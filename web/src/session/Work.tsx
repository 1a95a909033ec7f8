// What a session has changed in its worktree, when somebody wants to see it.
import { lazy, Suspense, useState } from "react";

import { keys } from "../api/queries";
import type { SessionView } from "../api/schema";
import { Loading } from "../parts/states";
import { useSay } from "../words/words";
import { words } from "./words";

const Diff = lazy(() => import("../diff/Diff"));

export function Work({ session }: { session: SessionView }) {
  const say = useSay(words);
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="stack">
      <h2>{say("changes")}</h2>
      <p>
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "▾" : "▸"} {say("showWork")}
        </button>
      </p>
      {isOpen && (
        <Suspense fallback={<Loading />}>
          <Diff path={`/sessions/${session.id}/diff`} queryKey={keys.diff(session.id)} none={say("noChanges")} />
        </Suspense>
      )}
    </section>
  );
}
