// How much of a log is not shown, and the ways to it: more of the end, part by part, or all of it as a file.
import { useMutation } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

import { ask, path, route } from "../api/client";
import { Unreached } from "../api/problem";
import { bytesSaid } from "../parts/size";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import type { Emulator } from "./emulator";
import type { Part, Wanted } from "./output";
import { words } from "./words";

/** How large a part is that is shown by itself. Of very short lines the first may not be kept; they are a part of their own. */
export const PART_BYTES = 256 << 10;

/** Which log. */
export type Output = Pick<Wanted, "session" | "launch" | "stream" | "raw">;

interface PastProps {
  emulator: Emulator;
  output: Output;
  /** The part that is shown, if it is not the end. */
  part: Part | null;
  onMore: (() => void) | null;
  onPart: (part: Part | null) => void;
}

export function Past({ emulator, output, part, onMore, onPart }: PastProps) {
  const say = useSay(words);
  useSyncExternalStore(emulator.watch, emulator.now);
  const { begun, firstOffset: first } = emulator;
  if (emulator.error) return <Failure error={emulator.error} />;
  if (begun === null || (first === 0 && part === null)) return null;
  const end = part === null ? begun.length : part.offset + part.limit;
  const show = (from: number, to: number) => onPart({ launch: begun.launch, offset: from, limit: to - from });
  return (
    <div className="terminal-past small dim">
      <span role="status">
        {part === null
          ? say("earlier", { size: bytesSaid(first) })
          : say("partOf", { from: bytesSaid(first), to: bytesSaid(Math.min(end, begun.length)), size: bytesSaid(begun.length) })}
      </span>
      {part === null && onMore && <Button says={say("showEarlier")} onPress={onMore} />}
      {first > 0 && (part !== null || !onMore) && <Button says={say("showBefore")} onPress={() => show(Math.max(0, first - PART_BYTES), first)} />}
      {part !== null && end < begun.length && <Button says={say("showAfter")} onPress={() => show(end, end + PART_BYTES)} />}
      {part !== null && <Button says={say("backToEnd")} onPress={() => onPart(null)} />}
      <Download output={output} launch={begun.launch} />
    </div>
  );
}

function Button({ says, onPress, isBusy = false }: { says: string; onPress: () => void; isBusy?: boolean }) {
  return (
    <button type="button" className="button plain small" disabled={isBusy} onClick={onPress}>
      {says}
    </button>
  );
}

/** All of the log, byte for byte. It is asked for like everything else: an address alone opens nothing. */
function Download({ output: { session, stream }, launch }: { output: Output; launch: number }) {
  const say = useSay(words);
  const download = useMutation({
    mutationFn: async () => {
      const response = await ask(path(route`/sessions/${session}/output`, { launch, stream }), { isStream: true });
      const blob = await response.blob().catch((cause: unknown) => {
        throw new Unreached(cause);
      });
      const url = URL.createObjectURL(blob);
      Object.assign(document.createElement("a"), { href: url, download: `${session}-${launch}-${stream}.log` }).click();
      URL.revokeObjectURL(url);
    },
  });
  return (
    <>
      <Button says={say("download")} isBusy={download.isPending} onPress={() => download.mutate()} />
      {download.error && <Failure error={download.error} onAgain={() => download.mutate()} />}
    </>
  );
}
