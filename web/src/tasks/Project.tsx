// The tasks of a project: what can be done now, the graph, the list, what ran when, and one task beside them.
import "./tasks.css";

import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";

import { Refused } from "../api/problem";
import type { TasksView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { Answer } from "./Answer";
import { Graph } from "./Graph";
import { ListView } from "./ListView";
import { Panel } from "./Panel";
import { useLastLoop, useTasks } from "./queries";
import Report from "./Report";
import { problemSaid } from "./said";
import { countsOf, stateOf } from "./state";
import { Times } from "./Times";
import { words } from "./words";

const VIEWS = ["graph", "list", "times"] as const;
type Shown = (typeof VIEWS)[number];

/** Where a graph would be crammed, the list is shown first. */
const NARROW = "(max-width: 760px)";

export default function Project({ id }: ViewProps) {
  const say = useSay(words);
  const tasks = useTasks(id);
  const view = tasks.data?.view;
  // While the server is away the page says so by itself, and what was seen stays.
  const error = tasks.error && (!view || tasks.error instanceof Refused) ? tasks.error : null;
  const all = <Link href="/tasks">{say("all")}</Link>;
  return (
    <Page title={view ? say("titleOf", { project: view.project.name }) : say("title")} aside={all}>
      {error && <Failure error={error} onAgain={() => void tasks.refetch()} />}
      {tasks.isPending && <Loading />}
      {!error && view && (view.file == null ? <NoFile view={view} /> : <Shown view={view} tag={tasks.data?.tag ?? null} />)}
    </Page>
  );
}

const EXAMPLE = `## Phase 1: Shop

- [ ] T1.1: The price list
  - files: src/prices.ts
- [ ] T1.2: The basket
  - owner: claude
  - deps: T1.1
  - verify: npm test
`;

function NoFile({ view }: { view: TasksView }) {
  const say = useSay(words);
  return (
    <section className="panel stack tasks-none">
      <h2>{say("noFile")}</h2>
      <p>{say("lookedFor", { files: view.looked_for.join(", ") })}</p>
      <p>{say("example")}</p>
      <pre className="tasks-example">{EXAMPLE}</pre>
      <p className="small dim">{say("thenCheck")}</p>
    </section>
  );
}

function Shown({ view, tag }: { view: TasksView; tag: string | null }) {
  const say = useSay(words);
  const search = useSearch();
  const chosen = search.get("task");
  const asked = search.get("view");
  const [first] = useState<Shown>(() => (window.matchMedia(NARROW).matches ? "list" : "graph"));
  const shown = VIEWS.find((it) => it === asked) ?? first;
  const byId = useMemo(() => new Map(view.tasks.map((task) => [task.id, task])), [view.tasks]);
  const change = (changes: Record<string, string | null>, how: "push" | "replace" = "push") => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    const text = next.toString();
    go(window.location.pathname + (text === "" ? "" : `?${text}`), how);
  };
  const show = (to: Shown) => change({ view: to }, "replace");
  useShortcut("1", say("keyGraph"), () => show("graph"));
  useShortcut("2", say("keyList"), () => show("list"));
  useShortcut("3", say("keyTimes"), () => show("times"));
  const body = useRef<HTMLDivElement>(null);
  const left = useRef<string | null>(null);
  const open = (task: string) => change({ task });
  const close = () => {
    left.current = chosen;
    change({ task: null });
  };
  useEffect(() => {
    // Whoever closes a task is where they opened it.
    const task = left.current;
    if (chosen !== null || task === null) return;
    left.current = null;
    body.current?.querySelector<HTMLElement | SVGElement>(`[data-task="${CSS.escape(task)}"]`)?.focus();
  }, [chosen]);
  const inside = { view, byId, chosen, onOpen: open };
  return (
    <div className={`tasks ${chosen === null ? "" : "tasks-with-panel"}`}>
      <div className="tasks-main stack" ref={body}>
        <Answer view={view} />
        <Problems view={view} />
        {view.tasks.length > 0 && (
          <>
            <div className="tasks-bar">
              <div className="tasks-views" role="group" aria-label={say("views")}>
                {VIEWS.map((it) => (
                  <button key={it} type="button" className="button" aria-pressed={it === shown} onClick={() => show(it)}>
                    {say(it)}
                  </button>
                ))}
              </div>
              <Counts view={view} />
            </div>
            {shown === "graph" && <Graph {...inside} />}
            {shown === "list" && <ListView {...inside} />}
            {shown === "times" && <Times {...inside} />}
            <LastLoop project={view.project.id} />
            {view.left_off > 0 && <p className="notice attention">{say("leftOff", { n: view.left_off })}</p>}
          </>
        )}
      </div>
      {chosen !== null && <Panel key={chosen} view={view} byId={byId} id={chosen} tag={tag} onOpen={open} onClose={close} />}
    </div>
  );
}

/** What the last run through the file has come to. */
function LastLoop({ project }: { project: string }) {
  const last = useLastLoop(project);
  return last.data ? <Report session={last.data.id} leads /> : null;
}

function Counts({ view }: { view: TasksView }) {
  const say = useSay(words);
  const language = useLanguage();
  return (
    <ul className="tasks-counts small">
      {countsOf(view.tasks).map(([state, n]) => {
        const { shape, said, style } = stateOf(language, state);
        return (
          <li key={state} className={style}>
            <span aria-hidden="true">{shape} </span>
            {say("counted", { n, state: said })}
          </li>
        );
      })}
    </ul>
  );
}

/** What is wrong keeps everything else from being shown; what is strange does not. */
function Problems({ view }: { view: TasksView }) {
  const say = useSay(words);
  const file = view.file ?? "";
  return (
    <>
      {view.problems.length > 0 && (
        <section className="notice bad tasks-problems">
          <h2>
            <Said text={say("problems", { file })} />
          </h2>
          <Lines those={view.problems} />
        </section>
      )}
      {view.warnings.length > 0 && (
        <details className="tasks-problems">
          <summary className="small dim">{say("warningsCount", { n: view.warnings.length })}</summary>
          <h2 className="only-read">
            <Said text={say("warnings", { file })} />
          </h2>
          <Lines those={view.warnings} />
        </details>
      )}
    </>
  );
}

function Lines({ those }: { those: TasksView["problems"] }): ReactNode {
  const say = useSay(words);
  const language = useLanguage();
  return (
    <ul className="small">
      {those.map((it, index) => (
        <li key={index}>
          <span className="mono">{say("line", { n: it.line })}</span>: <Said text={problemSaid(language, it)} />
        </li>
      ))}
    </ul>
  );
}
