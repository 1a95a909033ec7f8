// What was brought without a call, newest first. Each opens what its two have said to each other.
import type { ResultView } from "../api/schema";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { useSay } from "../words/words";
import { typeSaid } from "./said";
import { words } from "./words";

export function Unasked({ results, onOpen }: { results: ResultView[]; onOpen: (name: string, other: string) => void }) {
  const say = useSay(words);
  return (
    <section className="stack">
      <h2>{say("unaskedTitle")}</h2>
      <ul className="panel list" aria-label={say("unaskedTitle")}>
        {results.map((result) => (
          <li key={result.id}>
            <button type="button" className="office-row" onClick={() => onOpen(result.from, result.to)}>
              <span>
                <span className="dim small">{result.id}</span> <Said text={result.from} className="strong" /> ⇢ <Said text={result.to} className="strong" />
              </span>
              <span className={result.delivered ? "dim" : "attention"}>{say(result.delivered ? "isRead" : "notRead")}</span>
              <span className="small dim office-row-facts">
                {result.type !== "message" && <span>{typeSaid(say, result.type)}</span>}
                <Said text={result.content.slice(0, 200)} className="office-task" />
                <Since at={result.given_at_ms} ago />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
