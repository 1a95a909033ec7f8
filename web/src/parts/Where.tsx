// Where something is to be done: in a project that is known, or in another directory. Which of the two somebody has chosen
// is theirs to say, and does not follow from what they type.
import { useId, useState } from "react";

import type { ProjectSummary } from "../api/schema";
import { useSay } from "../words/words";
import { Choose, Field, Text } from "./Form";
import { projectSaid } from "./Project";
import { words } from "./words";

/** In the place of a root. No project is there. */
const OTHER = "";

interface WhereProps {
  label: string;
  projects: ProjectSummary[];
  /** The directory. */
  value: string;
  onChange: (directory: string) => void;
}

export function Where({ label, projects, value, onChange }: WhereProps) {
  const say = useSay(words);
  const id = useId();
  const [isOther, setOther] = useState(() => !projects.some((it) => it.root === value));
  const choose = (root: string) => {
    setOther(root === OTHER);
    onChange(root);
  };
  return (
    <>
      <Choose id={`${id}p`} label={label} value={isOther ? OTHER : value} onChange={choose}>
        {projects.map((it) => (
          <option key={it.id} value={it.root}>
            {projectSaid(it, projects)} · {it.root}
          </option>
        ))}
        <option value={OTHER}>{say("otherDirectory")}</option>
      </Choose>
      {isOther && (
        <Field label={say("path")} id={`${id}d`}>
          <Text id={`${id}d`} value={value} onChange={onChange} />
        </Field>
      )}
    </>
  );
}
