// Begins a run that goes through phases: an idea, where, who works and who verifies. The rest stands in the configuration.
import "./phases.css";

import { type FormEvent, useId, useRef, useState } from "react";

import { newKey } from "../api/client";
import { useWish } from "../api/queries";
import type { AgentView, NewPhases as Wanted, PhasesView, ProjectSummary } from "../api/schema";
import type { ViewProps } from "../app/places";
import { go, useSearch } from "../app/router";
import { Choose, Field, LimitFields, Send, sendKeys } from "../parts/Form";
import { hasWrong, type Limits, limitsOf, UNLIMITED } from "../parts/limits";
import { Offered } from "../parts/Offered";
import { Page } from "../parts/Page";
import { Where } from "../parts/Where";
import { words as shared } from "../parts/words";
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
  const search = useSearch();
  return (
    <Page title={say("newTitle")}>
      <p className="dim">{say("newHint")}</p>
      <Offered>{(agents, projects) => <Form agents={agents} projects={projects} first={search.get("directory")} />}</Offered>
    </Page>
  );
}

interface FormProps {
  agents: AgentView[];
  projects: ProjectSummary[];
  /** The directory that somebody comes from. */
  first: string | null;
}

interface Draft extends Limits {
  idea: string;
  directory: string;
  agent: string;
  verifier: string;
}

function Form({ agents, projects, first }: FormProps) {
  const say = useSay(words);
  const common = useSay(shared);
  const language = useLanguage();
  const id = useId();
  const [draft, setDraft] = useState<Draft>(() => {
    const directory = first ?? (projects.find((it) => it.git) ?? projects[0])?.root ?? "";
    return { idea: "", directory, agent: CONFIGURED, verifier: CONFIGURED, ...UNLIMITED };
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
    if (hasWrong(draft)) return setMissing(common("noNumber"));
    if (start.isPending) return undefined;
    const wanted: Wanted = { directory: draft.directory.trim(), idea: draft.idea, korean: language === "ko", ...limitsOf(draft) };
    if (draft.agent !== CONFIGURED) wanted.agent = draft.agent;
    if (draft.verifier !== CONFIGURED) wanted.verifier = draft.verifier;
    return start.mutate(wanted, { onSuccess: (made) => go(`/runs/${made.run}`) });
  };
  const named = agents.map(({ name, installed }) => (
    <option key={name} value={name}>
      {installed === false ? say("notInstalled", { name }) : name}
    </option>
  ));
  return (
    <form className="panel stack phases-form-new" onSubmit={send} onKeyDown={sendKeys(send)} noValidate>
      <Field label={say("idea")} id={`${id}i`} hint={say("ideaHint")}>
        <textarea
          id={`${id}i`}
          className="field"
          rows={6}
          dir="auto"
          maxLength={IDEA_LETTERS_MAX}
          aria-describedby={`${id}i-hint`}
          value={draft.idea}
          onChange={(event) => set("idea", event.target.value)}
        />
      </Field>
      <Where label={say("project")} projects={projects} value={draft.directory} onChange={(value) => set("directory", value)} />
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
      <details>
        <summary>{say("limits")}</summary>
        <div className="stack form-more">
          <LimitFields limits={draft} onChange={set} />
        </div>
      </details>
      <Send missing={missing} error={start.error} isPending={start.isPending} label={say(start.isPending ? "starting" : "start")} />
    </form>
  );
}
