// Builds the page into dist/. There is no dev server: the page is always served by the binary, under its own policy.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // Nothing is put into the page itself: the policy allows no `data:` fonts and no inline styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    chunkSizeWarningLimit: 600,
  },
});
