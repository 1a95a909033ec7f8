// Asks for something to be done: where, by whom, what, and under which terms.
import "./runs.css";

import { type FormEvent, useId, useRef, useState } from "react";

import { newKey } from "../api/client";
import { useWish } from "../api/queries";
import type { AgentView, NewRun as Wanted, ProjectSummary, RunView } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, useSearch } from "../app/router";
import { Choose, Field, LimitFields, Send, sendKeys, Text } from "../parts/Form";
import { Offered } from "../parts/Offered";
import { Page } from "../parts/Page";
import { Where } from "../parts/Where";
import { words as shared } from "../parts/words";
import { useLanguage, useSay } from "../words/words";
import { blank, COMMAND, type Draft, hasWrongNumber, wantedOf } from "./draft";
import { words } from "./words";

export default function NewRun(_: ViewProps) {
  const say = useSay(words);
  const search = useSearch();
  return (
    <Page title={say("newRun")}>
      <Offered>
        {(agents, projects) => (
          <Form
            agents={agents}
            projects={projects}
            directory={search.get("directory") ?? projects[0]?.root ?? ""}
            agent={search.get("agent")}
          />
        )}
      </Offered>
    </Page>
  );
}

interface FormProps {
  agents: AgentView[];
  projects: ProjectSummary[];
  directory: string;
  /** Who was chosen before; else the first that is there. */
  agent: string | null;
}

function Form({ agents, projects, directory, agent }: FormProps) {
  const say = useSay(words);
  const common = useSay(shared);
  const language = useLanguage();
  const id = useId();
  const [draft, setDraft] = useState<Draft>(() => {
    const wanted = agents.find((it) => it.name === agent) ?? agents.find((it) => it.installed !== false) ?? agents[0];
    return blank(directory, wanted?.name ?? COMMAND);
  });
  const [missing, setMissing] = useState("");
  // The same wish keeps its name when it is sent again: it is then done once.
  const key = useRef(newKey());
  const start = useWish<RunView, Wanted>((body) => ({ path: "/runs", body, key: key.current }));
  const set = <K extends keyof Draft>(name: K, value: Draft[K]) => {
    key.current = newKey();
    setMissing("");
    setDraft({ ...draft, [name]: value });
  };
  const project = projects.find((it) => it.root === draft.directory);
  const isCommand = draft.agent === COMMAND;
  const isMissing = agents.find((it) => it.name === draft.agent)?.installed === false;
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft.prompt.trim() === "") return setMissing(say("noPrompt"));
    if (draft.directory.trim() === "") return setMissing(say("noDirectory"));
    if (hasWrongNumber(draft)) return setMissing(common("noNumber"));
    if (start.isPending) return undefined;
    return start.mutate(wantedOf(draft, language), {
      onSuccess: (run) => go(run.sessions[0] ? `/sessions/${run.sessions[0].id}` : `/runs/${run.id}`),
    });
  };
  return (
    <form className="panel stack runs-form" onSubmit={send} onKeyDown={sendKeys(send)} noValidate>
      <Where label={say("where")} projects={projects} value={draft.directory} onChange={(value) => set("directory", value)} />
      {project?.git === false && <p className="small dim">{say("notGit")}</p>}
      <Choose id={`${id}a`} label={say("who2")} value={draft.agent} onChange={(value) => set("agent", value)}>
        {agents.map(({ name, installed }) => (
          <option key={name} value={name}>
            {installed === false ? say("notInstalled", { name }) : name}
          </option>
        ))}
        <option value={COMMAND}>{say("command")}</option>
      </Choose>
      {isMissing && <p className="small attention">{say("missing", { name: draft.agent })}</p>}
      <Field label={isCommand ? say("commandLine") : say("prompt")} id={`${id}p`} hint={say(isCommand ? "commandHint" : "promptHint")}>
        <textarea
          id={`${id}p`}
          className={`field ${isCommand ? "mono" : ""}`}
          rows={isCommand ? 2 : 5}
          aria-describedby={`${id}p-hint`}
          value={draft.prompt}
          onChange={(event) => set("prompt", event.target.value)}
        />
      </Field>
      <Check label={say("worktree")} hint={say("worktreeHint")} value={draft.worktree} onChange={(is) => set("worktree", is)} />
      <Field label={say("checkCommand")} id={`${id}c`}>
        <Text id={`${id}c`} value={draft.check} onChange={(value) => set("check", value)} placeholder="npm test" />
      </Field>
      {draft.check.trim() !== "" && (
        <>
          <Check label={say("until")} value={draft.until} onChange={(is) => set("until", is)} />
          {draft.until && (
            <Field label={say("attemptsMax")} id={`${id}n`}>
              <Text id={`${id}n`} mode="numeric" value={draft.attempts} onChange={(value) => set("attempts", value)} />
            </Field>
          )}
        </>
      )}
      <details>
        <summary>{say("limits")}</summary>
        <div className="stack form-more">
          <LimitFields limits={draft} onChange={(name, value) => set(name, value)} />
          {!isCommand && (
            <Field label={say("model")} id={`${id}m`}>
              <Text id={`${id}m`} value={draft.model} onChange={(value) => set("model", value)} />
            </Field>
          )}
        </div>
      </details>
      <Send missing={missing} error={start.error} isPending={start.isPending} label={say(start.isPending ? "starting" : "start")} />
    </form>
  );
}

interface CheckProps {
  label: string;
  hint?: string;
  value: boolean;
  onChange: (is: boolean) => void;
}

function Check({ label, hint, value, onChange }: CheckProps) {
  return (
    <label className="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {hint && <span className="small dim runs-hint">{hint}</span>}
      </span>
    </label>
  );
}
