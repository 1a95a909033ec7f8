// Something that is shown once, with a way to take it along.
import { useState } from "react";

import { useSay } from "../words/words";
import { words } from "./words";

export function Once({ label, text }: { label: string; text: string }) {
  const say = useSay(words);
  const [isCopied, setCopied] = useState(false);
  // Browsers give the clipboard only to pages over TLS or of this machine.
  const canCopy = "clipboard" in navigator;
  return (
    <div>
      <p className="label">{label}</p>
      <div className="row">
        <code className="once">{text}</code>
        {canCopy && (
          <button type="button" className="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
            {say(isCopied ? "copied" : "copy")}
          </button>
        )}
      </div>
    </div>
  );
}
