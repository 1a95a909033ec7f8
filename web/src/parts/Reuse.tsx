// Whether a secret is given to whoever asks for it in its project. Off until somebody wants it: the same question wherever
// a value is given.
import { useSay } from "../words/words";
import { words } from "./words";

export function Reuse({ value, onChange }: { value: boolean; onChange: (is: boolean) => void }) {
  const say = useSay(words);
  return (
    <label className="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
      <span>{say("reuse")}</span>
    </label>
  );
}
