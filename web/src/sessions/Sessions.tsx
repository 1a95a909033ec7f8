// Every session: how it is in words and shape, since when, and what it waits for.
import { keys, useProjects } from "../api/queries";
import { usePages } from "../api/pages";
import type { SessionView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { Page } from "../parts/Page";
import { Empty, Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { SessionRow } from "./SessionRow";
import { words } from "./words";

/** What can be asked for, and what the interface calls it. */
const FILTERS = {
  now: {},
  waiting: { status: "waiting_input,waiting_dependency,waiting_permission" },
  working: { status: "starting,active,checking,installing,ending" },
  held: { status: "paused,parked" },
  interrupted: { status: "interrupted" },
  done: { status: "completed" },
  failed: { status: "failed,cancelled" },
  all: { all: true },
} as const;

type Filter = keyof typeof FILTERS;
const ON_A_PAGE = 50;

export default function Sessions(_: ViewProps) {
  const say = useSay(words);
  const search = useSearch();
  const project = search.get("project") ?? "";
  const wanted = search.get("show") ?? "now";
  const filter: Filter = wanted in FILTERS ? (wanted as Filter) : "now";
  const query = { ...FILTERS[filter], project: project || undefined, limit: ON_A_PAGE };
  const list = usePages<SessionView>([...keys.sessions({}), filter, project], "/sessions", query);
  const sessions = list.data?.pages.flatMap((page) => page.items) ?? [];
  const set = (name: string, value: string) => {
    const next = new URLSearchParams(search);
    if (value === "") next.delete(name);
    else next.set(name, value);
    go(`/sessions?${next.toString()}`, "replace");
  };
  const action = (
    <Link href="/runs/new" className="button">
      {say("newRun")}
    </Link>
  );
  return (
    <Page title={say("title")} aside={action}>
      <div className="sessions-filters">
        <Projects value={project} onChange={(value) => set("project", value)} />
        <label>
          <span className="label">{say("status")}</span>
          <select className="field" value={filter} onChange={(event) => set("show", event.target.value)}>
            {(Object.keys(FILTERS) as Filter[]).map((name) => (
              <option key={name} value={name}>
                {say(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Failure error={list.error} onAgain={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {sessions.length > 0 && (
        <ul className="panel list" aria-label={say("list")}>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      )}
      {list.data && sessions.length === 0 && (
        <Empty>{list.hasNextPage ? say("looked") : say(filter === "now" && project === "" ? "nobody" : "none")}</Empty>
      )}
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

function Projects({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const say = useSay(words);
  const projects = useProjects();
  const names = new Map((projects.data ?? []).map((project) => [project.id, project.name]));
  if (value !== "" && !names.has(value)) names.set(value, value);
  return (
    <label>
      <span className="label">{say("project")}</span>
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{say("allProjects")}</option>
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
