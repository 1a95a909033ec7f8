// The projects that have a task file, with how far each is.
import type { TasksSummary } from "../api/schema";
import { List } from "../parts/List";
import { Page } from "../parts/Page";
import { ProjectName } from "../parts/Project";
import { Said } from "../parts/Said";
import { Link } from "../app/router";
import { useSay } from "../words/words";
import { useSummaries } from "./queries";
import { words } from "./words";

export default function Tasks() {
  const say = useSay(words);
  const summaries = useSummaries();
  const empty = (
    <>
      <p>{say("none")}</p>
      <p className="small">{say("howTo")}</p>
    </>
  );
  return (
    <Page title={say("title")}>
      <List asked={summaries} items={summaries.data} label={say("title")} empty={empty}>
        {(it) => <Row key={it.project.id} summary={it} />}
      </List>
    </Page>
  );
}

function Row({ summary }: { summary: TasksSummary }) {
  const say = useSay(words);
  const { project, tasks, settled, in_progress, failed, problems } = summary;
  return (
    <li className="item">
      <Link href={`/tasks/${encodeURIComponent(project.id)}`} className="item-link">
        <span className="strong item-title">
          <ProjectName project={project} />
        </span>
        <span className="small">
          {problems > 0 ? <span className="bad">✗ {problems === 1 ? say("wrongOne") : say("wrong", { n: problems })}</span> : say("progress", { settled, all: tasks })}
          {in_progress > 0 && ` · ● ${say("working", { n: in_progress })}`}
          {failed > 0 && <span className="bad"> · ✗ {say("failed", { n: failed })}</span>}
        </span>
        <span className="dim small">
          <Said text={`${project.root}/${summary.file}`} className="mono" />
        </span>
      </Link>
    </li>
  );
}
