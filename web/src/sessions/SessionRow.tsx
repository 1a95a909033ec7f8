// One session in a list: how it is and since when, what it works on, and what keeps it.
import "./sessions.css";

import type { ReactNode } from "react";

import { useStatus } from "../api/queries";
import type { SessionView } from "../api/schema";
import { Link } from "../app/router";
import { Item } from "../parts/List";
import { ProjectName } from "../parts/Project";
import { askKey, askText, dollars, grouped } from "../parts/request";
import { Said } from "../parts/Said";
import { StatusMark, Why } from "../parts/status";
import { sayShared, useLanguage, useSay } from "../words/words";
import { words } from "./words";

/** `children` stand below it, such as what can be done with it. */
export function SessionRow({ session, children }: { session: SessionView; children?: ReactNode }) {
  const { cost_usd: cost, tokens } = session.usage ?? {};
  const facts = (
    <>
      {session.id} {session.name != null && <Said text={session.name} className="strong" />} · <Said text={session.agent} /> · <ProjectName project={session.project} />
      {session.worktree && (
        <>
          {" · "}
          <Said text={session.worktree.branch} className="mono" />
        </>
      )}
      {cost != null ? ` · ${dollars(cost)}` : tokens != null ? ` · ${grouped(tokens)}` : ""}
    </>
  );
  return (
    <Item href={`/sessions/${session.id}`} status={<StatusMark session={session} since />} title={session.title} facts={facts}>
      <Kept session={session} />
      {session.outcome?.outcome === "failed" && (
        <p className="small bad">
          <Why outcome={session.outcome} />
        </p>
      )}
      {children}
    </Item>
  );
}

/** What it waits for, in its own words where they are known. */
export function Kept({ session }: { session: SessionView }) {
  const say = useSay(words);
  const language = useLanguage();
  const status = useStatus();
  if (session.blocked_by.length === 0) return null;
  return (
    <ul className="sessions-kept small">
      {session.blocked_by.map((id) => {
        const request = status.data?.needs_you.find((it) => it.id === id);
        return (
          <li key={id}>
            <Link href={`/requests/${id}`}>
              <span aria-hidden="true">◆ </span>
              {request ? (
                <Said
                  text={say("blockedAsk", { what: sayShared(language, askKey(request.ask.kind)), text: askText(language, request) })}
                />
              ) : (
                say("blocked", { ids: id })
              )}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
