// Beside the office: somebody, or what two have said to each other.
import { type ReactNode, useEffect, useRef } from "react";

import { useStatus } from "../api/queries";
import type { InvocationView, OfficeView } from "../api/schema";
import { Link } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { plain, Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Failure } from "../parts/states";
import { Mark } from "../parts/status";
import { useLanguage, useSay } from "../words/words";
import { Pair } from "./Pair";
import { isIdle, type Person, partnersOf, personOf, type Seen } from "./people";
import { useTakeBack } from "./queries";
import { callState, personState } from "./said";
import { words } from "./words";
import { Write } from "./Write";

interface PanelProps {
  office: OfficeView;
  seen: Seen;
  name: string;
  /** The second of a pair. */
  other: string | null;
  onOpen: (name: string, other?: string) => void;
  onClose: () => void;
}

export function Panel({ office, seen, name, other, onOpen, onClose }: PanelProps) {
  const say = useSay(words);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useShortcut("Escape", say("closePanel"), onClose);
  return (
    <section className="panel stack office-panel" aria-labelledby="office-panel-title">
      <div className="page-head">
        <h2 id="office-panel-title" ref={heading} tabIndex={-1}>
          <Said text={other === null ? name : say("pairTitle", { one: name, other })} />
        </h2>
        <button type="button" className="button plain" onClick={onClose}>
          <span className="office-close-wide">✕ {say("closePanel")}</span>
          <span className="office-close-narrow">← {say("back")}</span>
        </button>
      </div>
      {other === null ? <Somebody office={office} seen={seen} name={name} onOpen={onOpen} /> : <Both office={office} name={name} other={other} onOpen={onOpen} />}
    </section>
  );
}

/** A conversation, and the way to each of its two. */
function Both({ office, name, other, onOpen }: Pick<PanelProps, "office" | "name" | "onOpen"> & { other: string }) {
  return (
    <>
      <p className="row">
        {[name, other].map((it) => (
          <button key={it} type="button" className="button" onClick={() => onOpen(it)}>
            <Said text={it} />
          </button>
        ))}
      </p>
      <Pair project={office.project} one={name} other={other} />
    </>
  );
}

function Somebody({ office, seen, name, onOpen }: Pick<PanelProps, "office" | "seen" | "name" | "onOpen">) {
  const say = useSay(words);
  const language = useLanguage();
  const sessions = useStatus().data?.sessions ?? [];
  const role = office.roles.find((it) => it.name === name) ?? null;
  const isKnown = role !== null || seen.people.some((it) => it.name === name);
  if (!isKnown) return <p>{say("gone")}</p>;
  const person = personOf(office, name, sessions);
  const partners = partnersOf(seen.talks, name);
  return (
    <>
      <p>
        <Mark status={personState(say, language, person)} since={isIdle(person) ? null : (person.session?.since_ms ?? null)} />
      </p>
      {role?.problem != null && (
        <p className="notice bad">
          <Said text={role.problem} />
        </p>
      )}
      {role?.description != null && (
        <p>
          <Said text={role.description} />
        </p>
      )}
      <Facts person={person} />
      <Open office={office} title={say("isGiven")} calls={person.given} onOpen={(it) => onOpen(it.caller, it.callee)} />
      <Open office={office} title={say("isAsked")} calls={person.asked} onOpen={(it) => onOpen(it.caller, it.callee)} />
      {person.unread.length > 0 && (
        <Part title={say("isUnread")}>
          {person.unread.map((it) => (
            <li key={it.id}>
              <span className="dim small">{it.id}</span> <Said text={it.from} className="strong" />: <Said text={it.content.slice(0, 160)} /> ·{" "}
              <Since at={it.given_at_ms} ago />
            </li>
          ))}
        </Part>
      )}
      {partners.length > 0 && (
        <Part title={say("talksWith")}>
          <li className="row">
            {partners.map((it) => (
              <button key={it} type="button" className="button" onClick={() => onOpen(name, it)}>
                <Said text={it} />
              </button>
            ))}
          </li>
        </Part>
      )}
      {role !== null && role.problem == null && <Write office={office} role={name} />}
    </>
  );
}

function Facts({ person }: { person: Person }) {
  const say = useSay(words);
  const { role } = person;
  const session = role === null ? person.name : role.session;
  const facts: [string, ReactNode][] = [
    [say("agent"), role?.agent == null ? null : <Said text={role.agent} />],
    [say("model"), role?.model == null ? null : <Said text={role.model} />],
    [say("file"), role?.file == null ? null : <Said text={role.file} className="mono" />],
    [say("sessionOf"), session == null ? null : <Link href={`/sessions/${session}`}>{session}</Link>],
  ];
  return (
    <dl className="facts small">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <div key={name} className="fact">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul className="stack">{children}</ul>
    </div>
  );
}

interface OpenProps {
  office: OfficeView;
  title: string;
  calls: InvocationView[];
  onOpen: (call: InvocationView) => void;
}

/** Open calls: how each stands, since when, and a way to take it back. */
function Open({ office, title, calls, onOpen }: OpenProps) {
  const say = useSay(words);
  const wish = useTakeBack(office.project);
  if (calls.length === 0) return null;
  return (
    <Part title={title}>
      {calls.map((call) => (
        <li key={call.id} className="office-open">
          <button type="button" className="button plain office-between" onClick={() => onOpen(call)}>
            <span className="dim small">{call.id}</span> {plain(call.caller)} → {plain(call.callee)}
          </button>
          <Mark status={callState(say, call)} since={call.began_at_ms ?? call.opened_at_ms} />
          <Said text={call.task.slice(0, 400)} className="office-said" />
          <button type="button" className="button" disabled={wish.isPending} onClick={() => wish.takeBack(call.id)}>
            {say("takeBack", { id: call.id })}
          </button>
        </li>
      ))}
      {wish.error && (
        <li>
          <Failure error={wish.error} wrote />
        </li>
      )}
    </Part>
  );
}
