// Going back to a checkpoint: what will happen is said first, and what came of it afterwards.
import { useState } from "react";

import { route } from "../api/client";
import { useWish } from "../api/queries";
import type { CheckpointView, NewRestore, RestoreView, SessionView } from "../api/schema";
import { Dialog } from "../parts/Dialog";
import { Said } from "../parts/Said";
import { Failure } from "../parts/states";
import { clock } from "../parts/time";
import { words as parts } from "../parts/words";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

interface RestoreProps {
  session: SessionView;
  checkpoint: CheckpointView;
  /** Whether the conversation can be taken back as well. */
  canBoth: boolean;
  onClose: () => void;
}

export function Restore({ session, checkpoint, canBoth, onClose }: RestoreProps) {
  const say = useSay(words);
  const sayPart = useSay(parts);
  const language = useLanguage();
  const [isBoth, setBoth] = useState(canBoth);
  const restore = useWish<RestoreView, NewRestore>((body) => ({ path: route`/checkpoints/${checkpoint.id}/restore`, body }));
  if (restore.data) return <Came came={restore.data} session={session.id} onClose={onClose} />;
  return (
    <Dialog title={say("restoreTitle", { id: checkpoint.id })} onClose={onClose}>
      <p>
        <Said text={say("restoreFiles", { directory: session.directory, time: clock(language, checkpoint.at_ms) })} />
      </p>
      {checkpoint.conversation != null && (
        <label className="check">
          <input type="checkbox" disabled={!canBoth} checked={isBoth} onChange={(event) => setBoth(event.target.checked)} />
          <span>
            {say("restoreConversation")}
            <span className="small dim session-hint">{say(!canBoth ? "restoreFilesOnly" : checkpoint.rewindable ? "restoreRewind" : "restoreNew")}</span>
          </span>
        </label>
      )}
      {checkpoint.left_out_count > 0 && <p className="small dim">{say("leftOut", { n: checkpoint.left_out_count })}</p>}
      {restore.error && <Failure error={restore.error} wrote />}
      <div className="row">
        <button type="button" className="button" onClick={onClose}>
          {sayPart("cancel")}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={restore.isPending}
          onClick={() => restore.mutate({ conversation: isBoth })}
        >
          {say("restoreDo")}
        </button>
      </div>
    </Dialog>
  );
}

const CONVERSATION = { kept: "restoredKept", rewound: "restoredRewound", new: "restoredNew" } as const;

/** What was restored, and where what stood there is now. */
function Came({ came, session, onClose }: { came: RestoreView; session: string; onClose: () => void }) {
  const say = useSay(words);
  const sayPart = useSay(parts);
  const { id } = came.checkpoint;
  const talk = came.conversation in CONVERSATION ? CONVERSATION[came.conversation as keyof typeof CONVERSATION] : null;
  const title = came.restored ? say("mRestored", { id }) : say("mNotRestored", { id });
  return (
    <Dialog title={title} onClose={onClose}>
      <div role="status" className="stack">
        {came.restored ? (
          <p>{say("Restored", { session, id, n: came.changed })}</p>
        ) : (
          <p className="bad">
            <Said text={say("NotRestored", { id, message: came.message ?? "" })} />
          </p>
        )}
        {came.before && <p>{say("restoredBefore", { id: came.before.id })}</p>}
        {came.restored && talk && <p>{say(talk)}</p>}
        {came.different.length > 0 && (
          <p className="attention">
            <Said text={say("RestoredDifferent", { files: came.different.join(", ") })} />
          </p>
        )}
        {came.submodules.length > 0 && (
          <p className="attention">
            <Said text={say("RestoredSubmodules", { files: came.submodules.join(", ") })} />
          </p>
        )}
      </div>
      <p>
        <button type="button" className="button primary" onClick={onClose}>
          {sayPart("close")}
        </button>
      </p>
    </Dialog>
  );
}
