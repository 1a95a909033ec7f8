// The graph: drawn from data alone.
import { type SVGProps, useCallback, useMemo, useState } from "react";

import type { TaskView } from "../api/schema";
import { useLetters } from "../look/letters";
import { fit, pressing } from "../parts/drawn";
import { Frame } from "../parts/Frame";
import { plain } from "../parts/Said";
import { useLanguage, useSay } from "../words/words";
import { type Box, draw, type Drawing, HEAD, type Line, phaseId } from "./layout";
import type { InsideProps } from "./ListView";
import { phaseSaid, whySaid } from "./said";
import { byPhase, countsOf, isAsking, isSettled, stateOf, stateOfPhase, statusOf } from "./state";
import { words } from "./words";

/** More tasks than that are not drawn before somebody opens their phase. */
const OPEN_MAX = 60;
/** Below that only shapes and ids are drawn. */
const FAR = 0.45;
/** Below that nobody could read it. */
const FIRST_ZOOM_MIN = 0.7;

type Phases = ReturnType<typeof byPhase>;

export function Graph({ view, byId, chosen, onOpen }: InsideProps) {
  const say = useSay(words);
  const phases = useMemo(() => byPhase(view), [view]);
  const { isOpen, toggle, setAll, isAllOpen } = useOpen(phases);
  const drawing = useMemo(
    () => draw(phases.map(({ phase, tasks }) => ({ number: phase.number, tasks })), isOpen),
    [phases, isOpen],
  );
  // A phase that was closed over a task, or opened, takes its place.
  const instead = (id: string) => {
    const phase = byId.get(id)?.phase ?? Number(id.replace("phase ", ""));
    return drawing.boxes.find((box) => box.phase === phase)?.id ?? null;
  };
  const press = (box: Box) => {
    if (box.task) onOpen(box.task.id);
    else toggle(box.phase);
  };
  const titles = useMemo(() => [...view.phases, ...view.tasks].map((it) => it.title ?? "").join(""), [view]);
  const hasLetters = useLetters(titles);
  const tools = phases.length > 1 && (
    <button type="button" className="button" onClick={() => setAll(!isAllOpen)}>
      {say(isAllOpen ? "closeAll" : "openAll")}
    </button>
  );
  return (
    <Frame
      name="tasks"
      drawing={drawing}
      first={firstOf(drawing, view.tasks)}
      firstMin={FIRST_ZOOM_MIN}
      instead={instead}
      label={say("graphOf")}
      keys={say("graphKeys")}
      tools={tools}
      svgClass={(zoom) => `${zoom < FAR ? "tasks-far" : ""} ${hasLetters ? "tasks-letters" : ""}`}
    >
      {(at, setAt) => (
        <>
          <Frames drawing={drawing} phases={phases} onClose={toggle} />
          <Lines drawing={drawing} phases={phases} byId={byId} chosen={chosen} />
          {drawing.boxes.map((box) => (
            <Node
              key={box.id}
              box={box}
              view={view}
              byId={byId}
              phases={phases}
              isHere={box.id === at}
              isChosen={box.id === chosen}
              onPress={() => {
                setAt(box.id);
                press(box);
              }}
              onFocus={() => setAt(box.id)}
            />
          ))}
          <Causes drawing={drawing} phases={phases} byId={byId} />
        </>
      )}
    </Frame>
  );
}

/** Which phases are open: at first all of a small file, otherwise the one that is worked on. */
function useOpen(phases: Phases) {
  const [chosen, setChosen] = useState<ReadonlyMap<number, boolean>>(new Map());
  const all = phases.reduce((sum, { tasks }) => sum + tasks.length, 0);
  const current = phases.find(({ tasks }) => !tasks.every(isSettled))?.phase.number;
  const isOpen = useCallback(
    (number: number) => {
      const said = chosen.get(number);
      if (said !== undefined) return said;
      const tasks = phases.find(({ phase }) => phase.number === number)?.tasks.length ?? 0;
      return all <= OPEN_MAX || (number === current && tasks <= OPEN_MAX);
    },
    [chosen, phases, all, current],
  );
  const toggle = (number: number) => setChosen(new Map([...chosen, [number, !isOpen(number)]]));
  const setAll = (to: boolean) => setChosen(new Map(phases.map(({ phase }) => [phase.number, to])));
  return { isOpen, toggle, setAll, isAllOpen: phases.every(({ phase }) => isOpen(phase.number)) };
}

