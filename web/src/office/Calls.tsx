// Every call of the office, newest first. Each opens what its two have said to each other.
import { itemsOf } from "../api/pages";
import type { InvocationView } from "../api/schema";
import { List } from "../parts/List";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Mark } from "../parts/status";
import { useSay } from "../words/words";
import { useCalls } from "./queries";
import { callState, whySaid } from "./said";
import { words } from "./words";

export function Calls({ project, onOpen }: { project: string; onOpen: (name: string, other: string) => void }) {
  const say = useSay(words);
  const calls = useCalls(project);
  return (
    <section className="stack">
      <h2>{say("calls")}</h2>
      <List asked={calls} items={itemsOf(calls)} label={say("calls")} empty={say("noCalls")}>
        {(call) => (
          <li key={call.id}>
            <button type="button" className="office-row" onClick={() => onOpen(call.caller, call.callee)}>
              <Between call={call} />
              <Mark status={callState(say, call)} />
              <span className="small dim office-row-facts">
                {call.status === "failed" && <span>{whySaid(say, call)}</span>}
                <Said text={call.task.slice(0, 200)} className="office-task" />
                <Since at={call.opened_at_ms} ago />
              </span>
            </button>
          </li>
        )}
      </List>
    </section>
  );
}

/** Who called whom. */
function Between({ call }: { call: InvocationView }) {
  return (
    <span>
      <span className="dim small">{call.id}</span> <Said text={call.caller} className="strong" /> → <Said text={call.callee} className="strong" />
    </span>
  );
}
