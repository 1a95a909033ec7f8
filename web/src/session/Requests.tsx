// What it waits for: the same cards as in the inbox, one link away.
import { useStatus } from "../api/queries";
import type { SessionView } from "../api/schema";
import { Link } from "../app/router";
import { askText } from "../parts/request";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { useLanguage, useSay } from "../words/words";
import { words } from "./words";

export function Requests({ session }: { session: SessionView }) {
  const say = useSay(words);
  const language = useLanguage();
  const status = useStatus();
  const open = status.data?.needs_you.filter((it) => it.session === session.id) ?? [];
  if (open.length === 0) return null;
  return (
    <section className="session-requests" aria-label={say("waitsFor")}>
      {open.map((request) => (
        <p key={request.id} className="session-request">
          <span>
            <span aria-hidden="true">◆ </span>
            <Said text={askText(language, request)} />{" "}
            <span className="dim small">
              {request.id} · <Since at={request.opened_at_ms} />
            </span>
          </span>
          <Link href={`/requests/${request.id}`} className="button">
            {say("toCard")}
          </Link>
        </p>
      ))}
    </section>
  );
}
