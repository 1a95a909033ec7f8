// Every session: how it is in words and shape, since when, and what it waits for.
import { keys, useProjects } from "../api/queries";
import { itemsOf, usePages } from "../api/pages";
import type { SessionView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { List } from "../parts/List";
import { Page } from "../parts/Page";
import { projectSaid } from "../parts/Project";
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
  const empty = list.hasNextPage ? say("looked") : say(filter === "now" && project === "" ? "nobody" : "none");
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
      <List asked={list} items={itemsOf(list)} label={say("list")} empty={empty}>
        {(session) => <SessionRow key={session.id} session={session} />}
      </List>
    </Page>
  );
}

function Projects({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const say = useSay(words);
  const projects = useProjects();
  const known = projects.data ?? [];
  const names = new Map(known.map((project) => [project.id, projectSaid(project, known)]));
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
