// What two have said to each other, in its order: calls, results, and calls that came to nothing.
import type { ReactNode } from "react";

import { itemsOf } from "../api/pages";
import type { InvocationView, ResultView } from "../api/schema";
import { late } from "../app/late";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { bytesSaid } from "../parts/size";
import { Failure, Loading } from "../parts/states";
import { Mark } from "../parts/status";
import { useSay } from "../words/words";
import { type Moment, momentsOf } from "./people";
import { useCalls, useResults } from "./queries";
import { callState, typeSaid, whySaid } from "./said";
import { words } from "./words";

const Markdown = late(() => import("../markdown/Markdown"));

export function Pair({ project, one, other }: { project: string; one: string; other: string }) {
  const say = useSay(words);
  const between = `${one},${other}`;
  const calls = useCalls(project, between);
  const results = useResults(project, between);
  const error = calls.error ?? results.error;
  const [called, given] = [itemsOf(calls), itemsOf(results)];
  if (error && !(called && given)) return <Failure error={error} onAgain={() => void Promise.all([calls.refetch(), results.refetch()])} />;
  if (!called || !given) return <Loading />;
  const since = Math.max(
    calls.hasNextPage ? (called.at(-1)?.opened_at_ms ?? 0) : 0,
    results.hasNextPage ? (given.at(-1)?.given_at_ms ?? 0) : 0,
  );
  // Before that something is missing of one of the two.
  const moments = momentsOf(called, given).filter((it) => it.at >= since);
  const older = () => void Promise.all([calls.hasNextPage && calls.fetchNextPage(), results.hasNextPage && results.fetchNextPage()]);
  return (
    <>
      {(calls.hasNextPage || results.hasNextPage) && (
        <p>
          <button type="button" className="button" disabled={calls.isFetchingNextPage || results.isFetchingNextPage} onClick={older}>
            {say("older")}
          </button>
        </p>
      )}
      {moments.length === 0 && <p className="dim">{say("pairNone")}</p>}
      <ol className="office-talk" aria-label={say("pairTitle", { one, other })}>
        {moments.map((moment) => (
          <Shown key={keyOf(moment)} moment={moment} first={one} />
        ))}
      </ol>
    </>
  );
}

function keyOf(moment: Moment): string {
  return moment.kind === "result" ? moment.result.id : `${moment.call.id} ${moment.kind}`;
}

function Shown({ moment, first }: { moment: Moment; first: string }) {
  switch (moment.kind) {
    case "call":
      return <Called call={moment.call} isFirst={moment.call.caller === first} />;
    case "end":
      return <Ended call={moment.call} isFirst={moment.call.callee === first} />;
    case "result":
      return <Brought result={moment.result} isFirst={moment.result.from === first} />;
  }
}

interface BubbleProps {
  isFirst: boolean;
  style?: string;
  head: ReactNode;
  children?: ReactNode;
}

/** One thing that was said: by the first of the two on the left, by the other on the right. */
function Bubble({ isFirst, style = "", head, children }: BubbleProps) {
  return (
    <li className={`office-bubble ${isFirst ? "" : "office-other"} ${style}`}>
      <p className="small dim row">{head}</p>
      {children}
    </li>
  );
}

function Called({ call, isFirst }: { call: InvocationView; isFirst: boolean }) {
  const say = useSay(words);
  const head = (
    <>
      <span>
        <Said text={say("calledBy", { from: call.caller, to: call.callee })} className="strong" /> · {call.id} · <Since at={call.opened_at_ms} ago />
      </span>
      <Mark status={callState(say, call)} />
    </>
  );
  return (
    <Bubble isFirst={isFirst} head={head}>
      <Said text={call.task} lines />
      {call.context != null && (
        <p className="small">
          <span className="dim">{say("context")}: </span>
          <Said text={call.context} lines />
        </p>
      )}
    </Bubble>
  );
}

function Ended({ call, isFirst }: { call: InvocationView; isFirst: boolean }) {
  const say = useSay(words);
  const isGood = call.status === "completed";
  const said = isGood ? say("isOver", { to: call.callee }) : say("noResult", { from: call.caller });
  const head = (
    <span>
      <Said text={said} className="strong" /> · {call.id} · <Since at={call.ended_at_ms ?? call.opened_at_ms} ago />
    </span>
  );
  return (
    <Bubble isFirst={isFirst} style={isGood ? "" : "office-bad"} head={head}>
      {!isGood && <p className="small">{whySaid(say, call)}</p>}
      {call.words != null && <Said text={call.words} lines />}
    </Bubble>
  );
}

function Brought({ result, isFirst }: { result: ResultView; isFirst: boolean }) {
  const say = useSay(words);
  const facts = [result.id, ...(result.type === "message" ? [] : [typeSaid(say, result.type)]), ...(result.invocation == null ? [say("unasked")] : []), ...(result.late ? [say("late")] : [])];
  const head = (
    <span>
      <Said text={say("brought", { from: result.from, to: result.to })} className="strong" /> · {facts.join(" · ")} · <Since at={result.given_at_ms} ago />
      {!result.delivered && <span className="attention"> · {say("notRead")}</span>}
    </span>
  );
  const { content: text } = result;
  return (
    <Bubble isFirst={isFirst} style={result.invocation == null ? "office-unasked" : ""} head={head}>
      {result.type === "markdown" ? <Markdown text={text} /> : <Said text={text} lines className={result.type === "json" ? "mono" : ""} />}
      {result.file != null && (
        <p className="small dim">
          <Said text={result.whole === false ? say("restInFile", { file: result.file, size: bytesSaid(result.bytes ?? 0) }) : say("inFile", { file: result.file })} />
        </p>
      )}
    </Bubble>
  );
}
