// Who asks, how that is known, and what exactly was said.
import type { RequestView } from "../api/schema";
import { Link } from "../app/router";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { useSay } from "../words/words";
import { words } from "./words";

const TRUST = {
  channel: "trustChannel",
  speech: "trustSpeech",
  tagged: "trustTagged",
  plain: "trustPlain",
  stream: "trustStream",
  ostler: "trustOstler",
} as const;

/** `directory` is where the session works, which may be a worktree; until that is known, the project stands for it. */
export function Source({ request, directory }: { request: RequestView; directory: string | undefined }) {
  const say = useSay(words);
  const trust = request.trust in TRUST ? say(TRUST[request.trust as keyof typeof TRUST]) : request.trust;
  return (
    <section className="inbox-source">
      <h2 className="only-read">{say("about")}</h2>
      <dl className="facts small">
        <dt>{say("trust")}</dt>
        <dd>{trust}</dd>
        <dt>{say("asked")}</dt>
        <dd>
          <Since at={request.opened_at_ms} ago />
        </dd>
        <dt>{say("session")}</dt>
        <dd>
          <Link href={`/sessions/${request.session}`}>{request.session}</Link>
        </dd>
        <dt>{say("directory")}</dt>
        <dd>
          <Said text={directory ?? request.project.root} className="mono" />
        </dd>
      </dl>
      <details className="small">
        <summary>{say("raw")}</summary>
        <pre className="inbox-raw" tabIndex={0}>
          <Said text={raw(request)} lines />
        </pre>
      </details>
    </section>
  );
}

/** Every field as the agent gave it; what could not be understood, as it stood there. */
function raw(request: RequestView): string {
  const { raw: text, ...fields } = request.ask.fields;
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`);
  return [...(typeof text === "string" ? [text] : []), ...rest].join("\n");
}
