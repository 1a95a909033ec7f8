// Letters for Hangul come only to those who read it, a hundred or so at a time.
import type { Language } from "../words/words";

export function loadKoreanFace(language: Language): void {
  const reads = language === "ko" || navigator.languages.some((known) => known.toLowerCase().startsWith("ko"));
  if (reads) void import("./korean");
}
