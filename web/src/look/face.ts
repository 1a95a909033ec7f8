// Letters for Hangul come only to those who read it or meet it, a hundred or so at a time.
import type { Language } from "../words/words";

const HANGUL = /[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]/;
let isLoaded = false;
let loading: Promise<unknown> = Promise.resolve();

function load(): void {
  if (isLoaded) return;
  isLoaded = true;
  loading = import("./korean");
}

export function loadKoreanFace(language: Language): void {
  const reads = language === "ko" || navigator.languages.some((known) => known.toLowerCase().startsWith("ko"));
  if (reads) load();
}

/** The same where somebody else's words have it, whatever language the page speaks. */
export function loadFaceFor(text: string): void {
  if (!isLoaded && HANGUL.test(text)) load();
}

/** The same for words in a drawing, and whether letters have come: they are drawn only where their face is named first. */
export async function loadFaceForDrawn(text: string): Promise<boolean> {
  if (!HANGUL.test(text)) return false;
  load();
  await loading;
  return (await document.fonts.load('16px "Pretendard Variable"', text)).length > 0;
}
