// What there is to know about a session.
import { useRun } from "../api/queries";
import type { RunView, SessionView } from "../api/schema";
import { Link } from "../app/router";
import { dollars, grouped } from "../parts/request";
import { ProjectName } from "../parts/Project";
import { Said } from "../parts/Said";
import { span } from "../parts/time";
import { type Language, type Say, useLanguage, useSay } from "../words/words";
import { Permissions } from "./Permissions";
import { words } from "./words";

export function Facts({ session }: { session: SessionView }) {
  const say = useSay(words);
  const language = useLanguage();
  const run = useRun(session.run);
  const { worktree, usage } = session;
  const used = [
    usage?.cost_usd == null ? "" : dollars(usage.cost_usd),
    usage?.tokens == null ? "" : say("UsageTokens", { n: grouped(usage.tokens) }),
  ].filter((part) => part !== "");
  const budget = run.data ? budgetSaid(language, say, run.data) : "";
  return (
    <dl className="facts small session-facts" aria-label={say("facts")}>
      <dt>{say("agent")}</dt>
      <dd>
        <Said text={session.agent} />
      </dd>
      <dt>{say("project")}</dt>
      <dd>
        <Link href={`/sessions?project=${session.project.id}&show=all`}>
          <ProjectName project={session.project} />
        </Link>
        {" · "}
        <Link href={`/runs/${session.run}`}>
          {say("run")} {session.run}
        </Link>
      </dd>
      <dt>{say("directory")}</dt>
      <dd>
        <Said text={session.directory} className="mono" />
      </dd>
      {worktree && (
        <>
          <dt>{say("branch")}</dt>
          <dd>
            <Said text={worktree.branch} className="mono" />
            {worktree.target != null && (
              <>
                {" "}
                <span className="dim">
                  <Said text={say("into", { target: worktree.target })} />
                </span>
              </>
            )}
            {worktree.message != null && (
              <p className={worktree.state.startsWith("not_") ? "bad" : "dim"}>
                <Said text={worktree.message} lines />
              </p>
            )}
          </dd>
        </>
      )}
      {session.errands != null && (
        <>
          <dt>{say("mainAgent")}</dt>
          <dd>
            {session.errands.length === 0 && say("nothingOpen")}
            {session.errands.map((errand) => (
              <div key={errand.number}>
                <code>
                  <Said text={errand.line.split("\n", 1)[0] ?? ""} />
                </code>{" "}
                {errand.run != null && <Link href={`/runs/${errand.run}`}>{errand.run}</Link>}
              </div>
            ))}
          </dd>
        </>
      )}
      {run.data?.check != null && (
        <>
          <dt>{say("check")}</dt>
          <dd>
            <code>
              <Said text={run.data.check} />
            </code>
            {run.data.attempts_max != null && (
              <span className="dim"> · {say("attempts", { n: session.attempts, max: run.data.attempts_max })}</span>
            )}
          </dd>
        </>
      )}
      {used.length > 0 && (
        <>
          <dt>{say("used")}</dt>
          <dd>{used.join(" · ")}</dd>
        </>
      )}
      {budget !== "" && (
        <>
          <dt>{say("budget")}</dt>
          <dd>{budget}</dd>
        </>
      )}
      {(session.permissions ?? []).length > 0 && (
        <>
          <dt>{say("allowedRules")}</dt>
          <dd>
            <Permissions session={session} />
          </dd>
        </>
      )}
      {session.account != null && (
        <>
          <dt>{say("account")}</dt>
          <dd>
            <Said text={session.account} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** How much may be used before somebody is asked. */
function budgetSaid(language: Language, say: Say<typeof words.en>, run: RunView): string {
  const budget = run.budget;
  return [
    budget?.time_s_max == null ? "" : say("timeMax", { time: span(language, budget.time_s_max * 1000) }),
    budget?.cost_usd_max == null ? "" : dollars(budget.cost_usd_max),
    budget?.tokens_max == null ? "" : say("UsageTokens", { n: grouped(budget.tokens_max) }),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
