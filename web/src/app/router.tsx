// Where somebody is on the page: the path of the address, and links that do not load the page again.
import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  window.addEventListener("popstate", watcher);
  return () => {
    watchers.delete(watcher);
    window.removeEventListener("popstate", watcher);
  };
}

export function usePath(): string {
  return useSyncExternalStore(watch, () => window.location.pathname);
}

/** The parameters behind the question mark. */
export function useSearch(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(watch, () => window.location.search));
}

export function go(to: string, how: "push" | "replace" = "push"): void {
  if (how === "push") window.history.pushState(null, "", to);
  else window.history.replaceState(null, "", to);
  for (const watcher of [...watchers]) watcher();
}

export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    go(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}
