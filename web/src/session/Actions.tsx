// What can be done with a session. What cannot be undone at once is asked for again, in words that say what happens.
import { type ReactNode, useId, useState } from "react";

import { route } from "../api/client";
import { useWish } from "../api/queries";
import type { CheckpointView, NewResume, SessionView } from "../api/schema";
import { useShortcut } from "../app/shortcuts";
import { Dialog } from "../parts/Dialog";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { words as parts } from "../parts/words";
import { useSay } from "../words/words";
import { hasPlace } from "./restorable";
import { words } from "./words";

const HELD: readonly string[] = ["paused", "parked"];

type Asking = "cancel" | "resume" | "merge" | "discard" | null;

export function Actions({ session, isOver }: { session: SessionView; isOver: boolean }) {
  const say = useSay(words);
  const [asking, setAsking] = useState<Asking>(null);
  const pause = useWish<SessionView>(() => ({ path: route`/sessions/${session.id}/pause` }));
  const goOn = useWish<SessionView>(() => ({ path: route`/sessions/${session.id}/continue` }));
  const keep = useWish<CheckpointView>(() => ({ path: route`/sessions/${session.id}/checkpoints` }));
  const isHeld = HELD.includes(session.status);
  const isLost = session.status === "interrupted";
  const canPause = !isOver && !isHeld && !isLost && session.status !== "ending";
  // Nothing is merged or taken away under the feet of somebody who works.
  const canMerge = isOver && session.worktree != null && (hasPlace(session) || session.worktree.state === "testing");
  // What went wrong before is no news once somebody has done something else.
  const act = (wish: { mutate: () => void }) => {
    for (const it of [pause, goOn, keep]) it.reset();
    wish.mutate();
  };
  const ask = (what: Asking) => {
    for (const it of [pause, goOn, keep]) it.reset();
    setAsking(what);
  };
  const toggle = isHeld ? () => act(goOn) : canPause ? () => act(pause) : undefined;
  useShortcut("p", say("keyPause"), toggle);
  const close = () => setAsking(null);
  const error = pause.error ?? goOn.error ?? keep.error;
  return (
    <section className="stack" aria-label={say("actions")}>
      <div className="row">
        {canPause && (
          <button type="button" className="button" disabled={pause.isPending} onClick={() => act(pause)}>
            ‖ {say("pause")}
          </button>
        )}
        {isHeld && (
          <button type="button" className="button primary" disabled={goOn.isPending} onClick={() => act(goOn)}>
            ▷ {say(session.status === "parked" ? "tryNow" : "continue")}
          </button>
        )}
        {(isOver || isLost) && hasPlace(session) && (
          <button type="button" className={`button ${isLost ? "primary" : ""}`} onClick={() => ask("resume")}>
            ▷ {say(session.resumable ? "resume" : "resumeAnew")}
          </button>
        )}
        {canMerge && (
          <button type="button" className="button" onClick={() => ask("merge")}>
            {say("merge")}
          </button>
        )}
        {canMerge && (
          <button type="button" className="button" onClick={() => ask("discard")}>
            {say("discard")}
          </button>
        )}
        {session.project.git && !isOver && (
          <button type="button" className="button" disabled={keep.isPending} onClick={() => act(keep)}>
            {say("checkpoint")}
          </button>
        )}
        {!isOver && (
          <button type="button" className="button danger" onClick={() => ask("cancel")}>
            {say("cancel")}
          </button>
        )}
      </div>
      <p role="status" className={keep.data ? "small" : "only-read"}>
        {keep.data && <Said text={keptSaid(say, keep.data)} />}
      </p>
      {error && <Failure error={error} wrote />}
      {asking === "cancel" && <Cancel session={session} onClose={close} />}
      {asking === "resume" && <Resume session={session} onClose={close} />}
      {asking === "merge" && <Merge session={session} onClose={close} />}
      {asking === "discard" && <Discard session={session} onClose={close} />}
    </section>
  );
}

/** What came of a wish for a checkpoint. */
function keptSaid(say: ReturnType<typeof useSay<typeof words.en>>, kept: CheckpointView): string {
  const { id, session } = kept;
  const reason = kept.reason?.["key"];
  if (kept.state === "made") return say("CheckpointMade", { id, session, reference: kept.reference ?? "" });
  if (reason === "unchanged") return say("CheckpointUnchanged", { session, last: String(kept.reason?.["last"] ?? kept.reason?.["checkpoint"] ?? "") });
  if (reason === "no_repository") return say("CheckpointNoRepository", { session });
  return say("CheckpointFailed", { id, message: String(kept.reason?.["message"] ?? kept.state) });
}

