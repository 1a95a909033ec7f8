// The projects, each with its office.
import { useProjects } from "../api/queries";
import type { ProjectSummary } from "../api/schema";
import { Link } from "../app/router";
import { List } from "../parts/List";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { words } from "./words";

export default function Offices() {
  const say = useSay(words);
  const projects = useProjects();
  const empty = (
    <>
      <p>{say("none")}</p>
      <p className="small">{say("howTo")}</p>
    </>
  );
  return (
    <Page title={say("title")}>
      <List asked={projects} items={projects.data} label={say("title")} empty={empty}>
        {(project) => <Row key={project.id} project={project} />}
      </List>
    </Page>
  );
}

function Row({ project }: { project: ProjectSummary }) {
  const say = useSay(words);
  const now = [
    ...(project.running > 0 ? [`● ${say("atWork", { n: project.running })}`] : []),
    ...(project.waiting > 0 ? [`◇ ${say("waitingNow", { n: project.waiting })}`] : []),
  ];
  return (
    <li className="item">
      <Link href={`/office/${encodeURIComponent(project.id)}`} className="item-link">
        <span className="strong item-title">
          <Said text={project.name} />
        </span>
        <span className="small">{now.length > 0 ? now.join(" · ") : say("quiet")}</span>
        <span className="dim small">
          <Said text={project.root} className="mono" />
        </span>
      </Link>
    </li>
  );
}
