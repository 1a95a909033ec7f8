// What a command that failed wrote to its standard error, below its output: the reason mostly stands there.
import { useSyncExternalStore } from "react";

import { useSay } from "../words/words";
import type { Emulator, Size } from "./emulator";
import { Screen } from "./Screen";
import { useOutput } from "./useOutput";
import { words } from "./words";

/** How much of its end is shown. */
const TAIL_BYTES = 64 << 10;

interface ErrorsProps {
  session: string;
  launch: number;
  size: Size | null;
  lineHeight: number;
}

export function Errors({ session, launch, size, lineHeight }: ErrorsProps) {
  const emulator = useOutput({ session, launch, stream: "err", raw: false, tailBytes: TAIL_BYTES, part: null }, size, launch);
  return emulator && <Shown emulator={emulator} session={session} lineHeight={lineHeight} />;
}

function Shown({ emulator, session, lineHeight }: { emulator: Emulator; session: string; lineHeight: number }) {
  const say = useSay(words);
  useSyncExternalStore(emulator.watch, emulator.now);
  if (emulator.count <= 1 && emulator.text(0) === "") return null;
  return (
    <section className="terminal-errors">
      <h3 className="small bad">{say("errorsOf")}</h3>
      <Screen emulator={emulator} lineHeight={lineHeight} mark={null} wanted={null} label={say("errorsLabel", { id: session })} isLive={false} />
    </section>
  );
}
