// Nobody is signed in in this browser: how to change that.
import { useEffect } from "react";

import { useSay } from "../words/words";
import { words } from "./words";

export function SignedOut() {
  const say = useSay(words);
  useEffect(() => {
    document.title = `${say("title")} · Ostler`;
  }, [say]);
  return (
    <main className="outside">
      <h1>ostler</h1>
      <p>{say("out")}</p>
      <p className="dim">{say("outHint")}</p>
      <pre className="panel">ostler open</pre>
      <p className="dim small">{say("outThen")}</p>
      <p>
        <button type="button" className="button" onClick={() => window.location.reload()}>
          {say("back")}
        </button>
      </p>
    </main>
  );
}
