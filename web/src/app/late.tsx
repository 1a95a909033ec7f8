// Parts of the page that are loaded when they are first shown. One that does not come takes nothing else with it: it is
// asked for again by itself, and by a button.
import { useQueryClient } from "@tanstack/react-query";
import { Component, type ComponentType, type ErrorInfo, type ReactNode, useEffect, useReducer, useRef, useState } from "react";

import { useConnection } from "../api/queries";
import { drafts } from "../inbox/answering";
import { Said } from "../parts/Said";
import { Loading } from "../parts/states";
import { useSay } from "../words/words";
import { isTyping } from "./shortcuts";
import { words } from "./words";

/** How long it is waited before it is asked for again. */
const AGAIN_MS = [500, 2_000, 5_000];
const LOADED_ANEW = "ostler.loaded-anew";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/** A part that is loaded when it is first shown. */
export function late<P extends object>(load: Load<P>): (props: P) => ReactNode {
  let Loaded: ComponentType<P> | null = null;
  let failed: string | null = null;
  const get = async (): Promise<void> => {
    mendStyles();
    try {
      const got = failed !== null ? await loadAgain<P>(failed) : await load();
      Loaded = got.default;
      sessionStorage.removeItem(LOADED_ANEW);
    } catch (error) {
      failed ??= addressIn(error);
      throw error;
    }
  };
  return function Late(props: P) {
    const [error, setError] = useState<Error | null>(null);
    const [, drawn] = useReducer((n: number) => n + 1, 0);
    const [nth, again] = useReducer((n: number) => n + 1, 0);
    useEffect(() => {
      if (Loaded) return undefined;
      let isHere = true;
      get().then(
        () => isHere && drawn(),
        (failure: unknown) => isHere && setError(failure instanceof Error ? failure : new Error(String(failure))),
      );
      return () => {
        isHere = false;
      };
    }, [nth]);
    useAgain(error, again);
    if (Loaded) {
      return (
        <Guard>
          <Loaded {...props} />
        </Guard>
      );
    }
    return error ? <NotLoaded onAgain={again} /> : <Loading />;
  };
}

/** Which file did not come, where the browser says it. */
function addressIn(error: unknown): string | null {
  const found = /https?:\/\/\S+\/assets\/[\w.-]+\.js/.exec(error instanceof Error ? error.message : "")?.[0];
  return found !== undefined && new URL(found).origin === window.location.origin ? found : null;
}

/** A browser remembers that a file did not come, and asks for it again only under another address. */
async function loadAgain<P>(address: string): Promise<{ default: ComponentType<P> }> {
  const got = (await import(/* @vite-ignore */ `${address}?again=${Date.now()}`)) as { default?: ComponentType<P> };
  if (typeof got.default !== "function") throw new Error(`there is nothing to show in ${address}`);
  return { default: got.default };
}

/** Styles that did not come. */
const broken = new Set<HTMLLinkElement>();
window.addEventListener("error", ({ target }) => target instanceof HTMLLinkElement && broken.add(target), true);

/** A style that did not come is not asked for a second time, and what needs it would be drawn without. */
function mendStyles(): void {
  for (const link of broken) link.replaceWith(link.cloneNode());
  broken.clear();
}

/** Asks again while the server is there. What it does not have then belongs to another version of the page. */
function useAgain(error: Error | null, again: () => void): void {
  const isThere = useConnection().is !== "stale";
  const cache = useQueryClient();
  const tries = useRef(0);
  useEffect(() => {
    if (!error || !isThere) return undefined;
    const wait = AGAIN_MS[tries.current];
    if (wait === undefined) {
      const isUnderWay = cache.getMutationCache().getAll().some(({ state }) => state.status === "pending" || state.status === "error");
      if (!isUnderWay) loadAnew();
      return undefined;
    }
    const timer = setTimeout(() => {
      tries.current++;
      again();
    }, wait);
    return () => clearTimeout(timer);
  }, [error, again, isThere, cache]);
}

/** Loads the page anew, once, and never under the hands of somebody who has begun something. */
function loadAnew(): void {
  if (sessionStorage.getItem(LOADED_ANEW) !== null || drafts.size > 0 || isTyping(document.activeElement)) return;
  sessionStorage.setItem(LOADED_ANEW, "1");
  window.location.reload();
}

/** What can be done about a part that is not there. */
function WaysOut({ onAgain }: { onAgain: () => void }) {
  const say = useSay(words);
  return (
    <p className="row">
      <button type="button" className="button" onClick={onAgain}>
        {say("tryAgain")}
      </button>
      <button type="button" className="button" onClick={() => window.location.reload()}>
        {say("load")}
      </button>
    </p>
  );
}

function NotLoaded({ onAgain }: { onAgain: () => void }) {
  const say = useSay(words);
  return (
    <div className="notice attention part" role="alert">
      <p>{say("notLoaded")}</p>
      <WaysOut onAgain={onAgain} />
    </div>
  );
}

interface GuardProps {
  /** With another one, what has failed is tried anew. */
  path?: string;
  children: ReactNode;
}

/** A part that fails takes nothing else with it. */
export class Guard extends Component<GuardProps, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidUpdate(before: GuardProps) {
    if (before.path !== this.props.path && this.state.error) this.setState({ error: null });
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    console.error(error, info.componentStack);
  }

  override render() {
    return this.state.error ? <Broken error={this.state.error} onAgain={() => this.setState({ error: null })} /> : this.props.children;
  }
}

function Broken({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const say = useSay(words);
  return (
    <div className="notice bad part" role="alert">
      <h2>{say("broken")}</h2>
      <p>
        <code>
          <Said text={error.message} />
        </code>
      </p>
      <p>{say("brokenHint")}</p>
      <WaysOut onAgain={onAgain} />
    </div>
  );
}
