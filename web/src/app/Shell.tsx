// The frame around every view: where one can go, whether the page is true, and the keys.
import { useCallback, useState } from "react";

import type { Kind } from "../api/ids";
import { useConnection, useInfo } from "../api/queries";
import type { SessionView, StatusView } from "../api/schema";
import { Inbox } from "../inbox/Inbox";
import { useBrowserNotifications } from "../notifications/browser";
import { Dialog } from "../parts/Dialog";
import { needCount } from "../parts/needs";
import { problemSaid } from "../parts/problems";
import { ProjectName } from "../parts/Project";
import { plain, Said } from "../parts/Said";
import { statusOf } from "../parts/status";
import { clock } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { Announcer } from "./Announcer";
import { Guard } from "./late";
import { find, MAIN, OTHER } from "./places";
import { go, Link, usePath } from "./router";
import { usePreferences } from "./preferences";
import { SheetOpener, useSheet, useShortcut } from "./shortcuts";
import { words } from "./words";

export function Shell({ status }: { status: StatusView }) {
  const say = useSay(words);
  const path = usePath();
  const [isSheetOpen, setSheetOpen] = useState(false);
  useShortcut("g i", say("toInbox"), () => go("/"));
  useShortcut("g r", say("toRuns"), () => go("/runs"));
  useShortcut("g s", say("toSessions"), () => go("/sessions"));
  useShortcut("g t", say("toTasks"), () => go("/tasks"));
  useShortcut("g o", say("toOffice"), () => go("/office"));
  const openSheet = useCallback(() => setSheetOpen(true), []);
  useShortcut("?", say("showSheet"), openSheet);
  useBrowserNotifications(status);
  const found = find(path);
  const View = found.view;
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {say("skip")}
      </a>
      <Sidebar status={status} onSheet={openSheet} />
      <main id="content" className="content" tabIndex={-1}>
        <Stale />
        <Newer />
        <Guard path={path}>
          <SheetOpener value={openSheet}>
            {View ? <View key={View === Inbox ? "inbox" : path} id={found.id} /> : <Nowhere lacks={found.lacks} />}
          </SheetOpener>
        </Guard>
      </main>
      <BottomBar status={status} />
      <Announcer requests={status.needs_you} />
      {isSheetOpen && <Sheet onClose={() => setSheetOpen(false)} />}
    </div>
  );
}

function Sidebar({ status, onSheet }: { status: StatusView; onSheet: () => void }) {
  const say = useSay(words);
  const path = usePath();
  const runs = new Set(status.sessions.map((session) => session.run));
  const count = { "/": needCount(status), "/runs": runs.size, "/sessions": status.sessions.length, "/tasks": 0, "/office": 0 };
  return (
    <nav className="sidebar" aria-label={say("places")}>
      <Link href="/" className="brand">
        <img src="/icon.svg" alt="" width="20" height="20" /> ostler
      </Link>
      <ul>
        {MAIN.map(({ to, name, shape }) => (
          <li key={to}>
            <Link href={to} className="place" aria-current={isAt(path, to) ? "page" : undefined}>
              <span aria-hidden="true" className="shape">
                {shape}
              </span>
              {say(name)}
              {to === "/" ? <Needed n={count[to]} /> : count[to] > 0 && <span className="count">{count[to]}</span>}
            </Link>
          </li>
        ))}
      </ul>
      <Projects sessions={status.sessions} />
      <ul className="other">
        {OTHER.map(({ to, name }) => (
          <li key={to}>
            <Link href={to} className="place" aria-current={isAt(path, to) ? "page" : undefined}>
              {say(name)}
            </Link>
          </li>
        ))}
        <li>
          <button type="button" className="place" onClick={onSheet}>
            {say("sheet")}
          </button>
        </li>
      </ul>
    </nav>
  );
}

/** How much needs somebody: a number to who sees it, a sentence to who hears it. */
function Needed({ n }: { n: number }) {
  const say = useSay(words);
  if (n === 0) return null;
  return (
    <>
      <span className="count wanted" aria-hidden="true">
        {n}
      </span>
      <span className="only-read"> {n === 1 ? say("needYouOne") : say("needYou", { n })}</span>
    </>
  );
}

