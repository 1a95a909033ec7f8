// The frame of a view: its name stands in the window's title, and gets the focus when somebody comes here.
import { type ReactNode, useEffect, useRef } from "react";

export function Page({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Ostler`;
  }, [title]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="page stack">
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {aside && <div className="row">{aside}</div>}
      </header>
      {children}
    </div>
  );
}
