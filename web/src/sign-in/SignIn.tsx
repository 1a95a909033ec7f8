// The page that a link leads to. The code stands behind the #, where no log, proxy or preview sees it; it is taken out of
// the address before anything else is done.
import { useEffect, useState } from "react";

import { keepProof, post } from "../api/client";
import { Refused } from "../api/problem";
import { problemSaid } from "../parts/problems";
import { Failure } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

/** What somebody wants with which link; `nth` tells one attempt from the next. */
interface Wanted {
  code: string;
  to: string;
  nth: number;
}

/** A code works once, so it is sent once, however often React looks at this. */
let sent: { wanted: Wanted; done: Promise<void> } | null = null;

/** The code, and where the link leads to: everything behind the first slash. */
function parts(fragment: string): { code: string; to: string } {
  const [, code = "", to = ""] = /^#?([^/]*)(.*)$/.exec(fragment) ?? [];
  // Only a place of this page: what begins with two slashes names another host.
  return { code, to: to.startsWith("/") && !to.startsWith("//") ? to : "/" };
}

async function signIn(code: string): Promise<void> {
  const { proof } = await post<{ proof: string }>("/sign-in", { code });
  keepProof(proof);
}

export function SignIn({ onDone }: { onDone: (to: string) => void }) {
  const say = useSay(words);
  const language = useLanguage();
  const [wanted, setWanted] = useState<Wanted>(() =>
    window.location.hash.length > 1 || !sent ? { ...parts(window.location.hash), nth: 0 } : sent.wanted,
  );
  const { code, to } = wanted;
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    // Another link in the same tab changes only what stands behind the #: the browser loads nothing for that.
    const take = () => {
      if (window.location.hash.length < 2) return;
      setError(null);
      setWanted((before) => ({ ...parts(window.location.hash), nth: before.nth + 1 }));
    };
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  useEffect(() => {
    document.title = `${say("title")} · Ostler`;
    if (code === "") return undefined;
    window.history.replaceState(null, "", "/sign-in");
    if (sent?.wanted.code !== code || sent.wanted.nth !== wanted.nth) sent = { wanted, done: signIn(code) };
    let isHere = true;
    sent.done.then(
      () => isHere && onDone(to),
      (failure: Error) => isHere && setError(failure),
    );
    return () => {
      isHere = false;
    };
    // The rest stays the same while this is shown.
  }, [wanted]);
  const isRefused = error instanceof Refused;
  const why = error instanceof Refused ? problemSaid(language, error.code)?.[0] : null;
  return (
    <main className="outside">
      <h1>ostler</h1>
      {code !== "" && !error && <p role="status">{say("doing")}</p>}
      {(isRefused || code === "") && (
        <div role="alert" className="stack">
          <p>{say(code === "" ? "noCode" : "refused")}</p>
          {why && <p className="dim">{why}</p>}
          <p className="dim">{say("refusedHint")}</p>
          <pre className="panel">ostler open</pre>
        </div>
      )}
      {error && !isRefused && (
        <Failure
          error={error}
          onAgain={() => {
            setError(null);
            setWanted((before) => ({ ...before, nth: before.nth + 1 }));
          }}
        />
      )}
    </main>
  );
}
