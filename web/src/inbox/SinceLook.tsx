// Above the cards: what has happened since the person last looked. Beside a card it is one line in a row that is there
// anyhow, so that nothing moves under a reader; where nothing waits, all of it is shown.
import { type ReactNode, useRef, useState } from "react";

import type { SessionView } from "../api/schema";
import { late } from "../app/late";
import { useShortcut } from "../app/shortcuts";
import { useSay } from "../words/words";
import { countsSaid, useLooked } from "./lastLook";
import { words } from "./lookWords";

const LastLook = late(() => import("./LastLook"));

interface SinceLookProps {
  interrupted: SessionView[];
  hasCard: boolean;
  /** What else stands above the cards: the first of it in the same row. */
  children: [said: ReactNode, rest: ReactNode];
}

export function SinceLook({ interrupted, hasCard, children }: SinceLookProps) {
  const say = useSay(words);
  const { data: looked } = useLooked();
  const [isWanted, setWanted] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const ended = looked?.ended ?? [];
  const loops = looked?.loops ?? [];
  const isAny = ended.length + interrupted.length + loops.length > 0;
  const isOpen = isAny && (isWanted || !hasCard);
  const counts = countsSaid(say, interrupted, ended, loops);
  const toggle = () => {
    setWanted(!isWanted);
    button.current?.focus();
  };
  useShortcut("s", say("keyToggle"), isAny && hasCard ? toggle : undefined);
  return (
    <>
      <div className="inbox-top">
        {children[0]}
        {isAny && hasCard && (
          <button
            ref={button}
            type="button"
            className="button plain small inbox-look-toggle"
            aria-expanded={isWanted}
            aria-label={say("toggle", { counts })}
            onClick={() => setWanted(!isWanted)}
          >
            {isWanted ? "▾" : "▸"} {counts}
          </button>
        )}
      </div>
      {children[1]}
      {isOpen && <LastLook looked={looked} interrupted={interrupted} />}
    </>
  );
}
