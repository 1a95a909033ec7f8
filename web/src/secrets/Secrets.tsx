// The names of what is kept for agents. A value goes in and never comes out.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";

import { keys, useProjects, useSecrets, useWish } from "../api/queries";
import type { NewSecret, SecretView, Unlock, WhichSecret } from "../api/schema";
import { Dialog } from "../parts/Dialog";
import { Page } from "../parts/Page";
import { ProjectName, projectSaid } from "../parts/Project";
import { Reuse } from "../parts/Reuse";
import { plain, Said } from "../parts/Said";
import { SecretField } from "../parts/SecretField";
import { Since } from "../parts/Since";
import { Empty, Failure, Loading } from "../parts/states";
import { words as parts } from "../parts/words";
import { useSay } from "../words/words";
import { words } from "./words";

export default function Secrets() {
  const say = useSay(words);
  const secrets = useSecrets();
  return (
    <Page title={say("title")}>
      <p className="dim">{say("about")}</p>
      {typeof secrets.data === "string" ? (
        <Locked isNew={secrets.data === "unmade"} />
      ) : (
        <>
          {secrets.error && <Failure error={secrets.error} onAgain={() => void secrets.refetch()} />}
          {secrets.isPending && <Loading />}
          {secrets.data?.length === 0 && <Empty>{say("none")}</Empty>}
          {secrets.data && secrets.data.length > 0 && <List secrets={secrets.data} />}
          <Add />
        </>
      )}
    </Page>
  );
}

function List({ secrets }: { secrets: SecretView[] }) {
  const say = useSay(words);
  const [removing, setRemoving] = useState<SecretView | null>(null);
  return (
    <div className="panel table-wrap">
      <table className="records">
        <thead>
          <tr>
            <th scope="col">{say("name")}</th>
            <th scope="col">{say("scope")}</th>
            <th scope="col">{say("what")}</th>
            <th scope="col">{say("given")}</th>
            <th scope="col">{say("changed")}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {secrets.map((secret) => (
            <Row key={`${secret.scope} ${secret.name}`} secret={secret} onRemove={() => setRemoving(secret)} />
          ))}
        </tbody>
      </table>
      {removing && <Remove secret={removing} onClose={() => setRemoving(null)} />}
    </div>
  );
}

function Row({ secret, onRemove }: { secret: SecretView; onRemove: () => void }) {
  const say = useSay(words);
  const projects = useProjects();
  const project = projects.data?.find((it) => it.id === secret.scope);
  const isSession = secret.scope.startsWith("s_");
  const given = isSession ? "GivenOnce" : secret.reuse ? "GivenFreely" : "GivenAsked";
  return (
    <tr>
      <th scope="row" className="mono">
        <Said text={secret.name} />
      </th>
      <td data-label={say("scope")}>{isSession ? say("session", { id: secret.scope }) : project ? <ProjectName project={project} /> : <Said text={secret.scope} />}</td>
      <td data-label={say("what")}>{secret.what === "stored" ? say("stored") : say("looked", { what: secret.what })}</td>
      <td data-label={say("given")}>{say(given)}</td>
      <td data-label={say("changed")}>
        <Since at={secret.at_ms} ago />
      </td>
      <td>
        <button type="button" className="button plain" onClick={onRemove} aria-label={say("removeName", { name: plain(secret.name) })}>
          {say("remove")}
        </button>
      </td>
    </tr>
  );
}

function Remove({ secret, onClose }: { secret: SecretView; onClose: () => void }) {
  const say = useSay(words);
  const sayPart = useSay(parts);
  const cache = useQueryClient();
  const owner = secret.scope.startsWith("s_") ? { session: secret.scope } : { project: secret.scope };
  const remove = useWish<unknown, WhichSecret>((body) => ({ path: "/secrets/remove", body }));
  const confirm = () =>
    remove.mutate(
      { ...owner, name: secret.name },
      {
        onSuccess: () => {
          void cache.invalidateQueries({ queryKey: keys.secrets });
          onClose();
        },
      },
    );
  return (
    <Dialog title={say("removeName", { name: secret.name })} onClose={onClose}>
      <p>{say("removeAsk", { name: secret.name })}</p>
      {remove.error && <Failure error={remove.error} wrote />}
      <div className="row">
        <button type="button" className="button" onClick={onClose}>
          {sayPart("cancel")}
        </button>
        <button type="button" className="button danger" disabled={remove.isPending} onClick={confirm}>
          {say("remove")}
        </button>
      </div>
    </Dialog>
  );
}

