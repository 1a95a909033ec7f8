// Begins a run that goes through phases: an idea, where, who works and who verifies. The rest stands in the configuration.
import "./phases.css";

import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";

import { newKey } from "../api/client";
import { useAgents, useProjects, useWish } from "../api/queries";
import type { AgentView, NewPhases as Wanted, PhasesView, ProjectSummary } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, useSearch } from "../app/router";
import { Page } from "../parts/Page";
import { projectSaid } from "../parts/Project";
import { Failure, Loading } from "../parts/states";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

/** In the place of a name: whoever the configuration names. */
const CONFIGURED = "";
/** As the interface calls it. */
const NOBODY = "none";
/** As long as the server takes it, which counts bytes. */
const IDEA_LETTERS_MAX = 32 << 10;

export default function NewPhases(_: ViewProps) {
  const say = useSay(words);
  const agents = useAgents();
  const known = useProjects();
  const search = useSearch();
  const failed = agents.error ?? known.error;
  return (
    <Page title={say("newTitle")}>
      <p className="dim">{say("newHint")}</p>
      {failed && <Failure error={failed} onAgain={() => void (agents.error ? agents : known).refetch()} />}
      {!failed && (!agents.data || !known.data) && <Loading />}
      {agents.data && known.data && <Form agents={agents.data} projects={known.data} first={search.get("directory")} />}
    </Page>
  );
}

interface FormProps {
  agents: AgentView[];
  projects: ProjectSummary[];
  /** The directory that somebody comes from. */
  first: string | null;
}

interface Draft {
  idea: string;
  directory: string;
  agent: string;
  verifier: string;
}

function Form({ agents, projects, first }: FormProps) {
  const say = useSay(words);
  const language = useLanguage();
  const id = useId();
  const [draft, setDraft] = useState<Draft>(() => {
    const directory = first ?? (projects.find((it) => it.git) ?? projects[0])?.root ?? "";
    return { idea: "", directory, agent: CONFIGURED, verifier: CONFIGURED };
  });
  const [missing, setMissing] = useState("");
  // The same wish keeps its name when it is sent again: it is then done once.
  const key = useRef(newKey());
  const start = useWish<PhasesView, Wanted>((body) => ({ path: "/phases", body, key: key.current }));
  const set = (name: keyof Draft, value: string) => {
    key.current = newKey();
    setMissing("");
    setDraft({ ...draft, [name]: value });
  };
  const project = projects.find((it) => it.root === draft.directory);
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft.idea.trim() === "") return setMissing(say("noIdea"));
    if (draft.directory.trim() === "") return setMissing(say("noDirectory"));
    if (start.isPending) return undefined;
    const wanted: Wanted = { directory: draft.directory.trim(), idea: draft.idea, korean: language === "ko" };
    if (draft.agent !== CONFIGURED) wanted.agent = draft.agent;
    if (draft.verifier !== CONFIGURED) wanted.verifier = draft.verifier;
    return start.mutate(wanted, { onSuccess: (made) => go(`/runs/${made.run}`) });
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  };
  const named = agents.map(({ name, installed }) => (
    <option key={name} value={name}>
      {installed === false ? say("notInstalled", { name }) : name}
    </option>
  ));
  return (
    <form className="panel stack phases-form-new" onSubmit={send} onKeyDown={keys} noValidate>
      <div>
        <label className="label" htmlFor={`${id}i`}>
          {say("idea")}
        </label>
        <textarea
          id={`${id}i`}
          className="field"
          rows={6}
          dir="auto"
          maxLength={IDEA_LETTERS_MAX}
          aria-describedby={`${id}h`}
          value={draft.idea}
          onChange={(event) => set("idea", event.target.value)}
        />
        <p className="small dim" id={`${id}h`}>
          {say("ideaHint")}
        </p>
      </div>
      <Choose id={`${id}p`} label={say("project")} value={project?.root ?? ""} onChange={(value) => set("directory", value)}>
        {projects.map((it) => (
          <option key={it.id} value={it.root}>
            {projectSaid(it, projects)} · {it.root}
          </option>
        ))}
        <option value="">{say("otherDirectory")}</option>
      </Choose>
      {!project && (
        <div>
          <label className="label" htmlFor={`${id}d`}>
            {say("path")}
          </label>
          <input
            id={`${id}d`}
            className="field mono"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={draft.directory}
            onChange={(event) => set("directory", event.target.value)}
          />
        </div>
      )}
      {project?.git === false && <p className="small attention">{say("needsGit")}</p>}
      <div className="phases-two">
        <Choose id={`${id}a`} label={say("agent")} value={draft.agent} onChange={(value) => set("agent", value)}>
          <option value={CONFIGURED}>{say("asConfigured")}</option>
          {named}
        </Choose>
        <Choose id={`${id}v`} label={say("verifier")} value={draft.verifier} onChange={(value) => set("verifier", value)}>
          <option value={CONFIGURED}>{say("asConfigured")}</option>
          {named}
          <option value={NOBODY}>{say("nobody")}</option>
        </Choose>
      </div>
      {missing !== "" && (
        <p className="bad" role="alert">
          {missing}
        </p>
      )}
      {start.error && <Failure error={start.error} wrote />}
      <p>
        <button type="submit" className="button primary" disabled={start.isPending}>
          {say(start.isPending ? "starting" : "start")}
        </button>
      </p>
    </form>
  );
}

interface ChooseProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

function Choose({ id, label, value, onChange, children }: ChooseProps) {
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <select id={id} className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </div>
  );
}
