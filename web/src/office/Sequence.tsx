// A run's sequence diagram, as text that Mermaid draws.
import { useId, useMemo, useState } from "react";

import type { InvocationView } from "../api/schema";
import { go, useSearch } from "../app/router";
import { Choose } from "../parts/Form";
import { plain } from "../parts/Said";
import { Empty, Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { useDiagram } from "./queries";
import { words } from "./words";

export function Sequence({ project, recent }: { project: string; recent: InvocationView[] }) {
  const say = useSay(words);
  const id = useId();
  const run = useSearch().get("run");
  const diagram = useDiagram(project, run);
  // A run that is named but old is offered, too.
  const runs = useMemo(() => [...new Set([...(run === null ? [] : [run]), ...recent.map((it) => it.run)])], [run, recent]);
  const choose = (value: string) => {
    const next = new URLSearchParams(window.location.search);
    if (value === "") next.delete("run");
    else next.set("run", value);
    go(`${window.location.pathname}?${next}`, "replace");
  };
  return (
    <section className="stack">
      <Choose id={id} label={say("run")} value={run ?? ""} onChange={choose}>
        <option value="">{say("everyRun")}</option>
        {runs.map((it) => (
          <option key={it} value={it}>
            {it}
          </option>
        ))}
      </Choose>
      {diagram.error && <Failure error={diagram.error} onAgain={() => void diagram.refetch()} />}
      {diagram.isPending && <Loading />}
      {diagram.data && <Text key={run ?? ""} text={diagram.data.mermaid} />}
    </section>
  );
}

function Text({ text }: { text: string }) {
  const say = useSay(words);
  const [copied, setCopied] = useState<string | null>(null);
  // Browsers give the clipboard only to pages over TLS or of this machine.
  const canCopy = "clipboard" in navigator;
  // There is nobody in it.
  if (!text.includes("participant ")) return <Empty>{say("noCalls")}</Empty>;
  return (
    <>
      <p className="row">
        <span className="small dim">{say("mermaid")}</span>
        {canCopy && (
          <button type="button" className="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}>
            {say(copied === text ? "copied" : "copy")}
          </button>
        )}
      </p>
      <pre className="office-text" role="region" aria-label={say("mermaidText")} tabIndex={0}>
        {plain(text)}
      </pre>
    </>
  );
}
