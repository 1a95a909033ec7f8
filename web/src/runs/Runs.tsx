// Everything that was asked for, newest first.
import "./runs.css";

import { usePages } from "../api/pages";
import { keys } from "../api/queries";
import type { RunView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Page } from "../parts/Page";
import { dollars } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Empty, Failure, Loading } from "../parts/states";
import { Why } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { runState } from "./outcome";
import { words } from "./words";

export default function Runs(_: ViewProps) {
  const say = useSay(words);
  const project = useSearch().get("project") ?? undefined;
  const list = usePages<RunView>([...keys.runs({}), "pages", project], "/runs", { project, limit: 50 });
  const runs = list.data?.pages.flatMap((page) => page.items) ?? [];
  useShortcut("n", say("keyStart"), () => go("/runs/new"));
  const action = (
    <Link href="/runs/new" className="button">
      {say("newRun")}
    </Link>
  );
  return (
    <Page title={say("title")} aside={action}>
      {list.error && <Failure error={list.error} onAgain={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {runs.length > 0 && (
        <ul className="panel list" aria-label={say("title")}>
          {runs.map((run) => (
            <Row key={run.id} run={run} />
          ))}
        </ul>
      )}
      {list.data && runs.length === 0 && <Empty>{say("none")}</Empty>}
      {list.hasNextPage && (
        <p>
          <button type="button" className="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {say("older")}
          </button>
        </p>
      )}
    </Page>
  );
}

function Row({ run }: { run: RunView }) {
  const say = useSay(words);
  const state = runState(useLanguage(), say, run);
  const cost = run.usage?.cost_usd;
  return (
    <li className="runs-row">
      <Link href={`/runs/${run.id}`} className="runs-link">
        <span className={`status ${state.style}`}>
          <span aria-hidden="true" className="shape">
            {state.shape}
          </span>{" "}
          {state.said}
          <span className="dim">
            {" · "}
            <Since at={run.ended_at_ms ?? run.created_at_ms} />
          </span>
        </span>
        <Said text={run.title} className="strong runs-title" />
        <span className="dim small">
          {run.id} · <Said text={run.project.name} />
          {cost != null && ` · ${dollars(cost)}`}
        </span>
      </Link>
      {run.outcome?.outcome === "failed" && (
        <p className="small bad">
          <Why outcome={run.outcome} />
        </p>
      )}
    </li>
  );
}
