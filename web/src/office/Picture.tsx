// The picture: a box for everybody, an arrow for every pair that talks. It is drawn from data alone, scrolled like
// anything else, and zoomed by buttons, keys and the wheel.
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";

import { useLetters } from "../look/letters";
import { fit, isWay, neighbour, pressing } from "../parts/drawn";
import { plain } from "../parts/Said";
import { useSince } from "../parts/time";
import { byKey, useGrab, useZoom, ZoomButtons } from "../parts/Zoom";
import { useLanguage, useSay } from "../words/words";
import { BOX, type Box, draw, type Line } from "./layout";
import { type Person, type Seen, talkState } from "./people";
import { personFacts, personState, talkSaid } from "./said";
import { words } from "./words";

/** Words are to be read at first: who wants to see all at once says so. */
const FIRST_ZOOM = 1;

export interface InsideProps {
  seen: Seen;
  chosen: string | null;
  onOpen: (name: string, other?: string) => void;
}

export function Picture({ seen, chosen, onOpen }: InsideProps) {
  const say = useSay(words);
  const { people, talks } = seen;
  const drawing = useMemo(() => draw(people.map((it) => it.name), talks), [people, talks]);
  const byName = useMemo(() => new Map(people.map((it) => [it.name, it])), [people]);
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(frame, drawing, FIRST_ZOOM);
  const grab = useGrab(frame);
  const [wanted, setAt] = useState<string | null>(null);
  const at = wanted !== null && byName.has(wanted) ? wanted : (drawing.boxes[0]?.id ?? null);
  const hasLetters = useLetters(people.map((it) => `${it.name}${it.given[0]?.caller ?? ""}`).join(""));
  useEffect(() => {
    // Who was opened stays in sight beside the panel.
    const [place, box] = [frame.current, drawing.boxes.find((it) => it.id === chosen)];
    if (!place || !box) return;
    const middle = { x: (box.x + BOX.width / 2) * zoom.zoom, y: (box.y + BOX.height / 2) * zoom.zoom };
    place.scrollTo(middle.x - place.clientWidth / 2, middle.y - place.clientHeight / 2);
    // Not whenever somebody moves: nothing jumps while it is read.
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || at === null) return;
    const factor = byKey(event.key);
    if (factor !== null) {
      event.preventDefault();
      zoom.zoomBy(factor);
    }
    if (!isWay(event.key)) return;
    event.preventDefault();
    const next = neighbour(drawing, at, event.key);
    if (next === null) return;
    setAt(next);
    frame.current?.querySelector<SVGElement>(`[data-person="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <section className="office-picture">
      <div className="office-tools row">
        <ZoomButtons {...zoom} />
        <span className="small dim about-keys">{say("pictureKeys")}</span>
      </div>
      <div className="office-frame" ref={frame} {...grab}>
        <svg
          role="group"
          aria-label={say("pictureOf")}
          className={hasLetters ? "office-letters" : ""}
          width={drawing.width * zoom.zoom}
          height={drawing.height * zoom.zoom}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          onKeyDown={onKeyDown}
        >
          {drawing.idleY !== null && (
            <text x="20" y={drawing.idleY + 22} className="office-idle">
              {say("idle")}
            </text>
          )}
          {drawing.lines.map((line) => (
            <Arrows key={`${line.from} ${line.to}`} line={line} isNear={chosen === line.from || chosen === line.to} onOpen={() => onOpen(line.from, line.to)} />
          ))}
          {drawing.lines.map((line) => (
            <Label key={`${line.from} ${line.to}`} line={line} />
          ))}
          {drawing.boxes.map((box) => {
            const person = byName.get(box.id);
            if (!person) return null;
            const press = () => onOpen(box.id);
            return (
              <Node key={box.id} box={box} person={person} isHere={box.id === at} isChosen={box.id === chosen} onPress={press} onFocus={() => setAt(box.id)} />
            );
          })}
        </svg>
      </div>
    </section>
  );
}

interface NodeProps {
  box: Box;
  person: Person;
  isHere: boolean;
  isChosen: boolean;
  onPress: () => void;
  onFocus: () => void;
}

function Node({ box, person, isHere, isChosen, onPress, onFocus }: NodeProps) {
  const say = useSay(words);
  const { shape, said, style } = personState(say, useLanguage(), person);
  const facts = personFacts(say, person);
  const name = plain(person.name);
  return (
    <g
      role="button"
      tabIndex={isHere ? 0 : -1}
      data-person={person.name}
      aria-pressed={isChosen}
      aria-label={[name, said, ...facts].join(", ")}
      className={`office-node ${style} ${person.role === null ? "office-session" : ""} ${person.given.length > 0 ? "office-busy" : ""}`}
      transform={`translate(${box.x} ${box.y})`}
      onClick={onPress}
      onKeyDown={pressing(onPress)}
      onFocus={onFocus}
    >
      <title>{person.role?.problem ?? person.role?.description ?? name}</title>
      <rect className="office-box" width={BOX.width} height={BOX.height} rx="8" />
      <text x="14" y="24" className="office-shape">
        {shape}
      </text>
      <text x="34" y="24" className="office-name">
        {fit(name, 21)}
      </text>
      <text x="34" y="43" className="office-word">
        {fit(said, 28)}
      </text>
      {shownOf(facts).map((fact, index) => (
        <text key={index} x="34" y={60 + index * 16} className="office-fact">
          {fit(fact, 29)}
        </text>
      ))}
    </g>
  );
}

/** There is room for two; the rest is said beside the picture. */
function shownOf(facts: string[]): string[] {
  return facts.length > 2 ? [facts[0] ?? "", facts.slice(1).join(" · ")] : facts;
}

/** A call and what came back, with how long somebody has waited. Whoever cannot point at it opens the pair from its people. */
function Arrows({ line, isNear, onOpen }: { line: Line; isNear: boolean; onOpen: () => void }) {
  const say = useSay(words);
  const { talk, call, back } = line;
  const state = talkState(talk);
  return (
    <g className={`office-line ${state} ${isNear ? "near" : ""}`} data-talk={`${talk.from} ${talk.to}`} onClick={onOpen}>
      <title>{talkSaid(say, talk)}</title>
      <path className="office-reach" d={call.path} />
      <path className="office-call" d={call.path} />
      <path className="office-head" d={call.head} />
      {back && (
        <g className={talk.unread.length > 0 ? "unread" : ""}>
          <path className="office-reach" d={back.path} />
          <path className="office-back" d={back.path} />
          <path className="office-head" d={back.head} />
        </g>
      )}
    </g>
  );
}

/** What is said beside an arrow, over all arrows. */
function Label({ line }: { line: Line }) {
  const { open, last } = line.talk;
  if (open[0]) return <Waits line={line} since={open[0].opened_at_ms} />;
  if (talkState(line.talk) !== "failed") return null;
  return (
    <text x={line.x} y={line.y} textAnchor="middle" className="office-label failed">
      ✗ {last?.id}
    </text>
  );
}

function Waits({ line, since }: { line: Line; since: number }) {
  const say = useSay(words);
  const span = useSince(since);
  const { open } = line.talk;
  return (
    <text x={line.x} y={line.y} textAnchor="middle" className="office-label">
      ◇ {open.length === 1 ? say("openOne", { id: open[0]?.id ?? "", span }) : say("openMany", { n: open.length, span })}
    </text>
  );
}
