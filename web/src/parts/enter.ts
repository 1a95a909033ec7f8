// When Enter sends what somebody writes.
import type { KeyboardEvent } from "react";

/** The same as in the sheets of style: a thumb, and no keys that one can see. */
const THUMB = "(hover: none) and (pointer: coarse)";

/** Whether somebody writes with a thumb, where Return is how a line is begun, and is hit by mistake. */
export function isThumb(): boolean {
  return window.matchMedia(THUMB).matches;
}

/** Whether this key is there to send: Enter, with Shift for a line; under a thumb the button alone, or Ctrl and Enter. */
export function isSending(event: KeyboardEvent): boolean {
  // While Hangul is put together, Enter belongs to the one who writes it.
  if (event.key !== "Enter" || event.nativeEvent.isComposing) return false;
  return event.ctrlKey || event.metaKey || (!event.shiftKey && !isThumb());
}
