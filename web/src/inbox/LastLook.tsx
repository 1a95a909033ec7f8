// What has ended since the person last looked, and what was interrupted, each with what can be done about it.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { route } from "../api/client";
import { keys, useWish } from "../api/queries";
import type { LookedView, NewLook, NewResume, SessionView } from "../api/schema";
import { Link } from "../app/router";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { useSince } from "../parts/time";
import { Merge } from "../session/Actions";
import { hasPlace } from "../session/restorable";
import { Changes } from "../session/Work";
import { words as sessionWords } from "../session/words";
import { SessionRow } from "../sessions/SessionRow";
import { useSay } from "../words/words";
import { byUrgency } from "./lastLook";
import { words } from "./lookWords";

/** As many are shown as on the command line; the others are counted. */
const ENDED_MAX = 10;

interface LastLookProps {
  looked: LookedView | undefined;
  interrupted: SessionView[];
}

export default function LastLook({ looked, interrupted }: LastLookProps) {
  return (
    <div className="inbox-look stack">
      {interrupted.length > 0 && <Interrupted sessions={interrupted} />}
      {looked && looked.ended.length + (looked.loops?.length ?? 0) > 0 && <Ended looked={looked} />}
    </div>
  );
}

function Interrupted({ sessions }: { sessions: SessionView[] }) {
  const say = useSay(words);
  const [errors, setErrors] = useState<ReadonlyMap<string, Error>>(new Map());
  const [said, setSaid] = useState("");
  const wish = useWish<SessionView, { id: string; body: NewResume }>(({ id, body }) => ({ path: route`/sessions/${id}/resume`, body }));
  // One that cannot be resumed does not keep the others from it.
  const resume = async (those: SessionView[]) => {
    const failed = new Map<string, Error>();
    const resumed: string[] = [];
    for (const { id } of those) {
      try {
        await wish.mutateAsync({ id, body: {} });
        resumed.push(id);
      } catch (error) {
        failed.set(id, error instanceof Error ? error : new Error(String(error)));
      }
    }
    setErrors(failed);
    setSaid(resumed.length > 0 ? say("resumed", { id: resumed.join(", ") }) : "");
  };
  return (
    <section className="panel stack" aria-labelledby="look-interrupted">
      <div className="page-head">
        <h2 id="look-interrupted">
          <span aria-hidden="true" className="attention">
            ⚡{" "}
          </span>
          {say(sessions.length === 1 ? "interruptedOne" : "interrupted")}
        </h2>
        {sessions.length > 1 && (
          <button type="button" className="button primary" disabled={wish.isPending} onClick={() => void resume(sessions)}>
            ▷ {say("resumeAll", { n: sessions.length })}
          </button>
        )}
      </div>
      <ul className="list">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session}>
            <Resume session={session} isOnly={sessions.length === 1} isBusy={wish.isPending} onResume={() => void resume([session])} />
            {errors.has(session.id) && <Failure error={errors.get(session.id) as Error} wrote />}
          </SessionRow>
        ))}
      </ul>
      <p role="status" className="only-read">
        {said}
      </p>
    </section>
  );
}

function Resume({ session, isOnly, isBusy, onResume }: { session: SessionView; isOnly: boolean; isBusy: boolean; onResume: () => void }) {
  const say = useSay(sessionWords);
  if (!hasPlace(session)) return null;
  const does = say(session.resumable ? "resume" : "resumeAnew");
  return (
    <p className="inbox-look-acts">
      <button
        type="button"
        className={`button ${isOnly ? "primary" : ""}`}
        aria-label={`${does}: ${session.id}`}
        disabled={isBusy}
        onClick={onResume}
      >
        ▷ {does}
      </button>
    </p>
  );
}

function Ended({ looked }: { looked: LookedView }) {
  const say = useSay(words);
  const cache = useQueryClient();
  const see = useWish<LookedView, NewLook>((body) => ({ path: "/looked", body }));
  const span = useSince(looked.last_looked_at_ms ?? 0);
  const shown = byUrgency(looked.ended).slice(0, ENDED_MAX);
  const more = looked.more + looked.ended.length - shown.length;
  const done = (now: LookedView) => {
    cache.setQueryData(keys.looked, now);
    // The button goes with what it was about.
    document.getElementById("content")?.focus({ preventScroll: true });
  };
  return (
    <section className="panel stack" aria-labelledby="look-ended">
      <div className="page-head">
        <h2 id="look-ended">{looked.last_looked_at_ms == null ? say("sofar") : say("since", { span })}</h2>
        <button type="button" className="button" disabled={see.isPending} onClick={() => see.mutate({ seq: looked.seq }, { onSuccess: done })}>
          ✓ {say("seen")}
        </button>
      </div>
      {see.error && <Failure error={see.error} wrote />}
      {looked.loops?.map((ends) => (
        <p key={ends.session} className="inbox-look-loop">
          <Link href={`/sessions/${ends.session}`}>{ends.session}</Link>{" "}
          <Said text={say(ends.failed > 0 ? "LoopEndsFailedSaid" : "LoopEndsSaid", { project: ends.project, done: ends.done, failed: ends.failed })} />
        </p>
      ))}
      <ul className="list">
        {shown.map((session) => (
          <SessionRow key={session.id} session={session}>
            <Leftover session={session} />
          </SessionRow>
        ))}
      </ul>
      {more > 0 && (
        <p className="small dim">
          {say("more", { n: more })} · <Link href="/sessions?show=all">{say("all")}</Link>
        </p>
      )}
    </section>
  );
}

/** The work of a session that waits to be merged: its diff, the merge, and why the last one failed. */
function Leftover({ session }: { session: SessionView }) {
  const say = useSay(words);
  const [isMerging, setMerging] = useState(false);
  const { worktree } = session;
  if (worktree == null || !hasPlace(session)) return null;
  const whyNot = worktree.conflict ? say("MergeConflict") : worktree.files.length ? say("MergeTargetDirty") : (worktree.message ?? "");
  return (
    <>
      {worktree.state === "not_merged" && (
        <p className="small attention">
          <Said text={say("conflict", { target: worktree.target ?? "HEAD", message: whyNot })} />
        </p>
      )}
      <div className="inbox-look-acts stack">
        <Changes session={session}>
          <button type="button" className="button" aria-label={`${say("merge")} ${session.id}`} onClick={() => setMerging(true)}>
            {say("merge")}
          </button>
        </Changes>
      </div>
      {isMerging && <Merge session={session} onClose={() => setMerging(false)} />}
    </>
  );
}
