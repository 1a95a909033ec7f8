// A text of which a list carries only the beginning: the page says so, and all of it is one key or button away.
import type { CutText } from "../api/schema";
import { useShortcut } from "../app/shortcuts";
import { useSay } from "../words/words";
import { grouped } from "./request";
import { Failure } from "./states";
import { words } from "./words";

interface CutProps {
  cut: CutText[];
  /** Whether a key shows all of it; where several texts are on a page, only their buttons do. */
  hasKey?: boolean;
  /** Why nothing can be decided yet, where the rest is needed for that. */
  why?: string | null;
  isBusy: boolean;
  error: Error | null;
  onAll: () => void;
}

const KEY = "a";

export function Cut({ cut, hasKey = false, why = null, isBusy, error, onAll }: CutProps) {
  const say = useSay(words);
  const isWanted = hasKey && cut.length > 0 && !isBusy;
  useShortcut(KEY, say("showAll"), isWanted ? onAll : undefined);
  if (cut.length === 0) return null;
  if (error) return <Failure error={error} onAgain={onAll} />;
  const chars = Math.max(...cut.map((it) => it.chars));
  return (
    <div className="notice attention">
      <p>
        {say("cutText", { n: grouped(chars) })}
        {why !== null && <> {why}</>}
      </p>
      <p>
        <button type="button" className="button" disabled={isBusy} onClick={onAll}>
          {hasKey && <kbd aria-hidden="true">{KEY}</kbd>} {say(isBusy ? "loading" : "showAll")}
        </button>
      </p>
    </div>
  );
}
