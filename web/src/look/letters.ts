// Letters for drawings, as a part of the page asks for them.
import { useEffect, useState } from "react";

import { loadFaceForDrawn } from "./face";

/** Whether letters have come for what is drawn and the machine has none for. */
export function useLetters(text: string): boolean {
  const [hasLetters, setLetters] = useState(false);
  useEffect(() => {
    let isHere = true;
    // Without them the words are in the list, and the shapes are what they are.
    loadFaceForDrawn(text).then((have) => isHere && setLetters(have), () => undefined);
    return () => {
      isHere = false;
    };
  }, [text]);
  return hasLetters;
}
