// One task: how it is and why, what can be done about it, who does it, and what ran when.
import { type ReactNode, useEffect, useRef } from "react";

import type { TaskDetailView, TasksView, TaskView } from "../api/schema";
import { Link } from "../app/router";
import { useShortcut } from "../app/shortcuts";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { Mark } from "../parts/status";
import { clock, clockRange, span, useNow } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { useDecision, useTask } from "./queries";
import { phaseSaid, whySaid } from "./said";
import { decisionsFor, isAsking, isSettled, stateOf, statusOf } from "./state";
import { words } from "./words";

interface PanelProps {
  view: TasksView;
  byId: Map<string, TaskView>;
  id: string;
  tag: string | null;
  onOpen: (task: string) => void;
  onClose: () => void;
}

export function Panel({ view, byId, id, tag, onOpen, onClose }: PanelProps) {
  const say = useSay(words);
  const task = byId.get(id);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useShortcut("Escape", say("closePanel"), onClose);
  return (
    <section className="panel stack tasks-panel" aria-labelledby="tasks-panel-title">
      <div className="page-head">
        <h2 id="tasks-panel-title" ref={heading} tabIndex={-1}>
          <Said text={task ? `${task.id} ${task.title}` : id} />
        </h2>
        <button type="button" className="button plain" onClick={onClose}>
          <span className="tasks-close-wide">✕ {say("closePanel")}</span>
          <span className="tasks-close-narrow">← {say("back")}</span>
        </button>
      </div>
      {task ? <Task view={view} byId={byId} task={task} tag={tag} onOpen={onOpen} /> : <p>{say("gone")}</p>}
    </section>
  );
}

type TaskProps = Omit<PanelProps, "id" | "onClose"> & { task: TaskView };