/** The projects in which somebody works, with a shape for each who does. */
function Projects({ sessions }: { sessions: SessionView[] }) {
  const language = useLanguage();
  const byProject = new Map<string, SessionView[]>();
  for (const session of sessions) {
    byProject.set(session.project.id, [...(byProject.get(session.project.id) ?? []), session]);
  }
  if (byProject.size === 0) return null;
  return (
    <ul className="working">
      {[...byProject.entries()].map(([id, those]) => (
        <li key={id}>
          <Link href={`/sessions?project=${encodeURIComponent(id)}`} className="place">
            {those[0] && <ProjectName project={those[0].project} className="ellipsis" />}
            <span className="shapes" role="img" aria-label={those.map((it) => statusOf(language, it).said).join(", ")}>
              {those.slice(0, 8).map((session) => {
                const { shape, style, said } = statusOf(language, session);
                return (
                  <span key={session.id} className={style} title={`${session.id} ${plain(session.agent)}: ${said}`}>
                    {shape}
                  </span>
                );
              })}
              {those.length > 8 && <span className="dim small">+{those.length - 8}</span>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** On a phone: the same, under the thumb. */
function BottomBar({ status }: { status: StatusView }) {
  const say = useSay(words);
  const path = usePath();
  const isElsewhere = OTHER.some(({ to }) => isAt(path, to)) || path === "/more";
  return (
    <nav className="bottom" aria-label={say("places")}>
      {MAIN.map(({ to, name, shape }) => (
        <Link key={to} href={to} aria-current={isAt(path, to) ? "page" : undefined}>
          <span aria-hidden="true" className="shape">
            {shape}
          </span>
          <span>
            {say(name)}
            {to === "/" && <Needed n={needCount(status)} />}
          </span>
        </Link>
      ))}
      <Link href="/more" aria-current={isElsewhere ? "page" : undefined}>
        <span aria-hidden="true" className="shape">
          ≡
        </span>
        <span>{say("more")}</span>
      </Link>
    </nav>
  );
}

function isAt(path: string, to: string): boolean {
  return to === "/" ? path === "/" || path.startsWith("/requests/") : path === to || path.startsWith(`${to}/`);
}

function Stale() {
  const say = useSay(words);
  const language = useLanguage();
  const connection = useConnection();
  return (
    <div role="status" aria-live="polite">
      {connection.is === "stale" && (
        <p className="notice attention stale">{say("stale", { time: clock(language, connection.since) })}</p>
      )}
    </div>
  );
}

/** The server that this page came from is of another version now: parts of the page may be gone, or mean something else. */
function Newer() {
  const say = useSay(words);
  const { data: info } = useInfo();
  const [first, setFirst] = useState<string | null>(null);
  if (info && first === null) setFirst(info.version);
  const isNewer = info !== undefined && first !== null && info.version !== first;
  return (
    <div role="status" aria-live="polite">
      {isNewer && (
        <p className="notice attention newer">
          {say("newer", { version: info.version })}{" "}
          <button type="button" className="button" onClick={() => window.location.reload()}>
            {say("load")}
          </button>
        </p>
      )}
    </div>
  );
}

function Sheet({ onClose }: { onClose: () => void }) {
  const say = useSay(words);
  const [shortcuts] = useState(useSheet());
  const { hasSingleKeys } = usePreferences();
  return (
    <Dialog title={say("sheet")} onClose={onClose}>
      <p className="dim small">{say("sheetHint")}</p>
      {!hasSingleKeys && (
        <p className="small">
          {say("sheetOff")}{" "}
          <Link href="/settings" onClick={onClose}>
            {say("settings")}
          </Link>
        </p>
      )}
      <dl className="facts">
        {shortcuts.map(({ keys, says }) => (
          <div key={keys} className="fact">
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>
              <Said text={says} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const LACKS = { project: "no_project", request: "no_request", run: "no_run", session: "no_session" } as const satisfies Record<Kind, string>;

function Nowhere({ lacks }: { lacks: Kind | null }) {
  const say = useSay(words);
  const said = problemSaid(useLanguage(), lacks === null ? "" : LACKS[lacks]);
  return (
    <div className="page stack">
      <h1>{said?.[0] ?? say("nowhere")}</h1>
      <p>
        <Link href="/">{say("toTheInbox")}</Link>
      </p>
    </div>
  );
}
