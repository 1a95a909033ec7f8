// The office of a project: who is there, who waits for whom, what two have said to each other, and words to anybody.
import "./office.css";

import { useEffect, useMemo, useRef, useState } from "react";

import { Refused } from "../api/problem";
import { useProjects, useStatus } from "../api/queries";
import type { InvocationView, OfficeView, ResultView, SessionView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, Link, useSearch } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Page } from "../parts/Page";
import { plain, Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { Calls } from "./Calls";
import { Panel } from "./Panel";
import { seenOf } from "./people";
import { Picture } from "./Picture";
import { useOffice, useRecent, useUnasked } from "./queries";
import { Roles } from "./Roles";
import { Sequence } from "./Sequence";
import { Unasked } from "./Unasked";
import { words } from "./words";
import { Write } from "./Write";

const VIEWS = ["picture", "list", "sequence"] as const;
type Shown = (typeof VIEWS)[number];

const NOBODY: SessionView[] = [];

/** Where a picture would be crammed, the list is shown first. */
const NARROW = "(max-width: 760px)";

export default function Office({ id }: ViewProps) {
  const say = useSay(words);
  const office = useOffice(id);
  const recent = useRecent(id);
  const project = useProjects().data?.find((it) => it.id === id);
  const unasked = useUnasked(id);
  const error = office.error ?? recent.error ?? unasked.error;
  // While the server is away the page says so by itself, and what was seen stays.
  const isShown = office.data && recent.data && unasked.data && !(error instanceof Refused);
  const all = <Link href="/office">{say("all")}</Link>;
  return (
    <Page title={project ? say("titleOf", { project: plain(project.name) }) : say("title")} aside={all}>
      {error && !isShown && <Failure error={error} onAgain={() => void Promise.all([office.refetch(), recent.refetch(), unasked.refetch()])} />}
      {(office.isPending || recent.isPending || unasked.isPending) && !error && <Loading />}
      {isShown && <Inside office={office.data} recent={recent.data} unasked={unasked.data} />}
    </Page>
  );
}

function Inside({ office, recent, unasked }: { office: OfficeView; recent: InvocationView[]; unasked: ResultView[] }) {
  const say = useSay(words);
  const search = useSearch();
  const [role, other] = [search.get("role"), search.get("with")];
  const asked = search.get("view");
  const [first] = useState<Shown>(() => (window.matchMedia(NARROW).matches ? "list" : "picture"));
  const shown = VIEWS.find((it) => it === asked) ?? first;
  const sessions = useStatus().data?.sessions ?? NOBODY;
  const seen = useMemo(() => seenOf(office, recent, unasked, sessions), [office, recent, unasked, sessions]);
  const show = (to: Shown) => change({ view: to }, "replace");
  useShortcut("1", say("keyPicture"), () => show("picture"));
  useShortcut("2", say("keyList"), () => show("list"));
  useShortcut("3", say("keySequence"), () => show("sequence"));
  const body = useRef<HTMLDivElement>(null);
  const left = useRef<string | null>(null);
  const open = (name: string, partner: string | null = null) => change({ role: name, with: partner });
  const close = () => {
    left.current = role;
    change({ role: null, with: null });
  };
  useEffect(() => {
    // Whoever closes somebody is where they opened them.
    const name = left.current;
    if (role !== null || name === null) return;
    left.current = null;
    body.current?.querySelector<HTMLElement | SVGElement>(`[data-person="${CSS.escape(name)}"]`)?.focus();
  }, [role]);
  const inside = { seen, chosen: role, onOpen: open };
  return (
    <div className={`office office-${shown} ${role === null ? "" : "office-with-panel"}`}>
      <div className="office-main stack" ref={body}>
        <div className="office-bar">
          <div className="office-views" role="group" aria-label={say("views")}>
            {VIEWS.map((it) => (
              <button key={it} type="button" className="button" aria-pressed={it === shown} onClick={() => show(it)}>
                {say(it)}
              </button>
            ))}
          </div>
          <Counts office={office} />
        </div>
        {shown !== "sequence" && seen.people.length === 0 && <NoRoles office={office} />}
        {shown === "picture" && seen.people.length > 0 && <Picture {...inside} />}
        {shown === "list" && (
          <>
            {seen.people.length > 0 && <Roles {...inside} />}
            <Calls project={office.project} onOpen={open} />
            {unasked.length > 0 && <Unasked results={unasked} onOpen={open} />}
          </>
        )}
        {shown === "sequence" && <Sequence project={office.project} recent={recent} />}
        {role === null && <Write office={office} />}
      </div>
      {role !== null && <Panel key={`${role} ${other ?? ""}`} office={office} seen={seen} name={role} other={other} onOpen={open} onClose={close} />}
    </div>
  );
}

/** Changes what stands behind the question mark. */
function change(changes: Record<string, string | null>, how: "push" | "replace" = "push"): void {
  const next = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  go(window.location.pathname + (text === "" ? "" : `?${text}`), how);
}

function Counts({ office }: { office: OfficeView }) {
  const say = useSay(words);
  const waiting = office.invocations.filter((it) => it.began_at_ms == null).length;
  return (
    <p className="small dim" role="status">
      {say("counts", { open: office.invocations.length, waiting, unread: office.results.length })}
    </p>
  );
}

const EXAMPLE = `---
name: QA
description: Tests what others have built.
tools: Read, Grep, Bash
---
You test what others have built. Say what fails, and how to see it.
`;

function NoRoles({ office }: { office: OfficeView }) {
  const say = useSay(words);
  const names = office.roles.map((it) => plain(it.name)).join(", ");
  return (
    <section className="panel stack">
      <h2>{say("noRoles")}</h2>
      <p>{say("noRolesHow")}</p>
      <pre className="office-text" tabIndex={0}>
        {EXAMPLE}
      </pre>
      {names !== "" && (
        <p className="small dim">
          <Said text={say("noRolesMore", { names })} />
        </p>
      )}
    </section>
  );
}