function Task({ view, byId, task, tag, onOpen }: TaskProps) {
  const say = useSay(words);
  const language = useLanguage();
  const detail = useTask(view.project.id, task.id, tag);
  const why = whySaid(say, task, view.tasks, byId);
  return (
    <>
      <p>
        <Mark status={statusOf(language, task)} />
        {isAsking(task) && (
          <>
            {" · "}
            <Link href={`/requests/${task.request}`}>{say("toCard")}</Link>
          </>
        )}
        {why !== null && <span className={task.state === "blocked" ? "attention" : "dim"}> · {why}</span>}
        {task.critical && <span className="dim"> · {say("critical")}</span>}
        {task.priority === "first" && !isSettled(task) && <span className="dim"> · {say("isFirst")}</span>}
      </p>
      <Decisions project={view.project.id} task={task} />
      <Facts view={view} byId={byId} task={task} then={detail.data?.then ?? []} onOpen={onOpen} />
      {task.criteria.length > 0 && (
        <div>
          <h3>{say("criteria")}</h3>
          <ul>
            {task.criteria.map((it, index) => (
              <li key={index} className="tasks-criterion">
                <span aria-hidden="true">{it.done ? "☑" : "☐"}</span>
                <span className="only-read">{say(it.done ? "met" : "open")}: </span>
                <Said text={it.text} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <Attempts task={task} />
      {detail.error && <Failure error={detail.error} onAgain={() => void detail.refetch()} />}
      {detail.isPending && <Loading />}
      {detail.data && <Text view={view} detail={detail.data} />}
    </>
  );
}

/** What a person can decide. Each can be taken back by another. */
function Decisions({ project, task }: { project: string; task: TaskView }) {
  const say = useSay(words);
  const wish = useDecision(project);
  const possible = decisionsFor(task);
  return (
    <>
      {possible.length > 0 && (
        <div className="row">
          {possible.map((decision) => (
            <button
              key={decision}
              type="button"
              className="button"
              title={say(`${decision}Hint`)}
              disabled={wish.isPending}
              onClick={() => wish.decide(task.id, decision)}
            >
              {say(decision)}
            </button>
          ))}
        </div>
      )}
      {wish.error && <Failure error={wish.error} wrote />}
    </>
  );
}

function Facts({ view, byId, task, then, onOpen }: Omit<TaskProps, "tag"> & { then: string[] }) {
  const say = useSay(words);
  const phase = view.phases.find(({ number }) => number === task.phase);
  const links = (ids: string[]) => ids.length > 0 && <Others ids={ids} byId={byId} onOpen={onOpen} />;
  const code = (those: string[]) => those.length > 0 && those.map((it) => <Code key={it} text={it} />);
  const risk = task.risk != null && ["low", "medium", "high", "critical"].includes(task.risk) ? task.risk : null;
  const rows: [string, ReactNode][] = [
    [say("LabelPhase"), phase && <Said text={phaseSaid(say, phase)} />],
    [say("LabelNeeds"), links(task.needs)],
    [say("LabelThen"), links(then)],
    [say("LabelOwner"), task.owner != null && <Said text={task.owner} />],
    [say("LabelFiles"), code(task.files)],
    [say("LabelVerify"), task.verify != null && <Code text={task.verify} />],
    [say("LabelRisk"), risk !== null && say(`risk_${risk}` as "risk_low")],
    [say("LabelPriority"), task.priority !== "medium" && say(`priority_${task.priority}` as "priority_low")],
    [say("LabelWorktree"), task.worktree != null && <Code text={task.worktree} />],
    [say("who"), task.run != null && <Who task={task} />],
  ];
  return (
    <dl className="facts">
      {rows.map(([label, value]) =>
        value ? (
          <div key={label} className="fact">
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

function Who({ task }: { task: TaskView }) {
  const say = useSay(words);
  return (
    <span className="row">
      {task.session != null && <Link href={`/sessions/${task.session}`}>{say("session", { id: task.session })}</Link>}
      {task.run != null && <Link href={`/runs/${task.run}`}>{say("run", { id: task.run })}</Link>}
    </span>
  );
}

function Code({ text }: { text: string }) {
  return (
    <code className="tasks-code">
      <Said text={text} />
    </code>
  );
}

/** Other tasks, each with its shape; they open in the place of this one. */
function Others({ ids, byId, onOpen }: { ids: string[]; byId: Map<string, TaskView>; onOpen: (task: string) => void }) {
  const language = useLanguage();
  return (
    <span className="tasks-others">
      {ids.map((id) => {
        const task = byId.get(id);
        const state = task ? statusOf(language, task) : null;
        return (
          <button key={id} type="button" className={`tasks-other mono ${state?.style ?? ""}`} disabled={!task} title={state?.said} onClick={() => onOpen(id)}>
            {state && <span aria-hidden="true">{state.shape} </span>}
            {id}
            {state && <span className="only-read">, {state.said}</span>}
          </button>
        );
      })}
    </span>
  );
}

function Attempts({ task }: { task: TaskView }) {
  const say = useSay(words);
  const language = useLanguage();
  const now = useNow(1_000);
  return (
    <div>
      <h3>{say("attempts")}</h3>
      {task.attempts.length === 0 && <p className="small dim">{say("never")}</p>}
      <ol className="tasks-attempts small">
        {task.attempts.map(({ begun_at_ms, ended_at_ms, failed }, index) => {
          const isOver = ended_at_ms != null;
          const state = failed != null ? "failed" : isOver ? "completed" : "in_progress";
          const [from, to] = isOver ? clockRange(language, begun_at_ms, ended_at_ms) : [clock(language, begun_at_ms), ""];
          return (
            <li key={index}>
              <Mark status={stateOf(language, state)} />
              <span className="dim">
                {" · "}
                {isOver ? `${say("endedAt", { from, to })} · ${span(language, ended_at_ms - begun_at_ms)}` : say("since", { from, span: span(language, now - begun_at_ms) })}
              </span>
              {failed != null && failed !== "" && (
                <p className="bad">
                  <Said text={failed} />
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Nothing of it is hidden or drawn: it is text that somebody wrote. */
function Text({ view, detail }: { view: TasksView; detail: TaskDetailView }) {
  const say = useSay(words);
  const body = unindented(detail.body);
  return (
    <div>
      <h3>
        <Said text={say("text", { file: view.file ?? "", n: detail.line })} />
      </h3>
      {body === "" ? (
        <p className="small dim">{say("nothingBelow")}</p>
      ) : (
        <pre className="tasks-text">
          <Said text={body} lines />
        </pre>
      )}
    </div>
  );
}

/** Without the room at its edges that all lines have in common. */
function unindented(text: string): string {
  const lines = text.split("\n");
  const full = lines.filter((line) => line.trim() !== "");
  const common = Math.min(...full.map((line) => line.length - line.trimStart().length));
  return full.length === 0 ? "" : lines.map((line) => line.slice(common)).join("\n").trim();
}
