// What two have said to each other, in its order: calls, results, and calls that came to nothing.
import { type ReactNode, useState } from "react";

import { itemsOf } from "../api/pages";
import type { InvocationView, ResultView } from "../api/schema";
import { late } from "../app/late";
import { Cut } from "../parts/Cut";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { bytesSaid } from "../parts/size";
import { Failure, Loading } from "../parts/states";
import { Mark } from "../parts/status";
import { useSay } from "../words/words";
import { type Moment, momentsOf } from "./people";
import { useCall, useCalls, useContent, useDownload, useResults } from "./queries";
import { callState, type SayOffice, typeSaid, whySaid } from "./said";
import { words } from "./words";

/** A longer text would make the page slow, and is read with something else. */
const SHOWN_BYTES_MAX = 1 << 19;

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

/** A call, or all of it once somebody wants that. */
function useWhole(listed: InvocationView) {
  const [isAll, setAll] = useState(false);
  const all = useCall(listed.project, listed.id, isAll);
  const call = all.data ?? listed;
  const show = () => {
    setAll(true);
    if (all.isError) void all.refetch();
  };
  return { call, cut: <Cut cut={call.cut ?? []} isBusy={all.isFetching} error={all.error} onAll={show} /> };
}

function Called({ call: listed, isFirst }: { call: InvocationView; isFirst: boolean }) {
  const say = useSay(words);
  const { call, cut } = useWhole(listed);
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
      {cut}
    </Bubble>
  );
}

function Ended({ call: listed, isFirst }: { call: InvocationView; isFirst: boolean }) {
  const say = useSay(words);
  const { call, cut } = useWhole(listed);
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
      {listed.cut?.some((it) => it.field === "/words") && cut}
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
  const [isAll, setAll] = useState(false);
  const all = useContent(result.id, isAll);
  return (
    <Bubble isFirst={isFirst} style={result.invocation == null ? "office-unasked" : ""} head={head}>
      {all.data === undefined ? <Beginning result={result} /> : <All text={all.data} of={result.id} />}
      {result.file != null && all.data === undefined && (
        <p className="small dim">
          <Said text={whereSaid(say, result, result.file)} />
        </p>
      )}
      {isAll && all.error && <Failure error={all.error} onAgain={() => void all.refetch()} />}
      {isAll && all.isFetching && <Loading />}
      <Whole result={result} onShow={isAll ? null : () => setAll(true)} />
    </Bubble>
  );
}

function Beginning({ result: { type, content } }: { result: ResultView }) {
  return type === "markdown" ? <Markdown text={content} /> : <Said text={content} lines className={type === "json" ? "mono" : ""} />;
}

/** A long text as it is: to draw it would take long, and it scrolls by itself, so that the conversation stays in reach. */
function All({ text, of }: { text: string; of: string }) {
  const say = useSay(words);
  return (
    <pre className="office-text" tabIndex={0} role="region" aria-label={say("allOf", { id: of })}>
      <Said text={text} lines />
    </pre>
  );
}

/** Where all of it is: the rest of a long text, or the copy of a file. */
function whereSaid(say: SayOffice, result: ResultView, file: string): string {
  if (result.whole === false) return say("restInFile", { file, size: bytesSaid(result.bytes ?? 0) });
  return say(result.type === "file_path" ? "copyInFile" : "inFile", { file });
}

/** What does not stand here can be shown, if it is not too long for that, or taken away. */
function Whole({ result, onShow }: { result: ResultView; onShow: (() => void) | null }) {
  const say = useSay(words);
  const download = useDownload(result.id);
  const isCopy = result.type === "file_path" && result.file != null;
  if (result.whole !== false && !isCopy) return null;
  const canShow = onShow !== null && !isCopy && (result.bytes ?? Infinity) <= SHOWN_BYTES_MAX;
  return (
    <p className="row">
      {canShow && (
        <button type="button" className="button" aria-label={say("showAllOf", { id: result.id })} onClick={onShow}>
          {say("showAll")}
        </button>
      )}
      <button type="button" className="button" aria-label={say("downloadOf", { id: result.id })} disabled={download.isPending} onClick={() => download.mutate()}>
        {say("download")}
      </button>
      {download.error && <Failure error={download.error} onAgain={() => download.mutate()} />}
    </p>
  );
}
