// A file that an agent asks for: dropped anywhere on the card, chosen, or named where it already is.
import { type RefObject, useEffect, useId, useRef, useState } from "react";

import { bytesSaid } from "../parts/size";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import type { Sending } from "./sending";
import { words } from "./words";

interface FileFieldProps {
  /** The whole of it takes what is dropped. */
  card: RefObject<HTMLElement | null>;
  isBusy: boolean;
  /** It was settled elsewhere: nothing can be given any more. */
  isOver: boolean;
  /** How far a file on its way has come. */
  sending: Sending | null;
  onFile: (file: File) => void;
  onPath: (path: string) => void;
}

export function FileField({ card, isBusy, isOver, sending, onFile, onPath }: FileFieldProps) {
  const say = useSay(words);
  const [path, setPath] = useState("");
  const [wrong, setWrong] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const take = (files: ArrayLike<File>) => {
    const file = files[0];
    if (!file || isBusy || isOver) return;
    setWrong(files.length > 1 ? say("fileOne", { n: files.length }) : "");
    if (files.length === 1) onFile(file);
  };
  const isDragged = useDrop(card, take);
  return (
    <div className="stack">
      {!isOver && (
        <div className={`inbox-drop ${isDragged ? "over" : ""}`}>
          {sending ? <Progress sending={sending} /> : <p className="dim">{say("fileDrop")}</p>}
          {!sending && (
            <button type="button" className="button" disabled={isBusy} onClick={() => input.current?.click()}>
              {say("fileChoose")}
            </button>
          )}
          {wrong !== "" && (
            <p className="attention" role="alert">
              {wrong}
            </p>
          )}
          <input
            ref={input}
            type="file"
            className="only-read"
            tabIndex={-1}
            aria-label={say("fileChoose")}
            onChange={(event) => {
              take([...(event.target.files ?? [])]);
              // The same file may be chosen again after it was refused.
              event.target.value = "";
            }}
          />
        </div>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() !== "" && !isOver) onPath(path);
        }}
      >
        <label className="label" htmlFor={id}>
          {say("path")}
        </label>
        <div className="inbox-line">
          <input
            id={id}
            className="field mono"
            spellCheck={false}
            readOnly={isOver}
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
          {!isOver && (
            <button type="submit" className="button" disabled={isBusy || path.trim() === ""}>
              {say("usePath")}
            </button>
          )}
        </div>
      </form>
    </div>
  );
}

function Progress({ sending }: { sending: Sending }) {
  const say = useSay(words);
  const { file, sent, cancel } = sending;
  const { name, size } = file;
  const percent = size === 0 ? 100 : Math.floor((sent / size) * 100);
  return (
    <>
      <p role="status">
        <Said text={say("fileSending", { name })} />
      </p>
      <progress max={100} value={percent} aria-label={say("fileProgress")} />
      <p className="small dim">{say("fileSent", { sent: bytesSaid(sent), size: bytesSaid(size), percent })}</p>
      <button type="button" className="button" onClick={cancel}>
        {say("fileCancel")}
      </button>
    </>
  );
}

/** Whether files are held over the card; `take` gets those that are let go there. */
function useDrop(card: RefObject<HTMLElement | null>, take: (files: ArrayLike<File>) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    const element = card.current;
    if (!element) return undefined;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const out = (event: DragEvent) => {
      if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      latest.current([...event.dataTransfer.files]);
    };
    element.addEventListener("dragover", over);
    element.addEventListener("dragleave", out);
    element.addEventListener("drop", drop);
    return () => {
      element.removeEventListener("dragover", over);
      element.removeEventListener("dragleave", out);
      element.removeEventListener("drop", drop);
    };
  }, [card]);
  return isOver;
}
