// A card that is settled by somebody else while it is read. Who was typing into it keeps the field under their hands: the
// next keys would otherwise go to whatever comes in its place.
import { type RefObject, useEffect, useState } from "react";

import { useHush } from "../app/shortcuts";

export interface Kept {
  /** Whether it was open when it came, and was settled under the eyes of its reader. */
  isMeanwhile: boolean;
  /** Whether its fields stay, to be read and copied. */
  isKept: boolean;
}

/** Whether somebody is in a field of the card, or has put something into one. */
function isFilledIn(card: HTMLElement | null): boolean {
  if (!card) return false;
  const fields = [...card.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea, select")];
  const isWritten = (field: HTMLInputElement | HTMLTextAreaElement) =>
    field.value !== "" && !["checkbox", "radio", "file"].includes(field.type);
  return fields.some((field) => field === document.activeElement || isWritten(field));
}

export function useKept(isOpen: boolean, card: RefObject<HTMLElement | null>): Kept {
  const hush = useHush();
  const [was, setWas] = useState({ isOpen, isMeanwhile: false, isKept: false });
  // Before anything is drawn anew: afterwards the fields would be gone.
  if (was.isOpen && !isOpen) setWas({ isOpen, isMeanwhile: true, isKept: isFilledIn(card.current) });
  const { isMeanwhile, isKept } = was;
  useEffect(() => {
    if (isMeanwhile) hush();
  }, [isMeanwhile, hush]);
  return { isMeanwhile, isKept };
}
