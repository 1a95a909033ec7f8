// What happened, as an axis of time. Arrow keys go from moment to moment; each opens what stood there then.
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";

import { route } from "../api/client";
import { keys, useCheckpoint, useStatus } from "../api/queries";
import type { CheckpointView, SessionView } from "../api/schema";
import { late } from "../app/late";
import { Link } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { plain, Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { deliverySaid } from "../parts/status";
import { clock } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { type Told, told } from "./momentSaid";
import { restorable } from "./restorable";
import { Restore } from "./Restore";
import { type Moment, moments, places } from "./timeline";
import { useTimeline } from "./useTimeline";
import { words } from "./words";

const Diff = late(() => import("../diff/Diff"));
/** How many are drawn on the axis: the newest. */
const ON_AXIS_MAX = 200;

export function Timeline({ session }: { session: SessionView }) {
  const say = useSay(words);
  const language = useLanguage();
  const history = useTimeline(session.id);
  const all = useMemo(() => moments(history.data?.events ?? []), [history.data]);
  const shown = all.slice(-ON_AXIS_MAX);
  const said = shown.map((moment) => told(language, say, moment));
  // Who has chosen a moment stays there; who has not is at the newest.
  const [chosen, setChosen] = useState<number | null>(null);
  const found = chosen === null ? -1 : shown.findIndex((moment) => moment.seq === chosen);
  const at = found >= 0 ? found : shown.length - 1;
  const choose = (index: number) => {
    const moment = shown[Math.min(shown.length - 1, Math.max(0, index))];
    if (moment) setChosen(moment.seq);
  };
  const moment = shown[at];
  const tale = said[at];
  return (
    <section className="session-timeline stack" aria-label={say("timeline")}>
      <h2>{say("timeline")}</h2>
      {history.error && !history.data && <Failure error={history.error} onAgain={() => void history.refetch()} />}
      {history.isPending && <Loading />}
      {history.data && shown.length === 0 && <p className="dim">{say("nothingYet")}</p>}
      {moment && tale && (
        <>
          <Axis shown={shown} said={said} at={at} onChoose={choose} />
          <Chosen key={moment.seq} session={session} moment={moment} told={tale} place={at + 1} all={shown.length} />
          <List shown={shown} said={said} at={at} onChoose={choose} />
        </>
      )}
      {history.data?.isCut && <p className="small dim">{say("cut")}</p>}
    </section>
  );
}

interface AxisProps {
  shown: Moment[];
  said: Told[];
  at: number;
  onChoose: (index: number) => void;
}

function Axis({ shown, said, at, onChoose }: AxisProps) {
  const say = useSay(words);
  const language = useLanguage();
  const axis = useRef<HTMLDivElement>(null);
  useShortcut("t", say("keyTimeline"), () => axis.current?.focus());
  const on = useMemo(() => places(shown.map((moment) => moment.at)), [shown]);
  const moves: Record<string, number> = {
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    PageUp: at - 10,
    PageDown: at + 10,
    Home: 0,
    End: shown.length - 1,
  };
  const press = (event: KeyboardEvent) => {
    const to = moves[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onChoose(to);
  };
  const first = shown[0];
  const last = shown.at(-1);
  const now = shown[at];
  const valueText = now ? `${clock(language, now.at)} ${said[at]?.said ?? ""} ${plain(said[at]?.about ?? "").slice(0, 200)}` : "";
  return (
    <div>
      <div
        ref={axis}
        className="session-axis"
        tabIndex={0}
        role="slider"
        aria-label={say("axis")}
        aria-orientation="horizontal"
        aria-valuemin={1}
        aria-valuemax={shown.length}
        aria-valuenow={at + 1}
        aria-valuetext={valueText}
        onKeyDown={press}
      >
        {shown.map((moment, index) => (
          <span
            key={moment.seq}
            aria-hidden="true"
            className={`session-dot ${said[index]?.style ?? ""} ${index === at ? "chosen" : ""} ${moment.checkpoint === null ? "" : "kept"}`}
            style={{ left: `${(on[index] ?? 0) * 100}%` }}
            onClick={() => onChoose(index)}
          >
            {said[index]?.shape}
          </span>
        ))}
      </div>
      <p className="session-ends small dim">
        <span>{first && clock(language, first.at)}</span>
        <span>{say("axisHint")}</span>
        <span>{last && clock(language, last.at)}</span>
      </p>
    </div>
  );
}

interface ChosenProps {
  session: SessionView;
  moment: Moment;
  told: Told;
  place: number;
  all: number;
}

/** One moment, with what can be opened from there. */
function Chosen({ session, moment, told: tale, place, all }: ChosenProps) {
  const say = useSay(words);
  const language = useLanguage();
  const found = useCheckpoint(session.id, moment.checkpoint);
  const others = useStatus().data?.sessions ?? [];
  const [isDiffOpen, setDiffOpen] = useState(false);
  const [restoring, setRestoring] = useState<CheckpointView | null>(null);
  const kept = found.data?.state === "made" ? found.data : null;
  const back = restorable(session, others);
  const whyNot = useId();
  return (
    <article className="panel stack session-moment" aria-label={say("moment", { n: place, all })}>
      <p>
        <time className="dim" dateTime={new Date(moment.at).toISOString()} title={new Date(moment.at).toLocaleString(language)}>
          {clock(language, moment.at)}
        </time>{" "}
        <span className={`session-shape ${tale.style}`} aria-hidden="true">
          {tale.shape}
        </span>{" "}
        <span className="strong">{tale.said}</span>
        {moment.delivery !== null && <span className="dim small"> · {deliverySaid(language, moment.delivery)}</span>}
        {moment.checkpoint !== null && <span className="dim small"> · {say("withCheckpoint", { id: moment.checkpoint })}</span>}
      </p>
      {tale.about !== "" && (
        <div className="session-words" tabIndex={0} role="note">
          <Said text={tale.about} lines />
        </div>
      )}
      {(moment.request !== null || kept) && (
        <div className="row">
          {moment.request !== null && (
            <Link href={`/requests/${moment.request}`} className="button">
              {say("toRequest", { id: moment.request })}
            </Link>
          )}
          {kept && (
            <button type="button" className="button" aria-expanded={isDiffOpen} onClick={() => setDiffOpen(!isDiffOpen)}>
              {isDiffOpen ? "▾" : "▸"} {say("showDiff")}
            </button>
          )}
          {kept && (
            <button
              type="button"
              className="button"
              disabled={back.can === "nothing"}
              aria-describedby={back.can === "nothing" ? whyNot : undefined}
              onClick={() => setRestoring(kept)}
            >
              ↶ {say("restore")}
            </button>
          )}
        </div>
      )}
      {kept && back.can === "nothing" && (
        <p id={whyNot} className="small dim">
          {back.why === "shared" ? say("restoreShared", { other: back.other }) : say(back.why === "gone" ? "restoreGone" : "restoreWorking")}
        </p>
      )}
      {kept && isDiffOpen && (
        <Diff path={route`/checkpoints/${kept.id}/diff`} queryKey={keys.diff(session.id, kept.id)} none={say("NothingDiffers")} isLive />
      )}
      {restoring && <Restore session={session} checkpoint={restoring} canBoth={back.can === "all"} onClose={() => setRestoring(null)} />}
    </article>
  );
}

/** The same as a list, newest last, which scrolls to what is chosen. */
function List({ shown, said, at, onChoose }: AxisProps) {
  const say = useSay(words);
  const language = useLanguage();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const box = list.current;
    const row = box?.children[at];
    // Only the list itself moves; the page stays where somebody reads.
    if (box && row instanceof HTMLElement) box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
  }, [at]);
  return (
    <ol ref={list} className="session-list" aria-label={say("list")}>
      {shown.map((moment, index) => (
        <li key={moment.seq}>
          <button type="button" aria-current={index === at ? "step" : undefined} onClick={() => onChoose(index)}>
            <time className="dim small">{clock(language, moment.at)}</time>
            <span className={`session-shape ${said[index]?.style ?? ""}`} aria-hidden="true">
              {said[index]?.shape}
            </span>
            <span className="session-said">
              {said[index]?.said}
              {said[index]?.about !== "" && (
                <span className="dim">
                  {" · "}
                  <Said text={(said[index]?.about ?? "").slice(0, 200)} />
                </span>
              )}
              {moment.delivery !== null && <span className="dim small"> · {deliverySaid(language, moment.delivery)}</span>}
              {moment.checkpoint !== null && <span className="dim small"> ▪ {moment.checkpoint}</span>}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
