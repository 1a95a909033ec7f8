// Where agents work: each project with who is there now and what it has used.
import { useProjects, useUsage } from "../api/queries";
import type { ProjectSummary } from "../api/schema";
import { Link } from "../app/router";
import { List } from "../parts/List";
import { Page } from "../parts/Page";
import { dollars } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { useSay } from "../words/words";
import { words } from "./words";

export default function Projects() {
  const say = useSay(words);
  const projects = useProjects();
  const usage = useUsage("project");
  const costs = new Map(usage.data?.rows.map((row) => [row.key, row.usage.cost_usd]));
  const action = (
    <Link href="/runs/new" className="button">
      {say("newRun")}
    </Link>
  );
  return (
    <Page title={say("title")} aside={action}>
      <List asked={projects} items={projects.data} label={say("title")} empty={say("none")} className="stack">
        {(project) => <Project key={project.id} project={project} cost={costs.get(project.id)} />}
      </List>
    </Page>
  );
}

function Project({ project, cost }: { project: ProjectSummary; cost: number | null | undefined }) {
  const say = useSay(words);
  const where = encodeURIComponent(project.root);
  const now = [
    ...(project.running > 0 ? [say("atWork", { n: project.running })] : []),
    ...(project.waiting > 0 ? [say("waiting", { n: project.waiting })] : []),
    ...(project.requests > 0 ? [say("open", { n: project.requests })] : []),
    ...(cost == null ? [] : [say("cost", { cost: dollars(cost) })]),
  ];
  return (
    <li className="panel stack">
      <div className="page-head">
        <h2>
          <Said text={project.name} />
        </h2>
        <span className="row small">
          <Link href={`/sessions?project=${project.id}`}>{say("sessions")}</Link>
          <Link href={`/tasks/${project.id}`}>{say("tasks")}</Link>
          <Link href={`/office/${project.id}`}>{say("office")}</Link>
          <Link href={`/trust?directory=${where}`}>{say("trust")}</Link>
          <Link href={`/runs/new?directory=${where}`}>{say("newRun")}</Link>
        </span>
      </div>
      <p className="mono dim">
        <Said text={project.root} />
      </p>
      <p className="small">
        {now.map((fact) => `${fact} · `)}
        {project.active_at_ms != null && (
          <>
            {say("active")} <Since at={project.active_at_ms} ago />
          </>
        )}
      </p>
      {!project.git && <p className="small dim">{say("ShowNotGit")}</p>}
    </li>
  );
}
