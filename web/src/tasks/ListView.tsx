// The same as the graph in words: phases with their tasks, each with how it is and what it waits for.
import type { TasksView, TaskView } from "../api/schema";
import { Said } from "../parts/Said";
import { Mark } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { ClosePhase } from "./Answer";
import { phaseSaid, whySaid } from "./said";
import { byPhase, countsOf, isSettled, stateOf, statusOf } from "./state";
import { words } from "./words";

export interface InsideProps {
  view: TasksView;
  byId: Map<string, TaskView>;
  /** The one that is shown beside. */
  chosen: string | null;
  onOpen: (task: string) => void;
}

/** So many tasks are shown without being asked for. */
const OPEN_MAX = 60;

export function ListView(props: InsideProps) {
  const { view } = props;
  const isSmall = view.tasks.length <= OPEN_MAX;
  const phases = byPhase(view);
  const current = phases.find(({ tasks }) => !tasks.every(isSettled))?.phase.number;
  return (
    <div className="stack">
      {phases.map(({ phase, tasks }) => (
        <Phase key={phase.number} {...props} phase={phase} tasks={tasks} isOpen={isSmall || phase.number === current} />
      ))}
    </div>
  );
}

interface PhaseProps extends InsideProps {
  phase: TasksView["phases"][number];
  tasks: TaskView[];
  /** Whether its tasks are shown at first. */
  isOpen: boolean;
}

function Phase({ view, byId, chosen, onOpen, phase, tasks, isOpen }: PhaseProps) {
  const say = useSay(words);
  const language = useLanguage();
  const standing = { open: say("phaseOpen"), settled: say("phaseSettled"), closed: say("phaseClosed") }[phase.state];
  const counts = countsOf(tasks).map(([state, n]) => say("counted", { n, state: stateOf(language, state).said }));
  const canClose = phase.state === "open" && tasks.some((task) => task.state === "failed");
  return (
    <details className="panel tasks-phase" open={isOpen}>
      <summary>
        <h2>
          <Said text={phaseSaid(say, phase)} />
        </h2>
        <span className="small dim">
          {standing} · {counts.join(" · ")}
        </span>
      </summary>
      <ul className="list">
        {tasks.map((task) => {
          const why = whySaid(say, task, view.tasks, byId);
          return (
            <li key={task.id}>
              <button
                type="button"
                className="tasks-row"
                data-task={task.id}
                aria-current={task.id === chosen ? "true" : undefined}
                onClick={() => onOpen(task.id)}
              >
                <span className="mono tasks-id">{task.id}</span>
                <Said text={task.title} className="tasks-row-title" />
                <span className="small tasks-row-facts">
                  <Mark status={statusOf(language, task)} />
                  {why !== null && <span className="dim"> · {why}</span>}
                  {task.critical && <span className="dim"> · {say("critical")}</span>}
                  {task.priority === "first" && !isSettled(task) && <span className="dim"> · {say("isFirst")}</span>}
                  {task.owner != null && (
                    <span className="dim">
                      {" · "}
                      <Said text={task.owner} />
                    </span>
                  )}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {canClose && <ClosePhase project={view.project.id} phase={phase.number} withFailures />}
    </details>
  );
}
