// Everything that was asked for, newest first.
import { itemsOf, usePages } from "../api/pages";
import { keys } from "../api/queries";
import type { RunView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Item, List } from "../parts/List";
import { Page } from "../parts/Page";
import { ProjectName } from "../parts/Project";
import { BriefOf, PhasesMark } from "../phases/Stepper";
import { dollars } from "../parts/request";
import { Mark, Why } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { runState } from "./outcome";
import { words } from "./words";

export default function Runs(_: ViewProps) {
  const say = useSay(words);
  const project = useSearch().get("project") ?? undefined;
  const list = usePages<RunView>([...keys.runs({}), "pages", project], "/runs", { project, limit: 50 });
  useShortcut("n", say("keyStart"), () => go("/runs/new"));
  const action = (
    <>
      <Link href="/runs/phases" className="button">
        {say("newPhases")}
      </Link>
      <Link href="/runs/new" className="button">
        {say("newRun")}
      </Link>
    </>
  );
  return (
    <Page title={say("title")} aside={action}>
      <List asked={list} items={itemsOf(list)} label={say("title")} empty={say("none")}>
        {(run) => <Row key={run.id} run={run} />}
      </List>
    </Page>
  );
}

function Row({ run }: { run: RunView }) {
  const cost = run.usage?.cost_usd;
  const facts = (
    <>
      {run.id} · <ProjectName project={run.project} />
      {cost != null && ` · ${dollars(cost)}`}
    </>
  );
  const mark = <Mark status={runState(useLanguage(), run)} since={run.ended_at_ms ?? run.created_at_ms} />;
  const status = run.phased ? <PhasesMark id={run.id} fallback={mark} since /> : mark;
  return (
    <Item href={`/runs/${run.id}`} status={status} title={run.title} facts={facts}>
      {run.phased && <BriefOf id={run.id} />}
      {run.outcome?.outcome === "failed" && (
        <p className="small bad">
          <Why outcome={run.outcome} />
        </p>
      )}
    </Item>
  );
}
