// Runs before the first paint: whoever chose a theme does not see the other one first.
try {
  const theme = localStorage.getItem("ostler.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const language = localStorage.getItem("ostler.language") ?? navigator.language;
  document.documentElement.lang = language.toLowerCase().startsWith("ko") ? "ko" : "en";
} catch {
  // Without storage the system decides.
}
