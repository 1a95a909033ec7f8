// Another server answers at this address than the one that this browser is signed in at. It is told nothing; the page
// comes back by itself when its own server does.
import { useEffect } from "react";

import { ask } from "../api/client";
import { Refused } from "../api/problem";
import { useSay } from "../words/words";
import { words } from "./words";

const LOOK_MS = 3_000;

export function Another({ onBack }: { onBack: () => void }) {
  const say = useSay(words);
  useEffect(() => {
    document.title = `${say("another")} · Ostler`;
    const look = () => {
      // Its own server may have forgotten the sign-in, and is still its own.
      ask("/info").then(onBack, (error) => error instanceof Refused && onBack());
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [say, onBack]);
  return (
    <main className="outside" role="alert">
      <h1>ostler</h1>
      <p>{say("another")}</p>
      <p className="dim">{say("anotherHint")}</p>
      <p className="dim">{say("anotherThen")}</p>
      <pre className="panel">ostler open</pre>
    </main>
  );
}
