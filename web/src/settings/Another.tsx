// A link for another browser.
import { useWish } from "../api/queries";
import type { LinkView } from "../api/schema";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import { Once } from "./Once";
import { words } from "./words";

export function Another() {
  const say = useSay(words);
  const make = useWish<LinkView>(() => ({ path: "/links" }));
  return (
    <section className="panel stack">
      <h2>{say("another")}</h2>
      <p className="dim small">{say("anotherAbout")}</p>
      {make.data && (
        <>
          <Once label={say("here")} text={make.data.url} />
          {make.data.away == null ? <p className="dim small">{say("notAway")}</p> : <Once label={say("away")} text={make.data.away} />}
        </>
      )}
      {make.error && <Failure error={make.error} />}
      <p>
        <button type="button" className="button" disabled={make.isPending} onClick={() => make.mutate()}>
          {say("makeLink")}
        </button>
      </p>
    </section>
  );
}