interface AskProps {
  session: SessionView;
  onClose: () => void;
}

function Cancel({ session, onClose }: AskProps) {
  const say = useSay(words);
  const cancel = useWish<SessionView>(() => ({ path: route`/sessions/${session.id}/cancel` }));
  return (
    <Confirm
      title={say("cancelTitle", { id: session.id })}
      does={say("cancelDo")}
      isDanger
      isBusy={cancel.isPending}
      error={cancel.error}
      onDo={() => cancel.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{say("cancelAsk")}</p>
    </Confirm>
  );
}

function Resume({ session, onClose }: AskProps) {
  const say = useSay(words);
  const id = useId();
  const [prompt, setPrompt] = useState("");
  const resume = useWish<SessionView, NewResume>((body) => ({ path: route`/sessions/${session.id}/resume`, body }));
  const wanted = prompt.trim() === "" ? {} : { prompt };
  return (
    <Confirm
      title={say("resumeTitle", { id: session.id })}
      does={say(session.resumable ? "resume" : "resumeAnew")}
      isBusy={resume.isPending}
      error={resume.error}
      onDo={() => resume.mutate(wanted, { onSuccess: onClose })}
      onClose={onClose}
    >
      <div>
        <label className="label" htmlFor={id}>
          {say("resumePrompt")}
        </label>
        <textarea
          id={id}
          className="field"
          rows={3}
          value={prompt}
          aria-describedby={session.told_by_environment ? `${id}-told` : undefined}
          onChange={(event) => setPrompt(event.target.value)}
        />
        {session.told_by_environment && (
          <p className="small dim" id={`${id}-told`}>
            {say("toldByEnvironment")}
          </p>
        )}
      </div>
    </Confirm>
  );
}

export function Merge({ session, onClose }: AskProps) {
  const say = useSay(words);
  const merge = useWish<SessionView>(() => ({ path: route`/sessions/${session.id}/merge` }));
  const branch = session.worktree?.branch ?? "";
  const came = merge.data?.worktree;
  // What git itself says is shown as it is.
  const whyNot = came?.conflict ? say("MergeConflict") : came?.files.length ? say("MergeTargetDirty") : (came?.message ?? "");
  return (
    <Confirm
      title={say("mergeTitle", { id: session.id })}
      does={say("mergeDo")}
      isBusy={merge.isPending}
      error={merge.error}
      onDo={() => merge.mutate(undefined, { onSuccess: (it) => it.worktree?.state === "merged" && onClose() })}
      onClose={onClose}
    >
      <p>
        <Said text={say("mergeAsk", { branch, target: session.worktree?.target ?? "HEAD" })} />
      </p>
      {came?.state === "not_merged" && (
        <div className="notice bad" role="alert">
          <p>
            <Said text={say("NotMerged", { id: session.id, target: came.target ?? "HEAD", message: whyNot })} />
          </p>
          {came.files.length > 0 && (
            <p className="small">
              <Said text={say("InTheWay", { files: came.files.join(", ") })} />
            </p>
          )}
        </div>
      )}
    </Confirm>
  );
}

function Discard({ session, onClose }: AskProps) {
  const say = useSay(words);
  const discard = useWish<SessionView>(() => ({ path: route`/sessions/${session.id}/discard` }));
  const came = discard.data?.worktree;
  return (
    <Confirm
      title={say("discardTitle", { id: session.id })}
      does={say("discardDo")}
      isDanger
      isBusy={discard.isPending}
      error={discard.error}
      onDo={() => discard.mutate(undefined, { onSuccess: (it) => it.worktree?.state === "discarded" && onClose() })}
      onClose={onClose}
    >
      <p>
        <Said text={say("discardAsk", { branch: session.worktree?.branch ?? "" })} />
      </p>
      {came?.state === "not_discarded" && (
        <p className="notice bad" role="alert">
          <Said text={say("NotDiscarded", { id: session.id, message: came.message ?? "" })} />
        </p>
      )}
    </Confirm>
  );
}

interface ConfirmProps {
  title: string;
  does: string;
  isDanger?: boolean;
  isBusy: boolean;
  error: Error | null;
  onDo: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function Confirm({ title, does, isDanger = false, isBusy, error, onDo, onClose, children }: ConfirmProps) {
  const say = useSay(parts);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Failure error={error} wrote />}
      <div className="row">
        <button type="button" className="button" onClick={onClose}>
          {say("cancel")}
        </button>
        <button type="button" className={`button ${isDanger ? "danger" : "primary"}`} disabled={isBusy} onClick={onDo}>
          {does}
        </button>
      </div>
    </Dialog>
  );
}
