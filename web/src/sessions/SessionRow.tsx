// One session in a list: how it is and since when, what it works on, and what keeps it.
import "./sessions.css";

import { useStatus } from "../api/queries";
import type { SessionView } from "../api/schema";
import { Link } from "../app/router";
import { askKey, askText, dollars, grouped } from "../parts/request";
import { Said } from "../parts/Said";
import { StatusMark, Why } from "../parts/status";
import { sayShared, useLanguage, useSay } from "../words/words";
import { words } from "./words";

export function SessionRow({ session }: { session: SessionView }) {
  const { cost_usd: cost, tokens } = session.usage ?? {};
  return (
    <li className="sessions-row">
      <Link href={`/sessions/${session.id}`} className="sessions-link">
        <span className="sessions-status">
          <StatusMark session={session} since />
        </span>
        <Said text={session.title} className="strong sessions-title" />
        <span className="dim small">
          {session.id} · <Said text={session.agent} /> · <Said text={session.project.name} />
          {session.worktree && (
            <>
              {" · "}
              <Said text={session.worktree.branch} className="mono" />
            </>
          )}
          {cost != null ? ` · ${dollars(cost)}` : tokens != null ? ` · ${grouped(tokens)}` : ""}
        </span>
      </Link>
      <Kept session={session} />
      {session.outcome?.outcome === "failed" && (
        <p className="small bad">
          <Why outcome={session.outcome} />
        </p>
      )}
    </li>
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
