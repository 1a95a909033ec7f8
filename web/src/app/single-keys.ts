// Whether keys that print a character are shortcuts. Speech input types such keys while somebody only talks, so they can be
// switched off for a browser (WCAG 2.1.4).
const CHOSEN = "ostler.single-keys";

export function firstSingleKeys(): boolean {
  return localStorage.getItem(CHOSEN) !== "off";
}

export function keepSingleKeys(isOn: boolean): void {
  if (isOn) {
    localStorage.removeItem(CHOSEN);
    delete document.documentElement.dataset["singleKeys"];
  } else {
    localStorage.setItem(CHOSEN, "off");
    document.documentElement.dataset["singleKeys"] = "off";
  }
}

/** Whether a shortcut is made of keys that print a character, such as `j`, `2`, `?` and `g i`. */
export function isSingle(keys: string): boolean {
  return keys.split(" ").every((key) => key.length === 1);
}
