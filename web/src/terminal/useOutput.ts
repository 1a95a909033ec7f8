// Ties what comes to what is drawn: one emulator and one follower for what is wanted, let go with it.
import { useEffect, useState } from "react";

import { useLanguage, useSay, sayShared } from "../words/words";
import { Emulator } from "./emulator";
import { Follower, type Wanted } from "./output";
import { words } from "./words";

/** `changes` is anything that says that something has become of the session. */
export function useOutput(wanted: Wanted, columns: number, changes: unknown): Emulator | null {
  const say = useSay(words);
  const language = useLanguage();
  const [pair, setPair] = useState<{ emulator: Emulator; follower: Follower } | null>(null);
  const { session, launch, stream, raw, tailBytes } = wanted;
  const isMeasured = columns > 0;
  useEffect(() => {
    if (!isMeasured) return undefined;
    const emulator = new Emulator(columns, {
      moreLines: (n) => sayShared(language, "MoreLines", { n }),
      nextLaunch: (n) => say("nextLaunch", { n }),
    });
    const follower = new Follower({ session, launch, stream, raw, tailBytes }, emulator);
    setPair({ emulator, follower });
    return () => {
      follower.end();
      emulator.dispose();
      setPair(null);
    };
    // Another width does not make it another output.
  }, [session, launch, stream, raw, tailBytes, isMeasured, language, say]);
  useEffect(() => pair?.emulator.resize(columns), [pair, columns]);
  useEffect(() => pair?.follower.look(), [pair, changes]);
  return pair?.emulator ?? null;
}
