// Light or dark: as the system has it, or as somebody chose.
export type Theme = "system" | "light" | "dark";

const CHOSEN = "ostler.theme";

export function firstTheme(): Theme {
  const chosen = localStorage.getItem(CHOSEN);
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function keepTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(CHOSEN);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(CHOSEN, theme);
    document.documentElement.dataset["theme"] = theme;
  }
}
