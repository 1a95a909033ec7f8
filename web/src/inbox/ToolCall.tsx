// A call that a CLI asks about: a command as a command, an edit as a coloured diff. Everything in it is shown: a person
// agrees to it.
import type { ToolCallView } from "../api/schema";
import { Lines } from "../diff/Lines";
import { plain, Said } from "../parts/Said";
import { useSay } from "../words/words";
import { words } from "./words";

interface ToolCallProps {
  call: ToolCallView;
  /** What the agent says that it does. */
  description: string | null;
}

export function ToolCall({ call, description }: ToolCallProps) {
  const say = useSay(words);
  const lines = (call.changes ?? []).map(({ change, text }) => ({ kind: change, text, before: null, after: null }));
  const rest = Object.entries(call.rest ?? {});
  return (
    <div className="inbox-call" role="note">
      {call.path != null && (
        <p>
          <span className="only-read">{say("callPath")}: </span>
          <Said text={call.path} className="mono strong" />
        </p>
      )}
      {call.command != null && (
        <pre className="inbox-command" tabIndex={0} aria-label={say("callCommand")}>
          <Said text={call.command} lines />
        </pre>
      )}
      {lines.length > 0 && (
        <div className="diff-file inbox-changes">
          <Lines label={`${say("callChanges")}: ${plain(call.path ?? "")}`} hunks={[{ about: "", lines }]} isNumbered={false} />
        </div>
      )}
      {rest.length > 0 && (
        <dl className="facts small">
          {rest.map(([name, value]) => (
            <div key={name} className="fact">
              <dt>
                <Said text={name} />
              </dt>
              <dd>
                <Said text={typeof value === "string" ? value : JSON.stringify(value)} lines />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {description !== null && (
        <p className="small dim">
          <Said text={description} lines />
        </p>
      )}
    </div>
  );
}
