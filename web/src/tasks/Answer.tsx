// What a resolver answers now, in a sentence; and the end of a phase, where that is due.
import { useState } from "react";

import type { TasksView } from "../api/schema";
import { Dialog } from "../parts/Dialog";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { words as parts } from "../parts/words";
import { useSay } from "../words/words";
import { useClose } from "./queries";
import { idsSaid } from "./said";
import { answerOf } from "./state";
import { words } from "./words";

export function Answer({ view }: { view: TasksView }) {
  const say = useSay(words);
  const { kind, rest } = answerOf(view.line);
  const ids = rest.split(/[,|]/).filter((id) => id !== "");
  const said = () => {
    switch (kind) {
      case "READY":
        return { shape: "○", style: "", text: say("ready", { ids: idsSaid(ids) }) };
      case "WAIT":
        return { shape: "●", style: "", text: say("wait") };
      case "ALL_DONE":
        return { shape: "✓", style: "good", text: say("allDone") };
      case "PHASE_DONE":
        return { shape: "✓", style: "", text: say("phaseDone", { n: rest }) };
      case "BLOCKED":
        return { shape: "◆", style: "attention", text: say("blocked", { ids: idsSaid(ids) }) };
      case "STATE_LOCKED":
        return { shape: "◆", style: "attention", text: say("locked") };
      case "STATE_CORRUPT":
        return { shape: "✗", style: "bad", text: say("stateBad") };
      case "PARSE_FAIL":
      case "MISSING_DEP":
      case "CIRCULAR_DEP":
        return { shape: "✗", style: "bad", text: say("cannot") };
      default:
        return { shape: "·", style: "", text: say("otherLine") };
    }
  };
  const { shape, style, text } = said();
  return (
    <section className="panel tasks-answer">
      <p className={`strong ${style}`} role="status">
        <span aria-hidden="true">{shape} </span>
        <Said text={text} />
      </p>
      {view.state_problem != null && (
        <p className="small bad">
          <Said text={view.state_problem} />
        </p>
      )}
      <p className="small dim">
        <code>
          <Said text={view.line} />
        </code>{" "}
        · {say("resolver")}
      </p>
      {kind === "PHASE_DONE" && <ClosePhase project={view.project.id} phase={Number(rest)} withFailures={false} />}
    </section>
  );
}

/** Records that a phase is over; what has failed in it is given up only after a question. */
export function ClosePhase({ project, phase, withFailures }: { project: string; phase: number; withFailures: boolean }) {
  const say = useSay(words);
  const common = useSay(parts);
  const [isAsking, setAsking] = useState(false);
  const closing = useClose(project);
  const done = () => setAsking(false);
  return (
    <>
      <p>
        <button
          type="button"
          className="button"
          disabled={closing.isPending}
          onClick={() => (withFailures ? setAsking(true) : closing.close(phase, false, done))}
        >
          {say(withFailures ? "closeWith" : "closePhase", { n: phase })}
        </button>
      </p>
      {closing.error && !isAsking && <Failure error={closing.error} wrote />}
      {isAsking && (
        <Dialog title={say("closeAsk", { n: phase })} onClose={done}>
          <p>{say("closeTells")}</p>
          {closing.error && <Failure error={closing.error} wrote />}
          <p className="row">
            <button type="button" className="button primary" disabled={closing.isPending} onClick={() => closing.close(phase, true, done)}>
              {say("closeDo")}
            </button>
            <button type="button" className="button" onClick={done}>
              {common("cancel")}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}
