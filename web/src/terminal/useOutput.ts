// Ties what comes to what is drawn: one emulator and one follower for what is wanted, let go with it.
import { useEffect, useState } from "react";

import { useLanguage, useSay, sayShared } from "../words/words";
import { Emulator, type Size } from "./emulator";
import { Follower, type Wanted } from "./output";
import { words } from "./words";

/** `size` is null until it is known; `changes` is anything that says that something has become of the session. */
export function useOutput(wanted: Wanted, size: Size | null, changes: unknown): Emulator | null {
  const say = useSay(words);
  const language = useLanguage();
  const [pair, setPair] = useState<{ emulator: Emulator; follower: Follower } | null>(null);
  const { session, launch, stream, raw, tailBytes, part } = wanted;
  const isMeasured = size !== null;
  useEffect(() => {
    if (!size) return undefined;
    const emulator = new Emulator(size, {
      moreLines: (n) => sayShared(language, "MoreLines", { n }),
      nextLaunch: (n) => say("nextLaunch", { n }),
    });
    const follower = new Follower({ session, launch, stream, raw, tailBytes, part }, emulator);
    setPair({ emulator, follower });
    return () => {
      follower.end();
      emulator.dispose();
      setPair(null);
    };
    // Another size does not make it another output.
  }, [session, launch, stream, raw, tailBytes, part, isMeasured, language, say]);
  const { rows, columns, isOwn } = size ?? { rows: 0, columns: 0, isOwn: false };
  useEffect(() => {
    if (columns > 0) pair?.emulator.resize({ rows, columns, isOwn });
  }, [pair, rows, columns, isOwn]);
  useEffect(() => pair?.follower.look(), [pair, changes]);
  return pair?.emulator ?? null;
}
