// Where agents work: each project with who is there now and what was last asked for.
import { useStatus, useUsage } from "../api/queries";
import { Link } from "../app/router";
import { Page } from "../parts/Page";
import { dollars } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Empty, Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { type Known, useKnown } from "./known";
import { words } from "./words";

export default function Projects() {
  const say = useSay(words);
  const { known, error, again } = useKnown();
  const action = (
    <Link href="/runs/new" className="button">
      {say("newRun")}
    </Link>
  );
  return (
    <Page title={say("title")} aside={action}>
      {error && <Failure error={error} onAgain={again} />}
      {!known && !error && <Loading />}
      {known?.length === 0 && <Empty>{say("none")}</Empty>}
      {known?.map((it) => <Project key={it.project.id} known={it} />)}
    </Page>
  );
}

function Project({ known: { project, lastRun } }: { known: Known }) {
  const say = useSay(words);
  const status = useStatus();
  const usage = useUsage("project");
  const atWork = status.data?.sessions.filter((it) => it.project.id === project.id).length ?? 0;
  const cost = usage.data?.rows.find((row) => row.key === project.id)?.usage.cost_usd;
  const where = encodeURIComponent(project.root);
  return (
    <section className="panel stack" aria-label={project.name}>
      <div className="page-head">
        <h2>
          <Said text={project.name} />
        </h2>
        <span className="row small">
          <Link href={`/sessions?project=${project.id}`}>{say("sessions")}</Link>
          <Link href={`/trust?directory=${where}`}>{say("trust")}</Link>
          <Link href={`/runs/new?directory=${where}`}>{say("newRun")}</Link>
        </span>
      </div>
      <p className="mono dim">
        <Said text={project.root} />
      </p>
      <p className="small">
        {atWork > 0 && <>{say("atWork", { n: atWork })} · </>}
        {say("lastRun")}: <Link href={`/runs/${lastRun.id}`}>{lastRun.id}</Link> <Said text={lastRun.title} /> ·{" "}
        <Since at={lastRun.created_at_ms} />
        {cost != null && <> · {say("cost", { cost: dollars(cost) })}</>}
      </p>
      {!project.git && <p className="small dim">{say("notGit")}</p>}
    </section>
  );
}
