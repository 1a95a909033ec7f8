// What ran when: a bar for every attempt, on one line of time.
import { plain, Said } from "../parts/Said";
import { clock, clockRange, span, useNow } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import type { InsideProps } from "./ListView";
import { statusOf } from "./state";
import { words } from "./words";

/** So much of the width a bar has at least, in percent: what was quick is seen too. */
const BAR_MIN = 0.6;

export function Times({ view, chosen, onOpen }: InsideProps) {
  const say = useSay(words);
  const language = useLanguage();
  const ran = view.tasks.filter((task) => task.attempts.length > 0);
  const runs = ran.some((task) => task.state === "in_progress");
  const now = useNow(1_000);
  if (ran.length === 0) return <p className="empty dim">{say("timesNone")}</p>;
  const begun = (task: (typeof ran)[number]) => task.attempts[0]?.begun_at_ms ?? 0;
  const from = Math.min(...ran.map(begun));
  const ends = ran.flatMap((task) => task.attempts.map((it) => it.ended_at_ms ?? it.begun_at_ms));
  const to = Math.max(from + 1_000, runs ? now : 0, ...ends);
  const part = (ms: number) => (100 * ms) / (to - from);
  const [began, end] = runs ? [clock(language, from), say("now")] : clockRange(language, from, to);
  return (
    <section className="panel tasks-times" aria-label={say("timesLabel", { from: began, to: end })}>
      <div className="tasks-axis small dim" aria-hidden="true">
        <span>{began}</span>
        <span>{span(language, to - from)}</span>
        <span>{end}</span>
      </div>
      <ol>
        {[...ran].sort((a, b) => begun(a) - begun(b)).map((task) => {
          const { shape, said, style } = statusOf(language, task);
          const last = task.attempts.at(-1);
          const isRunning = task.state === "in_progress";
          const time = task.attempts.reduce((sum, it) => sum + ((it.ended_at_ms ?? (isRunning ? now : it.begun_at_ms)) - it.begun_at_ms), 0);
          return (
            <li key={task.id}>
              <button
                type="button"
                className="tasks-time"
                data-task={task.id}
                aria-current={task.id === chosen ? "true" : undefined}
                onClick={() => onOpen(task.id)}
              >
                <span className={style}>
                  <span aria-hidden="true">{shape} </span>
                  <span className="mono">{task.id}</span>
                  <span className="only-read">
                    {" "}
                    {plain(task.title)}, {said},{" "}
                  </span>
                </span>
                <svg aria-hidden="true" className="tasks-bars" width="100%" height="20">
                  {task.attempts.map((it, index) => {
                    const isLast = it === last;
                    const until = it.ended_at_ms ?? (isLast && isRunning ? now : it.begun_at_ms);
                    const width = Math.max(BAR_MIN, part(until - it.begun_at_ms));
                    const kind = it.failed != null ? "failed" : isLast && isRunning ? "in_progress" : "completed";
                    return (
                      <rect key={index} className={`tasks-attempt ${kind}`} x={`${Math.min(100 - width, part(it.begun_at_ms - from))}%`} y="4" width={`${width}%`} height="12" rx="3" />
                    );
                  })}
                </svg>
                <span className="small dim tasks-took">{span(language, time)}</span>
                <Said text={task.title} className="small dim tasks-time-title" />
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
