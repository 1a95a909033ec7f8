// Whether somebody looks at a page of this browser. The tab that is looked at holds a lock, which others can see and
// which comes free when it is closed or dies. Where there are no locks, browsers show no notifications either.
const NAME = "ostler.looked.1";

/** Shows other tabs whether this one is looked at, until the function that it gives is called. */
export function showOthers(): () => void {
  if (!("locks" in navigator)) return () => {};
  let letGo: (() => void) | null = null;
  const show = (isLookedAt: boolean) => {
    if (isLookedAt === (letGo !== null)) return;
    letGo?.();
    letGo = null;
    if (!isLookedAt) return;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    // A browser may forbid locks with other things that pages keep.
    navigator.locks.request(NAME, { mode: "shared" }, () => held).catch(() => {});
  };
  const look = () => show(document.hasFocus());
  window.addEventListener("focus", look);
  window.addEventListener("blur", look);
  look();
  return () => {
    window.removeEventListener("focus", look);
    window.removeEventListener("blur", look);
    show(false);
  };
}

export async function isLookedAt(): Promise<boolean> {
  if (document.hasFocus()) return true;
  try {
    const { held = [] } = await navigator.locks.query();
    return held.some(({ name }) => name === NAME);
  } catch {
    return false;
  }
}
