// A dialog of the browser's own: it keeps the focus inside, gives it back, and Escape closes it.
import { type ReactNode, useEffect, useId, useRef } from "react";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={name}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="stack dialog-inside">
        <h2 id={name}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
