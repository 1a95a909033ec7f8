// What has changed, file by file. Loaded only where it is shown. What is long is closed at first and bounded always.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { plain, Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { clock } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { Lines } from "./Lines";
import { bare, BOUNDS, type Diff as Parsed, type DiffFile, parse } from "./parse";
import { BYTES_MAX, readBeginning } from "./read";
import { words } from "./words";

/** Files with more changed lines than this are closed at first, and so are all that follow so many lines. */
const LINES_OPEN_MAX = 400;
const LINES_OPEN_ALL = 1_500;

export interface DiffProps {
  /** Where it is asked for, and under which name it is kept. */
  path: string;
  queryKey: readonly unknown[];
  /** What is said when nothing has changed. */
  none: string;
  /** Whether it may have changed since: then it says as of when it is, and is asked for whenever it is opened. */
  isLive?: boolean;
}

export default function Diff({ path, queryKey, none, isLive = false }: DiffProps) {
  const say = useSay(words);
  const language = useLanguage();
  const diff = useQuery({
    queryKey,
    queryFn: ({ signal }) => readBeginning(path, signal),
    // No event tells of a file that an agent has written.
    refetchOnMount: isLive ? "always" : true,
  });
  const parsed = useMemo(() => (diff.data ? parse(diff.data.text, BOUNDS) : null), [diff.data]);
  if (!parsed) return diff.error ? <Failure error={diff.error} onAgain={() => void diff.refetch()} /> : <Loading />;
  return (
    <div className="diff stack">
      {isLive && (
        <p className="small dim diff-as-of" role="status">
          {say("asOf", { time: clock(language, diff.dataUpdatedAt) })} ·{" "}
          <button type="button" className="button plain small" disabled={diff.isFetching} onClick={() => void diff.refetch()}>
            {say(diff.isFetching ? "refreshing" : "refresh")}
          </button>
        </p>
      )}
      {diff.error && <Failure error={diff.error} />}
      {parsed.files.length === 0 ? <p className="dim">{none}</p> : <Files parsed={parsed} />}
      {parsed.left > 0 && <p className="notice attention">{say("leftFiles", { n: parsed.left })}</p>}
      {diff.data?.isCut && <p className="notice attention">{say("cut", { size: `${BYTES_MAX >> 20} MiB` })}</p>}
    </div>
  );
}

/** Which files are open at first. */
export function openAtFirst(files: DiffFile[]): Set<string> {
  const open = new Set<string>();
  let lines = 0;
  for (const file of files) {
    const length = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    if (length > LINES_OPEN_MAX || lines + length > LINES_OPEN_ALL) continue;
    lines += length;
    open.add(file.path);
  }
  return open;
}

function Files({ parsed }: { parsed: Parsed }) {
  const say = useSay(words);
  const { files } = parsed;
  const [open, setOpen] = useState(() => openAtFirst(files));
  // What comes later is open like what was there at first; what somebody has closed stays closed.
  const [known, setKnown] = useState(files);
  if (known !== files) {
    setKnown(files);
    const before = new Set(known.map((file) => file.path));
    const come = [...openAtFirst(files)].filter((path) => !before.has(path));
    if (come.length > 0) setOpen(new Set([...open, ...come]));
  }
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const isAllOpen = files.every((file) => open.has(file.path));
  const toggle = (path: string, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(path);
    else next.delete(path);
    setOpen(next);
  };
  return (
    <>
      <p className="diff-sum">
        <span>{files.length === 1 ? say("oneFile") : say("files", { n: files.length + parsed.left })}</span>
        <Counts added={added} removed={removed} />
        {files.length > 1 && (
          <button
            type="button"
            className="button plain small"
            onClick={() => setOpen(new Set(isAllOpen ? [] : files.map((file) => file.path)))}
          >
            {say(isAllOpen ? "close" : "open")}
          </button>
        )}
      </p>
      {files.map((file) => (
        <File key={file.path} file={file} isOpen={open.has(file.path)} onToggle={(is) => toggle(file.path, is)} />
      ))}
    </>
  );
}

function Counts({ added, removed }: { added: number; removed: number }) {
  const say = useSay(words);
  return (
    <span className="diff-counts">
      <span className="good">
        <span aria-hidden="true">+{added}</span>
        <span className="only-read">{say("added", { n: added })}</span>
      </span>{" "}
      <span className="bad">
        <span aria-hidden="true">−{removed}</span>
        <span className="only-read">{say("removed", { n: removed })}</span>
      </span>
    </span>
  );
}

function File({ file, isOpen, onToggle }: { file: DiffFile; isOpen: boolean; onToggle: (is: boolean) => void }) {
  const say = useSay(words);
  return (
    <details className="diff-file" open={isOpen} onToggle={(event) => event.currentTarget.open !== isOpen && onToggle(!isOpen)}>
      <summary>
        <Said text={file.path} className="mono strong" />{" "}
        <span className="small dim">
          <Became file={file} />
        </span>
        <Counts added={file.added} removed={file.removed} />
      </summary>
      {isOpen && (
        <div className="diff-body">
          {file.isBinary && <p className="dim diff-word">{say("binary")}</p>}
          {!file.isBinary && file.hunks.length === 0 && <p className="dim diff-word">{say(bare(file))}</p>}
          {file.hunks.length > 0 && <Lines label={plain(file.path)} hunks={file.hunks} />}
          {file.left > 0 && <p className="attention diff-word">{say("leftLines", { n: file.left })}</p>}
        </div>
      )}
    </details>
  );
}

function Became({ file }: { file: DiffFile }) {
  const say = useSay(words);
  return (
    <>
      {file.change === "added" && say("isNew")}
      {file.change === "removed" && say("isGone")}
      {file.change === "renamed" && <Said text={say("isRenamed", { from: file.from ?? "" })} />}
      {file.change === "copied" && <Said text={say("isCopied", { from: file.from ?? "" })} />}
      {file.modes && <> {say("mode", { before: file.modes[0], after: file.modes[1] })}</>}
    </>
  );
}
