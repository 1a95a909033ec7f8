// One run: what was asked for, under which terms, who works on it, and what came of it.
import "./runs.css";

import { useRun } from "../api/queries";
import type { RunView } from "../api/schema";
import { late } from "../app/late";
import type { ViewProps } from "../app/places";
import { Link } from "../app/router";
import { Page } from "../parts/Page";
import { ProjectName } from "../parts/Project";
import { dollars, grouped } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Failure, Loading } from "../parts/states";
import { Mark, Why } from "../parts/status";
import { span } from "../parts/time";
import { PhasesMark } from "../phases/Stepper";
import { SessionRow } from "../sessions/SessionRow";
import { type Language, type Say, useLanguage, useSay } from "../words/words";
import { runState } from "./outcome";
import { words } from "./words";

const Phases = late(() => import("../phases/Phases"));
const Report = late(() => import("../tasks/Report"));

export default function Run({ id }: ViewProps) {
  const say = useSay(words);
  const run = useRun(id);
  return (
    <Page title={say("run", { id })}>
      {run.error && <Failure error={run.error} onAgain={() => void run.refetch()} />}
      {run.isPending && <Loading />}
      {run.data && <Facts run={run.data} />}
      {run.data?.phased && (
        <Phases id={id} />
      )}
      {run.data?.sessions.filter((it) => it.conducts === true).map((it) => <Report key={it.id} session={it.id} />)}
      {run.data && (
        <section className="stack">
          <div className="page-head">
            <h2>{say("who")}</h2>
            <Link href={`/office/${run.data.project.id}?view=sequence&run=${id}`} className="small">
              {say("whoCalled")}
            </Link>
          </div>
          <ul className="panel list" aria-label={say("who")}>
            {run.data.sessions.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        </section>
      )}
    </Page>
  );
}

function Facts({ run }: { run: RunView }) {
  const say = useSay(words);
  const language = useLanguage();
  const may = budgetSaid(language, say, run);
  const used = [run.usage?.cost_usd != null ? dollars(run.usage.cost_usd) : "", tokensSaid(say, run.usage?.tokens)];
  const mark = <Mark status={runState(language, run)} />;
  const attempts = Math.max(0, ...run.sessions.map((session) => session.attempts));
  return (
    <section className="panel stack">
      <p>
        {run.phased ? <PhasesMark id={run.id} fallback={mark} /> : mark}
      </p>
      <p className="runs-asked">
        <Said text={run.title} lines className="strong" />
      </p>
      {run.outcome && (
        <p className="bad">
          <Why outcome={run.outcome} />
        </p>
      )}
      <dl className="facts">
        <dt>{say("project")}</dt>
        <dd>
          <Link href={`/sessions?project=${run.project.id}&show=all`}>
            <ProjectName project={run.project} />
          </Link>{" "}
          <Said text={run.project.root} className="mono dim" />
        </dd>
        <dt>{say("began")}</dt>
        <dd>
          <Since at={run.created_at_ms} ago />
        </dd>
        {run.ended_at_ms != null && (
          <>
            <dt>{say("ended")}</dt>
            <dd>
              <Since at={run.ended_at_ms} ago />
            </dd>
          </>
        )}
        {run.check != null && (
          <>
            <dt>{say("check")}</dt>
            <dd>
              <code>
                <Said text={run.check} />
              </code>
            </dd>
          </>
        )}
        {run.attempts_max != null && run.check != null && (
          <>
            <dt>{say("attempts")}</dt>
            <dd>{say("attemptsOf", { n: attempts, max: run.attempts_max })}</dd>
          </>
        )}
        {used.some((it) => it !== "") && (
          <>
            <dt>{say("used")}</dt>
            <dd>{used.filter((it) => it !== "").join(" · ")}</dd>
          </>
        )}
        {may !== "" && (
          <>
            <dt>{say("budget")}</dt>
            <dd>{may}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function tokensSaid(say: Say<typeof words.en>, tokens: number | null | undefined): string {
  return tokens == null ? "" : say("UsageTokens", { n: grouped(tokens) });
}

/** How much may be used before somebody is asked. */
export function budgetSaid(language: Language, say: Say<typeof words.en>, run: RunView): string {
  const budget = run.budget;
  const parts = [
    budget?.time_s_max == null ? "" : say("timeMax", { time: span(language, budget.time_s_max * 1000) }),
    budget?.cost_usd_max == null ? "" : dollars(budget.cost_usd_max),
    tokensSaid(say, budget?.tokens_max),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
