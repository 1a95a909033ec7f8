// A file that an agent asks for: dropped, chosen, or named where it already is.
import { type DragEvent, useId, useRef, useState } from "react";

import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { words } from "./words";

interface FileFieldProps {
  isBusy: boolean;
  onFile: (file: File) => void;
  onPath: (path: string) => void;
}

export function FileField({ isBusy, onFile, onPath }: FileFieldProps) {
  const say = useSay(words);
  const [name, setName] = useState("");
  const [path, setPath] = useState("");
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const take = (file: File | undefined) => {
    if (!file || isBusy) return;
    setName(file.name);
    onFile(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  return (
    <div className="stack">
      <div
        className={`inbox-drop ${isOver ? "over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <p className="dim" role="status">
          {isBusy && name !== "" ? <Said text={say("fileSending", { name })} /> : say("fileDrop")}
        </p>
        <button type="button" className="button" disabled={isBusy} onClick={() => input.current?.click()}>
          {say("fileChoose")}
        </button>
        <input
          ref={input}
          type="file"
          className="only-read"
          tabIndex={-1}
          aria-label={say("fileChoose")}
          onChange={(event) => take(event.target.files?.[0])}
        />
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() !== "") onPath(path);
        }}
      >
        <label className="label" htmlFor={id}>
          {say("path")}
        </label>
        <div className="inbox-line">
          <input id={id} className="field mono" spellCheck={false} value={path} onChange={(event) => setPath(event.target.value)} />
          <button type="submit" className="button" disabled={isBusy || path.trim() === ""}>
            {say("usePath")}
          </button>
        </div>
      </form>
    </div>
  );
}