/** What is worked on, or can be begun, or stands first. */
function firstOf(drawing: Drawing, tasks: TaskView[]): Box | undefined {
  const task = tasks.find((it) => it.state === "in_progress") ?? tasks.find((it) => it.state === "ready");
  return drawing.boxes.find((box) => box.task !== null && box.id === task?.id) ?? drawing.boxes[0];
}

function Frames({ drawing, phases, onClose }: { drawing: Drawing; phases: Phases; onClose: (phase: number) => void }) {
  const say = useSay(words);
  return drawing.frames.map(({ phase, x, y, width, height }) => {
    const found = phases.find((it) => it.phase.number === phase);
    if (!found) return null;
    const name = phaseSaid(say, found.phase);
    return (
      <g key={phase} className="tasks-phase-frame">
        <rect x={x} y={y} width={width} height={height} rx="8" />
        <text x={x + 16} y={y + HEAD - 13} className="tasks-phase-name">
          {fit(name, (width - 56) / 7.4)}
        </text>
        <g
          role="button"
          tabIndex={0}
          className="tasks-shut"
          aria-label={`${say("shutPhase")}: ${name}`}
          onClick={() => onClose(phase)}
          onKeyDown={pressing(() => onClose(phase))}
          transform={`translate(${x + width - 36} ${y + 6})`}
        >
          <rect width="28" height="24" rx="6" />
          <text x="14" y="17" textAnchor="middle">
            −
          </text>
        </g>
      </g>
    );
  });
}

interface LinesProps {
  drawing: Drawing;
  phases: Phases;
  byId: Map<string, TaskView>;
}

/** The task of a box, or those of its phase. */
function tasksBehind(phases: Phases, byId: Map<string, TaskView>) {
  return (id: string): TaskView[] => {
    const task = byId.get(id);
    return task ? [task] : (phases.find(({ phase }) => phaseId(phase.number) === id)?.tasks ?? []);
  };
}

function Lines({ drawing, phases, byId, chosen }: LinesProps & { chosen: string | null }) {
  const say = useSay(words);
  const tasksOf = tasksBehind(phases, byId);
  const name = (id: string) => {
    const phase = phases.find((it) => phaseId(it.phase.number) === id)?.phase;
    return phase ? say("phase", { n: phase.number }) : id;
  };
  return drawing.lines.map((line) => {
    const { why, failed, kind } = meaning(line, tasksOf);
    const [from, to] = [name(line.from), name(line.to)];
    const said =
      why === "failed" && failed !== null
        ? say("edgeFailed", { from: failed, to })
        : why === "blocked"
          ? say("edgeBlocked", { from, to })
          : say("edge", { from, to });
    const isNear = chosen !== null && (line.from === chosen || line.to === chosen);
    return (
      <g key={`${line.from} ${line.to}`} className={`tasks-line ${kind} ${isNear ? "near" : ""} ${line.isPhase ? "whole" : ""}`}>
        <path d={line.path}>
          <title>{line.count > 1 && !line.isPhase ? `${said} (${say("many", { n: line.count })})` : said}</title>
        </path>
      </g>
    );
  });
}

/** What has failed, at the beginning of the lines that it blocks: over everything else, and once for each beginning. */
function Causes({ drawing, phases, byId }: LinesProps) {
  const say = useSay(words);
  const tasksOf = tasksBehind(phases, byId);
  const causes = new Map<string, { line: Line; failed: string }>();
  for (const line of drawing.lines) {
    const { failed } = meaning(line, tasksOf);
    if (failed !== null && !causes.has(line.from)) causes.set(line.from, { line, failed });
  }
  return [...causes.values()].map(({ line, failed }) => (
    <text key={line.from} className="tasks-cause" x={line.x} y={line.y - 6} textAnchor="middle">
      {say("edgeShort", { id: failed })}
    </text>
  ));
}

/** Whether a line holds something up, and what has failed at its beginning. */
function meaning(line: Line, tasksOf: (id: string) => TaskView[]) {
  const [before, behind] = [tasksOf(line.from), tasksOf(line.to)];
  const isHeld = behind.some((task) => task.state === "blocked");
  const failed = isHeld ? (before.find((task) => task.state === "failed")?.id ?? null) : null;
  const why = failed !== null ? "failed" : isHeld && before.some((task) => task.state === "blocked") ? "blocked" : null;
  const kind = why !== null ? "blocked" : before.every(isSettled) ? "settled" : "waiting";
  return { why, failed, kind };
}

