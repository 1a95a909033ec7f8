// The files of a gate, as they are at its checkpoint: documents drawn, pictures shown, everything else as text. Each is
// asked for when somebody opens it.
import { type ReactNode, useEffect, useRef, useState } from "react";

import type { GateFileView, GateView } from "../api/schema";
import { late } from "../app/late";
import { grouped } from "../parts/request";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { usePicture, useText, type Which } from "./queries";
import { words } from "./words";

const Markdown = late(() => import("../markdown/Markdown"));

const DOCUMENT = /\.(md|markdown)$/i;
const PICTURE = /\.(png|jpe?g|gif|webp)$/i;
/** What is shown of a text that is no document. */
const LETTERS_MAX = 256 * 1024;
/** The server gives no more of a file. */
const BYTES_MAX = 4 << 20;

export default function Files({ which, gate }: { which: Which; gate: GateView }) {
  const say = useSay(words);
  // What was to be produced is looked at first, and the first of it is open.
  const files = [...gate.files].sort((one, other) => Number(other.expected) - Number(one.expected));
  const [open, setOpen] = useState(() => new Set(files.filter((it) => it.bytes != null).slice(0, 1).map((it) => it.path)));
  const list = useRef<HTMLUListElement>(null);
  const toggle = (path: string, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(path);
    else next.delete(path);
    setOpen(next);
  };
  const goTo = (path: string) => {
    toggle(path, true);
    const summaries = list.current?.querySelectorAll<HTMLElement>("summary[data-path]") ?? [];
    [...summaries].find((it) => it.dataset["path"] === path)?.focus();
  };
  const link = (path: string, inside: ReactNode): ReactNode | null =>
    files.some((it) => it.path === path && it.bytes != null) ? (
      <button type="button" className="phases-link" onClick={() => goTo(path)}>
        {inside}
      </button>
    ) : null;
  if (files.length === 0) return <p className="dim">{say("noFiles")}</p>;
  return (
    <>
      <ul ref={list} className="phases-files">
        {files.map((file) => (
          <li key={file.path}>
            <details
              className="phases-file"
              open={open.has(file.path)}
              onToggle={(event) => event.currentTarget.open !== open.has(file.path) && toggle(file.path, event.currentTarget.open)}
            >
              <summary data-path={file.path}>
                <Said text={file.path} className="mono strong" /> <Marks file={file} />
              </summary>
              {open.has(file.path) && (
                <div className="phases-file-body">
                  {file.bytes == null ? <p className="dim">{say("gone")}</p> : <Shown which={which} file={file} link={link} />}
                </div>
              )}
            </details>
          </li>
        ))}
      </ul>
      {gate.files_count > files.length && <p className="attention small">{say("moreFiles", { n: gate.files_count - files.length })}</p>}
    </>
  );
}

const CHANGES = { added: "added", modified: "modified", deleted: "deleted" } as const;

function Marks({ file }: { file: GateFileView }) {
  const say = useSay(words);
  const marks = [
    file.change != null && file.change in CHANGES ? say(CHANGES[file.change as keyof typeof CHANGES]) : "",
    file.expected ? say("expected") : "",
    file.announced ? say("wasAnnounced") : "",
    file.bytes == null ? "" : say("bytes", { n: grouped(file.bytes) }),
  ];
  return <span className="small dim">{marks.filter((it) => it !== "").join(" · ")}</span>;
}

interface ShownProps {
  which: Which;
  file: GateFileView;
  link: (path: string, inside: ReactNode) => ReactNode | null;
}

function Shown({ which, file, link }: ShownProps) {
  if (PICTURE.test(file.path)) return <Picture which={which} path={file.path} about={file.path} />;
  return <Text which={which} file={file} link={link} />;
}

function Text({ which, file, link }: ShownProps) {
  const say = useSay(words);
  const text = useText("file", which, file.path);
  const isDocument = DOCUMENT.test(file.path);
  const [isPlain, setPlain] = useState(false);
  if (text.error) return <Failure error={text.error} onAgain={() => void text.refetch()} />;
  if (!text.data) return <Loading />;
  const all = text.data.text;
  if (all.includes("\u0000")) return <p className="dim">{say("notText")}</p>;
  const isDrawn = isDocument && !isPlain;
  const isCut = text.data.isCut || (file.bytes ?? 0) > BYTES_MAX || (!isDrawn && all.length > LETTERS_MAX);
  const picture = (path: string, about: string) => (PICTURE.test(path) ? <Picture which={which} path={path} about={about} /> : null);
  return (
    <>
      {isDocument && (
        <p className="phases-form">
          <button type="button" className="button plain" aria-pressed={isPlain} onClick={() => setPlain(!isPlain)}>
            {say(isPlain ? "drawn" : "asText")}
          </button>
        </p>
      )}
      {isDrawn ? (
        <Markdown text={all} path={file.path} link={link} picture={picture} />
      ) : (
        <pre className="phases-text" tabIndex={0}>
          <Said text={all.slice(0, LETTERS_MAX)} lines />
        </pre>
      )}
      {isCut && <p className="attention small">{say("cutFile")}</p>}
    </>
  );
}

/** A picture of the tree, from bytes that were asked for: never by an address of its own. */
function Picture({ which, path, about }: { which: Which; path: string; about: string }) {
  const say = useSay(words);
  const picture = usePicture(which, path);
  const [url, setUrl] = useState<string | null>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (!picture.data) return undefined;
    const made = URL.createObjectURL(picture.data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture.data]);
  if (picture.error || picture.data === null || isBroken) return <Said text={say("pictureAway", { path })} className="dim" />;
  if (url === null) return <Loading />;
  return <img className="phases-picture" src={url} alt={about} onError={() => setBroken(true)} />;
}
