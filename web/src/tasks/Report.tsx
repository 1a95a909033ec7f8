// What a run through the task file has come to, once it is over: how long it took, and what it has said and read beside
// what whole prompts and reports would have been, with where both are kept.
import type { LoopExchange, LoopView } from "../api/schema";
import { Link } from "../app/router";
import { grouped } from "../parts/request";
import { plain, Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { span } from "../parts/time";
import { sayShared, useLanguage, useSay } from "../words/words";
import { useLoop } from "./queries";
import { words } from "./words";

/** Waiting of less than that is not worth a word. */
const SAID_MS = 1_000;

/** By the id of its session. With `leads`, it says which run that was. */
export default function Report({ session, leads = false }: { session: string; leads?: boolean }) {
  const report = useLoop(session);
  if (report.error) return <Failure error={report.error} onAgain={() => void report.refetch()} />;
  return report.data?.ended_at_ms != null ? <Over view={report.data} leads={leads} /> : null;
}

function Over({ view, leads }: { view: LoopView; leads: boolean }) {
  const say = useSay(words);
  const language = useLanguage();
  const { report, counts } = view;
  const [waited, tasksWaited] = [report.waited_ms ?? 0, report.tasks_waited_ms ?? 0];
  const done = { done: report.done, failed: counts.failed, skipped: counts.skipped, retries: report.retries };
  const isWorth = (ms: number) => ms >= SAID_MS;
  const speed = { wall: span(language, report.wall_ms), agent: span(language, report.agent_ms), waited: span(language, waited), speed: report.speed_up.toFixed(1) };
  return (
    <section className="panel stack tasks-report" aria-labelledby={`report-${view.session}`}>
      <div className="page-head">
        <h2 id={`report-${view.session}`}>{say("report")}</h2>
        {leads && <Link href={`/runs/${view.run}`}>{say("run", { id: view.run })}</Link>}
      </div>
      <p>
        {sayShared(language, "LoopReport", done)}. {report.agent_ms > 0 && `${sayShared(language, isWorth(waited) ? "LoopReportTimeWaited" : "LoopReportTime", speed)}.`}{" "}
        {report.agent_ms > 0 && isWorth(tasksWaited) && `${sayShared(language, "LoopReportTasksWaited", { waited: span(language, tasksWaited) })}.`}
      </p>
      {report.exchange != null && report.exchange.calls > 0 && <Exchange exchange={report.exchange} />}
    </section>
  );
}

/** Who called nobody has saved nothing. */
function Exchange({ exchange }: { exchange: LoopExchange }) {
  const say = useSay(words);
  const language = useLanguage();
  const { thin_tokens: thin, full_tokens: full, saved_percent: saved, directory } = exchange;
  return (
    <>
      <h3>{say("tokens")}</h3>
      {thin == null || full == null ? (
        <p>{sayShared(language, "LoopReportNoTokens", { place: plain(directory) })}</p>
      ) : (
        <>
          <Bars thin={thin} full={full} />
          {saved != null && <p>{say("saved", { saved: saved.toFixed(1), tokenizer: plain(exchange.tokenizer ?? "") })}</p>}
          <dl className="facts small">
            <dt>{say("thinKept")}</dt>
            <dd>
              <Said text={`${directory}/thin.txt`} className="mono" />
            </dd>
            <dt>{say("fullKept", { n: exchange.calls })}</dt>
            <dd>
              <Said text={`${directory}/full`} className="mono" />
            </dd>
          </dl>
        </>
      )}
    </>
  );
}

/** Both beside each other, as long as they are. */
function Bars({ thin, full }: { thin: number; full: number }) {
  const say = useSay(words);
  const most = Math.max(1, thin, full);
  const bars: [string, string, number][] = [
    ["thin", say("thinTokens"), thin],
    ["full", say("fullTokens"), full],
  ];
  return (
    <ul className="tasks-tokens">
      {bars.map(([kind, name, n]) => (
        <li key={kind}>
          <span>{name}</span>
          <svg aria-hidden="true" width="100%" height="12">
            <rect className={`tasks-token-bar ${kind}`} width={`${Math.max(0.5, (100 * n) / most)}%`} height="12" rx="3" />
          </svg>
          <span className="tasks-token-count">{say("tokenCount", { n: grouped(n) })}</span>
        </li>
      ))}
    </ul>
  );
}