interface NodeProps {
  box: Box;
  view: InsideProps["view"];
  byId: Map<string, TaskView>;
  phases: Phases;
  isHere: boolean;
  isChosen: boolean;
  onPress: () => void;
  onFocus: () => void;
}

function Node({ box, view, byId, phases, isHere, isChosen, onPress, onFocus }: NodeProps) {
  const common = {
    role: "button",
    tabIndex: isHere ? 0 : -1,
    "data-box": box.id,
    transform: `translate(${box.x} ${box.y})`,
    onClick: onPress,
    onKeyDown: pressing(onPress),
    onFocus,
  };
  if (box.task) return <TaskNode common={common} box={box} task={box.task} view={view} byId={byId} isChosen={isChosen} />;
  const found = phases.find(({ phase }) => phase.number === box.phase);
  return found ? <PhaseNode common={common} box={box} phase={found.phase} tasks={found.tasks} /> : null;
}

/** Everything that is drawn of a task, in words. */
function useTaskSaid(task: TaskView, view: InsideProps["view"], byId: Map<string, TaskView>): string {
  const say = useSay(words);
  const state = statusOf(useLanguage(), task).said;
  const why = whySaid(say, task, view.tasks, byId);
  return [`${task.id} ${plain(task.title)}`, state, why, task.critical ? say("critical") : null].filter((it) => it !== null).join(", ");
}

interface TaskNodeProps extends Pick<NodeProps, "box" | "view" | "byId" | "isChosen"> {
  common: SVGProps<SVGGElement>;
  task: TaskView;
}

function TaskNode({ common, box, task, view, byId, isChosen }: TaskNodeProps) {
  const { shape, said } = statusOf(useLanguage(), task);
  const label = useTaskSaid(task, view, byId);
  return (
    <g {...common} data-task={task.id} aria-pressed={isChosen} className={`tasks-node ${isAsking(task) ? "asking" : task.state}`} aria-label={label}>
      <title>{plain(task.title)}</title>
      <rect className="tasks-box" width={box.width} height={box.height} rx="8" />
      {task.critical && <rect className="tasks-critical" x="0" y="10" width="4" height={box.height - 20} rx="2" />}
      <text x="14" y="21" className="tasks-shape">
        {shape}
      </text>
      <text x="32" y="21" className="tasks-name">
        {fit(task.id, 12)}
      </text>
      <text x={box.width - 12} y="21" textAnchor="end" className="tasks-word">
        {said}
      </text>
      <text x="14" y="40" className="tasks-title">
        {fit(plain(task.title), 22)}
      </text>
    </g>
  );
}

interface PhaseNodeProps {
  common: SVGProps<SVGGElement>;
  box: Box;
  phase: InsideProps["view"]["phases"][number];
  tasks: TaskView[];
}

/** A phase that is closed: how it is, how many of its tasks are how, and how far it is as a bar. */
function PhaseNode({ common, box, phase, tasks }: PhaseNodeProps) {
  const say = useSay(words);
  const language = useLanguage();
  const state = stateOfPhase(tasks);
  const { shape } = stateOf(language, state);
  const name = phaseSaid(say, phase);
  const counts = countsOf(tasks);
  const said = counts.map(([it, n]) => say("counted", { n, state: stateOf(language, it).said }));
  const settled = tasks.filter(isSettled).length;
  const progress = say("progress", { settled, all: tasks.length });
  return (
    <g {...common} aria-expanded={false} className={`tasks-node tasks-closed ${state}`} aria-label={`${name}, ${progress}, ${said.join(", ")}`}>
      <title>{said.join(" · ")}</title>
      <rect className="tasks-box" width={box.width} height={box.height} rx="8" />
      <text x="14" y="24" className="tasks-shape">
        {shape}
      </text>
      <text x="32" y="24" className="tasks-name">
        {fit(name, 24)}
      </text>
      <text x="14" y="46" className="tasks-title">
        {progress}
      </text>
      <rect className="tasks-track" x="14" y="62" width={box.width - 28} height="8" rx="4" />
      <rect className="tasks-done" x="14" y="62" width={((box.width - 28) * settled) / tasks.length} height="8" rx="4" />
    </g>
  );
}
