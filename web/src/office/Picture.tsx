// The picture: a box for everybody, an arrow for every pair that talks. It is drawn from data alone.
import { useMemo } from "react";

import { useLetters } from "../look/letters";
import { fit, pressing } from "../parts/drawn";
import { Frame } from "../parts/Frame";
import { plain } from "../parts/Said";
import { useSince } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { BOX, type Box, draw, type Drawing, type Line } from "./layout";
import { type Person, type Seen, talkState } from "./people";
import { personFacts, personState, talkSaid } from "./said";
import { words } from "./words";

/** Words are to be read at first: who wants to see all at once says so. */
const FIRST_ZOOM = 1;

/** From how far it is looked at: what could not be read any more is left out, and the rest is written larger. */
type Sight = "near" | "far" | "farther";
const FAR = 0.75;
const FARTHER = 0.45;
/** How many letters of a name have room. */
const LETTERS: Record<Sight, number> = { near: 21, far: 11, farther: 7 };

function sightAt(zoom: number): Sight {
  if (zoom < FARTHER) return "farther";
  return zoom < FAR ? "far" : "near";
}

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
  const hasLetters = useLetters(people.map((it) => `${it.name}${it.given[0]?.caller ?? ""}`).join(""));
  return (
    <Frame
      name="office"
      drawing={drawing}
      first={firstOf(drawing, byName)}
      firstMin={FIRST_ZOOM}
      chosen={chosen}
      pairMin={FARTHER}
      label={say("pictureOf")}
      keys={say("pictureKeys")}
      svgClass={(zoom) => `office-${sightAt(zoom)} ${hasLetters ? "office-letters" : ""}`}
    >
      {(at, setAt, zoom) => (
        <>
          {drawing.idleY !== null && (
            <text x="20" y={drawing.idleY + 22} className="office-idle">
              {say("idle")}
            </text>
          )}
          {drawing.lines.map((line) => (
            <Arrows key={keyOf(line)} line={line} isNear={chosen === line.from || chosen === line.to} onOpen={() => onOpen(line.from, line.to)} />
          ))}
          {drawing.lines.map((line) => (
            <Label key={keyOf(line)} line={line} />
          ))}
          {drawing.boxes.map((box) => {
            const person = byName.get(box.id);
            if (!person) return null;
            const press = () => onOpen(box.id);
            return (
              <Node key={box.id} box={box} person={person} sight={sightAt(zoom)} isHere={box.id === at} isChosen={box.id === chosen} onPress={press} onFocus={() => setAt(box.id)} />
            );
          })}
        </>
      )}
    </Frame>
  );
}

/** Who is at work or waits, of these who stands leftmost; else who stands first. */
function firstOf(drawing: Drawing, byName: Map<string, Person>): Box | undefined {
  const isBusy = (box: Box) => {
    const person = byName.get(box.id);
    return person !== undefined && person.given.length + person.asked.length > 0;
  };
  return drawing.boxes.find(isBusy) ?? drawing.boxes[0];
}

function keyOf({ talk }: Line): string {
  return `${talk.kind} ${talk.from} ${talk.to}`;
}

interface NodeProps {
  box: Box;
  person: Person;
  sight: Sight;
  isHere: boolean;
  isChosen: boolean;
  onPress: () => void;
  onFocus: () => void;
}

function Node({ box, person, sight, isHere, isChosen, onPress, onFocus }: NodeProps) {
  const say = useSay(words);
  const { shape, said, style } = personState(say, useLanguage(), person);
  const facts = personFacts(say, person);
  const name = plain(person.name);
  return (
    <g
      role="button"
      tabIndex={isHere ? 0 : -1}
      data-box={person.name}
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
      <text x="14" y={sight === "near" ? 24 : 36} className="office-shape">
        {shape}
      </text>
      <text x={sight === "near" ? 34 : 14} y={sight === "near" ? 24 : 74} className="office-name">
        {fit(name, LETTERS[sight])}
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

/** A call and what came back, or what was brought without one. Whoever cannot point at it opens the pair from its people. */
function Arrows({ line, isNear, onOpen }: { line: Line; isNear: boolean; onOpen: () => void }) {
  const say = useSay(words);
  const { talk, call, back } = line;
  const state = talkState(talk);
  return (
    <g className={`office-line ${state} ${isNear ? "near" : ""}`} data-talk={`${talk.from} ${talk.to}`} onClick={onOpen}>
      <title>{talkSaid(say, talk)}</title>
      {call && (
        <>
          <path className="office-reach" d={call.path} />
          <path className="office-call" d={call.path} />
          <path className="office-head office-called" d={call.head} />
        </>
      )}
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