function Add() {
  const say = useSay(words);
  const { data: known } = useProjects();
  const cache = useQueryClient();
  const id = useId();
  const [project, setProject] = useState("");
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [from, setFrom] = useState("");
  const [reuse, setReuse] = useState(false);
  const put = useWish<SecretView, NewSecret>((body) => ({ path: "/secrets", body }));
  const chosen = project || known?.[0]?.id || "";
  const keep = (event: FormEvent) => {
    event.preventDefault();
    const what = from.trim() === "" ? { value } : { from: from.trim() };
    put.mutate(
      { project: chosen, name: name.trim(), reuse, ...what },
      {
        onSuccess: () => {
          setName("");
          setValue("");
          setFrom("");
          void cache.invalidateQueries({ queryKey: keys.secrets });
        },
      },
    );
  };
  if (known?.length === 0) return <p className="dim">{say("noProjects")}</p>;
  return (
    <form className="panel stack narrow" onSubmit={keep} autoComplete="off">
      <h2>{say("add")}</h2>
      <div>
        <label className="label" htmlFor={`${id}p`}>
          {say("project")}
        </label>
        <select id={`${id}p`} className="field" value={chosen} onChange={(event) => setProject(event.target.value)}>
          {known?.map((it) => (
            <option key={it.id} value={it.id}>
              {projectSaid(it, known)}
            </option>
          ))}
        </select>
      </div>
      <Field id={`${id}n`} label={say("name")} value={name} onChange={setName} />
      <Field id={`${id}v`} label={say("value")} value={value} onChange={setValue} isSecret />
      <Field id={`${id}f`} label={say("from")} value={from} onChange={setFrom} />
      <Reuse value={reuse} onChange={setReuse} />
      {put.error && <Failure error={put.error} wrote />}
      <p>
        <button type="submit" className="button primary" disabled={put.isPending || name.trim() === "" || (value === "" && from.trim() === "")}>
          {say("keep")}
        </button>
      </p>
    </form>
  );
}

/** A vault that wants its passphrase; a new one wants it twice, since a slip would lose all that is kept from then on. */
function Locked({ isNew }: { isNew: boolean }) {
  const say = useSay(words);
  const cache = useQueryClient();
  const id = useId();
  const [passphrase, setPassphrase] = useState("");
  const [again, setAgain] = useState("");
  const differs = isNew && again !== "" && again !== passphrase;
  const unlock = useWish<unknown, Unlock>((body) => ({ path: "/secrets/unlock", body }));
  const open = (event: FormEvent) => {
    event.preventDefault();
    if (isNew && again !== passphrase) return;
    unlock.mutate({ passphrase }, { onSuccess: () => void cache.invalidateQueries({ queryKey: keys.secrets }) });
  };
  return (
    <form className="panel stack narrow" onSubmit={open} autoComplete="off">
      <p>{say(isNew ? "unmade" : "locked")}</p>
      <Field id={id} label={say("passphrase")} value={passphrase} onChange={setPassphrase} isSecret />
      {isNew && <Field id={`${id}-again`} label={say("again")} value={again} onChange={setAgain} isSecret />}
      {differs && <p className="bad" role="status">{say("differs")}</p>}
      {unlock.error && <Failure error={unlock.error} />}
      <p>
        <button type="submit" className="button primary" disabled={unlock.isPending || passphrase === "" || (isNew && again !== passphrase)}>
          {say("unlock")}
        </button>
      </p>
    </form>
  );
}

interface FieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  isSecret?: boolean;
}

function Field({ id, label, value, onChange, isSecret = false }: FieldProps) {
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {isSecret ? (
        <SecretField id={id} value={value} onChange={onChange} />
      ) : (
        <input
          id={id}
          className="field mono"
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
}
