// What somebody chose for this browser.
import { createContext, useContext } from "react";

import type { Language } from "../words/words";
import type { Theme } from "./theme";

export interface Chosen {
  theme: Theme;
  setTheme: (theme: Theme) => void;
  setLanguage: (language: Language) => void;
  hasSingleKeys: boolean;
  setSingleKeys: (isOn: boolean) => void;
}

export const Preferences = createContext<Chosen | null>(null);

export function usePreferences(): Chosen {
  const chosen = useContext(Preferences);
  if (!chosen) throw new Error("preferences stand around every view");
  return chosen;
}
