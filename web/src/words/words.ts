// Everything that is said to people, in English and Korean. What the command line says too comes from its own list
// (shared.json, which a test of the command line keeps fresh); each view has a list of its own beside it.
import { createContext, useCallback, useContext } from "react";

import shared from "./shared.json";

export type Language = "en" | "ko";
export type SharedKey = keyof typeof shared.en;

/** The names in braces. */
type Places<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;
type Sentences = Record<string, string>;

/** Both languages have every sentence, with the same places: the compiler sees to that. */
type Matching<E extends Sentences, K extends Record<keyof E, string>> = {
  [P in keyof E]: [Places<E[P]>, Places<K[P]>] extends [Places<K[P]>, Places<E[P]>] ? string : never;
};

export interface Catalogue<E extends Sentences> {
  en: E;
  ko: Record<keyof E, string>;
}

export function catalogue<const E extends Sentences, const K extends Record<keyof E, string>>(both: {
  en: E;
  ko: K & Matching<E, K>;
}): Catalogue<E> {
  return both;
}

export type Values = Record<string, string | number>;

/** Says a sentence of a view's own list, or one of the shared ones: those begin with a capital letter. */
export type Say<E extends Sentences> = <Key extends (keyof E & string) | SharedKey>(
  key: Key,
  ...values: Key extends keyof E
    ? [Places<E[Key]>] extends [never]
      ? []
      : [Record<Places<E[Key]>, string | number>]
    : [Values?]
) => string;

/** A sentence with its values in their places. A value with braces is a value, not a place. */
export function fill(sentence: string, values: Values = {}): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

export function sayShared(language: Language, key: SharedKey, values?: Values): string {
  return fill(shared[language][key], values);
}

/** How each status looks: the same shapes and words as on the command line. */
export const statuses = shared.statuses as Record<string, { shape: string; key: SharedKey; style: string }>;

const Speaking = createContext<Language>("en");
export const LanguageProvider = Speaking.Provider;

export function useLanguage(): Language {
  return useContext(Speaking);
}

export function useSay<E extends Sentences>(words: Catalogue<E>): Say<E> {
  const language = useLanguage();
  return useCallback(
    (key: string, values?: Values) => {
      const own = (words[language] as Sentences)[key];
      return own === undefined ? sayShared(language, key as SharedKey, values) : fill(own, values);
    },
    [words, language],
  ) as Say<E>;
}

/** Only what the command line says, too. */
const NOTHING = catalogue({ en: {}, ko: {} });

export function useShared(): Say<Record<never, string>> {
  return useSay(NOTHING) as Say<Record<never, string>>;
}

const CHOSEN = "ostler.language";

/** The chosen language, else the browser's. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem(CHOSEN);
  if (chosen === "en" || chosen === "ko") return chosen;
  return navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en";
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(CHOSEN, language);
}
